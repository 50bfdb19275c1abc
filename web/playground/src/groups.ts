/** From tokens to what is shown: groups that do not break a character. */

import type { Encoding, Tokenizer } from "isotok";
import { Graphemes } from "./graphemes.js";
import type { Group, Groups, Range, Token } from "./protocol.js";
import { hexOf } from "./text.js";

export interface Ranges {
  readonly utf16: Encoding;
  readonly codepoint: Encoding;
  readonly byte: Encoding;
}

/** What an analysis offers. */
export interface Tokens {
  readonly tokenizer: Tokenizer;
  readonly ids: Uint32Array;
  readonly ranges: Ranges;
  readonly differs: Uint8Array | undefined;
}

/** A character of more tokens than this is broken: nobody could read it either. */
const MAX_TOKENS = 64;
/** UTF-16 units shown of a group; an unknown token can be as long as the text. */
const MAX_TEXT = 400;
/** Bytes shown of a token. */
const MAX_BYTES = 96;

const utf8 = new TextEncoder();

/** Reads the tokens of an analysis from the first to the last, group by group. */
export class GroupReader {
  readonly #tokens: Tokens;
  readonly #text: string;
  readonly #graphemes: Graphemes;
  /** The next token. */
  #at = 0;
  /** Where the text of the last group ends. */
  #end = 0;

  constructor(tokens: Tokens, text: string) {
    this.#tokens = tokens;
    this.#text = text;
    this.#graphemes = new Graphemes(text);
  }

  next(count: number): Groups {
    const groups: Group[] = [];
    while (groups.length < count && this.#at < this.#tokens.ids.length) groups.push(this.#group());
    const done = this.#at === this.#tokens.ids.length;
    const rest = done ? shorten(this.#text.slice(this.#end)) : "";
    return { groups, tokens: this.#at, rest, done };
  }

  #group(): Group {
    const { begin, end } = this.#tokens.ranges.utf16;
    const first = this.#at;
    let bytesToCome = 0;
    do {
      bytesToCome = this.#bytesAfter(this.#at++, bytesToCome);
    } while (!this.#mayEnd(first, bytesToCome));
    const from = Math.max(begin[first] as number, this.#end);
    const before = this.#text.slice(this.#end, from);
    this.#end = Math.max(end[this.#at - 1] as number, from);
    const range = Array.from({ length: this.#at - first }, (_, i) => first + i);
    return {
      before: shorten(before),
      text: shorten(this.#text.slice(from, this.#end)),
      tokens: range.map((index) => this.#token(index)),
      differs: range.some((index) => this.#tokens.differs?.[index] === 1),
    };
  }

  /** Bytes that a character still lacks after this token; 0 unless it is a byte piece. */
  #bytesAfter(index: number, bytesToCome: number): number {
    const { tokenizer, ids } = this.#tokens;
    const id = ids[index] as number;
    if (tokenizer.pieceType(id) !== "byte") return 0;
    return bytesToCome > 0 ? bytesToCome - 1 : sizeOfCharacter(byteOf(tokenizer, id)) - 1;
  }

  /** Whether a group that began with token `first` may end before token `at`. */
  #mayEnd(first: number, bytesToCome: number): boolean {
    const { ids, ranges } = this.#tokens;
    const at = this.#at;
    if (at === ids.length || at - first === MAX_TOKENS) return true;
    const end = ranges.utf16.end[at - 1] as number;
    // Begins before the end: both tokens come from the same character.
    if (bytesToCome > 0 || (ranges.utf16.begin[at] as number) < end) return false;
    return this.#graphemes.isBoundary(end);
  }

  #token(index: number): Token {
    const { tokenizer, ids, ranges } = this.#tokens;
    const id = ids[index] as number;
    const type = tokenizer.pieceType(id);
    const utf16 = rangeOf(ranges.utf16, index);
    const piece = tokenizer.idToPiece(id);
    const text =
      type === "unknown"
        ? this.#text.slice(utf16[0], Math.min(utf16[1], utf16[0] + MAX_BYTES))
        : piece;
    return {
      index,
      id,
      piece,
      bytes: type === "byte" ? hexOf([byteOf(tokenizer, id)]) : shownBytes(text),
      score: tokenizer.score(id),
      type,
      utf16,
      codepoint: rangeOf(ranges.codepoint, index),
      byte: rangeOf(ranges.byte, index),
    };
  }
}

function rangeOf({ begin, end }: Encoding, index: number): Range {
  return [begin[index] as number, end[index] as number];
}

/** Byte that a piece `<0xHH>` stands for. */
function byteOf(tokenizer: Tokenizer, id: number): number {
  return Number(tokenizer.idToPiece(id).slice(1, -1));
}

function shownBytes(text: string): string {
  const bytes = utf8.encode(text);
  return hexOf(bytes.subarray(0, MAX_BYTES)) + (bytes.length > MAX_BYTES ? " …" : "");
}

/** Bytes of the UTF-8 character that begins with this one. */
function sizeOfCharacter(byte: number): number {
  if (byte < 0xc0) return 1;
  return byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

function shorten(text: string): string {
  if (text.length <= MAX_TEXT) return text;
  const isHigh = (text.charCodeAt(MAX_TEXT - 1) & 0xfc00) === 0xd800;
  return `${text.slice(0, isHigh ? MAX_TEXT - 1 : MAX_TEXT)}…`;
}
