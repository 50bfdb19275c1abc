/** The merges of a BPE model, as the format's list of splits (FORMAT.md, section 12). */

import type { Affixes } from "./affixes.js";
import { get, type Json } from "./checked.js";
import { broken, shorten, unsupported } from "./errors.js";
import type { Vocabulary } from "./vocabulary.js";

const PATH = "model.merges";
const MOST_MERGES = 1 << 22;
const LEFT_BITS = 10;
const MOST_LEFT = (1 << LEFT_BITS) - 1;
const MOST_SPLITS = 255;

/** How many splits each piece has, and all of them by piece. */
export interface Splits {
  readonly counts: Uint8Array;
  readonly splits: Uint32Array;
}

/** What a model makes of merges. */
export interface Merging {
  readonly vocabulary: Vocabulary;
  /** Ids of the model. */
  readonly size: number;
  /** Bytes of a part in what the segmenter sees. */
  readonly measure: (text: string) => number;
  /** What tokens of two parts are spelled with. */
  readonly affixes: Affixes;
  /** Whether no text gives a token: its merges do nothing. */
  readonly isApart: (text: string) => boolean;
  /** Whether merges of a token are not supported. */
  readonly isRefused: (text: string) => boolean;
}

/** Reads `model.merges`: the earlier a pair is there, the sooner it is merged. */
export function readSplits(model: Json, merging: Merging): Splits {
  const { vocabulary, measure, affixes, isApart, isRefused } = merging;
  const merges = readMerges(model);
  const tokens = new Uint32Array(merges.length);
  const entries = new Uint32Array(merges.length);
  const find = finder(vocabulary);
  let count = 0;
  for (let rank = 0; rank < merges.length; rank++) {
    const [left, right] = pairOf(merges[rank] as Merge);
    const isPlain = affixes.prefix === "";
    const joined = isPlain ? left + right : affixes.join(left, right);
    const token = isPlain ? find(left, right) : joined && vocabulary.get(joined);
    if (typeof token !== "number" || !vocabulary.has(left) || !vocabulary.has(right)) {
      const missing = [left, right].find((text) => !vocabulary.has(text)) ?? joined ?? left + right;
      throw broken(`${PATH}[${rank}]`, `${shorten(missing)} is not in the vocabulary`);
    }
    if (isRefused(left) || isRefused(right) || isRefused(joined as string)) {
      throw unsupported(`${PATH}[${rank}]`, `a merge of ${shorten(left)} and ${shorten(right)}`);
    }
    const length = measure(left);
    if (length > MOST_LEFT) {
      throw unsupported(`${PATH}[${rank}]`, `a left part over ${MOST_LEFT} bytes`);
    }
    if (!affixes.isEmpty && affixes.isIdle(left, right, `${PATH}[${rank}]`)) continue;
    if (isApart(left) || isApart(right) || isApart(joined as string)) continue;
    tokens[count] = token;
    entries[count++] = (rank << LEFT_BITS) | length;
  }
  return grouped(tokens.subarray(0, count), entries.subarray(0, count), merging.size);
}

/**
 * Finds the token of two texts end to end: first behind the one that it found last, as most files
 * number them, where nothing has to be joined.
 */
function finder(vocabulary: Vocabulary): (left: string, right: string) => number | undefined {
  const texts: (string | undefined)[] = [];
  for (const [text, id] of vocabulary) texts[id] = text;
  let last: number | undefined;
  return (left, right) => {
    const next = last === undefined ? last : texts[last + 1];
    const isNext =
      next?.length === left.length + right.length && next.startsWith(left) && next.endsWith(right);
    last = isNext ? (last as number) + 1 : vocabulary.get(left + right);
    return last;
  };
}

/** Groups entries by token; of a pair that is there twice the last counts, as in tokenizers. */
function grouped(tokens: Uint32Array, entries: Uint32Array, size: number): Splits {
  const ends = new Uint32Array(size + 1);
  for (const token of tokens) ends[token + 1] = (ends[token + 1] as number) + 1;
  for (let i = 0; i < size; i++) ends[i + 1] = (ends[i + 1] as number) + (ends[i] as number);
  const next = ends.slice(0, size);
  const sorted = new Uint32Array(entries.length);
  for (const [i, token] of tokens.entries()) {
    const at = next[token] as number;
    sorted[at] = entries[i] as number; // ranks go up within a token
    next[token] = at + 1;
  }
  const counts = new Uint8Array(size);
  const splits = new Uint32Array(entries.length);
  let total = 0;
  for (let token = 0; token < size; token++) {
    const group = lastOfEach(sorted.subarray(ends[token], ends[token + 1]));
    if (group.length > MOST_SPLITS) {
      throw unsupported(PATH, `more than ${MOST_SPLITS} merges that give one token`);
    }
    splits.set(group, total);
    counts[token] = group.length;
    total += group.length;
  }
  return { counts, splits: splits.slice(0, total) };
}

/** Of entries with the same left length, only the last. */
function lastOfEach(group: Uint32Array): Uint32Array {
  if (group.length < 2) return group;
  const last = new Map<number, number>();
  for (const entry of group) last.set(entry & MOST_LEFT, entry);
  return Uint32Array.from(last.values()).sort();
}

type Pair = readonly [left: string, right: string];
/** Two texts with a space between them, or a pair. */
type Merge = string | Pair;

function pairOf(merge: Merge): Pair {
  if (typeof merge !== "string") return merge;
  const space = merge.indexOf(" ");
  return [merge.slice(0, space), merge.slice(space + 1)];
}

/** The merges; all are lines, or all are pairs. */
function readMerges(model: Json): Merge[] {
  const merges = get(model, "merges");
  if (!Array.isArray(merges)) throw broken(PATH, "an array of merges should be here");
  const lines = merges.filter((entry) => typeof entry === "string");
  if (lines.length > 0 && lines.length < merges.length) {
    throw broken(PATH, "lines and pairs must not be mixed");
  }
  const isLines = lines.length > 0;
  const entries: unknown[] = isLines
    ? lines.filter((line) => !line.startsWith("#version"))
    : merges;
  if (entries.length > MOST_MERGES) {
    throw unsupported(PATH, `more than ${MOST_MERGES.toLocaleString("en")} merges`);
  }
  for (const [i, entry] of entries.entries()) {
    if (isLines ? isLine(entry as string) : isPair(entry)) continue;
    const shown = isLines ? (entry as string).split(" ") : entry;
    throw broken(`${PATH}[${i}]`, `${shorten(shown)} is not two strings`);
  }
  return entries as Merge[];
}

/** Whether a line has one space. */
function isLine(line: string): boolean {
  const space = line.indexOf(" ");
  return space >= 0 && line.indexOf(" ", space + 1) < 0;
}

function isPair(entry: unknown): boolean {
  return (
    Array.isArray(entry) &&
    entry.length === 2 &&
    typeof entry[0] === "string" &&
    typeof entry[1] === "string"
  );
}
