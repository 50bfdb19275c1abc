/** Unigram of a tokenizer.json. */

import * as abi from "../layout_gen.js";
import { checkWellFormed, get, type Json, maybe } from "./checked.js";
import { resolveAdded } from "./document.js";
import { broken, shorten, unsupported } from "./errors.js";
import { type Field, scalar } from "./fields.js";
import type { Model, Read } from "./models.js";
import {
  addTokens,
  makePieces,
  putPiece,
  rounded,
  vocabularyError,
  wordFields,
} from "./pretokens.js";

export type Entry = [text: string, score: number];

const PATH = "model.vocab";
const IS_BYTE = /^<0x[0-9A-F]{2}>$/;

export const readUnigram: Read = ({ model, addedTokens }, pipeline): Model => {
  if (pipeline.byteLevel) throw unsupported("pre_tokenizer", "ByteLevel in front of Unigram");
  const vocab = readScores(model);
  const unkId = maybe(model, "unk_id", "integer", "model");
  if (unkId !== undefined && !(unkId >= 0 && unkId < vocab.length)) {
    throw broken("model.unk_id", `${unkId} is not the place of an entry of the vocabulary`);
  }
  const places = new Map(vocab.map(([text], id) => [text, id])); // of equal texts the last counts
  const added = resolveAdded(addedTokens, (text) => places.get(text), vocab.length);
  const byteFallback = maybe(model, "byte_fallback", "boolean", "model") ?? false;
  const pieces = makePieces(vocab.length, added);
  for (const [id, [text, score]] of vocab.entries()) {
    if (!Number.isFinite(score)) {
      throw vocabularyError(`the score of ${shorten(text)} is not finite`);
    }
    const isByte = byteFallback && IS_BYTE.test(text);
    const kind = id === unkId ? abi.UNKNOWN : isByte ? abi.BYTE : abi.NORMAL;
    putPiece(pieces, id, text, places.get(text) === id ? kind : abi.UNUSED, score);
  }
  if (unkId !== undefined && pieces.types[unkId] !== abi.UNKNOWN) {
    throw broken("model.unk_id", `${unkId} has no text, or the same as a later piece`);
  }
  addTokens(pieces, added, places);
  const more: Field[] = [];
  if (pieces.scores.some((score) => rounded(score) !== score)) {
    more.push([abi.FIELD_EXACT_SCORES, pieces.scores]);
  }
  if (byteFallback) more.push([abi.FIELD_BYTE_FALLBACK, scalar(1)]);
  return {
    fields: wordFields(abi.UNIGRAM, pieces, unkId, more, pipeline.pretokenizer),
    added,
    unkToken: unkId === undefined ? undefined : vocab[unkId]?.[0],
  };
};

function readScores(model: Json): readonly Entry[] {
  const vocab = get(model, "vocab");
  if (!Array.isArray(vocab)) {
    throw broken(PATH, "an array of pairs of a text and a score should be here");
  }
  for (const [i, entry] of vocab.entries()) {
    if (!isEntry(entry)) {
      throw broken(`${PATH}[${i}]`, `${shorten(entry)} is no pair of a text and a score`);
    }
    checkWellFormed(entry[0], `${PATH}[${i}]`);
  }
  if (vocab.length === 0) throw unsupported(PATH, "a vocabulary without entries");
  return vocab;
}

export function isEntry(entry: unknown): entry is Entry {
  return (
    Array.isArray(entry) &&
    entry.length === 2 &&
    typeof entry[0] === "string" &&
    typeof entry[1] === "number"
  );
}
