/** Tells what a file is from its first bytes. */

import * as blob from "../blob_gen.js";

export type Kind = "blob" | "packed" | "source";

/** Blobs and packed models begin with ISTK; all else is for the compiler to look at. */
export function kindOf(head: Uint8Array): Kind {
  if (head.length < blob.HEADER_SIZE) return "source";
  if (String.fromCharCode(...head.subarray(0, 4)) !== blob.IDENTIFIER) return "source";
  const at = blob.HEADER_FEATURES + (blob.FEATURE_PACKED >> 3);
  const packed = ((head[at] as number) >> (blob.FEATURE_PACKED & 7)) & 1;
  return packed === 1 ? "packed" : "blob";
}
