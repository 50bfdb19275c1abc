/** Counts of a text, and names for characters that cannot be seen. */

import type { TextCounts } from "./protocol.js";

/** Counts without making another copy of the text. */
export function countText(text: string): TextCounts {
  let [characters, bytes, loneSurrogates] = [0, 0, 0];
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    characters++;
    if (unit < 0x80) bytes += 1;
    else if (unit < 0x800) bytes += 2;
    else if ((unit & 0xf800) !== 0xd800) bytes += 3;
    else if ((text.codePointAt(i) as number) > 0xffff) {
      bytes += 4;
      i++;
    } else {
      bytes += 3; // as U+FFFD
      loneSurrogates++;
    }
  }
  return { characters, bytes, loneSurrogates };
}

/** The text as the core sees it: U+FFFD for each lone surrogate. */
export function repairSurrogates(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\ufffd");
}

/**
 * Characters that are shown by their number: those that cannot be seen, and those that would
 * turn the text around them. Joiners are not among them: what they join looks otherwise.
 */
const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\p{Surrogate}|\p{Unassigned}|\p{Private_Use}/u;

/** Characters that are shown by a sign, when spaces are to be seen. */
const SIGNS: Readonly<Record<string, string>> = {
  " ": "·",
  "\u00a0": "⍽",
  "\u3000": "□",
  "\t": "→\t",
  "\n": "⏎\n",
  "\r": "␍",
};

export interface Part {
  readonly kind: "text" | "sign" | "code";
  readonly text: string;
}

/** Divides a text into what is shown as it is, signs for spaces, and codes. */
export function visibleParts(text: string, spaces: boolean): Part[] {
  const parts: Part[] = [];
  let plain = "";
  const add = (part: Part) => {
    if (plain !== "") parts.push({ kind: "text", text: plain });
    plain = "";
    parts.push(part);
  };
  for (const character of text) {
    const sign = spaces ? SIGNS[character] : undefined;
    if (sign !== undefined) add({ kind: "sign", text: sign });
    else if (HIDDEN.test(character)) add({ kind: "code", text: codeOf(character) });
    else plain += character;
  }
  if (plain !== "") parts.push({ kind: "text", text: plain });
  return parts;
}

/** As in `U+200B`. */
export function codeOf(character: string): string {
  const number = character.codePointAt(0) as number;
  return `U+${number.toString(16).toUpperCase().padStart(4, "0")}`;
}

/** Hexadecimal, as in `F0 9F`. */
export function hexOf(bytes: Iterable<number>): string {
  return Array.from(bytes, (byte) => byte.toString(16).toUpperCase().padStart(2, "0")).join(" ");
}
