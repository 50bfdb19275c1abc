/// <reference lib="esnext.disposable" preserve="true" />
/** A text that comes in chunks to token ids. */

import { checkText } from "./arguments.js";
import { disposedError, makeDisposable } from "./dispose.js";
import { beginParts, encodePart } from "./encode.js";
import type { Flags, ModelInstance, Session } from "./instance.js";
import type { Text } from "./memory.js";
import { Chunks } from "./text.js";

export interface Encoder extends Disposable {}

const newTail = () => new Chunks((length) => new Uint8Array(length));

/** UTF-8 of U+FFFD. */
const REPLACEMENT = Uint8Array.of(0xef, 0xbf, 0xbd);
/** A longer tail is not shown to the core with each chunk, but each time it has doubled. */
const LONG_TAIL = 1024;

/**
 * Encodes a text that comes in chunks: the ids of all `push` and of `flush` together are
 * those of `encode` for the whole text, wherever it is cut.
 *
 * From the first `push` to `flush` it holds working memory of the tokenizer's; `dispose`
 * gives it back before.
 */
export class Encoder {
  static {
    makeDisposable(Encoder.prototype);
  }

  readonly #model: ModelInstance;
  readonly #registry: FinalizationRegistry<Session> | undefined;
  readonly #flags: Flags;
  /** Of the text that is under way. */
  #session: Session | undefined;
  /** Its last bytes, which the core has not consumed yet: parts that are joined when needed. */
  #tail = newTail();
  /** Bytes of tail and chunk together that are worth another step. */
  #least = 0;
  /** The first half of a pair of surrogates, at the end of what was pushed. */
  #half = "";
  #disposed = false;

  /** @internal */
  constructor(
    model: ModelInstance,
    registry: FinalizationRegistry<Session> | undefined,
    flags: Flags,
  ) {
    void model.machine; // or an error: it is disposed
    this.#model = model;
    this.#registry = registry;
    this.#flags = flags;
  }

  /**
   * Encodes the next chunk of the text: of any length, cut anywhere. After an error the text
   * is over, and the next chunk begins another one.
   *
   * @returns The ids that no later text can change; often none.
   */
  push(chunk: Text): Uint32Array<ArrayBuffer> {
    return this.#step(checkText(chunk), false);
  }

  /** Ends the text and returns the rest of its ids. The next `push` begins another text. */
  flush(): Uint32Array<ArrayBuffer> {
    return this.#step("", true);
  }

  /** Gives the memory back; the encoder cannot be used any more. */
  dispose(): void {
    this.#disposed = true;
    this.#end();
  }

  #step(chunk: Text, last: boolean): Uint32Array<ArrayBuffer> {
    if (this.#disposed) throw disposedError();
    let isUnderWay = false;
    try {
      const session = this.#session ?? this.#begin();
      const text = this.#join(chunk, last);
      const ids = this.#encode(session, text, last);
      isUnderWay = !last;
      return ids;
    } finally {
      if (!isUnderWay) this.#end();
    }
  }

  #encode(session: Session, chunk: Text, last: boolean): Uint32Array<ArrayBuffer> {
    let text = chunk;
    if (this.#least > 0) {
      this.#tail.push(typeof text === "string" ? new TextEncoder().encode(text) : text.slice());
      if (!last && this.#tail.length < this.#least) return new Uint32Array();
      text = "";
    }
    const { ids, tail } = encodePart(this.#model, session, this.#tail.join(), text, last);
    this.#tail = newTail();
    this.#tail.push(tail);
    this.#least = tail.length > LONG_TAIL ? 2 * tail.length : 0;
    return ids;
  }

  #begin(): Session {
    const session = this.#model.openSession(false);
    this.#session = session;
    this.#registry?.register(this, session, this);
    beginParts(this.#model, session, this.#flags);
    return session;
  }

  #end(): void {
    this.#tail = newTail();
    this.#least = 0;
    this.#half = "";
    if (this.#session === undefined) return;
    this.#registry?.unregister(this);
    this.#model.release(this.#session);
    this.#session = undefined;
  }

  /** Puts in front of a chunk the half that was held, and holds one at its end. */
  #join(chunk: Text, last: boolean): Text {
    const half = this.#half;
    if (typeof chunk !== "string") {
      if (half !== "" && chunk.length > 0) {
        this.#tail.push(REPLACEMENT); // no bytes have the other half
        this.#half = "";
      }
      return chunk;
    }
    const text = half + chunk;
    const end = text.length - 1;
    const isCut = !last && (text.charCodeAt(end) & 0xfc00) === 0xd800;
    this.#half = isCut ? text.slice(end) : "";
    return isCut ? text.slice(0, end) : text;
  }
}
