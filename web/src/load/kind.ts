/** Tells what a file is from its first bytes. */

import * as blob from "../blob_gen.js";

/** "json" and "ranks" are what a script reads before the compiler does. */
export type Kind = "blob" | "packed" | "source" | "json" | "ranks";

/** The first line of a rank file: a token in base64, and its rank. */
const RANK = /^[A-Za-z0-9+/]{2,}={0,2} [0-9]+\r?\n/;

/** Blobs and packed models begin with ISTK; what is no JSON or ranks is for the compiler. */
export function kindOf(head: Uint8Array): Kind {
  const text = String.fromCharCode(...head);
  if (/^[ \t\r\n]*\{/.test(text)) return "json";
  if (RANK.test(text)) return "ranks";
  if (head.length < blob.HEADER_SIZE || !text.startsWith(blob.IDENTIFIER)) return "source";
  const at = blob.HEADER_FEATURES + (blob.FEATURE_PACKED >> 3);
  const packed = ((head[at] as number) >> (blob.FEATURE_PACKED & 7)) & 1;
  return packed === 1 ? "packed" : "blob";
}
