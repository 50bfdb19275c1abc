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

/** Length of a text in what offsets count; ill-formed bytes are U+FFFD, one each. */
export function unitsOf(text: Text, unit: "utf16" | "codepoint" | "byte"): number {
  const inBytes = (part: string) => new TextEncoder().encode(part).length;
  const isString = typeof text === "string";
  if (unit === "byte") return isString ? inBytes(text) : text.length;
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const known = isString ? text : decoder.decode(text).replaceAll("\ufffd", "");
  const count = unit === "utf16" ? known.length : [...known].length;
  if (isString) return count;
  // The other bytes are one each, but for those of a U+FFFD that is there.
  const isThere = (byte: number, i: number) =>
    byte === 0xef && text[i + 1] === 0xbf && text[i + 2] === 0xbd;
  return count + text.length - inBytes(known) - 2 * text.filter(isThere).length;
}
