/** Pre-tokenizers and normalizers that are compiled in advance, as tables of the package. */

import { toBytes } from "./fields.js";
import { inflate } from "./inflate.js";
import { NormalizerTable, type Program } from "./known_normalizers.js";
import { type PretokArrays, PretokTable } from "./known_pretok.js";
import { normalizers, pretokenizers } from "./known_tables.js";

/** Both tables; each is unpacked when it is asked for. */
export class Known {
  #pretok: PretokTable | undefined;
  #normalizers: NormalizerTable | undefined;

  /** What cuts text, by the steps that do. */
  pretokenizer(key: readonly unknown[]): PretokArrays | undefined {
    return this.#pretokTable().find(JSON.stringify(key));
  }

  /** The pattern of an encoding of tiktoken. */
  encoding(name: string): PretokArrays | undefined {
    return this.#pretokTable().named(`tiktoken ${name}`);
  }

  /** What rewrites text, by the steps that do. */
  normalizer(key: readonly unknown[]): Program | undefined {
    return this.#normalizerTable().find(JSON.stringify(key));
  }

  /** Ranges of the characters of words. */
  words(): Uint32Array {
    return this.#normalizerTable().set("word");
  }

  #pretokTable(): PretokTable {
    const [size, text] = pretokenizers;
    this.#pretok ??= new PretokTable(inflate(toBytes(atob(text)), size));
    return this.#pretok;
  }

  #normalizerTable(): NormalizerTable {
    const [size, text] = normalizers;
    this.#normalizers ??= new NormalizerTable(inflate(toBytes(atob(text)), size));
    return this.#normalizers;
  }
}

let tables: Known | undefined;

/** The tables, kept in this realm. */
export function knownTables(): Known {
  tables ??= new Known();
  return tables;
}
