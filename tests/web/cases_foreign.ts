/** The bug cases that concern tokenizer.json and rank files, on any host. */

import type { EncodeOptions, Tokenizer } from "isotok";
import type { Case } from "./cases.js";
import { same, sha256, toUtf8 } from "./report.js";

/** Why a case cannot run where there is no Python. */
export const FOREIGN_NOT_HERE: Record<string, string> = {
  "ADD-04": "a token that is looked for in text made lower-case: refused by name",
  "OOR-08": "an id that no token has is an error here, and no text in tokenizers",
  "OOR-09": "KeyError of the module that stands for tiktoken, which is Python's",
  "RGX-11l": "no call gives pre-tokens; their ids are compared by RGX-… and foreign.test.ts",
  "RGX-11q": "no call gives pre-tokens; their ids are compared by RGX-… and foreign.test.ts",
};

const REPEATED = "256 single bytes = ids 0..255";

/** Whether a case, or the second half of it, is about such files. */
export function isForeign({ model_kind: kind }: Case): boolean {
  return kind.includes("tokenizer.json") || kind.includes("tiktoken");
}

/** The name of the file that a case is about; ranks that are in the case itself have none. */
export function foreignName({ model }: Case): string | undefined {
  return typeof model === "string" ? (model.split(" / ").at(-1) as string) : undefined;
}

/** Ranks that are in the case, as a file; all have the pattern of cl100k_base, or need none. */
export function inlineRanks({ model }: Case): Uint8Array {
  const { ranks } = model as unknown as { ranks: string | Record<string, number> };
  let pairs: [string, number][];
  if (typeof ranks === "string") {
    const [first, ...more] = ranks.split(", ");
    same("ranks", first, REPEATED);
    const bytes = Array.from({ length: 256 }, (_, i): [string, number] => [
      i.toString(16).padStart(2, "0"),
      i,
    ]);
    const others = more.map((entry) => entry.split("=") as [string, string]);
    pairs = [...bytes, ...others.map(([hex, rank]): [string, number] => [hex, Number(rank)])];
  } else {
    pairs = Object.entries(ranks);
  }
  const lines = pairs.map(([hex, rank]) => {
    const bytes = hex.match(/../g)?.map((each) => Number.parseInt(each, 16)) ?? [];
    return `${btoa(String.fromCharCode(...bytes))} ${rank}\n`;
  });
  return toUtf8(lines.join(""));
}

/** Expects what the other library gave. */
export async function checkForeign(tokenizer: Tokenizer, each: Case, text: string): Promise<void> {
  const run = OPERATIONS[each.operation.name];
  if (run === undefined) throw new Error(`no check for ${each.operation.name}`);
  await run(tokenizer, each, text);
}

type Check = (tokenizer: Tokenizer, each: Case, text: string) => Promise<void> | void;

const OPERATIONS: Record<string, Check> = {
  "hf.encode+decode": checkEncode,
  "hf.encode": (tokenizer, each, text) =>
    each.operation["modes"] === undefined
      ? checkEncode(tokenizer, each, text)
      : checkModes(tokenizer, each, text),
  "tiktoken.encode_ordinary": checkEncode,
  "tiktoken.encode": checkEncode,
  "offsets in 3 units": checkUnits,
  offset_mapping: checkSecondHalf,
  encode: checkSecondHalf,
  "encode with special tokens": checkSecondHalf,
  "encode, then streaming decode": checkStream,
  "streaming decode, one id at a time, then flush": checkStream,
  "streaming decode, then flush": checkStream,
};

async function checkEncode(tokenizer: Tokenizer, each: Case, text: string): Promise<void> {
  const { operation, expected } = each;
  const add = operation["add_special_tokens"] as boolean | undefined;
  const options: EncodeOptions = add === undefined ? {} : { addSpecialTokens: add };
  const ids = tokenizer.encode(text, options);
  const choice = { ...options, unit: "codepoint", pieces: true } as const;
  const found = tokenizer.encodeWithOffsets(text, choice);
  same("ids with offsets", found.ids, ids);
  if (expected.len !== undefined) {
    same("length", ids.length, expected.len);
    same("digest", await sha256(ids), expected.sha256_u32le);
    return;
  }
  same("ids", ids, expected.ids);
  const tokens = expected["tokens"] as string[] | undefined;
  if (tokens !== undefined) sameTokens(tokenizer, ids, found.pieces as string[], tokens);
  if (expected.offsets_codepoints !== undefined) {
    same("offsets", spans(found), expected.offsets_codepoints);
  }
  const decoded = expected["decoded_keep_special"];
  if (decoded !== undefined) {
    same("decoded", tokenizer.decode(ids, { skipSpecialTokens: false }), decoded);
  }
  const hex = expected["token_bytes_hex"] as string[] | undefined;
  if (hex !== undefined) {
    same("bytes", toHex(tokenizer.decodeBytes(ids)), hex.join(""));
    const parts = Array.from(ids, (id) => toHex(tokenizer.decodeBytes([id])));
    same("bytes of tokens", parts, hex);
  }
  const equal = expected["equals_text"] as string | undefined;
  if (equal !== undefined) {
    same("ids of the equal text", tokenizer.encode(equal), expected["equals_ids"]);
  }
}

