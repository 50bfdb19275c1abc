/** Which module reads which type of model. */

import { readBpe } from "./bpe.js";
import { isObject, type Json, maybe } from "./checked.js";
import type { AddedToken, Document } from "./document.js";
import { broken, shorten } from "./errors.js";
import type { Field } from "./fields.js";
import type { Pipeline } from "./pipeline.js";
import { readUnigram } from "./unigram.js";
import { readWordLevel, readWordPiece } from "./words.js";

/** What every type of model gives. */
export interface Model {
  readonly fields: readonly Field[];
  /** With the ids that tokenizers gives them. */
  readonly added: readonly AddedToken[];
  /** What unknown text becomes. */
  readonly unkToken: string | undefined;
}

export type Read = (document: Document, pipeline: Pipeline) => Model;

const READERS: Readonly<Record<string, Read>> = {
  BPE: readBpe,
  Unigram: readUnigram,
  WordPiece: readWordPiece,
  WordLevel: readWordLevel,
};

export function readerOf(model: Json): Read {
  const kind = maybe(model, "type", "string", "model") ?? guess(model);
  const read = Object.hasOwn(READERS, kind) ? READERS[kind] : undefined;
  if (read !== undefined) return read;
  throw broken("model.type", `${shorten(kind)} is none of ${Object.keys(READERS).join(", ")}`);
}

/** The type, which older files do not name: the first that has these members. */
function guess(model: Json): string {
  const { vocab, merges } = model;
  if (typeof merges === "object" && merges !== null) return "BPE";
  if (Array.isArray(vocab)) return "Unigram";
  if (!isObject(vocab)) return "BPE";
  return Object.hasOwn(model, "max_input_chars_per_word") ? "WordPiece" : "WordLevel";
}
