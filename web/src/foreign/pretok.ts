/** What a pre-tokenizer does: where it cuts, as a key of the table, and what it rewrites. */

import { flat, get, isObject, type Json, lengthOf } from "./checked.js";
import { refused, shorten } from "./errors.js";

/** Where a prefix goes: every text between special tokens, the very start, every piece. */
export type PrefixPlace = "none" | "segments" | "start" | "pieces";

export interface PreTokenizer {
  /** What cuts text, step by step: equal ones cut alike. */
  readonly cuts: readonly Cut[];
  readonly prefix: string;
  readonly prefixPlace: PrefixPlace;
  /** What stands for U+0020, or nothing. */
  readonly space: string;
  /** The model sees bytes, spelled as letters. */
  readonly byteLevel: boolean;
}

export type Cut = readonly unknown[];

/** Members that decide where text is cut, and their defaults. */
const CUTTING: Readonly<Record<string, readonly (readonly [name: string, value: unknown])[]>> = {
  Split: [
    ["behavior", null],
    ["invert", null],
  ],
  ByteLevel: [["use_regex", true]],
  Digits: [["individual_digits", null]],
  Punctuation: [["behavior", "Isolated"]],
  CharDelimiterSplit: [["delimiter", null]],
  FixedLength: [["length", 5]],
  Metaspace: [["replacement", null]],
};

const PLACES: Readonly<Record<string, PrefixPlace>> = { first: "start", never: "none" };

function fail(what: string): Error {
  return refused(`pre-tokenizer: ${what}; isotok does not support this`);
}

export function readPreTokenizer(value: Json | undefined): PreTokenizer {
  const reader = new Reader();
  for (const { kind, part } of flat(value, "pre_tokenizer", "pretokenizers"))
    reader.add(kind, part);
  while (isSame(reader.cuts.at(-1), ["ByteLevel", false])) reader.cuts.pop();
  return reader;
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Whether a step cuts at U+0020 and nowhere else. */
export function cutsAtSpaces([kind, first, second]: Cut): boolean {
  return kind === "CharDelimiterSplit"
    ? first === " "
    : kind === "Split" && second === " " && first !== undefined;
}

class Reader implements PreTokenizer {
  readonly cuts: Cut[] = [];
  prefix = "";
  prefixPlace: PrefixPlace = "none";
  space = "";
  byteLevel = false;
  /** Whether a step before has cut. */
  #cutsText = false;

  add(kind: string, part: Json): void {
    if (kind === "ByteLevel") {
      this.#byteLevel(part);
    } else if (kind === "Metaspace") {
      this.#metaspace(part);
    } else if (this.prefixPlace === "pieces" || this.space) {
      throw fail(`${kind} after a step that rewrites the pieces`);
    } else {
      this.#cut(kind, part);
    }
  }

  #cut(kind: string, part: Json): void {
    const pattern = get(part, "pattern");
    const texts = kind === "Split" && isObject(pattern) ? Object.entries(pattern).flat() : [];
    const members = (CUTTING[kind] ?? []).map(([name, value]) =>
      Object.hasOwn(part, name) ? part[name] : value,
    );
    this.cuts.push([kind, ...texts, ...members]);
    this.#cutsText = true;
  }

  #byteLevel(part: Json): void {
    const usesRegex = flag(part, "ByteLevel", "use_regex", true);
    if (this.byteLevel || (usesRegex && this.prefixPlace === "pieces")) {
      throw fail("ByteLevel after a step that rewrites the pieces");
    }
    if (flag(part, "ByteLevel", "add_prefix_space", undefined)) {
      if (this.prefix || (this.#cutsText && usesRegex)) {
        throw fail("ByteLevel with add_prefix_space after other steps");
      }
      this.prefix = " ";
      this.prefixPlace = this.#cutsText ? "pieces" : "segments";
    }
    if (usesRegex) this.#cut("ByteLevel", part);
    else this.cuts.push(["ByteLevel", false]);
    this.byteLevel = true;
  }

  #metaspace(part: Json): void {
    if (this.prefix || this.byteLevel) {
      throw fail("Metaspace after a step that rewrites the pieces");
    }
    const letter = get(part, "replacement");
    if (typeof letter !== "string" || lengthOf(letter) !== 1) {
      throw fail("Metaspace whose replacement is not one character");
    }
    let scheme = Object.hasOwn(part, "prepend_scheme") ? part["prepend_scheme"] : "always";
    if (part["add_prefix_space"] === false) scheme = "never";
    const isKnown = scheme === "always" || scheme === "first" || scheme === "never";
    if (!isKnown || (scheme === "first" && this.#cutsText)) {
      throw fail(`Metaspace with prepend_scheme ${String(scheme)} after other steps`);
    }
    this.prefixPlace = PLACES[scheme as string] ?? (this.#cutsText ? "pieces" : "segments");
    if (this.prefixPlace !== "none") this.prefix = letter;
    this.space = letter;
    if (flag(part, "Metaspace", "split", true)) this.#cut("Metaspace", part);
  }
}

function flag(part: Json, kind: string, name: string, value: boolean | undefined): boolean {
  const found = Object.hasOwn(part, name) ? part[name] : value;
  if (typeof found === "boolean") return found;
  throw fail(`${kind} whose ${name} is not true or false`);
}

/**
 * What a pre-tokenizer rewrites, and what is left to cut then: a prefix of each piece is only
 * known of WhitespaceSplit with Metaspace.
 */
export function rewritesOf(pre: PreTokenizer): { rewrites: Cut[]; cuts: readonly Cut[] } {
  const rewrites: Cut[] = [];
  if (pre.prefixPlace === "pieces") {
    const isKnown = pre.cuts.length === 2 && isSame(pre.cuts[0], ["WhitespaceSplit"]);
    if (!isKnown || pre.byteLevel || pre.cuts[1]?.[0] !== "Metaspace") {
      throw refused(
        "pre_tokenizer: a prefix for each piece, but of WhitespaceSplit with Metaspace; " +
          "isotok does not support this",
      );
    }
    return { rewrites: [["words", pre.prefix]], cuts: pre.cuts.slice(1) };
  }
  if (pre.space) rewrites.push(["space", pre.space]);
  if (pre.prefixPlace !== "none") rewrites.push(["prefix", pre.prefix, pre.prefixPlace]);
  return { rewrites, cuts: pre.cuts };
}

/** A key for messages. */
export function shown(key: readonly Cut[]): string {
  return shorten(key);
}
