/** A text in parts, each with special tokens of its own: template text and what a user wrote. */

import { checkText, type EncodeOptions, type Special, type Unit } from "./arguments.js";
import { argumentError, TokenizerError } from "./errors.js";
import type { Text } from "./memory.js";
import { Chunks, unitsOf } from "./text.js";
import type { Encoding, Tokenizer } from "./tokenizer.js";

/** A text, and which special tokens are looked for in it. */
export type Part = readonly [text: Text, special: Special | undefined];

/** What is put around all parts. */
export type AroundOptions = Omit<EncodeOptions, "special">;

export interface PartsOffsetsOptions extends AroundOptions {
  readonly unit?: Unit;
}

/** Checks the parts; `encode` gets each with its options. */
function each<T>(
  parts: Iterable<Part>,
  encode: (text: Text, options: EncodeOptions) => T,
): readonly T[] {
  return Array.from(parts, (part: unknown, i) => {
    if (!Array.isArray(part)) throw argumentError(`parts[${i}] must be [text, special]`);
    const [text, special] = part as unknown as Part;
    const around = { addSpecialTokens: false };
    try {
      return encode(checkText(text), special === undefined ? around : { ...around, special });
    } catch (error) {
      if (error instanceof TokenizerError) error.message = `parts[${i}]: ${error.message}`;
      throw error;
    }
  });
}

/** Ids in front of a text and behind it. */
function endsOf(
  tokenizer: Tokenizer,
  options: AroundOptions,
): [Uint32Array<ArrayBuffer>, Uint32Array<ArrayBuffer>] {
  const encoder = tokenizer.encoder({ ...options, special: "none" });
  try {
    return [encoder.push(""), encoder.flush()];
  } finally {
    encoder.dispose();
  }
}

function join(parts: readonly Uint32Array<ArrayBuffer>[]): Uint32Array<ArrayBuffer> {
  const all = new Chunks((length) => new Uint32Array(length));
  for (const part of parts) all.push(part);
  return all.join();
}

export function encodeParts(
  tokenizer: Tokenizer,
  parts: Iterable<Part>,
  options: AroundOptions = {},
): Uint32Array<ArrayBuffer> {
  const [front, back] = endsOf(tokenizer, options);
  const ids = each(parts, (text, wanted) => tokenizer.encode(text, wanted));
  return join([front, ...ids, back]);
}

export function encodePartsWithOffsets(
  tokenizer: Tokenizer,
  parts: Iterable<Part>,
  options: PartsOffsetsOptions = {},
): Encoding {
  const { unit = "utf16" } = options;
  const [front, back] = endsOf(tokenizer, options);
  let base = 0;
  const found = each(parts, (text, wanted) => {
    const from = base;
    const { ids, begin, end } = tokenizer.encodeWithOffsets(text, { ...wanted, unit });
    base += unitsOf(text, unit);
    return { ids, begin: begin.map((x) => x + from), end: end.map((x) => x + from) };
  });
  const nowhere = new Uint32Array(front.length); // as those of a template
  const atEnd = new Uint32Array(back.length);
  if (options.eos) atEnd[back.length - 1] = base;
  return {
    ids: join([front, ...found.map(({ ids }) => ids), back]),
    begin: join([nowhere, ...found.map(({ begin }) => begin), atEnd]),
    end: join([nowhere, ...found.map(({ end }) => end), atEnd]),
  };
}
