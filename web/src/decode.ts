/// <reference lib="esnext.disposable" preserve="true" />
/** Token ids to text, at once or as they come. */

import { checkIds } from "./arguments.js";
import { disposedError, makeDisposable } from "./dispose.js";
import { argumentError } from "./errors.js";
import type { ModelInstance, Session } from "./instance.js";
import { RESULT_WORDS } from "./instance.js";
import * as abi from "./layout_gen.js";
import type { Ids, Text } from "./memory.js";
import type { IdChunk } from "./streams.js";
import { Chunks, writeText } from "./text.js";

export interface Decoder extends Disposable {}

export function decode(model: ModelInstance, ids: Ids, flags: number): string {
  const { at, machine, utf8 } = model;
  let text = "";
  try {
    decodeAll(model, ids, flags, (count) => {
      text += machine.memory.readText(at.results, count, utf8, true);
    });
  } finally {
    text += utf8.decode(); // after an error, forgets what is left
  }
  return text;
}

export function decodeBytes(
  model: ModelInstance,
  ids: Ids,
  flags: number,
): Uint8Array<ArrayBuffer> {
  const { at, machine } = model;
  const bytes = new Chunks((length) => new Uint8Array(length));
  decodeAll(model, ids, flags | abi.RAW_BYTES, (count) => {
    bytes.push(machine.memory.copy(at.results, count));
  });
  return bytes.join();
}

/** Text of pieces given by their text; what is no piece is taken as it is. */
export function decodePieces(model: ModelInstance, pieces: readonly Text[]): string {
  const { at, machine, session, utf8 } = model;
  let text = "";
  const drain = (count: number) => {
    text += machine.memory.readText(at.results, count, utf8, true);
  };
  try {
    begin(model, session, 0);
    for (const piece of pieces) stepPiece(model, piece, false, drain);
    stepPiece(model, "", true, drain);
  } finally {
    text += utf8.decode();
    model.settle();
  }
  return text;
}

function decodeAll(
  model: ModelInstance,
  ids: Ids,
  flags: number,
  drain: (count: number) => void,
): void {
  try {
    begin(model, model.session, flags);
    step(model, model.session, ids, true, drain);
  } finally {
    model.settle();
  }
}

function begin(model: ModelInstance, session: Session, flags: number): void {
  const { error } = model.at;
  const status = model.machine.call("isotok_decode_begin", session.pointer, flags, error);
  if (status !== abi.OK) throw model.error(status, "ids");
}

/**
 * Decodes ids; `drain` takes the number of bytes in the results, step by step.
 *
 * @param before Ids of the text that came before these.
 */
function step(
  model: ModelInstance,
  session: Session,
  ids: Ids,
  last: boolean,
  drain: (count: number) => void,
  before = 0,
): void {
  const { memory } = model.machine;
  const room = Math.floor(model.window / 4);
  let done = 0;
  do {
    const count = Math.min(room, ids.length - done);
    // What is no uint32 is written as one that no model has: the core says which it is.
    memory.writeIds(model.at.text, ids, done, count);
    const end = done + count === ids.length;
    repeatStep(model, "isotok_decode_step", session, count, last && end, before + done, drain);
    done += count;
  } while (done < ids.length);
}

/** Decodes a piece text; one that is longer than the window can be no piece of a model. */
function stepPiece(
  model: ModelInstance,
  piece: Text,
  last: boolean,
  drain: (count: number) => void,
): void {
  const { read, written } = writeText(model.machine.memory, piece, 0, model.window);
  if (read < piece.length) throw argumentError("pieces: one is longer than any piece can be");
  repeatStep(model, "isotok_decode_piece", model.session, written, last, 0, drain);
}

/** Calls until what is in the window is taken. */
function repeatStep(
  model: ModelInstance,
  name: "isotok_decode_step" | "isotok_decode_piece",
  session: Session,
  count: number,
  last: boolean,
  done: number,
  drain: (count: number) => void,
): void {
  const { at, machine } = model;
  const { memory } = machine;
  memory.setWord(at.second, 0); // ids or pieces consumed
  let status: number;
  do {
    status = machine.call(
      name,
      session.pointer,
      at.text,
      count,
      at.second,
      last ? 1 : 0,
      at.results,
      4 * RESULT_WORDS,
      at.first,
      at.error,
    );
    if (status < 0) throw model.error(status, "ids", done);
    drain(memory.word(at.first));
    if (status === abi.NEED_SCRATCH) model.grow(session);
  } while (status !== abi.OK);
}

/**
 * Decodes ids as they come: `push` returns the text that is certain by now, and never a
 * part of a character. The pieces of text together are what `decode` gives for all ids.
 *
 * It holds some kilobytes of the tokenizer's memory until it is disposed of.
 */
export class Decoder {
  static {
    makeDisposable(Decoder.prototype);
  }

  readonly #model: ModelInstance;
  readonly #registry: FinalizationRegistry<Session> | undefined;
  readonly #flags: number;
  // Only pieces that are themselves cut inside a character (not those for single bytes,
  // which the core joins) ever make this hold something.
  readonly #utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
  #session: Session | undefined;
  #begun = false;
  /** Ids of the text so far. */
  #done = 0;

  /** @internal */
  constructor(
    model: ModelInstance,
    registry: FinalizationRegistry<Session> | undefined,
    flags: number,
  ) {
    this.#model = model;
    this.#flags = flags;
    this.#registry = registry;
    this.#session = model.openSession(true);
    registry?.register(this, this.#session, this);
  }

  /**
   * Decodes the next ids.
   *
   * @returns The text that is certain; often "" within a character made of byte pieces.
   * @throws TokenizerError `E_ID_RANGE`: `index` is the position in all ids of the text. The
   * text is over, and the next id begins another one. Of a tokenizer.json, ids that are not in
   * the vocabulary decode to nothing.
   */
  push(ids: IdChunk): string {
    return this.#step(typeof ids === "object" ? checkIds(ids) : [Number(ids)], false);
  }

  /** Ends the text and returns the rest of it. The next `push` begins another text. */
  flush(): string {
    const text = this.#step([], true) + this.#utf8.decode();
    this.#begun = false;
    return text;
  }

  /** Gives the memory back. */
  dispose(): void {
    if (this.#session === undefined) return;
    this.#registry?.unregister(this);
    this.#model.release(this.#session);
    this.#session = undefined;
  }

  #step(ids: Ids, last: boolean): string {
    const model = this.#model;
    const session = this.#session;
    if (session === undefined) throw disposedError();
    if (!this.#begun) begin(model, session, this.#flags);
    const before = this.#done;
    this.#begun = false; // stays so if the step fails
    this.#done = 0;
    let text = "";
    const drain = (count: number) => {
      text += model.machine.memory.readText(model.at.results, count, this.#utf8, true);
    };
    try {
      step(model, session, ids, last, drain, before);
      this.#begun = true;
      this.#done = last ? 0 : before + ids.length;
    } finally {
      if (!this.#begun) this.#utf8.decode();
    }
    return text;
  }
}
