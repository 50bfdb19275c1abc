/**
 * The golden vectors on any host: our own (spine.json), and SentencePiece's.
 *
 * A host gives a way to open a model and to get a file; all else is here, so that every
 * host checks the same things. What is not covered by the package is counted with a reason.
 */

import type { Tokenizer } from "isotok";
import {
  check,
  fromHex,
  fromUtf8,
  type GetFile,
  type Load,
  Models,
  newReport,
  type Report,
  repeat,
  same,
  sha256,
  skip,
  textOf,
  unitPositions,
} from "./report.js";

/** Bytes as hex, or size and digest of long ones. */
type Packed = string | { size: number; sha256: string };

interface SpineVector {
  id: string;
  model: string;
  op: "encode" | "decode" | "decode_pieces" | "find";
  text: string | [unit: string, count: number];
  normalized: Packed;
  ids: number[];
  begin: number[];
  end: number[];
  decoded: Packed;
  map?: number[];
  codepoints?: [number, number][];
  unknown?: Record<string, string>;
  piece: string;
  pieces: string[];
  found?: number;
  missing?: boolean;
}

interface ModelProperties {
  vocab_size: number;
  unk: number;
  bos: number;
  eos: number;
  pad: number;
}

export interface Spine {
  models: Record<string, ModelProperties>;
  vectors: SpineVector[];
  files: { name: string; loads: boolean; model: string }[];
}

/** Runs spine.json. `getModel` gets names like `uni_ties.model`. */
export async function runVectors(load: Load, spine: Spine, getModel: GetFile): Promise<Report> {
  const report = newReport();
  const models = new Models(load, getModel);
  for (const [name, properties] of Object.entries(spine.models)) {
    const vectors = spine.vectors.filter((vector) => vector.model === name);
    const tokenizer = await models.open(`${name}.model`);
    if (tokenizer === undefined) {
      for (const _ of vectors) skip(report, `${name}.model is not here`);
      continue;
    }
    await check(report, `${name}/properties`, () => checkProperties(tokenizer, properties));
    await check(report, `${name}/batch`, () => checkBatch(tokenizer, vectors));
    for (const vector of vectors) {
      await check(report, vector.id, () => CHECKS[vector.op](tokenizer, vector));
    }
  }
  models.close();
  for (const file of spine.files) {
    await check(report, `files/${file.name}`, () => checkFile(load, file));
  }
  return report;
}

const CHECKS = {
  encode: checkEncode,
  decode: checkDecode,
  decode_pieces: checkDecodePieces,
  find: checkFind,
};

function textBytes(value: SpineVector["text"]): Uint8Array<ArrayBuffer> {
  return typeof value === "string" ? fromHex(value) : repeat(fromHex(value[0]), value[1]);
}

async function samePacked(
  what: string,
  found: Uint8Array<ArrayBuffer>,
  expected: Packed,
): Promise<void> {
  if (typeof expected === "string") return same(what, found, fromHex(expected));
  same(`${what} size`, found.length, expected.size);
  same(`${what} digest`, await sha256(found), expected.sha256);
}

/** A string, of which ill-formed bytes of pieces have become U+FFFD. */
async function sameText(what: string, found: string, expected: Packed): Promise<void> {
  if (typeof expected === "string") return same(what, found, fromUtf8(fromHex(expected)));
  await samePacked(what, new TextEncoder().encode(found), expected);
}

async function checkEncode(tokenizer: Tokenizer, vector: SpineVector): Promise<void> {
  const bytes = textBytes(vector.text);
  const { ids } = vector;
  same("ids", tokenizer.encode(bytes), ids);
  same("count", tokenizer.count(bytes), ids.length);
  same("fits", tokenizer.fits(bytes, ids.length), true);
  if (ids.length > 0) {
    same("fits less", tokenizer.fits(bytes, ids.length - 1), false);
    same("truncate", tokenizer.truncate(bytes, ids.length - 1), ids.slice(0, -1));
  }
  const buffer = new Uint32Array(ids.length + 1).fill(77);
  same("encodeInto count", tokenizer.encodeInto(bytes, buffer), ids.length);
  same("encodeInto", buffer, [...ids, 77]);
  checkSpans(tokenizer, vector, bytes);
  const text = textOf(bytes);
  if (text !== undefined) checkString(tokenizer, vector, text);
  await checkNormalized(tokenizer, vector, bytes);
  await checkDecode(tokenizer, vector);
}

