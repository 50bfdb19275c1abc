/**
 * Tokenizers in a module worker, so that long texts do not stop a page.
 *
 *     const worker = new TokenizerWorker();
 *     const tokenizer = await worker.load("/models/some.isotok");
 *     const ids = await tokenizer.encode(text);
 */

import { RemoteWorker } from "./remote.js";
import type { Port } from "./worker_messages.js";

export * from "./exports.js";
export type { RemoteDecoder, RemoteEncoder, RemoteTokenizer } from "./remote.js";

/** A worker, in which any number of models can be loaded. */
export class TokenizerWorker extends RemoteWorker {
  /** @param worker One that runs `isotok/worker_main`; by default a new one. */
  constructor(worker?: Worker) {
    // Bundlers look for exactly this form.
    super(
      portOf(
        worker ?? new Worker(new URL("./worker_main.js", import.meta.url), { type: "module" }),
      ),
    );
  }
}

function portOf(worker: Worker): Port {
  return {
    send: (message, transfer) => worker.postMessage(message, transfer),
    listen(onMessage, onError) {
      worker.addEventListener("message", ({ data }) => onMessage(data as never));
      worker.addEventListener("error", ({ message }) => onError(message || "script not loaded"));
      worker.addEventListener("messageerror", () => onError("a message cannot be read"));
    },
    close: () => worker.terminate(),
  };
}
