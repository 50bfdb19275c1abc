/** ByteLevel as the last normalizer: what it does is what the pre-tokenizer of this name does. */

import { flat } from "./checked.js";
import type { Document } from "./document.js";
import { shorten, unsupported } from "./errors.js";

const BYTES = {
  type: "ByteLevel",
  add_prefix_space: false,
  trim_offsets: true,
  use_regex: false,
};

/** A document without that normalizer, which does the same; nothing else may work on letters. */
export function settleBytes(document: Document): Document {
  const { normalizer, preTokenizer, addedTokens } = document;
  const steps = flat(normalizer, "normalizer", "normalizers");
  const at = steps.findIndex(({ kind }) => kind === "ByteLevel");
  const found = steps[at];
  if (found === undefined) return document;
  if (at < steps.length - 1) {
    throw unsupported(found.path, "ByteLevel in front of another normalizer");
  }
  if (flat(preTokenizer, "pre_tokenizer", "pretokenizers").length > 0) {
    throw unsupported(found.path, "ByteLevel as a normalizer in front of a pre_tokenizer");
  }
  for (const { normalized, lstrip, rstrip, singleWord, content } of addedTokens) {
    const isPlain = /^[!-~]*$/.test(content); // the letters of its bytes are the text itself
    if (normalized && (lstrip || rstrip || singleWord || !isPlain)) {
      const what = `${shorten(content)} with "normalized": true behind ByteLevel`;
      throw unsupported("added_tokens", what);
    }
  }
  const others = steps.slice(0, -1).map(({ part }) => part);
  const left = others.length > 0 ? { type: "Sequence", normalizers: others } : undefined;
  return { ...document, normalizer: left, preTokenizer: BYTES };
}