function checkSpans(tokenizer: Tokenizer, vector: SpineVector, bytes: Uint8Array): void {
  const found = tokenizer.encodeWithOffsets(bytes, { unit: "byte", pieces: true });
  same("ids with offsets", found.ids, vector.ids);
  same("begin", found.begin, vector.begin);
  same("end", found.end, vector.end);
  for (const [i, id] of vector.ids.entries()) {
    const unknown = vector.unknown?.[i];
    const piece = unknown === undefined ? tokenizer.idToBytes(id) : fromHex(unknown);
    same(`piece ${i}`, found.pieces[i], fromUtf8(piece));
  }
}

function checkString(tokenizer: Tokenizer, vector: SpineVector, text: string): void {
  same("ids of the string", tokenizer.encode(text), vector.ids);
  const points = tokenizer.encodeWithOffsets(text, { unit: "codepoint" });
  const expected = vector.codepoints;
  same("code points", points.begin, expected?.map(([begin]) => begin) ?? vector.begin);
  same("code point ends", points.end, expected?.map(([, end]) => end) ?? vector.end);
  const utf16 = tokenizer.encodeWithOffsets(text);
  const units = unitPositions(text, "utf16");
  same(
    "utf16",
    utf16.begin,
    vector.begin.map((at) => units[at]),
  );
  same(
    "utf16 ends",
    utf16.end,
    vector.end.map((at) => units[at]),
  );
}

async function checkNormalized(
  tokenizer: Tokenizer,
  vector: SpineVector,
  bytes: Uint8Array,
): Promise<void> {
  const found = tokenizer.normalizeBytes(bytes, { unit: "byte" });
  await samePacked("normalized", found.bytes, vector.normalized);
  await sameText("normalized string", tokenizer.normalize(bytes), vector.normalized);
  if (found.bytes.length > 0 && vector.map) same("map", found.offsets, vector.map);
  same("ids of normalized text", tokenizer.encodeNormalized(found.bytes), vector.ids);
}

async function checkDecode(tokenizer: Tokenizer, vector: SpineVector): Promise<void> {
  const text = tokenizer.decode(vector.ids);
  await sameText("decoded", text, vector.decoded);
  const decoder = tokenizer.decoder();
  const parts = vector.ids.map((id) => decoder.push(id));
  same("decoded one by one", parts.join("") + decoder.flush(), text);
  decoder.dispose();
}

async function checkDecodePieces(tokenizer: Tokenizer, vector: SpineVector): Promise<void> {
  await sameText("decoded", tokenizer.decodePieces(vector.pieces.map(fromHex)), vector.decoded);
}

function checkFind(tokenizer: Tokenizer, vector: SpineVector): void {
  const piece = fromHex(vector.piece);
  same("pieceToId", tokenizer.pieceToId(piece) ?? -1, vector.found);
  same("hasPiece", tokenizer.hasPiece(piece), vector.missing === undefined);
}

function checkProperties(tokenizer: Tokenizer, properties: ModelProperties): void {
  same("vocabSize", tokenizer.vocabSize, properties.vocab_size);
  same("unkId", tokenizer.unkId ?? -1, properties.unk);
  same("bosId", tokenizer.bosId ?? -1, properties.bos);
  same("eosId", tokenizer.eosId ?? -1, properties.eos);
  same("padId", tokenizer.padId ?? -1, properties.pad);
}

/** All texts of a model in one batch give what each gives alone. */
function checkBatch(tokenizer: Tokenizer, vectors: SpineVector[]): void {
  const encodes = vectors.filter((vector) => vector.op === "encode");
  const texts = encodes.map((vector) => textBytes(vector.text));
  const { ids, ends } = tokenizer.encodeBatch(texts);
  same(
    "batch ids",
    ids,
    encodes.flatMap((vector) => vector.ids),
  );
  let total = 0;
  same(
    "batch ends",
    ends,
    encodes.map((vector) => (total += vector.ids.length)),
  );
  same(
    "batch counts",
    tokenizer.countBatch(texts),
    encodes.map((vector) => vector.ids.length),
  );
}

