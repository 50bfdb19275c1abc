/** Inflates raw deflate data (RFC 1951) of our own making, on hosts with and without streams. */

const MOST_BITS = 15;
const ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15] as const;

/** Canonical Huffman codes: how many there are of each length, and the symbols in order. */
interface Codes {
  readonly counts: Uint16Array;
  readonly symbols: Uint16Array;
}

function codesOf(lengths: ArrayLike<number>): Codes {
  const counts = new Uint16Array(MOST_BITS + 1);
  for (let i = 0; i < lengths.length; i++) add(counts, lengths[i] as number);
  counts[0] = 0;
  const next = new Uint16Array(MOST_BITS + 2);
  for (let i = 1; i <= MOST_BITS; i++) {
    next[i + 1] = (next[i] as number) + (counts[i] as number);
  }
  const symbols = new Uint16Array(lengths.length);
  for (let i = 0; i < lengths.length; i++) {
    const length = lengths[i] as number;
    if (length > 0) symbols[add(next, length)] = i;
  }
  return { counts, symbols };
}

/** Counts one up; returns what was there. */
function add(counts: Uint16Array, at: number): number {
  const before = counts[at] as number;
  counts[at] = before + 1;
  return before;
}

const FIXED = [
  codesOf(Array.from({ length: 288 }, (_, i) => (i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8))),
  codesOf(new Uint8Array(30).fill(5)),
] as const;

/** Inflates to exactly `size` bytes. */
export function inflate(data: Uint8Array, size: number): Uint8Array<ArrayBuffer> {
  return new Inflater(data, new Uint8Array(size)).run();
}

class Inflater {
  readonly #data: Uint8Array;
  readonly #out: Uint8Array<ArrayBuffer>;
  #at = 0;
  #done = 0;
  #held = 0;
  #count = 0;

  constructor(data: Uint8Array, out: Uint8Array<ArrayBuffer>) {
    this.#data = data;
    this.#out = out;
  }

  run(): Uint8Array<ArrayBuffer> {
    let last: number;
    do {
      last = this.#bits(1);
      const kind = this.#bits(2);
      if (kind === 0) this.#stored();
      else if (kind === 1) this.#block(...FIXED);
      else this.#block(...this.#dynamic());
    } while (last === 0);
    if (this.#done !== this.#out.length) throw new RangeError("the data is damaged");
    return this.#out;
  }

  #bits(count: number): number {
    while (this.#count < count) {
      this.#held |= (this.#data[this.#at++] ?? 0) << this.#count;
      this.#count += 8;
    }
    if (this.#at > this.#data.length + 4) throw new RangeError("the data is cut short");
    const value = this.#held & ((1 << count) - 1);
    this.#held >>>= count;
    this.#count -= count;
    return value;
  }

  #symbol({ counts, symbols }: Codes): number {
    let code = 0;
    let first = 0;
    let index = 0;
    for (let length = 1; length <= MOST_BITS; length++) {
      code |= this.#bits(1);
      const count = counts[length] as number;
      if (code - first < count) return symbols[index + code - first] as number;
      index += count;
      first = (first + count) << 1;
      code <<= 1;
    }
    throw new RangeError("the data is damaged");
  }

  #stored(): void {
    this.#held = this.#count = 0;
    const size = (this.#data[this.#at] as number) | ((this.#data[this.#at + 1] as number) << 8);
    this.#at += 4;
    this.#out.set(this.#data.subarray(this.#at, this.#at + size), this.#done);
    this.#at += size;
    this.#done += size;
  }

  #dynamic(): [Codes, Codes] {
    const literals = this.#bits(5) + 257;
    const distances = this.#bits(5) + 1;
    const count = this.#bits(4) + 4;
    const lengths = new Uint8Array(ORDER.length);
    for (const symbol of ORDER.slice(0, count)) lengths[symbol] = this.#bits(3);
    const codes = codesOf(lengths);
    const all = new Uint8Array(literals + distances);
    for (let i = 0; i < all.length; ) {
      const symbol = this.#symbol(codes);
      if (symbol < 16) {
        all[i++] = symbol;
        continue;
      }
      const value = symbol === 16 ? (all[i - 1] ?? 0) : 0;
      const times =
        symbol === 16 ? 3 + this.#bits(2) : symbol === 17 ? 3 + this.#bits(3) : 11 + this.#bits(7);
      all.fill(value, i, i + times);
      i += times;
    }
    return [codesOf(all.subarray(0, literals)), codesOf(all.subarray(literals))];
  }

  #block(literals: Codes, distances: Codes): void {
    const out = this.#out;
    for (;;) {
      const symbol = this.#symbol(literals);
      if (symbol === 256) return;
      if (this.#done >= out.length) throw new RangeError("the data is damaged");
      if (symbol < 256) {
        out[this.#done++] = symbol;
        continue;
      }
      const length = this.#lengthOf(symbol - 257);
      const from = this.#done - this.#distanceOf(this.#symbol(distances));
      for (let i = 0; i < length; i++) out[this.#done++] = out[from + i] as number;
    }
  }

  #lengthOf(code: number): number {
    if (code < 8) return 3 + code;
    if (code === 28) return 258;
    const extra = (code >> 2) - 1;
    return 3 + ((4 + (code & 3)) << extra) + this.#bits(extra);
  }

  #distanceOf(code: number): number {
    if (code < 4) return 1 + code;
    const extra = (code >> 1) - 1;
    return 1 + ((2 + (code & 1)) << extra) + this.#bits(extra);
  }
}
