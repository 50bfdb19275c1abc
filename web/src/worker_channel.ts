/** The page's side of the way to a worker: calls that wait for their answers. */

import { disposedError } from "./dispose.js";
import { TokenizerError } from "./errors.js";
import { type Port, type Reply, receivedError } from "./worker_messages.js";

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

export class Channel {
  readonly #port: Port;
  readonly #waiting = new Map<number, Waiting>();
  /** Tells the worker of targets that were forgotten here. */
  readonly #registry: FinalizationRegistry<number> | undefined;
  #next = 1;
  #ended: TokenizerError | undefined;

  constructor(port: Port) {
    this.#port = port;
    if (typeof FinalizationRegistry !== "undefined") {
      this.#registry = new FinalizationRegistry((target) => this.#send(target, "dispose", []));
    }
    port.listen(
      (reply: Reply) => this.#receive(reply),
      (reason) => this.#end(`it cannot be started or has failed (${reason})`),
    );
  }

  /** Calls a method of a tokenizer, encoder or decoder; 0 is the worker itself. */
  call<T>(target: number, method: string, ...values: unknown[]): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#ended !== undefined) return reject(this.#ended);
      const id = this.#send(target, method, values);
      this.#waiting.set(id, { resolve: resolve as (result: unknown) => void, reject });
    });
  }

  /** Has the worker let go of a target when `holder` is forgotten. */
  watch(holder: object, target: number): void {
    this.#registry?.register(holder, target, holder);
  }

  /** Has the worker let go of it now; nobody waits for that. */
  drop(holder: object, target: number): void {
    this.#registry?.unregister(holder);
    this.#send(target, "dispose", []);
  }

  close(): void {
    this.#port.close();
    this.#end("it was terminated");
  }

  #send(target: number, method: string, values: readonly unknown[]): number {
    const id = this.#next++;
    if (this.#ended === undefined) this.#port.send({ id, target, method, values }, []);
    return id;
  }

  #receive({ id, result, error }: Reply): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === undefined) waiting?.resolve(result);
    else waiting?.reject(receivedError(error));
  }

  #end(reason: string): void {
    this.#ended ??= new TokenizerError(
      "DISPOSED",
      `worker: ${reason}; start another one. A bundler must have put worker_main.js beside ` +
        "the script, or give a Worker of your own",
    );
    for (const { reject } of this.#waiting.values()) reject(this.#ended);
    this.#waiting.clear();
  }
}

/** Whether a proxy may still be used. */
export class Handle {
  readonly #channel: Channel;
  readonly #target: number;
  #disposed = false;

  constructor(channel: Channel, target: number) {
    this.#channel = channel;
    this.#target = target;
    channel.watch(this, target);
  }

  async call<T>(method: string, ...values: unknown[]): Promise<T> {
    if (this.#disposed) throw disposedError();
    return this.#channel.call<T>(this.#target, method, ...values);
  }

  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#channel.drop(this, this.#target);
  }
}