/** What sentencepiece loads we load, what it refuses we refuse, saying what and where. */
async function checkFile(load: Load, file: Spine["files"][number]): Promise<void> {
  let message = "";
  try {
    (await load(fromHex(file.model))).dispose();
  } catch (error) {
    message = (error as Error).message;
    same("error", (error as Error).name, "TokenizerError");
    if (message.length < 20) throw new Error(`says too little: ${message}`);
  }
  same(`loads (${message})`, message === "", file.loads);
}

// -- SentencePiece's own ------------------------------------------------------------

export interface SentencePieceVector {
  id: string;
  model: string;
  op: string;
  note: string;
  ids: number[];
  begin?: number[];
  end?: number[];
  pieces?: string[];
  pieces_hex?: string[];
  input_hex?: string;
  input_text?: string;
  input_file: string;
  repeat: number;
  norm_hex: string;
  offsets: number[];
  char_offsets?: number[] | [number, number][];
  text_hex: string;
  num_ids: number;
  sha256_of_le_int32: string;
  options?: { add_bos?: boolean; add_eos?: boolean; reverse?: boolean; nbest_size?: number };
  nbests?: { score: number; ids: number[] }[];
}

const LATER: Record<string, string> = {
  encode_pieces_unk: "emit_unk_piece comes with a later issue",
};

function reasonNotApplicable(vector: SentencePieceVector): string | undefined {
  if (vector.options?.reverse) return "the option reverse comes with a later issue";
  if (vector.op === "error" && ERRORS[vector.note] === undefined) {
    return "about a combination of sentencepiece's options that is none here";
  }
  return LATER[vector.op];
}

/** Runs SentencePiece's vectors. `getFile` gets `x.model` and `data/x.txt`. */
export async function runSentencePiece(
  load: Load,
  vectors: SentencePieceVector[],
  getFile: GetFile,
): Promise<Report> {
  const report = newReport();
  const models = new Models(load, getFile);
  const ordered = [...vectors].sort((a, b) => a.model.localeCompare(b.model));
  for (const vector of ordered) {
    const reason = reasonNotApplicable(vector);
    const tokenizer = reason === undefined ? await models.open(vector.model) : undefined;
    if (tokenizer === undefined) {
      skip(report, reason ?? `${vector.model} is not here`);
      continue;
    }
    await check(report, vector.id, async () => {
      const run = SENTENCEPIECE_CHECKS[vector.op];
      if (run === undefined) throw new Error(`no check for ${vector.op}`);
      await run(tokenizer, vector, getFile);
    });
  }
  models.close();
  return report;
}

type SentencePieceCheck = (
  tokenizer: Tokenizer,
  vector: SentencePieceVector,
  getFile: GetFile,
) => Promise<void> | void;

type Run = (tokenizer: Tokenizer, ids: number[]) => unknown;

/** Calls that fail as sentencepiece's do, with the code of the error, by the note of a vector. */
const OUT_OF_RANGE: [code: string, runs: Run[]] = [
  "E_ID_RANGE",
  [(tokenizer, ids) => tokenizer.decode(ids), (tokenizer, [id]) => tokenizer.idToPiece(id ?? 0)],
];
const ERRORS: Record<string, [code: string, runs: Run[]]> = {
  "id out of range": OUT_OF_RANGE,
  "negative id": OUT_OF_RANGE,
  "nbest on BPE": ["E_ARGUMENT", [(tokenizer) => tokenizer.nbest("a", 2)]],
  "nbest too large": ["ARGUMENT", [(tokenizer) => tokenizer.nbest("a", 513)]],
  "alpha<0": ["ARGUMENT", [(tokenizer) => tokenizer.sample("a", { alpha: -0.1 })]],
  "sampling on char model": ["E_ARGUMENT", [(tokenizer) => tokenizer.sample("a")]],
};

