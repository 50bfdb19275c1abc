/// <reference lib="esnext.disposable" preserve="true" />
/** Tokenizers that live in a worker: the same methods, as promises. */

import {
  checkIds,
  checkTexts,
  type DecodeOptions,
  type EncodeOptions,
  type OffsetsOptions,
  type Unit,
} from "./arguments.js";
import { makeDisposable } from "./dispose.js";
import type { Batch } from "./encode.js";
import type { CacheInfo, Info, PieceType } from "./info.js";
import type { ModelSource } from "./load/bytes.js";
import type { WasmSource } from "./load/module.js";
import type { LoadOptions } from "./load/open.js";
import type { Ids, Text } from "./memory.js";
import type { NormalizedBytes } from "./normalize.js";
import type { AroundOptions, Part, PartsOffsetsOptions } from "./parts.js";
import type { SampleNbestOptions, SampleOptions, Scored } from "./sampling.js";
import {
  checkChunks,
  type DecoderStream,
  type EncoderStream,
  type IdChunk,
  type IdSource,
  iterate,
  type TextSource,
  transformStream,
} from "./streams.js";
import type { Encoding, EncodingWithPieces } from "./tokenizer.js";
import { Channel, Handle } from "./worker_channel.js";
import type { Loaded, Port } from "./worker_messages.js";

export interface RemoteDecoder extends Disposable {}
export interface RemoteEncoder extends Disposable {}
export interface RemoteTokenizer extends Disposable {}
export interface RemoteWorker extends Disposable {}

/** A worker, in which any number of models can be loaded. */
export class RemoteWorker {
  static {
    makeDisposable(RemoteWorker.prototype);
  }

  readonly #channel: Channel;

  protected constructor(port: Port) {
    this.#channel = new Channel(port);
  }

  /**
   * Opens a model in the worker.
   *
   * @param source As for `Tokenizer.load`. The worker itself fetches what is at an address;
   * of responses and streams, this thread collects the bytes.
   */
  async load(
    source: ModelSource | Promise<ModelSource>,
    options: LoadOptions = {},
  ): Promise<RemoteTokenizer> {
    const { wasm, buildWasm, foreign: _, ...rest } = options; // the worker has its own
    const sent = {
      ...rest,
      ...(wasm === undefined ? {} : { wasm: await sendable(wasm) }),
      ...(buildWasm === undefined ? {} : { buildWasm: await sendable(buildWasm) }),
    };
    const found = await source;
    const loaded = await this.#channel.call<Loaded>(0, "load", await sendable(found), {
      ...nameOf(found), // bytes have none
      ...sent,
    });
    return new RemoteTokenizer(this.#channel, loaded);
  }

  /** Ends the worker, with all that is in it and all calls that wait. */
  dispose(): void {
    this.#channel.close();
  }
}

/** The name that a response has. */
function nameOf(source: ModelSource): { readonly name?: string } {
  if (typeof Response === "undefined" || !(source instanceof Response)) return {};
  return source.url === "" ? {} : { name: source.url };
}

/** A source in a form that can be sent. */
async function sendable(
  source: ModelSource | WasmSource | Promise<ModelSource | WasmSource>,
): Promise<unknown> {
  const found = await source;
  if (found instanceof URL) return found.href;
  if (typeof found === "string") return absolute(found);
  if (typeof Response !== "undefined" && found instanceof Response) return found.arrayBuffer();
  if ("getReader" in found) return new Response(found).arrayBuffer();
  return found;
}

/** A worker would resolve addresses relative to its own script; without a page: a path. */
function absolute(name: string): string {
  const base = globalThis.document?.baseURI ?? globalThis.location?.href;
  return base === undefined ? name : new URL(name, base).href;
}

/** A tokenizer in a worker; see `Tokenizer` for what the methods do. */
export class RemoteTokenizer {
  static {
    makeDisposable(RemoteTokenizer.prototype);
  }

  readonly info: Info;
  readonly #channel: Channel;
  readonly #handle: Handle;

  constructor(channel: Channel, { target, info }: Loaded) {
    this.info = info;
    this.#channel = channel;
    this.#handle = new Handle(channel, target);
  }

  encode(text: Text, options?: EncodeOptions): Promise<Uint32Array<ArrayBuffer>> {
    return this.#handle.call("encode", text, options);
  }

  async encodeBatch(texts: Iterable<Text>, options?: EncodeOptions): Promise<Batch> {
    return this.#handle.call("encodeBatch", checkTexts(texts), options);
  }

  encodeWithOffsets(
    text: Text,
    options: OffsetsOptions & { readonly pieces: true },
  ): Promise<EncodingWithPieces>;
  encodeWithOffsets(text: Text, options?: OffsetsOptions): Promise<Encoding>;
  encodeWithOffsets(text: Text, options?: OffsetsOptions): Promise<Encoding> {
    return this.#handle.call("encodeWithOffsets", text, options);
  }

  async encodeParts(
    parts: Iterable<Part>,
    options?: AroundOptions,
  ): Promise<Uint32Array<ArrayBuffer>> {
    return this.#handle.call("encodeParts", Array.from(parts), options);
  }

  async encodePartsWithOffsets(
    parts: Iterable<Part>,
    options?: PartsOffsetsOptions,
  ): Promise<Encoding> {
    return this.#handle.call("encodePartsWithOffsets", Array.from(parts), options);
  }

