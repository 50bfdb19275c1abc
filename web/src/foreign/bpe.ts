/** BPE models of a tokenizer.json. */

import * as abi from "../layout_gen.js";
import { Affixes } from "./affixes.js";
import { get, type Json, lengthOf, maybe, utf8Length } from "./checked.js";
import { type AddedToken, resolveAdded } from "./document.js";
import { broken, shorten, unsupported } from "./errors.js";
import { type Field, Pieces, scalar, toUtf8 } from "./fields.js";
import { bytesOf, isSpelled, lettersOfBytes } from "./letters.js";
import { readSplits, type Splits } from "./merges.js";
import type { Model, Read } from "./models.js";
import type { Pipeline } from "./pipeline.js";
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
  /** Of symbols behind the first one of a pre-token, and of the last one. */
  readonly affixes: Affixes;
}

interface Parts {
  readonly model: Json;
  readonly options: Options;
  readonly vocabulary: Vocabulary;
  readonly added: readonly AddedToken[];
  readonly size: number;
  readonly pretokenizer: readonly Field[];
  readonly pipeline: Pipeline;
}

export const readBpe: Read = ({ model, addedTokens }, pipeline): Model => {
  const options = readOptions(model);
  const vocabulary = readVocabulary(model);
  const added = resolveAdded(addedTokens, (text) => vocabulary.get(text), vocabulary.size);
  const size = 1 + largestId([...vocabulary.values(), ...added.map(({ id }) => id)]);
  const { affixes, ignoreMerges } = options;
  if (!affixes.isEmpty) affixes.check(vocabulary.keys(), pipeline.byteLevel, ignoreMerges);
  const { pretokenizer } = pipeline;
  const parts = { model, options, vocabulary, added, size, pretokenizer, pipeline };
  const fields = pipeline.byteLevel ? byteLevelFields(parts) : characterFields(parts);
  return { fields, added, unkToken: options.unkToken };
};

function readOptions(model: Json): Options {
  const dropout = get(model, "dropout");
  if (dropout !== undefined && dropout !== 0) {
    throw unsupported("model.dropout", `a dropout of ${shorten(dropout)}`);
  }
  const affixes = new Affixes(model);
  const flag = (name: string) => maybe(model, name, "boolean", "model") ?? false;
  return {
    unkToken: maybe(model, "unk_token", "string", "model"),
    fuseUnk: flag("fuse_unk"),
    byteFallback: flag("byte_fallback"),
    ignoreMerges: flag("ignore_merges"),
    affixes,
  };
}

function put(pieces: Pieces, id: number, text: Uint8Array, kind: number): void {
  if (text.length > LONGEST) {
    throw unsupported("model.vocab", `a token of more than ${LONGEST} bytes`);
  }
  pieces.texts[id] = text;
  pieces.types[id] = text.length > 0 ? kind : abi.UNUSED;
}

