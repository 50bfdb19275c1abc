/** The table of normalizers; py_host/isotok/compile/normalizers/table.py says what is where. */

/** A compiled normalizer. */
export interface Program {
  readonly header: Uint32Array;
  readonly tables: Uint16Array;
  readonly text: Uint8Array;
  /** No U+0020 is left. */
  readonly escapes: boolean;
}

interface Row {
  readonly keys: readonly string[];
  readonly escapes: boolean;
  readonly header: number;
  readonly texts: number;
  readonly top: number;
  readonly middles: number;
  readonly blocks: number;
  readonly columns: readonly number[];
  readonly cells: number;
}

interface Head {
  readonly groups: Readonly<Record<string, readonly number[]>>;
  readonly texts: number;
  readonly sets: Readonly<Record<string, number>>;
  readonly programs: readonly Row[];
}

/** Where the two halves of an array are. */
interface Place {
  readonly low: number;
  readonly high: number;
  readonly size: number;
}

export class NormalizerTable {
  readonly #head: Head;
  readonly #body: Uint8Array;
  readonly #places = new Map<string, Place[]>();
  /** Where the shared texts begin. */
  readonly #texts: number[] = [];

  /** `raw`: the size of the head, the head, and the body inflated. */
  constructor(raw: Uint8Array) {
    const size = 4 + new DataView(raw.buffer, raw.byteOffset).getUint32(0, true);
    this.#head = JSON.parse(new TextDecoder().decode(raw.subarray(4, size)));
    this.#body = raw.subarray(size);
    let at = 0;
    for (const [group, sizes] of Object.entries(this.#head.groups)) {
      const places: Place[] = [];
      let high = at + sizes.reduce((sum, each) => sum + each, 0);
      for (const size of sizes) {
        places.push({ low: at, high, size });
        at += size;
        high += size;
      }
      this.#places.set(group, places);
      at = high;
    }
    for (; at < this.#body.length; at += 1 + (this.#body[at] as number)) this.#texts.push(at);
  }

  find(key: string): Program | undefined {
    const row = this.#head.programs.find(({ keys }) => keys.includes(key));
    if (row === undefined) return undefined;
    const columns = row.columns.map((number) => this.#array("columns", number));
    const rows = (columns[0] as Uint16Array).length;
    const lines = new Uint16Array(rows * columns.length);
    for (const [k, column] of columns.entries()) {
      for (const [i, cell] of column.entries()) lines[i * columns.length + k] = cell;
    }
    const parts = [
      this.#array("top", row.top),
      this.#array("middles", row.middles),
      this.#array("blocks", row.blocks),
      lines,
      this.#array("cells", row.cells),
    ];
    return {
      header: words(this.#array("header", row.header)),
      tables: joined(parts),
      text: this.#pool(this.#array("texts", row.texts)),
      escapes: row.escapes,
    };
  }

  set(name: string): Uint32Array {
    return words(this.#array("points", this.#head.sets[name] as number));
  }

  #array(group: string, number: number): Uint16Array {
    const { low, high, size } = (this.#places.get(group) as Place[])[number] as Place;
    const values = new Uint16Array(size);
    let value = 0;
    for (let i = 0; i < size; i++) {
      value += (this.#body[low + i] as number) | ((this.#body[high + i] as number) << 8);
      values[i] = value;
    }
    return values;
  }

  /** Texts at even places, each behind its size. */
  #pool(numbers: Uint16Array): Uint8Array {
    const pool = [0, 0];
    for (const number of numbers) {
      const at = this.#texts[number] as number;
      pool.push(...this.#body.subarray(at, at + 1 + (this.#body[at] as number)));
      if (pool.length % 2 === 1) pool.push(0);
    }
    return Uint8Array.from(pool);
  }
}

function words(halves: Uint16Array): Uint32Array {
  return Uint32Array.from(
    { length: halves.length / 2 },
    (_, i) => ((halves[2 * i] as number) | ((halves[2 * i + 1] as number) << 16)) >>> 0,
  );
}

function joined(parts: readonly Uint16Array[]): Uint16Array {
  const all = new Uint16Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
