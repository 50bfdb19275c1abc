/** One text with one model: ids, ranges in three units, timing, and groups on demand. */

import type { Encoding, Tokenizer } from "isotok";
import { GroupReader, type Ranges } from "./groups.js";
import type { Groups, Options, SideResult, Timing } from "./protocol.js";
import { checkRoundTrip } from "./round_trip.js";

/** A short text is encoded again until the clock, which has 0.1 ms steps, can tell. */
const ENOUGH_MILLISECONDS = 10;
const MAX_RUNS = 10_000;

export class Analysis {
  readonly ids: Uint32Array;
  readonly ranges: Ranges;
  readonly tokenizer: Tokenizer;
  readonly timing: Timing;
  /** For each token, 1 where the other model cuts otherwise; set by `compare`. */
  differs: Uint8Array | undefined;
  differences: number | undefined;
  readonly #text: string;
  #reader: GroupReader | undefined;

  constructor(tokenizer: Tokenizer, text: string, { bos, eos }: Options) {
    const { bosId, eosId } = tokenizer.info;
    const options = { bos: bos && bosId !== undefined, eos: eos && eosId !== undefined };
    this.tokenizer = tokenizer;
    this.#text = text;
    this.timing = time(() => tokenizer.encode(text, options));
    const inUnit = (unit: "utf16" | "codepoint" | "byte"): Encoding =>
      tokenizer.encodeWithOffsets(text, { ...options, unit });
    const byte = inUnit("byte");
    this.ids = byte.ids;
    this.ranges = { byte, utf16: inUnit("utf16"), codepoint: inUnit("codepoint") };
  }

  result(groups: number): SideResult {
    return {
      tokens: this.ids.length,
      timing: this.timing,
      roundTrip: checkRoundTrip(this.tokenizer, this.#text, this.ids),
      differences: this.differences,
      groups: this.next(groups),
    };
  }

  next(groups: number): Groups {
    this.#reader ??= new GroupReader(this, this.#text);
    return this.#reader.next(groups);
  }
}

function time(run: () => unknown): Timing {
  const begin = performance.now();
  let runs = 0;
  let passed: number;
  do {
    run();
    runs++;
    passed = performance.now() - begin;
  } while (passed < ENOUGH_MILLISECONDS && runs < MAX_RUNS);
  return { milliseconds: passed / runs, runs };
}