/** Sets the types of added tokens; what the model itself gives goes on being a piece. */
function putAdded(
  pieces: Pieces,
  scores: Float32Array,
  added: readonly AddedToken[],
  isMade: (token: AddedToken) => boolean,
): void {
  for (const token of added) {
    const { id, content, special } = token;
    const isGiven = pieces.types[id] === abi.NORMAL && isMade(token);
    if (special) {
      put(pieces, id, toUtf8(content), abi.CONTROL);
      scores[id] = isGiven ? 1 : 0;
    } else if (!isGiven) {
      put(pieces, id, toUtf8(content), abi.USER_DEFINED);
    }
  }
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
  const { affixes, ignoreMerges } = options;
  const isApart = (text: string) => !isSpelled(text) || affixes.hasEnd(bytesOf(text));
  const splits = readSplits(model, {
    vocabulary,
    size,
    measure: lengthOf,
    affixes,
    isApart,
    isRefused: () => false,
  });
  const pieces = new Pieces(size);
  const scores = new Float32Array(size);
  for (const [text, id] of vocabulary) {
    put(pieces, id, bytesOf(text), isApart(text) ? abi.UNUSED : abi.NORMAL);
  }
  for (const { content } of added) {
    if (!isSpelled(content) || !/[^\0-\x7f]/.test(content)) continue;
    const what = `${shorten(content)}, which ByteLevel decodes to another text`;
    throw unsupported("added_tokens", what);
  }
  putAdded(
    pieces,
    scores,
    added,
    ({ id, content }) =>
      ignoreMerges || (splits.counts[id] as number) > 0 || affixes.isSymbol(content),
  );
  checkBytes(pieces, scores, vocabulary, affixes);
  const fields = byteFields(pieces, pretokenizer, {
    parity: abi.PARITY_HF,
    whole: ignoreMerges,
    scores,
    splits,
  });
  if (affixes.isEmpty) return fields;
  const values = affixes.field({ unknown: false, fused: false, byteLevel: true });
  return [...fields, [abi.FIELD_CONTINUATION, values]];
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

function checkBytes(
  { types }: Pieces,
  scores: Float32Array,
  vocabulary: Vocabulary,
  affixes: Affixes,
): void {
  for (const [where, byte, text] of affixes.neededBytes(lettersOfBytes())) {
    const id = vocabulary.get(text);
    if (id !== undefined && (types[id] === abi.NORMAL || scores[id] === 1)) continue;
    const hex = byte.toString(16).padStart(2, "0");
    throw unsupported("model.vocab", `a byte-level vocabulary without the byte 0x${hex}${where}`);
  }
}

// -- characters ---------------------------------------------------------------------

function characterFields(parts: Parts): Field[] {
  const { model, vocabulary, added, size, pretokenizer } = parts;
  const { unkToken, fuseUnk, byteFallback, affixes } = settleUnknowns(parts.options, vocabulary);
  const refused = new Set([unkToken, ...(byteFallback ? BYTE_TOKENS : [])]);
  const splits = readSplits(model, {
    vocabulary,
    size,
    measure: utf8Length,
    affixes,
    isApart: (text) => text === "",
    isRefused: (text) => refused.has(text),
  });
  const pieces = new Pieces(size);
  for (const [text, id] of vocabulary) put(pieces, id, toUtf8(text), abi.NORMAL);
  const scores = new Float32Array(size);
  putAdded(
    pieces,
    scores,
    added,
    ({ id, content }) => (splits.counts[id] as number) > 0 || affixes.isSymbol(content),
  );
  if (byteFallback) {
    for (const text of BYTE_TOKENS) pieces.types[vocabulary.get(text) as number] = abi.BYTE;
  }
  if (unkToken !== undefined) pieces.types[vocabulary.get(unkToken) as number] = abi.UNKNOWN;
  const empty = pieces.texts.findIndex((text) => text.length === 0);
  if (empty >= 0) {
    throw unsupported("model.vocab", `no text, or an empty one, with the id ${empty}`);
  }
  const cuts: Field[] = byteFallback && parts.pipeline.cutsNothing ? [] : [...pretokenizer];
  if (!byteFallback && (cuts.length > 0 || !affixes.isEmpty || !fuseUnk)) {
    if (cuts.length === 0) cuts.push(...parts.pipeline.onePretoken()); // what a pre-token is matters
    const values = affixes.field({ unknown: true, fused: fuseUnk, byteLevel: false });
    cuts.push([abi.FIELD_CONTINUATION, values]);
  }
  return [
    [abi.FIELD_ALGORITHM, scalar(abi.BPE)],
    [abi.FIELD_PARITY, scalar(abi.PARITY_HF)],
    [abi.FIELD_NORMALIZER_FLAGS, scalar(0)],
    [abi.FIELD_BYTE_FALLBACK, scalar(byteFallback ? 1 : 0)],
    ...pieces.textFields(),
    [abi.FIELD_SCORES, scores],
    [abi.FIELD_TYPES, pieces.types],
    [abi.FIELD_UNK_SURFACE, toUtf8(unkToken ?? "")],
    [abi.FIELD_MERGE_COUNTS, splits.counts],
    [abi.FIELD_MERGE_SPLITS, splits.splits],
    ...cuts,
  ];
}

/** Settles what becomes of unknown characters, or refuses it. */
function settleUnknowns(options: Options, vocabulary: Vocabulary): Options {
  const { unkToken } = options;
  if (options.ignoreMerges) {
    throw unsupported("model.ignore_merges", "ignore_merges without ByteLevel");
  }
  if (options.byteFallback && !options.affixes.isEmpty) {
    const what = "byte_fallback with continuing_subword_prefix or end_of_word_suffix";
    throw unsupported("model.byte_fallback", what);
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
  if (options.affixes.isSymbol(unkToken)) {
    throw unsupported("model.unk_token", "an unk_token of one character");
  }
  return options;
}
