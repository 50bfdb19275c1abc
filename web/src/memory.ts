/**
 * Linear memory of a wasm instance: the only file that looks behind an address.
 *
 * Views of linear memory die when it grows, so but for `view` none leaves this file: what is
 * returned is a copy. Only the host grows it, and only through `reserve`.
 */

import { TokenizerError } from "./errors.js";
import * as abi from "./layout_gen.js";
import { isUint32Array } from "./tags.js";

/** Place in linear memory. */
export type Address = number;

/** What a text can be: a string, or UTF-8 (ill-formed bytes become U+FFFD, one each). */
export type Text = string | Uint8Array;

/** Token ids, in any array or typed array of numbers or bigints. */
export type Ids = ArrayLike<number> | ArrayLike<bigint>;

const PAGE = 65536;

export function align(address: Address, alignment: number): Address {
  return Math.ceil(address / alignment) * alignment;
}

/** How much of a text was written: UTF-16 units or bytes of it, and bytes in memory. */
export interface Written {
  readonly read: number;
  readonly written: number;
}

export class Memory {
  readonly #memory: WebAssembly.Memory;
  readonly #encoder = new TextEncoder();
  #bytes: Uint8Array<ArrayBuffer>;
  #words: Uint32Array<ArrayBuffer>;
  #view: DataView;
  #windowAt = 0;
  #window: Uint8Array<ArrayBuffer>;

  constructor(memory: WebAssembly.Memory) {
    this.#memory = memory;
    this.#bytes = new Uint8Array(memory.buffer);
    this.#words = new Uint32Array(memory.buffer);
    this.#view = new DataView(memory.buffer);
    this.#window = this.#bytes;
  }

  /** Size in bytes. */
  get size(): number {
    return this.#bytes.length;
  }

  /** Makes linear memory at least `size` bytes large. */
  reserve(size: number): void {
    if (size <= this.size) return;
    try {
      this.#memory.grow(Math.ceil((size - this.size) / PAGE));
    } catch (error) {
      throw new TokenizerError(
        "E_TOO_LARGE",
        `wasm: no memory for ${size} bytes in all; use a smaller model or text, or close others`,
        { status: abi.E_TOO_LARGE, need: size },
        { cause: error },
      );
    }
    this.#look();
  }

  #look(): void {
    const buffer = this.#memory.buffer;
    this.#bytes = new Uint8Array(buffer);
    this.#words = new Uint32Array(buffer);
    this.#view = new DataView(buffer);
    this.#window = this.#bytes.subarray(this.#windowAt);
  }

  /** Where texts are written. */
  get window(): Address {
    return this.#windowAt;
  }

  // -- numbers --------------------------------------------------------------------

  word(at: Address): number {
    return this.#words[at >>> 2] as number;
  }

  setWord(at: Address, value: number): void {
    this.#words[at >>> 2] = value;
  }

  /** A uint64, exact up to 2^53. */
  long(at: Address): number {
    return this.word(at) + this.word(at + 4) * 2 ** 32;
  }

  setLong(at: Address, value: number): void {
    this.setWord(at, value);
    this.setWord(at + 4, Math.floor(value / 2 ** 32));
  }

  /** Writes a uint64. */
  setBits(at: Address, value: bigint): void {
    this.#view.setBigUint64(at, value, true);
  }

  float(at: Address): number {
    return this.#view.getFloat32(at, true);
  }

  setDouble(at: Address, value: number): void {
    this.#view.setFloat64(at, value, true);
  }

  // -- blocks ---------------------------------------------------------------------

  write(at: Address, bytes: Uint8Array): void {
    this.#bytes.set(bytes, at);
  }

  copy(at: Address, size: number): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(at, at + size);
  }

  /** A block as it is, for whoever lets the memory be from now on. */
  view(at: Address, size: number): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(at, at + size);
  }

  copyWords(at: Address, count: number): Uint32Array<ArrayBuffer> {
    return this.#words.slice(at >>> 2, (at >>> 2) + count);
  }

  /** Copies `count` words to `target` from `offset` on. */
  copyWordsTo(target: Uint32Array, offset: number, at: Address, count: number): void {
    target.set(this.#words.subarray(at >>> 2, (at >>> 2) + count), offset);
  }

  move(to: Address, from: Address, size: number): void {
    this.#bytes.copyWithin(to, from, from + size);
  }

  /** Copies a block of another instance's memory. */
  adopt(at: Address, other: Memory, from: Address, size: number): void {
    this.#bytes.set(other.#bytes.subarray(from, from + size), at);
  }

  /** Writes ids; what is no uint32 becomes one that no model has. */
  writeIds(at: Address, ids: Ids, begin: number, count: number): void {
    const word = at >>> 2;
    if (isUint32Array(ids)) {
      this.#words.set(ids.subarray(begin, begin + count), word);
      return;
    }
    for (let i = 0; i < count; i++) {
      const id = Number(ids[begin + i]);
      this.#words[word + i] = id === id >>> 0 ? id : abi.NO_TOKEN;
    }
  }

  // -- text -----------------------------------------------------------------------

  /** Says where texts are written, to keep a view of that. */
  setWindow(at: Address): void {
    this.#windowAt = at;
    this.#window = this.#bytes.subarray(at);
  }

  /**
   * Writes as many whole characters of `text` as fit into `room` bytes of the window,
   * `at` bytes from its beginning; lone surrogates become U+FFFD.
   */
  writeText(text: string, at: number, room: number): Written {
    const whole = at === 0 && text.length * 3 <= room;
    const target = whole ? this.#window : this.#window.subarray(at, at + room);
    return this.#encoder.encodeInto(text, target);
  }

  /** Writes UTF-8 to the window. */
  writeWindow(at: number, bytes: Uint8Array): void {
    this.#window.set(bytes, at);
  }

  /** Decodes UTF-8. `decoder` may keep the beginning of a character with `stream`. */
  readText(at: Address, size: number, decoder: TextDecoder, stream: boolean): string {
    return decoder.decode(this.#bytes.subarray(at, at + size), { stream });
  }

  /** A NUL-terminated ASCII text. */
  readName(at: Address): string {
    const end = this.#bytes.indexOf(0, at);
    return String.fromCharCode(...this.#bytes.subarray(at, end));
  }
}

/**
 * Blocks of memory behind everything else, for what comes and goes.
 */
export class Arena {
  readonly #begin: Address;
  /** Taken blocks in the order of their addresses. */
  readonly #blocks: { at: Address; end: Address }[] = [];

  constructor(begin: Address) {
    this.#begin = begin;
  }

  get isEmpty(): boolean {
    return this.#blocks.length === 0;
  }

  /** Takes `size` bytes, 64-aligned. */
  take(memory: Memory, size: number): Address {
    let at = this.#begin;
    let index = 0;
    for (const block of this.#blocks) {
      if (block.at - at >= size) break;
      at = block.end;
      index++;
    }
    const end = align(at + size, 64);
    memory.reserve(end);
    this.#blocks.splice(index, 0, { at, end });
    return at;
  }

  give(at: Address): void {
    const index = this.#blocks.findIndex((block) => block.at === at);
    if (index >= 0) this.#blocks.splice(index, 1);
  }
}
