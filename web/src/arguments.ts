/** Options and arguments of the methods, and what is wrong with them. */

import { argumentError } from "./errors.js";
import * as abi from "./layout_gen.js";
import type { Ids, Text } from "./memory.js";
import { isUint8Array } from "./tags.js";

/** What offsets count: UTF-16 code units (as JavaScript does), code points, or UTF-8 bytes. */
export type Unit = "utf16" | "codepoint" | "byte";

/** Special tokens: a set of them by texts or ids. */
export type Special = "none" | "all" | ReadonlySet<string | number> | readonly (string | number)[];

export interface EncodeOptions {
  /** Put the model's BOS id in front. */
  readonly bos?: boolean;
  /** Put its EOS id at the end. */
  readonly eos?: boolean;
  /**
   * Which special tokens are looked for in the text: none, all, or those of a set, given by
   * texts or ids, so that all others are ordinary text. By default what the library does that
   * the model comes from: for a tokenizer.json all, for others none.
   */
  readonly special?: Special;
  /**
   * Put the tokens around the text that the model has for that. By default those of a
   * tokenizer.json are, as its library does.
   */
  readonly addSpecialTokens?: boolean;
}

export interface DecodeOptions {
  /**
   * Leave special tokens out. By default as the library that the model comes from does: those
   * of a tokenizer.json are.
   */
  readonly skipSpecialTokens?: boolean;
}

export interface OffsetsOptions extends EncodeOptions {
  readonly unit?: Unit;
  /** Return the text of each piece too. */
  readonly pieces?: boolean;
}

const UNITS: Readonly<Record<Unit, number>> = {
  byte: abi.UNIT_BYTE,
  codepoint: abi.UNIT_CODEPOINT,
  utf16: abi.UNIT_UTF16,
};

export function decodeFlagsOf(options: DecodeOptions | undefined): number {
  return choice(options?.skipSpecialTokens, abi.SKIP_SPECIAL, abi.KEEP_SPECIAL);
}

/** Neither flag: as the model does by itself. */
export function choice(wanted: boolean | undefined, yes: number, no: number): number {
  return wanted === undefined ? 0 : wanted ? yes : no;
}

export function unitOf(unit: Unit = "utf16"): number {
  const number = Object.hasOwn(UNITS, unit) ? UNITS[unit] : undefined;
  if (number !== undefined) return number;
  throw argumentError(`unit: ${String(unit)} is unknown; use "utf16", "codepoint" or "byte"`);
}

export function checkText(text: Text): Text {
  if (typeof text === "string" || isUint8Array(text)) return text;
  throw argumentError(`text must be a string or a Uint8Array, not ${typeof text}`);
}

export function checkTexts(texts: Iterable<Text>): readonly Text[] {
  if (typeof texts === "string") throw argumentError("texts must be several texts, not one");
  return Array.from(texts, checkText);
}

export function checkLimit(limit: number): void {
  if (Number.isSafeInteger(limit) && limit >= 0) return;
  throw argumentError(`limit: ${limit} is not a whole number >= 0`);
}

export function checkIds(ids: Ids | Iterable<number>): Ids {
  if (typeof ids === "object" && ids !== null) {
    if ("length" in ids) return ids;
    if (Symbol.iterator in ids) return Array.from(ids);
  }
  throw argumentError("ids must be an array, a typed array or an iterable of numbers");
}
