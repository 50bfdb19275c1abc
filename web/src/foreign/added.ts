/** Added tokens as the blob's search for them: one automaton over the raw text. */

import * as abi from "../layout_gen.js";
import type { AddedToken } from "./document.js";
import { shorten, unsupported } from "./errors.js";
import type { Field } from "./fields.js";
import type { Known } from "./known.js";

const MOST_PAIRS = 1_000_000;

/** Fields of added tokens that have their ids. */
export function addedFields(
  tokens: readonly AddedToken[],
  isNormalized: boolean,
  known: Known,
): Field[] {
  const all = [...tokens].sort((a, b) => a.id - b.id);
  checkKinds(all, isNormalized, known);
  const numbers = Uint32Array.from(all.flatMap((token) => [token.id, flagsOf(token)]));
  const fields: Field[] = numbers.length > 0 ? [[abi.FIELD_ADDED_TOKENS, numbers]] : [];
  if (all.some((token) => token.singleWord)) fields.push([abi.FIELD_WORD_RANGES, known.words()]);
  return fields;
}

function flagsOf({ special, lstrip, rstrip, singleWord }: AddedToken): number {
  return (
    (special ? 0 : abi.ADDED_PLAIN) |
    (lstrip ? abi.ADDED_LSTRIP : 0) |
    (rstrip ? abi.ADDED_RSTRIP : 0) |
    (singleWord ? abi.ADDED_SINGLE_WORD : 0)
  );
}

/**
 * tokenizers searches twice: in the text, and for tokens that are `normalized` in what the
 * normalizer makes of the rest. One search does the same if there is none, and no two tokens can
 * get in each other's way.
 */
function checkKinds(tokens: readonly AddedToken[], isNormalized: boolean, known: Known): void {
  const late = tokens.filter((token) => token.normalized);
  if (isNormalized && late[0] !== undefined) {
    throw unsupported(
      "added_tokens",
      `${shorten(late[0].content)} with "normalized": true behind a normalizer ` +
        '(with "normalized": false it is found in the text as it is)',
    );
  }
  checkSpaces(tokens);
  const early = tokens.filter((token) => !token.normalized);
  if (late[0] && early[0] && late.length * early.length > MOST_PAIRS) {
    refuse(late[0], early[0], 'too many of which only some are "normalized"');
  }
  const words = late.some((token) => token.singleWord) ? known.words() : new Uint32Array(0);
  for (const token of late) {
    for (const other of early) {
      const why = conflict(token, other, words);
      if (why !== undefined) refuse(token, other, why);
    }
  }
}

function refuse(token: AddedToken, other: AddedToken, why: string): never {
  throw unsupported(
    "added_tokens",
    `${shorten(token.content)} and ${shorten(other.content)}: ${why}`,
  );
}

/** White space that one token takes along may be another's. */
function checkSpaces(tokens: readonly AddedToken[]): void {
  const first = tokens.find((token) => isSpace(token.content, 0));
  if (first === undefined) return;
  for (const token of tokens) {
    if (token.rstrip) refuse(token, first, "the white space that one takes along begins the other");
  }
  const ends = tokens.find(
    ({ special, singleWord, content }) =>
      (special || singleWord) && isSpace(content, content.length - 1),
  );
  if (ends !== undefined && tokens.some((token) => token.lstrip)) {
    refuse(ends, first, "they can overlap in white space that a third takes along");
  }
}

/** Why one search would not do, for tokens of which only `late` is `normalized`. */
function conflict(late: AddedToken, early: AddedToken, words: Uint32Array): string | undefined {
  const [a, b] = [early.content, late.content];
  if (b.includes(a) || a.includes(b) || areJoined(a, b) || areJoined(b, a)) {
    return 'they can overlap, and only one is "normalized"';
  }
  if (early.lstrip && (late.rstrip || isSpace(b, b.length - 1))) {
    return 'both can take the same white space, and only one is "normalized"';
  }
  const points = [...a].map((character) => character.codePointAt(0) as number);
  const ends = [points[0] as number, points.at(-1) as number];
  if (late.singleWord && ends.some((point) => isIn(words, point))) {
    return 'only one is "normalized", and "single_word", and may stand beside the other';
  }
  return undefined;
}

/** White_Space of Unicode; JavaScript's own has U+FEFF and lacks U+0085. */
function isSpace(text: string, at: number): boolean {
  return /[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/.test(text.charAt(at));
}

/** Whether an odd number of the ascending numbers are not above the code point. */
function isIn(toggles: Uint32Array, point: number): boolean {
  let low = 0;
  let high = toggles.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((toggles[middle] as number) <= point) low = middle + 1;
    else high = middle;
  }
  return low % 2 === 1;
}

function areJoined(left: string, right: string): boolean {
  const most = Math.min(left.length, right.length);
  for (let size = 1; size < most; size++) {
    if (left.endsWith(right.slice(0, size))) return true;
  }
  return false;
}
