/** What the driver calls on a page: the checks on its thread, or in a module worker. */

import { run } from "./browser.mjs";

globalThis.runOnPage = async (task) => {
  // Away from the driver's call, for which a page's policy does not hold.
  await new Promise((resolve) => setTimeout(resolve));
  return run(task);
};

globalThis.runInWorker = (task) =>
  new Promise((resolve, reject) => {
    const worker = new Worker(new URL("./worker.mjs", import.meta.url), { type: "module" });
    worker.onmessage = ({ data }) => {
      worker.terminate();
      if (data.error === undefined) resolve(data.found);
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
