/** Added tokens as the blob's search for them: one automaton over the raw text. */

import * as abi from "../layout_gen.js";
import type { AddedToken } from "./document.js";
import { shorten, unsupported } from "./errors.js";
import type { Field } from "./fields.js";
import type { Known } from "./known.js";

/** Fields of added tokens that have their ids. */
export function addedFields(
  tokens: readonly AddedToken[],
  isNormalized: boolean,
  known: Known,
): Field[] {
  const all = [...tokens].sort((a, b) => a.id - b.id);
  checkKinds(all, isNormalized);
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
 * normalizer makes of the rest. One search does the same if there is none, and if no token of
 * one kind can overlap one of the other.
 */
function checkKinds(tokens: readonly AddedToken[], isNormalized: boolean): void {
  const late = tokens.filter((token) => token.normalized);
  const first = late[0];
  if (first === undefined) return;
  if (isNormalized) {
    throw unsupported(
      "added_tokens",
      `${shorten(first.content)} with "normalized": true behind a normalizer`,
    );
  }
  for (const token of tokens) {
    if (token.normalized) continue;
    const other = late.find((each) => canOverlap(token, each));
    if (other === undefined) continue;
    throw unsupported(
      "added_tokens",
      `${shorten(token.content)} and ${shorten(other.content)}, which can overlap, of which ` +
        'only one is "normalized"',
    );
  }
}

/** One holds the other, or begins with what the other ends with; or both take white space. */
function canOverlap(token: AddedToken, other: AddedToken): boolean {
  const [a, b] = [token.content, other.content];
  const strips = (token.lstrip || token.rstrip) && (other.lstrip || other.rstrip);
  return strips || b.includes(a) || a.includes(b) || areJoined(a, b) || areJoined(b, a);
}

function areJoined(left: string, right: string): boolean {
  const most = Math.min(left.length, right.length);
  for (let size = 1; size < most; size++) {
    if (left.endsWith(right.slice(0, size))) return true;
  }
  return false;
}