  count(text: Text, options?: EncodeOptions): Promise<number> {
    return this.#handle.call("count", text, options);
  }

  async countBatch(
    texts: Iterable<Text>,
    options?: EncodeOptions,
  ): Promise<Uint32Array<ArrayBuffer>> {
    return this.#handle.call("countBatch", checkTexts(texts), options);
  }

  fits(text: Text, limit: number, options?: EncodeOptions): Promise<boolean> {
    return this.#handle.call("fits", text, limit, options);
  }

  truncate(text: Text, limit: number, options?: EncodeOptions): Promise<Uint32Array<ArrayBuffer>> {
    return this.#handle.call("truncate", text, limit, options);
  }

  async encoder(options?: EncodeOptions): Promise<RemoteEncoder> {
    return new RemoteEncoder(this.#channel, await this.#handle.call<number>("encoder", options));
  }

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

  sample(text: Text, options?: SampleOptions): Promise<Uint32Array<ArrayBuffer>> {
    return this.#handle.call("sample", text, options);
  }

  nbest(text: Text, n: number, options?: EncodeOptions): Promise<Scored[]> {
    return this.#handle.call("nbest", text, n, options);
  }

  sampleNbest(
    text: Text,
    n: number,
    options?: SampleNbestOptions,
  ): Promise<Uint32Array<ArrayBuffer>> {
    return this.#handle.call("sampleNbest", text, n, options);
  }

  normalize(text: Text): Promise<string> {
    return this.#handle.call("normalize", text);
  }

  normalizeBytes(text: Text, options?: { readonly unit?: Unit }): Promise<NormalizedBytes> {
    return this.#handle.call("normalizeBytes", text, options);
  }

  encodeNormalized(text: Text, options?: EncodeOptions): Promise<Uint32Array<ArrayBuffer>> {
    return this.#handle.call("encodeNormalized", text, options);
  }

  safeBoundaries(normalized: Text): Promise<Uint32Array<ArrayBuffer>> {
    return this.#handle.call("safeBoundaries", normalized);
  }

  async decode(ids: Ids | Iterable<number>, options?: DecodeOptions): Promise<string> {
    return this.#handle.call("decode", checkIds(ids), options);
  }

  async decodeBytes(
    ids: Ids | Iterable<number>,
    options?: DecodeOptions,
  ): Promise<Uint8Array<ArrayBuffer>> {
    return this.#handle.call("decodeBytes", checkIds(ids), options);
  }

  async decodePieces(pieces: Iterable<Text>): Promise<string> {
    return this.#handle.call("decodePieces", checkTexts(pieces));
  }

  async decoder(options?: DecodeOptions): Promise<RemoteDecoder> {
    return new RemoteDecoder(this.#channel, await this.#handle.call<number>("decoder", options));
  }

  decodeStream(source?: undefined, options?: DecodeOptions): DecoderStream;
  decodeStream(source: IdSource, options?: DecodeOptions): AsyncGenerator<string>;
  decodeStream(source?: IdSource, options?: DecodeOptions): DecoderStream | AsyncGenerator<string> {
    const open = () => this.decoder(options);
    return source === undefined ? transformStream(open) : iterate(open, source);
  }

  idToPiece(id: number): Promise<string> {
    return this.#handle.call("idToPiece", id);
  }

  idToBytes(id: number): Promise<Uint8Array<ArrayBuffer>> {
    return this.#handle.call("idToBytes", id);
  }

  score(id: number): Promise<number> {
    return this.#handle.call("score", id);
  }

  pieceType(id: number): Promise<PieceType> {
    return this.#handle.call("pieceType", id);
  }

  pieceToId(piece: Text): Promise<number | undefined> {
    return this.#handle.call("pieceToId", piece);
  }

  hasPiece(piece: Text): Promise<boolean> {
    return this.#handle.call("hasPiece", piece);
  }

  cacheInfo(): Promise<CacheInfo> {
    return this.#handle.call("cacheInfo");
  }

  /** A copy of the blob. */
  toBlob(): Promise<Uint8Array<ArrayBuffer>> {
    return this.#handle.call("toBlob");
  }

  /** Has the worker let go of the model. */
  dispose(): void {
    this.#handle.dispose();
  }
}

/** An encoder in a worker; see `Encoder`. */
export class RemoteEncoder {
  static {
    makeDisposable(RemoteEncoder.prototype);
  }

  readonly #handle: Handle;

  constructor(channel: Channel, target: number) {
    this.#handle = new Handle(channel, target);
  }

  push(chunk: Text): Promise<Uint32Array<ArrayBuffer>> {
    return this.#handle.call("push", chunk);
  }

  flush(): Promise<Uint32Array<ArrayBuffer>> {
    return this.#handle.call("flush");
  }

  dispose(): void {
    this.#handle.dispose();
  }
}

/** A decoder in a worker; see `Decoder`. */
export class RemoteDecoder {
  static {
    makeDisposable(RemoteDecoder.prototype);
  }

  readonly #handle: Handle;

  constructor(channel: Channel, target: number) {
    this.#handle = new Handle(channel, target);
  }

  push(ids: IdChunk): Promise<string> {
    return this.#handle.call("push", ids);
  }

  flush(): Promise<string> {
    return this.#handle.call("flush");
  }

  dispose(): void {
    this.#handle.dispose();
  }
}
