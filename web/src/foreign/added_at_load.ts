/** Tokens that `load` adds to a model, as the compiler takes them. */

import { FEATURE_UNICODE, HEADER_FEATURES } from "../blob_gen.js";
import * as abi from "../layout_gen.js";
import type { AddedToken } from "../load/open.js";
import { ForeignError } from "./errors.js";
import type { Known } from "./known.js";

function refuse(what: string): never {
  throw new ForeignError("ARGUMENT", `addedTokens${what}`, {});
}

/** Checks the option; a text is a token that is not special. */
function checked(tokens: Iterable<string | AddedToken>): readonly AddedToken[] {
  if (typeof tokens === "string") refuse(" must be several, not one");
  return Array.from(tokens, (given, i) => {
    const token = typeof given === "string" ? { content: given } : given;
    const content: unknown = token?.content;
    if (typeof content !== "string") {
      refuse(`[${i}] must be a text, or have a text as content`);
    }
    if (/\p{Surrogate}/u.test(content)) {
      refuse(`[${i}] holds a lone surrogate`);
    }
    return token;
  });
}

const bit = (isSet: boolean | undefined, flag: number): number => (isSet ? flag : 0);

/** Tokens beside those of a blob, as `isotok_build_added` takes them. */
export function addedSource(
  given: Iterable<string | AddedToken>,
  blob: Uint8Array,
  known: Known,
): Uint8Array<ArrayBuffer> {
  const tokens = checked(given);
  checkNormalized(tokens, blob);
  const isWord = tokens.some(({ singleWord }) => singleWord);
  const wordRanges = isWord ? known.words() : new Uint32Array();
  const encoder = new TextEncoder();
  const texts = tokens.map(({ content }) => encoder.encode(content));
  const numbers = Uint32Array.from([
    tokens.length,
    wordRanges.length,
    ...tokens.flatMap(({ special, lstrip, rstrip, singleWord }, i) => [
      texts[i]?.length ?? 0,
      bit(!special, abi.ADDED_PLAIN) |
        bit(lstrip, abi.ADDED_LSTRIP) |
        bit(rstrip, abi.ADDED_RSTRIP) |
        bit(singleWord, abi.ADDED_SINGLE_WORD),
    ]),
    ...wordRanges,
  ]);
  const size = texts.reduce((sum, { length }) => sum + length, numbers.byteLength);
  const source = new Uint8Array(size);
  source.set(new Uint8Array(numbers.buffer));
  let at = numbers.byteLength;
  for (const text of texts) {
    source.set(text, at);
    at += text.length;
  }
  return source;
}

/** Refuses what is looked for behind a normalizer. */
function checkNormalized(tokens: readonly AddedToken[], blob: Uint8Array): void {
  const features = blob[HEADER_FEATURES + (FEATURE_UNICODE >> 3)] as number;
  const i = tokens.findIndex(({ normalized }) => normalized);
  if (i < 0 || !((features >> (FEATURE_UNICODE & 7)) & 1)) return;
  refuse(
    `[${i}]: ${JSON.stringify(tokens[i]?.content)} with normalized: true behind a ` +
      "normalizer; isotok looks for added tokens in the text itself: use normalized: false",
  );
}

/** Refuses a token that has not the id that it must get. */
export function checkAddedIds(
  given: Iterable<string | AddedToken>,
  find: (content: string) => number | undefined,
): void {
  for (const [i, { content, id }] of checked(given).entries()) {
    const found = id === undefined ? undefined : find(content);
    if (found === id) continue;
    refuse(
      `[${i}]: ${JSON.stringify(content)} has the id ${found}, not ${id}: a text of ` +
        "the vocabulary keeps its id, others follow the vocabulary in order",
    );
  }
}
