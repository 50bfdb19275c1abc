/** The same in Node, where workers are threads with another interface. */

import { Worker } from "node:worker_threads";
import { RemoteWorker } from "./remote.js";

export * from "./exports.js";
export type { RemoteDecoder, RemoteEncoder, RemoteTokenizer } from "./remote.js";

/** A worker thread, in which any number of models can be loaded; end it, or Node waits. */
export class TokenizerWorker extends RemoteWorker {
  constructor() {
    const worker = new Worker(new URL("./worker_main_node.js", import.meta.url));
    super({
      send: (message, transfer) => worker.postMessage(message, transfer),
      listen(onMessage, onError) {
        worker.on("message", (message) => onMessage(message as never));
        worker.on("error", (error) => onError(String(error)));
        worker.on("messageerror", (error) => onError(String(error)));
        worker.on("exit", (code) => onError(`it ended with code ${code}`));
      },
      close: () => void worker.terminate(),
    });
  }
}
