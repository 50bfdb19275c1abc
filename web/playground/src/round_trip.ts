/** What decoding gives back. */

import type { Tokenizer } from "isotok";
import type { Difference, RoundTrip } from "./protocol.js";
import { repairSurrogates } from "./text.js";

/** Code points shown of each text where they differ. */
const SHOWN = 12;

export function checkRoundTrip(tokenizer: Tokenizer, text: string, ids: Uint32Array): RoundTrip {
  const decoded = tokenizer.decode(ids);
  const unknownTokens = countOf(ids, tokenizer.unkId);
  if (decoded === text) return { outcome: "exact", unknownTokens, difference: undefined };
  return {
    outcome: outcomeOf(tokenizer, text, decoded),
    unknownTokens,
    difference: firstDifference(text, decoded),
  };
}

function outcomeOf(tokenizer: Tokenizer, text: string, decoded: string): RoundTrip["outcome"] {
  if (decoded === repairSurrogates(text)) return "repaired";
  // Spaces that the model adds or marks are in the normalized text, not in the decoded one:
  // the two can only be compared by normalizing the latter too.
  return tokenizer.normalize(decoded) === tokenizer.normalize(text) ? "normalized" : "lost";
}

function countOf(ids: Uint32Array, wanted: number | undefined): number {
  if (wanted === undefined) return 0;
  return ids.reduce((count, id) => count + (id === wanted ? 1 : 0), 0);
}

function firstDifference(text: string, decoded: string): Difference {
  let at = 0;
  while (at < text.length && text.charCodeAt(at) === decoded.charCodeAt(at)) at++;
  if (isLow(text, at) || isLow(decoded, at)) at = Math.max(at - 1, 0);
  return { at, text: excerpt(text, at), decoded: excerpt(decoded, at) };
}

/** Whether this is the second half of a character. */
function isLow(text: string, at: number): boolean {
  return /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(at - 1, at + 1));
}

function excerpt(text: string, at: number): string {
  return Array.from(text.slice(at, at + 2 * SHOWN))
    .slice(0, SHOWN)
    .join("");
}
