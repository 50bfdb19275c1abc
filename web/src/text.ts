/** Walks through a text of any length, a window at a time. */

import type { Memory, Text } from "./memory.js";

export class TextReader {
  readonly #text: Text;
  #position = 0;

  constructor(text: Text) {
    this.#text = text;
  }

  /** Whether all of the text has been written. */
  get done(): boolean {
    return this.#position === this.#text.length;
  }

  /** Writes what fits into `room` bytes of the window from `at` on; returns the bytes. */
  fill(memory: Memory, at: number, room: number): number {
    const { read, written } = writeText(memory, this.#rest(), at, room);
    this.#position += read;
    return written;
  }

  #rest(): Text {
    const text = this.#text;
    if (this.#position === 0) return text;
    return typeof text === "string" ? text.slice(this.#position) : text.subarray(this.#position);
  }
}

/** Writes as much of a text as fits. */
export function writeText(
  memory: Memory,
  text: Text,
  at: number,
  room: number,
): { read: number; written: number } {
  if (typeof text === "string") return memory.writeText(text, at, room);
  const part = text.length <= room ? text : text.subarray(0, room);
  memory.writeWindow(at, part);
  return { read: part.length, written: part.length };
}

/** Collects results that come in parts. */
export class Chunks<T extends Uint8Array<ArrayBuffer> | Uint32Array<ArrayBuffer>> {
  readonly #parts: T[] = [];
  readonly #create: (length: number) => T;
  length = 0;

  constructor(create: (length: number) => T) {
    this.#create = create;
  }

  push(part: T): void {
    this.#parts.push(part);
    this.length += part.length;
  }

  /** All parts in one array. */
  join(): T {
    const first = this.#parts[0];
    if (first !== undefined && this.#parts.length === 1) return first;
    const all = this.#create(this.length);
    let at = 0;
    for (const part of this.#parts) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  }
}
