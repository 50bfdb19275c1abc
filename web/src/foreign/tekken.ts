/**
 * `tekken.json` of Mistral: ranks and a pattern of tiktoken in JSON. Special tokens come first:
 * the id of a token is its rank and their number. The file's own library never finds them in
 * text.
 */

import { isObject, type Json, maybe, member, need } from "./checked.js";
import { MOST_IDS } from "./document.js";
import { broken, shorten, uncompiled } from "./errors.js";
import type { Field } from "./fields.js";
import type { Known } from "./known.js";
import { fromBase64, tiktokenFields } from "./tiktoken.js";

/** Of files up to version 7 that name none. */
const OLD =
  "<unk> <s> </s> [INST] [/INST] [AVAILABLE_TOOLS] [/AVAILABLE_TOOLS] [TOOL_RESULTS] " +
  "[/TOOL_RESULTS] [TOOL_CALLS] [IMG] <pad> [IMG_BREAK] [IMG_END] [PREFIX] [MIDDLE] [SUFFIX] " +
  "[SYSTEM_PROMPT] [/SYSTEM_PROMPT] [TOOL_CONTENT]";
const LAST_OLD = 7;

export function isTekken(file: Json): boolean {
  const { config, vocab, model } = file;
  return config !== undefined && typeof vocab === "object" && vocab !== null && model === undefined;
}

export function tekkenFields(file: Json, known: Known): Field[] {
  const config = member(file, "config", "object", "");
  const pattern = member(config, "pattern", "string", "config");
  const size = member(config, "default_vocab_size", "integer", "config");
  const first = member(config, "default_num_special_tokens", "integer", "config");
  if (!(first >= 0 && first < size && size <= MOST_IDS)) {
    throw broken("config", `${first} special tokens of ${size} tokens`);
  }
  const special = specialTokens(file, config, first);
  const ranks = readRanks(file["vocab"], size - first, first);
  const arrays = known.pretokenizer([["tiktoken", pattern]]);
  if (arrays === undefined) throw uncompiled("config.pattern", `the pattern ${shorten(pattern)}`);
  return tiktokenFields(ranks, arrays, special);
}

/** Texts and ids; those that have no text of their own are numbered. */
function specialTokens(file: Json, config: Json, count: number): Map<string, number> {
  const version = maybe(config, "version", "string", "config") ?? `v${LAST_OLD}`;
  let given = file["special_tokens"] ?? undefined;
  if (given === undefined) {
    const number = /^.\d+$/.test(version) ? Number(version.slice(1, 3)) : Number.NaN;
    if (!(number <= LAST_OLD)) {
      throw broken("special_tokens", `a file of version ${shorten(version)} without them`);
    }
    given = OLD.split(" ").map((text, rank) => ({ rank, token_str: text }));
  }
  const tokens = new Map<string, number>();
  for (const [i, value] of need(given, "array", "special_tokens").entries()) {
    const path = `special_tokens[${i}]`;
    const part = need(value, "object", path);
    const rank = member(part, "rank", "integer", path);
    const text = member(part, "token_str", "string", path);
    if (tokens.has(text) || !(rank >= 0 && rank < count)) {
      throw broken(path, `${shorten(text)} of rank ${rank}: twice, or out of range`);
    }
    tokens.set(text, rank);
  }
  for (let i = tokens.size; i < count; i++) tokens.set(`<SPECIAL_${i}>`, i);
  return tokens;
}

/** Tokens and ids; the file may hold more tokens than the model has. */
function readRanks(vocab: unknown, count: number, first: number): Map<string, number> {
  const values = isObject(vocab) ? [] : need(vocab, "array", "vocab");
  const ranks = new Map<string, number>();
  for (const [rank, value] of values.slice(0, count).entries()) {
    const path = `vocab[${rank}]`;
    const part = need(value, "object", path);
    if (member(part, "rank", "integer", path) !== rank) {
      throw broken(path, `rank ${String(part["rank"])} where ${rank} should be`);
    }
    const spelled = member(part, "token_bytes", "string", path);
    const token = fromBase64(spelled);
    if (token === undefined) throw broken(path, `${shorten(spelled)} is not base64`);
    if (rank < 256 && token !== String.fromCharCode(rank)) {
      const hex = rank.toString(16).padStart(2, "0");
      throw broken(path, `${shorten(spelled)} where the byte 0x${hex} should be`);
    }
    if (ranks.has(token)) throw broken(path, `${shorten(spelled)} is there twice`);
    ranks.set(token, first + rank);
  }
  if (ranks.size < count) throw broken("vocab", `${ranks.size} tokens, but config needs ${count}`);
  return ranks;
}
