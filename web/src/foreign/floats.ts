/**
 * Decimal numbers as tokenizers reads them: some are the neighbour of the nearest float.
 *
 * Its JSON reader makes one float of all digits and divides or multiplies it by a power of ten, so
 * it rounds twice. JSON.parse tells no digits, so they are read from the text again.
 */

import { broken } from "./errors.js";

const ENTRY = /[\s]*\[[\s]*("(?:[^"\\]|\\.)*")[\s]*,[\s]*(-?[0-9.eE+-]+)[\s]*\][\s]*,?/y;
const MOST = (1n << 64n) - 1n;

/** The scores of `model.vocab`, of which JSON.parse has read the texts. */
export function readScores(json: string, texts: readonly string[]): Float64Array {
  for (let at = json.indexOf('"vocab"'); at >= 0; at = json.indexOf('"vocab"', at + 1)) {
    const begin = /"vocab"\s*:\s*\[/y;
    begin.lastIndex = at;
    if (!begin.test(json)) continue;
    const scores = scoresAt(json, begin.lastIndex, texts);
    if (scores !== undefined) return scores;
  }
  throw broken("model.vocab", "an array of pairs of a text and a score should be here");
}

/** Undefined: these are not the entries. */
function scoresAt(json: string, at: number, texts: readonly string[]): Float64Array | undefined {
  const scores = new Float64Array(texts.length);
  ENTRY.lastIndex = at;
  for (const [i, text] of texts.entries()) {
    const found = ENTRY.exec(json);
    if (found === null || JSON.parse(found[1] as string) !== text) return undefined;
    scores[i] = readFloat(found[2] as string);
  }
  return scores;
}

/** What serde_json makes of a number. */
export function readFloat(text: string): number {
  if (/^-?[0-9]+$/.test(text)) return Number(text);
  const sign = text.startsWith("-") ? -1 : 1;
  return sign * readAny(sign < 0 ? text.slice(1) : text);
}

function readAny(text: string): number {
  const [mantissa = "", power] = text.toLowerCase().split("e") as [string, string?];
  const [whole = "", fraction = ""] = mantissa.split(".") as [string, string?];
  let [significand, used] = take(0n, whole);
  let exponent = whole.length - used;
  if (used === whole.length) {
    [significand, used] = take(significand, fraction);
    exponent -= used;
  }
  if (power !== undefined) exponent += Math.max(-(2 ** 31), Math.min(Number(power), 2 ** 31 - 1));
  return scale(Number(significand), exponent);
}

/** Digits are taken as long as they stay below 2^64. */
function take(significand: bigint, digits: string): [bigint, number] {
  let value = significand;
  for (let used = 0; used < digits.length; used++) {
    const longer = 10n * value + BigInt(digits[used] as string);
    if (longer > MOST) return [value, used];
    value = longer;
  }
  return [value, digits.length];
}

function scale(significand: number, exponent: number): number {
  let value = significand;
  let rest = exponent;
  while (value !== 0 && rest < -308) {
    value /= 1e308;
    rest += 308;
  }
  if (value === 0) return 0;
  if (rest > 308) return Number.POSITIVE_INFINITY;
  return rest >= 0 ? value * Number(`1e${rest}`) : value / Number(`1e${-rest}`);
}
