/** Pieces by id and ids by piece. */

import { TokenizerError } from "./errors.js";
import { type PieceType, pieceType } from "./info.js";
import type { ModelInstance } from "./instance.js";
import * as abi from "./layout_gen.js";
import type { Text } from "./memory.js";
import { writeText } from "./text.js";

/** One entry of the vocabulary. */
export interface Piece {
  /** As the model has it: U+2581 for spaces. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly type: PieceType;
  readonly score: number;
}

export function getPiece(model: ModelInstance, id: number): Piece {
  const { at, machine } = model;
  const { memory } = machine;
  const known = id === id >>> 0;
  const status = known
    ? machine.call("isotok_piece_get", model.model, id, at.input)
    : abi.E_ID_RANGE;
  if (status !== abi.OK) {
    throw new TokenizerError(
      "E_ID_RANGE",
      `id: ${id} is out of range; ids are whole numbers, 0 <= id < ${model.info.vocabSize}`,
      { status, what: abi.WHAT_TOKEN_ID, need: model.info.vocabSize },
    );
  }
  const word = (offset: number) => memory.word(at.input + offset);
  return {
    bytes: memory.copy(word(abi.PIECE_TEXT), word(abi.PIECE_SIZE)),
    type: pieceType(word(abi.PIECE_TYPE)),
    score: memory.float(at.input + abi.PIECE_SCORE),
  };
}

/** Id of the piece with exactly this text; undefined if there is none. */
export function findPiece(model: ModelInstance, piece: Text): number | undefined {
  const { at, machine } = model;
  const { read, written } = writeText(machine.memory, piece, 0, model.window);
  if (read < piece.length) return undefined; // longer than any piece
  const id = machine.call("isotok_piece_find", model.model, at.text, written) >>> 0;
  return id === abi.NO_TOKEN ? undefined : id;
}
