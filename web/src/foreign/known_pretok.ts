/** The table of pre-tokenizers; py_host/isotok/compile/pretok/table.py says what is where. */

/** A compiled pre-tokenizer. */
export interface PretokArrays {
  readonly header: Uint32Array;
  readonly tables: Uint16Array;
  readonly classes: Uint8Array;
}

type Place = readonly [at: number, length: number];

interface Row {
  readonly name: string;
  readonly keys: readonly string[];
  readonly header: readonly number[];
  readonly remap: Place;
  readonly tables: Place;
  readonly bytes: Place;
}

interface Head {
  readonly pages: Place;
  readonly blocks: Place;
  readonly chains: readonly Row[];
}

export class PretokTable {
  readonly #head: Head;
  readonly #body: Uint8Array;

  constructor(raw: Uint8Array) {
    const size = 4 + new DataView(raw.buffer, raw.byteOffset).getUint32(0, true);
    this.#head = JSON.parse(new TextDecoder().decode(raw.subarray(4, size)));
    this.#body = raw.slice(size);
  }

  find(key: string): PretokArrays | undefined {
    return this.#unpack(this.#head.chains.find(({ keys }) => keys.includes(key)));
  }

  named(wanted: string): PretokArrays | undefined {
    return this.#unpack(this.#head.chains.find(({ name }) => name === wanted));
  }

  #unpack(row: Row | undefined): PretokArrays | undefined {
    if (row === undefined) return undefined;
    const master = { pages: this.#words(this.#head.pages), blocks: this.#bytes(this.#head.blocks) };
    const map = remapped(master, this.#bytes(row.remap));
    return {
      header: Uint32Array.from(row.header),
      tables: Uint16Array.from([...map.pages, ...this.#words(row.tables)]),
      classes: Uint8Array.from([...map.blocks, ...this.#bytes(row.bytes)]),
    };
  }

  #bytes([at, length]: Place): Uint8Array {
    return this.#body.subarray(at, at + length);
  }

  #words([at, length]: Place): Uint16Array {
    return new Uint16Array(this.#body.slice(at, at + 2 * length).buffer);
  }
}

// -- the class map ------------------------------------------------------------------

const BLOCK = 64;
const BMP_PAGES = 1024;
const PLANE_PAGES = 512;
const FIRST_GROUP = BMP_PAGES + PLANE_PAGES;
const FIRST_PLANE_PAGE = 16;
const LAST_PLANE_PAGE = 0x10ffff >> 12;

interface ClassMap {
  readonly pages: Uint16Array | number[];
  readonly blocks: Uint8Array | number[];
}

/** The map after class i has become `classes[i]`: equal blocks and groups of pages are one. */
function remapped(
  master: { pages: Uint16Array; blocks: Uint8Array },
  classes: Uint8Array,
): ClassMap {
  const ascii = 2; // blocks of ASCII keep their numbers, whatever they hold
  const blocks = Array.from(master.blocks.subarray(0, ascii * BLOCK), (one) => classes[one] ?? 0);
  const blockNumber = numbering(ascii, (block) => blocks.push(...block));
  const known = [0, 1];
  for (let at = ascii * BLOCK; at < master.blocks.length; at += BLOCK) {
    const block = Array.from(master.blocks.subarray(at, at + BLOCK), (one) => classes[one] ?? 0);
    known.push(blockNumber(block));
  }
  const numbers = (pages: Uint16Array) => Array.from(pages, (page) => known[page] as number);
  const pages = numbers(master.pages.subarray(0, BMP_PAGES));
  const groups: number[] = [];
  const groupNumber = numbering(0, (group) => groups.push(...group));
  const planes: number[] = [];
  for (let i = FIRST_PLANE_PAGE; i <= LAST_PLANE_PAGE; i++) {
    const at = master.pages[BMP_PAGES + i] as number;
    planes.push(groupNumber(numbers(master.pages.subarray(at, at + BLOCK))));
  }
  const filler = planes.at(-1) as number;
  for (let i = 0; i < PLANE_PAGES; i++) {
    pages.push(FIRST_GROUP + (planes[i - FIRST_PLANE_PAGE] ?? filler) * BLOCK);
  }
  return { pages: [...pages, ...groups], blocks };
}

/** Numbers lists as they are first met, and tells of new ones. */
function numbering(
  first: number,
  isNew: (list: readonly number[]) => void,
): (list: readonly number[]) => number {
  const found = new Map<string, number>();
  return (list) => {
    const key = list.join();
    const known = found.get(key);
    if (known !== undefined) return known;
    isNew(list);
    found.set(key, first + found.size);
    return first + found.size - 1;
  };
}
