/// <reference lib="esnext.disposable" preserve="true" />
/** The class `Tokenizer`: the same in every environment but for what loads it. */

import {
  checkIds,
  checkLimit,
  checkText,
  checkTexts,
  type DecodeOptions,
  decodeFlagsOf,
  type EncodeOptions,
  type OffsetsOptions,
  type Unit,
  unitOf,
} from "./arguments.js";
import { safeBoundaries } from "./boundaries.js";
import { Decoder, decode, decodeBytes, decodePieces } from "./decode.js";
import { makeDisposable } from "./dispose.js";
import { type Batch, count, encode, encodeBatch, encodeInto, encodeSpans } from "./encode.js";
import { Encoder } from "./encoder.js";
import { argumentError, bufferError } from "./errors.js";
import type { CacheInfo, Info, PieceType } from "./info.js";
import { type ModelInstance, type Session, sessionRegistry } from "./instance.js";
import * as abi from "./layout_gen.js";
import type { ModelSource } from "./load/bytes.js";
import {
  type CompileOptions,
  compileModel,
  type LoadOptions,
  openModel,
  type Platform,
} from "./load/open.js";
import type { Ids, Text } from "./memory.js";
import { type NormalizedBytes, normalize, normalizeBytes } from "./normalize.js";
import {
  type AroundOptions,
  encodeParts,
  encodePartsWithOffsets,
  type Part,
  type PartsOffsetsOptions,
} from "./parts.js";
import {
  nbest,
  type SampleNbestOptions,
  type SampleOptions,
  type Scored,
  sample,
  sampleNbest,
} from "./sampling.js";
import { flagsOf } from "./special.js";
import {
  checkChunks,
  type DecoderStream,
  type EncoderStream,
  type IdSource,
  iterate,
  type TextSource,
  transformStream,
} from "./streams.js";
import { isUint32Array } from "./tags.js";
import { findPiece, getPiece } from "./vocabulary.js";

/** Tokens of a text with the half-open ranges that they came from. */
export interface Encoding {
  readonly ids: Uint32Array<ArrayBuffer>;
  readonly begin: Uint32Array<ArrayBuffer>;
  readonly end: Uint32Array<ArrayBuffer>;
}

export interface EncodingWithPieces extends Encoding {
  /** Text of each piece; of an unknown token, the normalized text that it stands for. */
  readonly pieces: string[];
}

export interface Tokenizer extends Disposable {}

/**
 * An opened model. `Tokenizer.load` makes one; all else is synchronous.
 *
 * Texts are strings or UTF-8 bytes. Lone surrogates and ill-formed bytes become U+FFFD.
 */
export class Tokenizer {
  static {
    makeDisposable(Tokenizer.prototype);
  }

  /** What differs between environments; the entry points set it. @internal */
  protected static readonly platform: Platform;

  /**
   * Opens a model.
   *
   * @param source A blob, a packed model, a SentencePiece `.model`, a tokenizer.json or a rank
   * file of tiktoken: its address (in Node a path too), a `Response`, a stream, a `Blob` or
   * `File`, or its bytes.
   */
  static async load(
    source: ModelSource | Promise<ModelSource>,
    options?: LoadOptions,
  ): Promise<Tokenizer> {
    // biome-ignore lint/complexity/noThisInStatic: it is the class of the entry point
    return new this(await openModel(this.platform, source, options));
  }

  /** Compiles a model file to a blob, or to the packed form, without opening it. */
  static async compile(
    source: ModelSource | Promise<ModelSource>,
    options?: CompileOptions,
  ): Promise<Uint8Array<ArrayBuffer>> {
    // biome-ignore lint/complexity/noThisInStatic: it is the class of the entry point
    return compileModel(this.platform, source, options);
  }

  /** Properties of the model. */
  readonly info: Info;
  readonly #model: ModelInstance;
  #registry: FinalizationRegistry<Session> | undefined;

