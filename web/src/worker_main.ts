/** The script of a module worker. */

import { Tokenizer } from "./index.js";
import { serve } from "./worker_serve.js";

const scope = globalThis as unknown as {
  postMessage(message: unknown, transfer: ArrayBuffer[]): void;
  addEventListener(type: "message", listener: (event: MessageEvent) => void): void;
  close(): void;
};

serve(
  {
    send: (message, transfer) => scope.postMessage(message, transfer),
    listen(onMessage) {
      scope.addEventListener("message", ({ data }) => onMessage(data as never));
    },
    close: () => scope.close(),
  },
  (source, options) => Tokenizer.load(source, options),
);
