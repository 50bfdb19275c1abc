/** The page's side of the way to the worker. */

import type { Calls, Reply, SentError } from "./protocol.js";

/** An error of the worker's. */
export class WorkerError extends Error implements SentError {
  readonly code: string | undefined;
  readonly status: number;
  readonly what: number;
  readonly index: number;
  readonly offset: number;

  constructor({ message, code, status, what, index, offset }: SentError) {
    super(message);
    [this.code, this.status, this.what] = [code, status, what];
    [this.index, this.offset] = [index, offset];
  }
}

interface Waiting {
  resolve(result: never): void;
  reject(error: Error): void;
}

/** A worker, and another one should it end. */
export class Client {
  readonly #onRestart: (reason: string) => void;
  #worker: Worker;
  #waiting = new Map<number, Waiting>();
  #number = 0;
  /** Whether this worker has ever answered: one that cannot start is not started again. */
  #isAlive = false;
  #ended: Error | undefined;

  /** @param onRestart Called when a new worker has begun, which knows no models. */
  constructor(onRestart: (reason: string) => void) {
    this.#onRestart = onRestart;
    this.#worker = this.#start();
  }

  call<Name extends keyof Calls>(
    name: Name,
    ...values: Parameters<Calls[Name]>
  ): Promise<ReturnType<Calls[Name]>> {
    return new Promise((resolve, reject) => {
      if (this.#ended !== undefined) return reject(this.#ended);
      const number = ++this.#number;
      this.#waiting.set(number, { resolve, reject });
      this.#worker.postMessage({ number, name, values });
    });
  }

  #start(): Worker {
    const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
    worker.addEventListener("message", ({ data }: MessageEvent<Reply>) => this.#receive(data));
    worker.addEventListener("error", (event) => {
      event.preventDefault();
      this.#restart(event.message || "worker.js cannot be loaded");
    });
    return worker;
  }

  #receive({ number, result, error }: Reply): void {
    this.#isAlive = true;
    const waiting = this.#waiting.get(number);
    this.#waiting.delete(number);
    if (error === undefined) waiting?.resolve(result as never);
    else waiting?.reject(new WorkerError(error));
  }

  #restart(reason: string): void {
    this.#worker.terminate();
    const waiting = this.#waiting;
    this.#waiting = new Map();
    const error = new Error(`the worker ended (${reason}); load the page again`);
    for (const { reject } of waiting.values()) reject(error);
    if (!this.#isAlive) {
      this.#ended = error;
      return;
    }
    this.#isAlive = false;
    this.#worker = this.#start();
    this.#onRestart(reason);
  }
}
