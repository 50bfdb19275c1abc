/** The script of a worker thread. */

import { parentPort } from "node:worker_threads";
import { Tokenizer } from "./node.js";
import { serve } from "./worker_serve.js";

if (parentPort === null) throw new Error("worker_main_node.js is the script of a worker thread");
const port = parentPort;

serve(
  {
    send: (message, transfer) => port.postMessage(message, transfer),
    listen(onMessage) {
      port.on("message", (message) => onMessage(message as never));
    },
    close: () => port.close(),
  },
  (source, options) => Tokenizer.load(source, options),
);
