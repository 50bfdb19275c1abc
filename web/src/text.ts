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
    const { read, written } = writeText(memory, this.#next(room), at, room);
    this.#position += read;
    return written;
  }

  /**
   * What may fit into `room` bytes. Not all that is left: browsers copy a string to encode
   * it. A pair of surrogates that this cuts is not written: before it are `room - 1` units,
   * so at least as many bytes.
   */
  #next(room: number): Text {
    const text = this.#text;
    const position = this.#position;
    const end = position + room;
    if (position === 0 && text.length <= end) return text;
    return typeof text === "string" ? text.slice(position, end) : text.subarray(position, end);
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

/** Bytes of the well-formed character at `at`; 0: there is none. */
function characterSize(bytes: Uint8Array, at: number): number {
  const [lead = 0, second = 0, ...rest] = bytes.subarray(at, at + 4);
  if (lead < 0x80) return 1;
  const size = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  const least = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  const most = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  const isWhole = rest.length >= size - 2 && second >= least && second <= most;
  return isWhole && rest.slice(0, size - 2).every((byte) => byte >> 6 === 2) ? size : 0;
}

/** Length of a text in what offsets count; ill-formed bytes are U+FFFD, one each. */
export function unitsOf(text: Text, unit: "utf16" | "codepoint" | "byte"): number {
  if (typeof text === "string") {
    if (unit === "utf16") return text.length;
    return unit === "byte" ? new TextEncoder().encode(text).length : [...text].length;
  }
  if (unit === "byte") return text.length;
  let count = 0;
  for (let at = 0; at < text.length; ) {
    const size = characterSize(text, at);
    count += size === 4 && unit === "utf16" ? 2 : 1;
    at += size || 1;
  }
  return count;
}
