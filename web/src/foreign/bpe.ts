/** BPE models of a tokenizer.json. */

import * as abi from "../layout_gen.js";
import { get, type Json, lengthOf, maybe, utf8Length } from "./checked.js";
import { type AddedToken, resolveAdded } from "./document.js";
import { broken, shorten, unsupported } from "./errors.js";
import { type Field, Pieces, scalar, toUtf8 } from "./fields.js";
import { bytesOf, isSpelled } from "./letters.js";
import { readSplits, type Splits } from "./merges.js";
import type { Model, Read } from "./models.js";
import { largestId, readVocabulary, type Vocabulary } from "./vocabulary.js";

const LONGEST = 7999;
const BYTE_TOKENS = Array.from(
  { length: 256 },
  (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`,
);

interface Options {
  /** What a character that is not in the vocabulary becomes. */
  readonly unkToken: string | undefined;
  /** A run of such characters becomes one. */
  readonly fuseUnk: boolean;
  /** Such a character becomes its bytes' tokens instead. */
  readonly byteFallback: boolean;
  /** A pre-token that is in the vocabulary is that token. */
  readonly ignoreMerges: boolean;
}

interface Parts {
  readonly model: Json;
  readonly options: Options;
  readonly vocabulary: Vocabulary;
  readonly added: readonly AddedToken[];
  readonly size: number;
  readonly pretokenizer: readonly Field[];
}

export const readBpe: Read = ({ model, addedTokens }, pipeline): Model => {
  const options = readOptions(model);
  const vocabulary = readVocabulary(model);
  const added = resolveAdded(addedTokens, (text) => vocabulary.get(text), vocabulary.size);
  const size = 1 + largestId([...vocabulary.values(), ...added.map(({ id }) => id)]);
  const pretokenizer = !pipeline.byteLevel && pipeline.cutsNothing ? [] : pipeline.pretokenizer;
  const parts = { model, options, vocabulary, added, size, pretokenizer };
  const fields = pipeline.byteLevel ? byteLevelFields(parts) : characterFields(parts);
  return { fields, added, unkToken: options.unkToken };
};

function readOptions(model: Json): Options {
  const dropout = get(model, "dropout");
  if (dropout !== undefined && dropout !== 0) {
    throw unsupported("model.dropout", `a dropout of ${shorten(dropout)}`);
  }
  for (const name of ["continuing_subword_prefix", "end_of_word_suffix"]) {
    const text = maybe(model, name, "string", "model");
    if (text) throw unsupported(`model.${name}`, shorten(text));
  }
  const flag = (name: string) => maybe(model, name, "boolean", "model") ?? false;
  return {
    unkToken: maybe(model, "unk_token", "string", "model"),
    fuseUnk: flag("fuse_unk"),
    byteFallback: flag("byte_fallback"),
    ignoreMerges: flag("ignore_merges"),
  };
}

function put(pieces: Pieces, id: number, text: Uint8Array, kind: number): void {
  if (text.length > LONGEST) {
    throw unsupported("model.vocab", `a token of more than ${LONGEST} bytes`);
  }
  pieces.texts[id] = text;
  pieces.types[id] = text.length > 0 ? kind : abi.UNUSED;
}

/** A token that merges can give has to stay a piece like others. */
function isMerged({ counts }: Splits, { id }: AddedToken): boolean {
  return (counts[id] as number) > 0;
}

// -- bytes --------------------------------------------------------------------------

function byteLevelFields({
  model,
  options,
  vocabulary,
  added,
  size,
  pretokenizer,
}: Parts): Field[] {
  if (options.byteFallback) {
    throw unsupported("model.byte_fallback", "byte_fallback with ByteLevel");
  }
  const splits = readSplits(model, {
    vocabulary,
    size,
    measure: lengthOf,
    isApart: (text) => !isSpelled(text),
    isRefused: () => false,
  });
  const pieces = new Pieces(size);
  for (const [text, id] of vocabulary) {
    put(pieces, id, bytesOf(text), isSpelled(text) ? abi.NORMAL : abi.UNUSED);
  }
  for (const token of added) {
    const bytes = bytesOf(token.content);
    if (isMerged(splits, token) || bytes.length < 2) continue;
    if (isSpelled(token.content) && /[^\0-\x7f]/.test(token.content)) {
      throw unsupported(
        "added_tokens",
        `${shorten(token.content)}, which ByteLevel decodes to another text`,
      );
    }
    put(pieces, token.id, bytes, token.special ? abi.CONTROL : abi.USER_DEFINED);
  }
  checkBytes(pieces);
  return byteFields(pieces, pretokenizer, {
    parity: abi.PARITY_HF,
    whole: options.ignoreMerges,
    scores: new Float32Array(size),
    splits,
  });
}

/** Fields of a byte-level BPE model. */
export function byteFields(
  pieces: Pieces,
  pretokenizer: readonly Field[],
  more: { parity: number; whole: boolean; scores: Float32Array; splits?: Splits },
): Field[] {
  const merges = abi.BYTE_LEVEL_MERGES | (more.whole ? abi.BYTE_LEVEL_WHOLE : 0);
  return [
    [abi.FIELD_ALGORITHM, scalar(abi.BPE)],
    [abi.FIELD_PARITY, scalar(more.parity)],
    [abi.FIELD_NORMALIZER_FLAGS, scalar(0)],
    [abi.FIELD_BYTE_LEVEL, scalar(merges)],
    ...pieces.textFields(),
    [abi.FIELD_SCORES, more.scores],
    [abi.FIELD_TYPES, pieces.types],
    ...pretokenizer,
    [abi.FIELD_MERGE_COUNTS, more.splits?.counts ?? new Uint8Array()],
    [abi.FIELD_MERGE_SPLITS, more.splits?.splits ?? new Uint32Array()],
  ];
}

function checkBytes({ texts, types }: Pieces): void {
  const there = new Set<number | undefined>();
  for (const [id, text] of texts.entries()) {
    if (text.length === 1 && types[id] === abi.NORMAL) there.add(text[0]);
  }
  for (let byte = 0; byte < 256; byte++) {
    if (there.has(byte)) continue;
    const hex = byte.toString(16).padStart(2, "0");
    throw unsupported("model.vocab", `a byte-level vocabulary without the byte 0x${hex}`);
  }
}

// -- characters ---------------------------------------------------------------------

function characterFields(parts: Parts): Field[] {
  const { model, vocabulary, added, size, pretokenizer } = parts;
  const { unkToken, byteFallback } = settleUnknowns(parts.options, vocabulary);
  const refused = new Set([unkToken, ...(byteFallback ? BYTE_TOKENS : [])]);
  const splits = readSplits(model, {
    vocabulary,
    size,
    measure: utf8Length,
    isApart: (text) => text === "",
    isRefused: (text) => refused.has(text),
  });
  const pieces = new Pieces(size);
  for (const [text, id] of vocabulary) put(pieces, id, toUtf8(text), abi.NORMAL);
  for (const token of added) {
    if (isMerged(splits, token) || lengthOf(token.content) < 2) continue;
    const kind = token.special ? abi.CONTROL : abi.USER_DEFINED;
    put(pieces, token.id, toUtf8(token.content), kind);
  }
  if (byteFallback) {
    for (const text of BYTE_TOKENS) pieces.types[vocabulary.get(text) as number] = abi.BYTE;
  }
  if (unkToken !== undefined) pieces.types[vocabulary.get(unkToken) as number] = abi.UNKNOWN;
  const empty = pieces.texts.findIndex((text) => text.length === 0);
  if (empty >= 0) {
    throw unsupported("model.vocab", `no text, or an empty one, with the id ${empty}`);
  }
  if (pretokenizer.length > 0 && !byteFallback) {
    const what = "one in front of a BPE of characters with fuse_unk"; // one unknown per pre-token
    throw unsupported("pre_tokenizer", what);
  }
  return [
    [abi.FIELD_ALGORITHM, scalar(abi.BPE)],
    [abi.FIELD_PARITY, scalar(abi.PARITY_HF)],
    [abi.FIELD_NORMALIZER_FLAGS, scalar(0)],
    [abi.FIELD_BYTE_FALLBACK, scalar(byteFallback ? 1 : 0)],
    ...pieces.textFields(),
    [abi.FIELD_SCORES, new Float32Array(size)],
    [abi.FIELD_TYPES, pieces.types],
    [abi.FIELD_UNK_SURFACE, toUtf8(unkToken ?? "")],
    [abi.FIELD_MERGE_COUNTS, splits.counts],
    [abi.FIELD_MERGE_SPLITS, splits.splits],
    ...pretokenizer,
  ];
}

/** Settles what becomes of unknown characters, or refuses it. */
function settleUnknowns(options: Options, vocabulary: Vocabulary): Options {
  const { unkToken } = options;
  if (options.ignoreMerges) {
    throw unsupported("model.ignore_merges", "ignore_merges without ByteLevel");
  }
  if (options.byteFallback) {
    const missing = BYTE_TOKENS.find((text) => !vocabulary.has(text));
    if (missing !== undefined) {
      throw unsupported("model.byte_fallback", `byte_fallback without ${missing}`);
    }
    const isKnown = unkToken !== undefined && vocabulary.has(unkToken);
    return isKnown ? options : { ...options, unkToken: undefined };
  }
  if (unkToken === undefined) {
    throw unsupported("model.unk_token", "unknown characters that vanish, without unk_token");
  }
  if (!vocabulary.has(unkToken)) {
    throw broken("model.unk_token", `${shorten(unkToken)} is not in the vocabulary`);
  }
  if (!options.fuseUnk) {
    throw unsupported("model.fuse_unk", "unknown characters that are not fused");
  }
  if (lengthOf(unkToken) === 1) {
    throw unsupported("model.unk_token", "an unk_token of one character");
  }
  return options;
}