  /** Only `load` makes one. */
  protected constructor(model: ModelInstance) {
    this.#model = model;
    this.info = model.info;
  }

  // -- encode ---------------------------------------------------------------------

  /** Token ids of a text. */
  encode(text: Text, options?: EncodeOptions): Uint32Array<ArrayBuffer> {
    return encode(this.#model, checkText(text), flagsOf(this.#model, options), 0);
  }

  /**
   * Writes the token ids of a text to `target`.
   *
   * @returns The number of ids; what is behind them in the array is not touched.
   * @throws TokenizerError `NEED_OUTPUT` if it is too small: `need` is the number of ids.
   */
  encodeInto(text: Text, target: Uint32Array, options?: EncodeOptions): number {
    if (!isUint32Array(target)) throw argumentError("target must be a Uint32Array");
    const found = encodeInto(this.#model, checkText(text), flagsOf(this.#model, options), target);
    if (found > target.length) throw bufferError(found);
    return found;
  }

  /** Ids of many texts, in one array with the end of each text. */
  encodeBatch(texts: Iterable<Text>, options?: EncodeOptions): Batch {
    return encodeBatch(this.#model, checkTexts(texts), flagsOf(this.#model, options));
  }

  /** Token ids with the place of each in the text; empty where a token came from nothing. */
  encodeWithOffsets(
    text: Text,
    options: OffsetsOptions & { readonly pieces: true },
  ): EncodingWithPieces;
  encodeWithOffsets(text: Text, options?: OffsetsOptions): Encoding;
  encodeWithOffsets(text: Text, options?: OffsetsOptions): Encoding | EncodingWithPieces {
    const unit = unitOf(options?.unit);
    const withPieces = options?.pieces === true;
    const flags = flagsOf(this.#model, options);
    const spans = encodeSpans(this.#model, checkText(text), flags, unit, withPieces);
    const { ids, begin, end, normBegin, normEnd } = spans;
    if (normBegin === undefined || normEnd === undefined) return { ids, begin, end };
    const pieces = Array.from(ids, (id) => this.idToPiece(id));
    const { unkId } = this.info;
    if (unkId !== undefined && ids.includes(unkId)) {
      const { bytes } = normalizeBytes(this.#model, text, abi.UNIT_BYTE);
      for (let i = ids.indexOf(unkId); i >= 0; i = ids.indexOf(unkId, i + 1)) {
        pieces[i] = this.#text(bytes.subarray(normBegin[i], normEnd[i]));
      }
    }
    return { ids, begin, end, pieces };
  }

  /**
   * Ids of a text in parts, for each of which is said what special tokens it may hold: those of
   * a chat template, none of what a user wrote. They are the ids of each part alone, end to
   * end; the end of a part is a boundary as a special token is. What the options put around a
   * text comes once, around all parts.
   */
  encodeParts(parts: Iterable<Part>, options?: AroundOptions): Uint32Array<ArrayBuffer> {
    return encodeParts(this, parts, options);
  }

  /** The same with the place of each token in the texts of all parts, end to end. */
  encodePartsWithOffsets(parts: Iterable<Part>, options?: PartsOffsetsOptions): Encoding {
    return encodePartsWithOffsets(this, parts, options);
  }

  /** Number of tokens of a text, without making them. */
  count(text: Text, options?: EncodeOptions): number {
    return count(this.#model, checkText(text), flagsOf(this.#model, options), 0);
  }

  /** Numbers of tokens of many texts. */
  countBatch(texts: Iterable<Text>, options?: EncodeOptions): Uint32Array<ArrayBuffer> {
    const flags = flagsOf(this.#model, options, abi.COUNT_ONLY);
    const { ends } = encodeBatch(this.#model, checkTexts(texts), flags);
    return ends.map((end, i) => end - (i === 0 ? 0 : (ends[i - 1] as number)));
  }

  /** Whether a text has at most `limit` tokens, BOS and EOS included; stops at more. */
  fits(text: Text, limit: number, options?: EncodeOptions): boolean {
    checkLimit(limit);
    return count(this.#model, checkText(text), flagsOf(this.#model, options), limit + 1) <= limit;
  }

  /**
   * First `limit` token ids of a text; stops there. BOS and EOS count, so the EOS of a text
   * that is too long is cut off.
   */
  truncate(text: Text, limit: number, options?: EncodeOptions): Uint32Array<ArrayBuffer> {
    checkLimit(limit);
    const ids = encode(
      this.#model,
      checkText(text),
      flagsOf(this.#model, options),
      Math.max(limit, 1),
    );
    return limit === 0 ? new Uint32Array() : ids;
  }

  /** An encoder for a text that comes in chunks; dispose of it at the end. */
  encoder(options?: EncodeOptions): Encoder {
    return new Encoder(this.#model, this.#streams(), flagsOf(this.#model, options));
  }

  /**
   * Encodes a text that comes in chunks, cut anywhere, without ever holding all of it: a
   * transform stream, or from a source an async iterator. They give ids as those become
   * final, at least one at a time; together the ids of `encode`.
   */
  encodeStream(source?: undefined, options?: EncodeOptions): EncoderStream;
  encodeStream(
    source: TextSource,
    options?: EncodeOptions,
  ): AsyncGenerator<Uint32Array<ArrayBuffer>>;
  encodeStream(
    source?: TextSource,
    options?: EncodeOptions,
  ): EncoderStream | AsyncGenerator<Uint32Array<ArrayBuffer>> {
    const open = () => this.encoder(options);
    return source === undefined ? transformStream(open) : iterate(open, checkChunks(source));
  }

  // -- other segmentations --------------------------------------------------------

  /** Draws a segmentation (subword regularization): ids of unigram and BPE models. */
  sample(text: Text, options?: SampleOptions): Uint32Array<ArrayBuffer> {
    return sample(this.#model, checkText(text), options);
  }

  /**
   * The best segmentations of a text, best first, with their scores; unigram models only.
   *
   * They are sentencepiece's, score for score; after 500,000 partial segmentations the best
   * one alone, as there. All of the text is held in memory.
   *
   * @param n From 1 to 512; there may be fewer.
   */
  nbest(text: Text, n: number, options?: EncodeOptions): Scored[] {
    return nbest(this.#model, checkText(text), flagsOf(this.#model, options), n);
  }

  /** Draws one of the `n` best segmentations, with P ~ exp(alpha * score). */
  sampleNbest(text: Text, n: number, options?: SampleNbestOptions): Uint32Array<ArrayBuffer> {
    return sampleNbest(this.#model, checkText(text), n, options);
  }

  // -- normalize ------------------------------------------------------------------

  /** The text as `encode` sees it before it looks for pieces. */
  normalize(text: Text): string {
    return normalize(this.#model, checkText(text));
  }

  /** Normalized text as UTF-8, with the raw offset of each of its bytes and of its end. */
  normalizeBytes(text: Text, options?: { readonly unit?: Unit }): NormalizedBytes {
    return normalizeBytes(this.#model, checkText(text), unitOf(options?.unit));
  }

  /**
   * Token ids of a text that is normalized already, or of a part of it between two boundaries.
   *
   * @throws TokenizerError `E_TEXT` if no normalized text is like it: `offset` is the byte.
   */
  encodeNormalized(text: Text, options?: EncodeOptions): Uint32Array<ArrayBuffer> {
    return encode(this.#model, checkText(text), flagsOf(this.#model, options, abi.NORMALIZED), 0);
  }

  /**
   * Where a normalized text may be cut: no piece spans such a place. The ends of the chunks,
   * the last being that of the text, in UTF-16 code units of a string, bytes of bytes.
   */
  safeBoundaries(normalized: Text): Uint32Array<ArrayBuffer> {
    return safeBoundaries(this.#model, checkText(normalized));
  }

  // -- decode ---------------------------------------------------------------------

  /** Text of token ids; ill-formed runs of byte pieces become U+FFFD, one for each byte. */
  decode(ids: Ids | Iterable<number>, options?: DecodeOptions): string {
    return decode(this.#model, checkIds(ids), decodeFlagsOf(options));
  }

  /** Bytes of token ids; byte pieces give their byte, well-formed or not. */
  decodeBytes(ids: Ids | Iterable<number>, options?: DecodeOptions): Uint8Array<ArrayBuffer> {
    return decodeBytes(this.#model, checkIds(ids), decodeFlagsOf(options));
  }

  /** Text of pieces given by their text; a text that is no piece is taken as it is. */
  decodePieces(pieces: Iterable<Text>): string {
    return decodePieces(this.#model, checkTexts(pieces));
  }

  /** A decoder for ids as they come; dispose of it at the end. */
  decoder(options?: DecodeOptions): Decoder {
    return new Decoder(this.#model, this.#streams(), decodeFlagsOf(options));
  }

  /**
   * Decodes ids as they come, to pieces of text that never end inside a character: a
   * transform stream, or from a source an async iterator.
   */
  decodeStream(source?: undefined, options?: DecodeOptions): DecoderStream;
  decodeStream(source: IdSource, options?: DecodeOptions): AsyncGenerator<string>;
  decodeStream(source?: IdSource, options?: DecodeOptions): DecoderStream | AsyncGenerator<string> {
    const open = () => this.decoder(options);
    return source === undefined ? transformStream(open) : iterate(open, source);
  }

  // -- vocabulary -----------------------------------------------------------------

  get vocabSize(): number {
    return this.info.vocabSize;
  }

  get unkId(): number | undefined {
    return this.info.unkId;
  }

  get bosId(): number | undefined {
    return this.info.bosId;
  }

  get eosId(): number | undefined {
    return this.info.eosId;
  }

  get padId(): number | undefined {
    return this.info.padId;
  }

  /** Text of a piece as the model has it (U+2581 for spaces). */
  idToPiece(id: number): string {
    return this.#text(getPiece(this.#model, id).bytes);
  }

  /** Bytes of a piece as the model has them. */
  idToBytes(id: number): Uint8Array<ArrayBuffer> {
    return getPiece(this.#model, id).bytes;
  }

  /** Score of a piece: log probability, or order of merging. */
  score(id: number): number {
    return getPiece(this.#model, id).score;
  }

  pieceType(id: number): PieceType {
    return getPiece(this.#model, id).type;
  }

  /** Id of a piece text; of an unknown one the unknown id, or undefined without one. */
  pieceToId(piece: Text): number | undefined {
    return findPiece(this.#model, checkText(piece)) ?? this.unkId;
  }

  /** Whether there is a piece with this text. */
  hasPiece(piece: Text): boolean {
    return findPiece(this.#model, checkText(piece)) !== undefined;
  }

  // -- the model ------------------------------------------------------------------

  /** A copy of the blob, as `load` takes it. */
  toBlob(): Uint8Array<ArrayBuffer> {
    return this.#model.blob();
  }

  /** What the token cache (`cacheBytes`) has done, to see whether it pays. */
  cacheInfo(): CacheInfo {
    return this.#model.cacheInfo();
  }

  /** Bytes of WebAssembly memory that this tokenizer holds. */
  get memorySize(): number {
    return this.#model.memorySize;
  }

  /**
   * Lets go of the model; using it or its encoders and decoders afterwards is an error.
   * Without this the memory goes with the last reference.
   */
  dispose(): void {
    this.#model.dispose();
  }

  #streams(): FinalizationRegistry<Session> | undefined {
    this.#registry ??= sessionRegistry(this.#model);
    return this.#registry;
  }

  #text(bytes: Uint8Array<ArrayBuffer>): string {
    return this.#model.utf8.decode(bytes);
  }
}
