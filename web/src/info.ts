/** What is known about an opened model. */

import { FEATURE_SENTENCEPIECE_0_2_1 } from "./blob_gen.js";
import * as abi from "./layout_gen.js";
import type { Address, Memory } from "./memory.js";

export type Algorithm = "unigram" | "bpe" | "word" | "char" | "wordpiece" | "longest" | "priority";
/** A release of sentencepiece whose ids and texts a model may give, not those of today. */
export type Compat = "0.2.1";
/** Whose ids a model gives. */
export type Parity = "sentencepiece" | "hf" | "tiktoken" | "isotok" | "distilled";
export type PieceType = "normal" | "unknown" | "control" | "user_defined" | "unused" | "byte";

/** Properties of a model; an id that it does not have is undefined. */
export interface Info {
  readonly algorithm: Algorithm;
  readonly parity: Parity;
  readonly vocabSize: number;
  readonly unkId: number | undefined;
  readonly bosId: number | undefined;
  readonly eosId: number | undefined;
  readonly padId: number | undefined;
  /** Longest piece in bytes. */
  readonly maxPieceBytes: number;
  /** Normalized bytes <= bytes of the text * this + 16. */
  readonly maxExpansion: number;
  /** The release of sentencepiece up to which it gives the ids; undefined: those of today. */
  readonly compat: Compat | undefined;
}

/** What the token cache of a tokenizer has done. */
export interface CacheInfo {
  /** Chunks of text that fit; 0: there is no cache, or the model has no use for one. */
  readonly entries: number;
  /** Chunks that were looked up … */
  readonly probes: number;
  /** … answered from the cache … */
  readonly hits: number;
  /** … found, but segmented again, since the answer might depend on the text before. */
  readonly uncertified: number;
  /** Bytes of normalized text that were not looked up; the space may count as one byte. */
  readonly bypassed: number;
}

const ALGORITHMS: readonly Algorithm[] = [
  "unigram",
  "bpe",
  "word",
  "char",
  "wordpiece",
  "longest",
  "priority",
];
const PARITIES: readonly Parity[] = ["sentencepiece", "hf", "tiktoken", "isotok", "distilled"];
const PIECE_TYPES: readonly PieceType[] = [
  "normal",
  "unknown",
  "control",
  "user_defined",
  "unused",
  "byte",
];

/** Name of a number that the core has checked; it counts from 1. */
function nameOf<T>(names: readonly T[], number: number): T {
  return names[number - 1] as T;
}

export function pieceType(number: number): PieceType {
  return nameOf(PIECE_TYPES, number);
}

/** Reads an `isotok_cache_info`, and adds what was counted before. */
export function readCacheInfo(memory: Memory, at: Address, before?: CacheInfo): CacheInfo {
  const count = (offset: number, counted = 0) => memory.long(at + offset) + counted;
  return {
    entries: memory.word(at + abi.CACHE_INFO_ENTRIES),
    probes: count(abi.CACHE_INFO_PROBES, before?.probes),
    hits: count(abi.CACHE_INFO_HITS, before?.hits),
    uncertified: count(abi.CACHE_INFO_UNCERTIFIED, before?.uncertified),
    bypassed: count(abi.CACHE_INFO_BYPASSED, before?.bypassed),
  };
}

/** Reads an `isotok_info`. */
export function readInfo(memory: Memory, at: Address): Info {
  const word = (offset: number) => memory.word(at + offset);
  const id = (offset: number) => {
    const value = word(offset);
    return value === abi.NO_TOKEN ? undefined : value;
  };
  return {
    algorithm: nameOf(ALGORITHMS, word(abi.INFO_ALGORITHM)),
    parity: nameOf(PARITIES, word(abi.INFO_PARITY)),
    vocabSize: word(abi.INFO_VOCAB_SIZE),
    unkId: id(abi.INFO_UNK),
    bosId: id(abi.INFO_BOS),
    eosId: id(abi.INFO_EOS),
    padId: id(abi.INFO_PAD),
    maxPieceBytes: word(abi.INFO_MAX_PIECE_BYTES),
    maxExpansion: word(abi.INFO_MAX_EXPANSION),
    compat: word(abi.INFO_FEATURES) & (1 << FEATURE_SENTENCEPIECE_0_2_1) ? "0.2.1" : undefined,
  };
}
