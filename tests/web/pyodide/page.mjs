/** What the tests call on a page: the same task on its own thread or in a worker. */

import { runHere } from "./browser.mjs";

globalThis.runOnPage = async (task) => {
  // Away from the call of the browser's driver, for which policies do not hold.
  await new Promise((resolve) => setTimeout(resolve));
  return runHere(task);
};

globalThis.runInWorker = (task) =>
  new Promise((resolve, reject) => {
    const worker = new Worker(new URL("./worker.mjs", import.meta.url), { type: "module" });
    worker.onmessage = ({ data }) => {
      worker.terminate();
      if (data.error === undefined) resolve(data.report);
      else reject(new Error(data.error));
    };
    worker.onerror = (event) => reject(new Error(`worker: ${event.message}`));
    worker.postMessage(task);
  });

/** Whether program text from a string runs, which a strict page forbids. */
function mayEvaluate() {
  try {
    return new Function("return true")();
  } catch {
    return false;
  }
}

globalThis.mayEvaluate = mayEvaluate();
