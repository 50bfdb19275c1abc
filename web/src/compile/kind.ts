/** Tells what a file is from its first bytes. */

import type { ForeignKind } from "../foreign/read.js";

/** The first line of a rank file: a token in base64, and its rank. */
const RANK = /^[A-Za-z0-9+/]{2,}={0,2} [0-9]+\r?\n/;

/** What a script reads before the compiler does; undefined: the compiler itself reads it. */
export function kindOf(head: Uint8Array): ForeignKind | undefined {
  const text = String.fromCharCode(...head);
  if (/^[ \t\r\n]*\{/.test(text)) return "json";
  return RANK.test(text) ? "ranks" : undefined;
}
