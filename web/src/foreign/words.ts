/** WordPiece and WordLevel of a tokenizer.json. */

import * as abi from "../layout_gen.js";
import { maybe, member } from "./checked.js";
import { type AddedToken, type Document, resolveAdded } from "./document.js";
import { unsupported } from "./errors.js";
import { type Field, toUtf8 } from "./fields.js";
import type { Model, Read } from "./models.js";
import type { Pipeline } from "./pipeline.js";
import { addTokens, makePieces, putPiece, wordFields } from "./pretokens.js";
import { largestId, readVocabulary, type Vocabulary } from "./vocabulary.js";

const MOST_CHARACTERS = 0xffffffff;

export const readWordPiece: Read = (document, pipeline): Model => {
  const { vocabulary, added } = read(document, pipeline);
  const { model } = document;
  const unkToken = maybe(model, "unk_token", "string", "model") ?? "[UNK]";
  const prefix = toUtf8(maybe(model, "continuing_subword_prefix", "string", "model") ?? "##");
  const limit = maybe(model, "max_input_chars_per_word", "integer", "model") ?? 100;
  const continuation = new Uint8Array(4 + prefix.length);
  const characters = Math.min(Math.max(limit, 0), MOST_CHARACTERS);
  new DataView(continuation.buffer).setUint32(0, characters, true);
  continuation.set(prefix, 4);
  const more: Field[] = [[abi.FIELD_CONTINUATION, continuation]];
  return make(abi.WORDPIECE, vocabulary, added, unkToken, more, pipeline);
};

export const readWordLevel: Read = (document, pipeline): Model => {
  const { vocabulary, added } = read(document, pipeline);
  const unkToken = member(document.model, "unk_token", "string", "model");
  return make(abi.WORD, vocabulary, added, unkToken, [], pipeline);
};

function read(document: Document, pipeline: Pipeline) {
  if (pipeline.byteLevel) {
    throw unsupported("pre_tokenizer", "ByteLevel in front of a model of words");
  }
  const vocabulary = readVocabulary(document.model);
  const find = (text: string) => vocabulary.get(text);
  return { vocabulary, added: resolveAdded(document.addedTokens, find, vocabulary.size) };
}

function make(
  algorithm: number,
  vocabulary: Vocabulary,
  added: readonly AddedToken[],
  unkToken: string,
  more: readonly Field[],
  { pretokenizer }: Pipeline,
): Model {
  const pieces = makePieces(1 + largestId(vocabulary.values()), added);
  for (const [text, id] of vocabulary) {
    putPiece(pieces, id, text, text === unkToken ? abi.UNKNOWN : abi.NORMAL, 0);
  }
  addTokens(pieces, added, vocabulary);
  const unkId = unkToken === "" ? undefined : vocabulary.get(unkToken);
  return { fields: wordFields(algorithm, pieces, unkId, more, pretokenizer), added, unkToken };
}
