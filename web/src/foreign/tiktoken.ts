/** Rank files of tiktoken as fields. */

import * as abi from "../layout_gen.js";
import { byteFields } from "./bpe.js";
import { MOST_IDS } from "./document.js";
import { damaged, type ForeignError, refused, shorten } from "./errors.js";
import { type Field, Pieces, toBytes, toUtf8 } from "./fields.js";
import type { Known } from "./known.js";
import type { PretokArrays } from "./known_pretok.js";
import { type Encoding, encodings } from "./known_tables.js";
import { arraysFields } from "./pipeline.js";

/** Special tokens of an encoding; those in `reserved` have names that say their numbers. */
function specialTokens({ special, reserved: [first, end] = [0, 0] }: Encoding) {
  const tokens = new Map(Object.entries(special));
  for (let id = first; id < end; id++) tokens.set(`<|reserved_${id}|>`, id);
  return tokens;
}

/** Fields of a rank file, which holds no pattern: its name says which encoding it is. */
export function rankFileFields(data: Uint8Array, name: string, known: Known): Field[] {
  const encoding = nameOf(name);
  const found = Object.hasOwn(encodings, encoding) ? encodings[encoding] : undefined;
  const arrays = found && known.encoding(found.pattern);
  if (found === undefined || arrays === undefined) {
    throw refused(
      `rank file: it holds no pattern, and ${shorten(encoding)} is no encoding whose pattern is ` +
        `known (${Object.keys(encodings).join(", ")}); give one of these as the option name, or ` +
        "rename the file to NAME.tiktoken",
    );
  }
  return tiktokenFields(readRanks(data), arrays, specialTokens(found));
}

/** Of a path or an address, what stands between the last slash and `.tiktoken`. */
function nameOf(name: string): string {
  const [path = ""] = name.split(/[?#]/);
  return path
    .slice(1 + Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")))
    .replace(/\.tiktoken$/, "");
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const LINE = /^\s*(\S+)\s+(\d+)\s*$/;

/** Bytes of base64, one character each; undefined if it is none. */
export function fromBase64(text: string): string | undefined {
  return BASE64.test(text) ? atob(text) : undefined;
}

/** Reads lines of a token in base64, a space, its rank; a token has a character for each byte. */
function readRanks(data: Uint8Array): Map<string, number> {
  const ranks = new Map<string, number>();
  const lines = new TextDecoder("latin1").decode(data).split("\n");
  for (const [i, line] of lines.entries()) {
    const [, base64, rank] = LINE.exec(line) ?? [];
    const token = base64 === undefined ? undefined : fromBase64(base64);
    if (token === undefined) {
      if (line.trim() === "") continue;
      throw damaged(
        `rank file, line ${i + 1}: ${shorten(line.slice(0, 60))} is not a token in base64, a ` +
          "space and its rank; get the file again",
        i + 1,
      );
    }
    ranks.set(token, Number(rank));
  }
  return ranks;
}

/** Fields that give the ids of tiktoken: ranks by tokens of a character for each byte. */
export function tiktokenFields(
  ranks: ReadonlyMap<string, number>,
  arrays: PretokArrays,
  special: ReadonlyMap<string, number>,
): Field[] {
  let size = 0;
  for (const ids of [ranks.values(), special.values()]) {
    for (const id of ids) size = Math.max(size, id + 1);
  }
  if (size === 0 || size > MOST_IDS) {
    const most = MOST_IDS.toLocaleString("en");
    throw rankError(`ranks and special tokens: ids must be below ${most}`);
  }
  const pieces = new Pieces(size);
  for (const [token, rank] of ranks) put(pieces, rank, toBytes(token), abi.NORMAL);
  for (const [text, id] of special) {
    // o200k_harmony has 200018 twice: the first text is the one that is found and decoded
    if (pieces.types[id] !== abi.CONTROL) put(pieces, id, toUtf8(text), abi.CONTROL);
  }
  return byteFields(pieces, arraysFields(arrays), {
    parity: abi.PARITY_TIKTOKEN,
    whole: true,
    scores: new Float32Array(size).map((_, id) => -id),
  });
}

function put(pieces: Pieces, id: number, text: Uint8Array, kind: number): void {
  if (text.length === 0) throw rankError(`token ${id} is empty`);
  if ((pieces.texts[id] as Uint8Array).length > 0) {
    const shown = shorten(new TextDecoder().decode(text.subarray(0, 60)));
    throw rankError(`token ${shown} has id ${id}, which is another's`);
  }
  pieces.texts[id] = text;
  pieces.types[id] = kind;
}

function rankError(what: string): ForeignError {
  return damaged(`${what}; get the file again`);
}
