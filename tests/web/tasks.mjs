/** Tasks on a page: a driver asks for them on the page's own thread, or in a module worker. */

/** Whether program text from a string runs, which a strict page forbids. */
function mayEvaluate() {
  try {
    return new Function("return true")();
  } catch {
    return false;
  }
}

/** On a page: `run` does a task here; the script at `worker` calls `answerTasks`. */
export function offerTasks(run, worker) {
  globalThis.runOnPage = async (task) => {
    // Away from the driver's call, for which a page's policy does not hold.
    await new Promise((resolve) => setTimeout(resolve));
    return run(task);
  };
  globalThis.runInWorker = (task) =>
    new Promise((resolve, reject) => {
      const started = new Worker(worker, { type: "module" });
      started.onmessage = ({ data }) => {
        started.terminate();
        if (data.error === undefined) resolve(data.found);
        else reject(new Error(data.error));
      };
      started.onerror = (event) => reject(new Error(`worker: ${event.message}`));
      started.postMessage(task);
    });
  globalThis.mayEvaluate = mayEvaluate(); // and a sign that the page is ready
}

/** In the worker. */
export function answerTasks(run) {
  self.onmessage = async ({ data }) => {
    try {
      self.postMessage({ found: await run(data) });
    } catch (error) {
      self.postMessage({ error: String(error?.stack ?? error) });
    }
  };
}
