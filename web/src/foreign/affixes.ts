/** What BPE spells behind the first symbol of a word, and at its end. */

import * as abi from "../layout_gen.js";
import { type Json, lengthOf, maybe } from "./checked.js";
import { shorten, unsupported } from "./errors.js";
import { toUtf8 } from "./fields.js";
import { bytesOf, isSpelled } from "./letters.js";

const PREFIX = "model.continuing_subword_prefix";
const SUFFIX = "model.end_of_word_suffix";
const LONGEST = 255;
/** Stands for the suffix in the blob's trie; UTF-8 never has it. */
const END = 0xff;
/** Bytes that a character ends with are below. */
const LAST = 0xc0;

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Of a symbol behind the first one of a pre-token, and of the last one; empty: none. */
export class Affixes {
  readonly prefix: string;
  readonly suffix: string;

  constructor(model: Json) {
    this.prefix = maybe(model, "continuing_subword_prefix", "string", "model") ?? "";
    this.suffix = maybe(model, "end_of_word_suffix", "string", "model") ?? "";
  }

  get isEmpty(): boolean {
    return this.prefix === "" && this.suffix === "";
  }

  /** Whether a token stands only at the end of a pre-token. */
  isLast(text: string): boolean {
    const { suffix } = this;
    return suffix !== "" && text.length > suffix.length && text.endsWith(suffix);
  }

  /** Whether a token is one character where some pre-token has it. */
  isSymbol(text: string): boolean {
    const { prefix, suffix } = this;
    const stem = suffix !== "" && text.endsWith(suffix) ? text.slice(0, -suffix.length) : text;
    return [text, stem].some(
      (each) =>
        lengthOf(each) === 1 ||
        (each.startsWith(prefix) && lengthOf(each.slice(prefix.length)) === 1),
    );
  }

  /** What two tokens give; undefined: no text. */
  join(left: string, right: string): string | undefined {
    const { prefix } = this;
    if (right.startsWith(prefix)) return left + right.slice(prefix.length);
    const whole = toUtf8(right);
    const size = toUtf8(prefix).length;
    if (whole.length < size) return undefined;
    try {
      return left + decoder.decode(whole.subarray(size)); // as many bytes, whatever they are
    } catch {
      return undefined;
    }
  }

  /** Whether a merge does nothing, as its parts are never side by side; some are refused. */
  isIdle(left: string, right: string, where: string): boolean {
    const merged = this.join(left, right);
    if (merged !== undefined && this.isLast(merged) && !this.isLast(right) && !this.isLast(left)) {
      throw unsupported(
        where,
        `a merge of ${shorten(left)} and ${shorten(right)}, which spells the suffix ${shorten(this.suffix)}`,
      );
    }
    const { prefix } = this;
    return this.isLast(left) || right.length <= prefix.length || !right.startsWith(prefix);
  }

  /** Elements of FIELD_CONTINUATION. */
  field(more: { unknown: boolean; fused: boolean; byteLevel: boolean }): Uint8Array {
    const encode = more.byteLevel ? bytesOf : toUtf8;
    const prefix = encode(this.prefix);
    const suffix = encode(this.suffix);
    let flags = suffix.length > 0 ? abi.AFFIX_SUFFIX : 0;
    if (more.unknown) flags |= abi.AFFIX_UNKNOWN | (more.fused ? abi.AFFIX_FUSED : 0);
    const out = new Uint8Array(4 + prefix.length + suffix.length);
    new DataView(out.buffer).setUint32(0, flags | (prefix.length << 8), true);
    out.set(prefix, 4);
    out.set(suffix, 4 + prefix.length);
    return out;
  }

  /** Refuses by name what cannot be reproduced. */
  check(texts: Iterable<string>, byteLevel: boolean, ignoreMerges: boolean): void {
    const { prefix, suffix } = this;
    for (const [where, text] of [
      [PREFIX, prefix],
      [SUFFIX, suffix],
    ] as const) {
      if (toUtf8(text).length > LONGEST) {
        throw unsupported(where, `a text of more than ${LONGEST} bytes`);
      }
      if (byteLevel && text !== "" && !isSpelled(text)) {
        throw unsupported(where, `${shorten(text)}, which is not in letters of ByteLevel`);
      }
    }
    if (prefix !== "" && ![...texts].some((text) => text.startsWith(prefix))) {
      throw unsupported(PREFIX, `${shorten(prefix)}, which no token begins with`);
    }
    const [last] = Array.from(suffix).slice(-1);
    if (prefix !== "" && last !== undefined && (prefix + last).endsWith(suffix)) {
      throw unsupported(SUFFIX, `${shorten(suffix)} behind the prefix ${shorten(prefix)}`);
    }
    if (suffix !== "" && ignoreMerges) {
      throw unsupported(SUFFIX, `${shorten(suffix)} with ignore_merges`);
    }
  }

  /** Whether a token of bytes holds what stands for the suffix, so that no text gives it. */
  hasEnd(text: Uint8Array): boolean {
    return this.suffix !== "" && text.length > 1 && text.includes(END);
  }

  /** What a byte-level vocabulary has to have: where, the byte, and the symbol in letters. */
  *neededBytes(letters: readonly string[]): Generator<[where: string, byte: number, text: string]> {
    const { prefix, suffix } = this;
    const end = " at the end of a word";
    const upTo = function* (stop: number): Generator<[number, string]> {
      for (let byte = 0; byte < stop; byte++) yield [byte, letters[byte] as string];
    };
    for (const [byte, letter] of upTo(256)) yield ["", byte, letter];
    if (prefix !== "") {
      for (const [byte, letter] of upTo(0xf5)) {
        if (byte < LAST || byte > 0xc1) yield [" inside a word", byte, prefix + letter];
      }
    }
    if (suffix !== "") {
      for (const [byte, letter] of upTo(128)) yield [end, byte, letter + suffix];
      for (const [byte, letter] of upTo(LAST)) yield [end, byte, prefix + letter + suffix];
    }
  }
}