function checkModes(tokenizer: Tokenizer, { expected }: Case, text: string): void {
  const all = tokenizer.encode(text, { special: "all" });
  same("ids with special tokens", all, expected["parse_special_ids"]);
  same("ids of text", tokenizer.encode(text, { special: "none" }), expected["plain_text_ids"]);
}

function checkUnits(tokenizer: Tokenizer, { expected }: Case, text: string): void {
  const units = [
    ["codepoint", "codepoints"],
    ["utf16", "utf16"],
    ["byte", "utf8"],
  ] as const;
  for (const [unit, name] of units) {
    const found = tokenizer.encodeWithOffsets(text, { unit });
    same("ids", found.ids, expected.ids);
    same(name, spans(found), expected[name]);
  }
}

/** A case on a .model and its tokenizer.json: the second half. */
function checkSecondHalf(tokenizer: Tokenizer, { expected }: Case, text: string): void {
  const half = expected["hf"] as { ids: number[]; offsets: number[][] } | undefined;
  if (half !== undefined) {
    const choice = { addSpecialTokens: false, unit: "codepoint" } as const;
    const found = tokenizer.encodeWithOffsets(text, choice);
    same("ids", found.ids, half.ids);
    same("offsets", spans(found), half.offsets);
    return;
  }
  const tokens = expected["hf_tokens"];
  const choice = { addSpecialTokens: tokens !== undefined, pieces: true } as const;
  const found = tokenizer.encodeWithOffsets(text, choice);
  same("ids", found.ids, expected["hf_ids"]);
  if (tokens !== undefined) same("tokens", found.pieces, tokens);
}

function checkStream(tokenizer: Tokenizer, each: Case, text: string): void {
  const { expected, operation, input } = each;
  const ids = operation.ids ?? expected.ids ?? [];
  if (input !== null && expected.text !== undefined) {
    same("ids", tokenizer.encode(text, { addSpecialTokens: false }), ids);
  }
  const whole = tokenizer.decode(ids);
  const decoder = tokenizer.decoder();
  const chunks = [...ids.map((id) => decoder.push(id)), decoder.flush()];
  decoder.dispose();
  same("joined", chunks.join(""), whole);
  if (expected["chunks"] !== undefined) same("chunks", chunks, expected["chunks"]);
  if (expected["stream_chunks"] !== undefined) {
    same("chunks", chunks.filter(Boolean), expected["stream_chunks"]);
  }
  const joined = expected.text ?? expected["joined"];
  same("text", whole, joined ?? expected["joined_must_equal_one_shot_decode"]);
}

// ---- Tokens ---------------------------------------------------------------------------

/** Tokens of byte-level models are letters for bytes there, and text here. */
function sameTokens(
  tokenizer: Tokenizer,
  ids: Uint32Array,
  pieces: string[],
  tokens: string[],
): void {
  same("number of tokens", pieces.length, tokens.length);
  for (const [i, token] of tokens.entries()) {
    if (pieces[i] === token || ids[i] === tokenizer.info.unkId) continue;
    same(`token ${i}`, pieces[i], textOfLetters(token));
  }
}

/** Letters that stand for bytes: printable ones for themselves, the others from U+0100 on. */
const BYTE_OF = new Map<number, number>();
for (let byte = 0, next = 256; byte < 256; byte++) {
  const plain = (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad);
  BYTE_OF.set(plain ? byte : next++, byte);
}

function textOfLetters(token: string): string {
  const bytes = Array.from(token, (letter) => BYTE_OF.get(letter.codePointAt(0) as number));
  if (bytes.includes(undefined)) return token;
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(Uint8Array.from(bytes as number[]));
}

function spans({ begin, end }: { begin: Uint32Array; end: Uint32Array }): number[][] {
  return Array.from(begin, (first, i) => [first, end[i] as number]);
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** `model` of a case whose file is hostile: a model that works, or an error that says why. */
export async function checkHostile(loading: Promise<Tokenizer>, text: string): Promise<void> {
  try {
    const tokenizer = await loading;
    const { ids } = tokenizer.encodeWithOffsets(text);
    same("ids", tokenizer.encode(toUtf8(text)), ids);
    tokenizer.dispose();
  } catch (error) {
    const { name: kind, code, message } = error as Error & { code?: string };
    same(`${message}: kind`, kind, "TokenizerError");
    if (code === "TRAP" || message.length < 20) throw error;
  }
}