const SENTENCEPIECE_CHECKS: Record<string, SentencePieceCheck> = {
  encode: checkSentencePieceEncode,
  normalize: checkSentencePieceNormalize,
  decode(tokenizer, vector) {
    same("text", tokenizer.decode(vector.ids), fromUtf8(fromHex(vector.text_hex)));
  },
  decode_pieces(tokenizer, vector) {
    const pieces = vector.pieces_hex?.map(fromHex) ?? [];
    same("text", tokenizer.decodePieces(pieces), fromUtf8(fromHex(vector.text_hex)));
  },
  piece_to_id(tokenizer, vector) {
    const found = vector.pieces?.map((piece) => tokenizer.pieceToId(piece) ?? -1);
    same("ids", found, vector.ids);
  },
  error(tokenizer, vector) {
    const [wanted, runs] = ERRORS[vector.note] as (typeof ERRORS)[string];
    for (const run of runs) {
      let code = "";
      try {
        run(tokenizer, vector.ids);
      } catch (error) {
        code = (error as { code?: string }).code ?? "";
      }
      same("code", code, wanted);
    }
  },
  nbest: checkSentencePieceNbest,
  async encode_long(tokenizer, vector, getFile) {
    const file = await getFile(`data/${vector.input_file}`);
    if (file === undefined) throw new Error(`data/${vector.input_file} is not here`);
    const ids = tokenizer.encode(repeat(file, vector.repeat));
    same("count", ids.length, vector.num_ids);
    same("digest", await sha256(ids), vector.sha256_of_le_int32);
  },
};

function inputOf(vector: SentencePieceVector): Uint8Array<ArrayBuffer> {
  if (vector.input_hex !== undefined) return fromHex(vector.input_hex);
  return new TextEncoder().encode(vector.input_text ?? "");
}

function checkSentencePieceEncode(tokenizer: Tokenizer, vector: SentencePieceVector): void {
  const bytes = inputOf(vector);
  const options = {
    bos: vector.options?.add_bos ?? false,
    eos: vector.options?.add_eos ?? false,
  };
  same("ids", tokenizer.encode(bytes, options), vector.ids);
  same("count", tokenizer.count(bytes, options), vector.ids.length);
  const found = tokenizer.encodeWithOffsets(bytes, { ...options, unit: "byte", pieces: true });
  same("ids with offsets", found.ids, vector.ids);
  if (vector.begin) same("begin", found.begin, vector.begin);
  if (vector.end) same("end", found.end, vector.end);
  if (vector.pieces_hex) {
    same(
      "pieces",
      found.pieces,
      vector.pieces_hex.map((hex) => fromUtf8(fromHex(hex))),
    );
  }
  const text = textOf(bytes);
  if (text === undefined || vector.char_offsets === undefined) return;
  const points = tokenizer.encodeWithOffsets(text, { ...options, unit: "codepoint" });
  const spans = Array.from(points.begin, (begin, i) => [begin, points.end[i]]);
  same("code points", spans, vector.char_offsets);
}

/** The same scores, and for each the same segmentations: their order is a matter of chance. */
function checkSentencePieceNbest(tokenizer: Tokenizer, vector: SentencePieceVector): void {
  const shown = (paths: Iterable<{ score: number; ids: Iterable<number> }>) =>
    Array.from(paths, ({ score, ids }) => `${score.toPrecision(6)}: ${[...ids].join()}`).sort();
  const expected = vector.nbests ?? [];
  const found = tokenizer.nbest(inputOf(vector), vector.options?.nbest_size ?? 0);
  same("segmentations", shown(found), shown(expected));
  const scores = found.map(({ score }) => score);
  same(
    "order",
    [...scores].sort((a, b) => b - a),
    scores,
  );
}

function checkSentencePieceNormalize(tokenizer: Tokenizer, vector: SentencePieceVector): void {
  const bytes = inputOf(vector);
  const found = tokenizer.normalizeBytes(bytes, { unit: "byte" });
  same("normalized", found.bytes, fromHex(vector.norm_hex));
  same("string", tokenizer.normalize(bytes), fromUtf8(fromHex(vector.norm_hex)));
  if (vector.norm_hex === "") return; // nothing has no places
  same("offsets", found.offsets, vector.offsets);
  const text = textOf(bytes);
  if (text === undefined || vector.char_offsets === undefined) return;
  // By characters of the normalized text, each with the place of its last byte.
  const points = tokenizer.normalizeBytes(text, { unit: "codepoint" }).offsets;
  let at = -1;
  const each = Array.from(fromUtf8(found.bytes), (character) => {
    at += new TextEncoder().encode(character).length;
    return points[at];
  });
  same("code points", [...each, points[points.length - 1]], vector.char_offsets);
}
