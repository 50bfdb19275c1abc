/** What there is beside the best segmentation: samples and n-best lists. */

import type { EncodeOptions } from "./arguments.js";
import { encode } from "./encode.js";
import { argumentError } from "./errors.js";
import type { Algorithm } from "./info.js";
import { type Draw, type Flags, type ModelInstance, RESULT_WORDS } from "./instance.js";
import * as abi from "./layout_gen.js";
import type { Address, Text } from "./memory.js";
import { flagsOf } from "./special.js";
import { writeText } from "./text.js";

type Words = Uint32Array<ArrayBuffer>;

export interface SampleNbestOptions extends EncodeOptions {
  /**
   * P ~ exp(alpha * score): 0 makes all equally likely, the larger the more is it the best
   * one. 0.1 if not given.
   */
  readonly alpha?: number;
  /**
   * From 0 to 2^64 - 1; a bigint above 2^53 - 1. One seed gives the same ids on every host,
   * in every process; use another one for each text. Without one, a new one.
   */
  readonly seed?: number | bigint;
}

export interface SampleOptions extends SampleNbestOptions {
  /**
   * Unigram models only; 0.1 if not given. For "ffbs" as for n-best lists, of all
   * segmentations; for "gumbel" the noise: 0 gives the best one, the larger the more any.
   */
  readonly alpha?: number;
  /**
   * BPE models only: probability from 0 to 1 of leaving out a merge; 0.1 if not given. 1
   * leaves single characters.
   */
  readonly dropout?: number;
  /**
   * For unigram models: exact sampling ("ffbs", forward filtering and backward sampling; the
   * default), or the best segmentation after alpha * Gumbel noise was added to every piece, as
   * SentencePiece Lite does ("gumbel"): another distribution.
   */
  readonly method?: "ffbs" | "gumbel";
}

/** One segmentation of a text. */
export interface Scored {
  readonly ids: Words;
  /** Sum of the pieces' scores: a natural logarithm, as a float32. */
  readonly score: number;
}

/** Segmentations that `nbest` returns at most, as in sentencepiece. */
const MOST_PATHS = 512;
const DEFAULT_NOISE = 0.1;
/** Bytes of work space that a search begins with. */
const WORK = 1 << 18;

/** Draws a segmentation. */
export function sample(model: ModelInstance, text: Text, options: SampleOptions = {}): Words {
  const [kind, alpha] = kindOf(model.info.algorithm, options);
  const draw = { alpha, seed: seedOf(options.seed) };
  return encode(model, text, flagsOf(model, options, kind), 0, draw);
}

/** Draws one of the `n` best segmentations. */
export function sampleNbest(
  model: ModelInstance,
  text: Text,
  n: number,
  options: SampleNbestOptions = {},
): Words {
  const draw = { alpha: noiseOf("alpha", options.alpha), seed: seedOf(options.seed) };
  const [drawn] = nbest(model, text, flagsOf(model, options, abi.SAMPLE), n, draw);
  return (drawn as Scored).ids;
}

/** Flag and noise of a sample from a model. */
function kindOf(
  algorithm: Algorithm,
  { alpha, dropout, method = "ffbs" }: SampleOptions,
): [flag: number, noise: number] {
  if (method !== "ffbs" && method !== "gumbel") {
    throw argumentError(`method: ${String(method)} is unknown; use "ffbs" or "gumbel"`);
  }
  if (algorithm === "bpe") {
    if (alpha === undefined && method === "ffbs") {
      return [abi.DROPOUT, noiseOf("dropout", dropout, 1)];
    }
    throw argumentError("alpha, method: this is a bpe model; use dropout");
  }
  if (dropout !== undefined) throw argumentError("dropout: this is no bpe model; use alpha");
  return [method === "gumbel" ? abi.GUMBEL : abi.SAMPLE, noiseOf("alpha", alpha)];
}

function noiseOf(name: string, value = DEFAULT_NOISE, most = Number.MAX_VALUE): number {
  if (typeof value === "number" && value >= 0 && value <= most) return value;
  const limit = most === 1 ? "at most 1" : "a finite number";
  throw argumentError(`${name}: ${String(value)} is out of range; use ${limit}, not below 0`);
}

function seedOf(seed: number | bigint | undefined): bigint {
  if (seed === undefined) return crypto.getRandomValues(new BigUint64Array(1))[0] as bigint;
  if (typeof seed === "bigint" || Number.isSafeInteger(seed)) {
    if (seed >= 0 && seed < 2n ** 64n) return BigInt(seed);
  }
  throw argumentError(
    `seed: ${String(seed)} is out of range; use 0 to 2**64 - 1, a bigint above 2**53 - 1`,
  );
}

// -- n-best -------------------------------------------------------------------------

/** The `n` best segmentations, best first; by the flags, only the one of them that is drawn. */
export function nbest(
  model: ModelInstance,
  text: Text,
  flags: Flags,
  n: number,
  draw?: Draw,
): Scored[] {
  if (!(Number.isInteger(n) && n >= 1 && n <= MOST_PATHS)) {
    throw argumentError(`n: ${String(n)} is out of range; use 1 to ${MOST_PATHS}`);
  }
  try {
    model.writeOptions(flags, 0, abi.UNIT_BYTE, draw);
    return search(model, text, n);
  } finally {
    model.settle();
  }
}

/** Calls until there is room for the text, the search and the ids. */
function search(model: ModelInstance, text: Text, n: number): Scored[] {
  const { at, machine, session } = model;
  const { memory } = machine;
  const scores = at.ends + 4 * n;
  const { where, size } = layOut(model, text);
  let ids = at.results;
  let capacity = RESULT_WORDS;
  let work = model.loan(WORK);
  let workSize = WORK;
  for (;;) {
    model.writeTarget(ids, capacity);
    const status = machine.call(
      "isotok_nbest",
      session.pointer,
      at.options,
      where,
      size,
      n,
      work,
      workSize,
      at.output,
      at.ends,
      scores,
      at.second,
      at.error,
    );
    if (status < 0) throw model.error(status, "text");
    if (status === abi.OK) return results(model, ids, scores);
    const need = memory.long(at.error + abi.ERROR_NEED);
    if (status === abi.NEED_OUTPUT) {
      ids = model.loan(4 * need, ids);
      capacity = need;
    } else if (memory.word(at.error + abi.ERROR_WHAT) === abi.WHAT_NBEST_MEMORY) {
      work = model.loan(need, work);
      workSize = need;
    } else {
      model.grow(session);
    }
  }
}

/** Writes all of a text: to the window, or if that is too small, to memory behind it. */
function layOut(model: ModelInstance, text: Text): { where: Address; size: number } {
  const { at, machine } = model;
  const room = typeof text === "string" ? 3 * text.length : text.length;
  const where = room <= model.window ? at.text : model.loan(room);
  const { written } = writeText(machine.memory, text, where - at.text, room);
  return { where, size: written };
}

function results(model: ModelInstance, ids: Address, scores: Address): Scored[] {
  const { memory } = model.machine;
  const ends = memory.copyWords(model.at.ends, memory.word(model.at.second));
  const all = memory.copyWords(ids, ends.at(-1) as number);
  return Array.from(ends, (end, i) => ({
    ids: all.slice(i === 0 ? 0 : ends[i - 1], end),
    score: memory.float(scores + 4 * i),
  }));
}
