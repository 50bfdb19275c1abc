/** Pieces of models that segment pre-tokens: WordPiece, WordLevel, Unigram. */

import * as abi from "../layout_gen.js";
import { type AddedToken, MOST_IDS } from "./document.js";
import { damaged, type ForeignError, shorten } from "./errors.js";
import { type Field, Pieces, scalar, toUtf8 } from "./fields.js";
import type { Vocabulary } from "./vocabulary.js";

/** Score of an id that the model itself never gives. */
const NOT_IN_TEXT = Number.NEGATIVE_INFINITY;
const MOST_FLOAT = (2 - 2 ** -23) * 2 ** 127;
const LONGEST = 0xffff;

export interface ScoredPieces extends Pieces {
  readonly scores: Float64Array;
}

export function vocabularyError(what: string): ForeignError {
  return damaged(`vocabulary: ${what}`);
}

export function makePieces(count: number, added: readonly AddedToken[]): ScoredPieces {
  const size = added.reduce((most, { id }) => Math.max(most, id + 1), count);
  if (size === 0 || size > MOST_IDS) {
    const most = MOST_IDS.toLocaleString("en");
    throw vocabularyError(`ids must be below ${most}, and there must be one`);
  }
  return Object.assign(new Pieces(size), { scores: new Float64Array(size).fill(NOT_IN_TEXT) });
}

/** Sets a piece that was not set yet. */
export function putPiece(
  pieces: ScoredPieces,
  id: number,
  text: string,
  kind: number,
  score: number,
): void {
  const before = pieces.texts[id] as Uint8Array;
  if (pieces.types[id] !== abi.UNUSED || before.length > 0) {
    const other = shorten(new TextDecoder().decode(before));
    throw vocabularyError(`${shorten(text)} has id ${id}, which is that of ${other} too`);
  }
  const bytes = toUtf8(text);
  if (bytes.length > LONGEST) {
    throw vocabularyError(`${shorten(text)} is longer than 7,999 bytes`);
  }
  pieces.texts[id] = bytes;
  pieces.types[id] = text === "" ? abi.UNUSED : kind;
  pieces.scores[id] = score;
}

/** Marks added tokens; the model itself never gives those that are not in its vocabulary. */
export function addTokens(
  pieces: ScoredPieces,
  added: readonly AddedToken[],
  vocabulary: Vocabulary,
): void {
  for (const { content, id, special } of added) {
    if (vocabulary.get(content) !== id) {
      const kind = special ? abi.CONTROL : abi.USER_DEFINED;
      putPiece(pieces, id, content, kind, NOT_IN_TEXT);
    } else if (special) {
      pieces.types[id] = abi.CONTROL;
    }
  }
}

/** A float32, finite if the score is. */
export function rounded(score: number): number {
  if (score === NOT_IN_TEXT) return score;
  return Math.fround(Math.min(Math.max(score, -MOST_FLOAT), MOST_FLOAT));
}

export function wordFields(
  algorithm: number,
  pieces: ScoredPieces,
  unkId: number | undefined,
  more: readonly Field[],
  pretokenizer: readonly Field[],
): Field[] {
  return [
    [abi.FIELD_ALGORITHM, scalar(algorithm)],
    [abi.FIELD_PARITY, scalar(abi.PARITY_HF)],
    [abi.FIELD_NORMALIZER_FLAGS, scalar(0)],
    [abi.FIELD_PRETOKENS, scalar(unkId ?? abi.NO_TOKEN)],
    ...pieces.textFields(),
    [abi.FIELD_SCORES, new Float32Array(pieces.scores.map(rounded))],
    [abi.FIELD_TYPES, pieces.types],
    ...more,
    ...pretokenizer,
  ];
}
