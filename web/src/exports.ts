/** What every entry point exports besides `Tokenizer`. */

export type {
  DecodeOptions,
  EncodeOptions,
  OffsetsOptions,
  Special,
  Unit,
} from "./arguments.js";
export type { Form } from "./compile/build.js";
export type { Decoder } from "./decode.js";
export type { Batch } from "./encode.js";
export type { Encoder } from "./encoder.js";
export { type ErrorCode, type ErrorDetails, TokenizerError } from "./errors.js";
export type { Algorithm, CacheInfo, Compat, Info, Parity, PieceType } from "./info.js";
export type { ModelSource } from "./load/bytes.js";
export type { WasmSource } from "./load/module.js";
export type { AddedToken, CompileOptions, ForeignReader, LoadOptions } from "./load/open.js";
export type { Ids, Text } from "./memory.js";
export type { NormalizedBytes } from "./normalize.js";
export type { AroundOptions, Part, PartsOffsetsOptions } from "./parts.js";
export type { SampleNbestOptions, SampleOptions, Scored } from "./sampling.js";
export type { DecoderStream, EncoderStream, IdChunk, IdSource, TextSource } from "./streams.js";
export type { Encoding, EncodingWithPieces } from "./tokenizer.js";
export { VERSION } from "./version.js";
