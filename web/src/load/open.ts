/** From a source of any kind to an opened model. */

import { FEATURE_PACKED, HEADER_FEATURES, HEADER_SIZE, IDENTIFIER } from "../blob_gen.js";
import type { Form } from "../compile/build.js";
import { argumentError, reasonOf, TokenizerError } from "../errors.js";
import type { Compat } from "../info.js";
import { ModelInstance } from "../instance.js";
import * as abi from "../layout_gen.js";
import { CORE, Machine } from "../machine.js";
import { findPiece } from "../vocabulary.js";
import { type Bytes, bytesOf, type ModelSource, PeekedBytes, sourceError } from "./bytes.js";
import { moduleOf, type ReadWasm, type WasmSource } from "./module.js";

type Compiler = Pick<
  typeof import("../isotok-compile.js"),
  "addTokens" | "compileModel" | "describe" | "openOther"
>;

/** What `import("isotok/foreign")` gives: the reader of other libraries' files. */
export type ForeignReader = Compiler &
  Pick<typeof import("../isotok-foreign.js"), "readForeign" | "addedTokens" | "wrongIds">;

/** A token to be added: the members of tokenizers' class of this name. */
export interface AddedToken {
  /** The text that becomes the token, wherever it is. */
  readonly content: string;
  /** Found only where `special` of the call says so; decoding may leave it out. */
  readonly special?: boolean;
  /** Takes the white space in front of it along. */
  readonly lstrip?: boolean;
  /** Takes the white space behind it along. */
  readonly rstrip?: boolean;
  /** Not found next to a character of a word. */
  readonly singleWord?: boolean;
  /** Looked for in normalized text; refused where the model has a normalizer. */
  readonly normalized?: boolean;
  /** The id that it must get. */
  readonly id?: number;
}

export interface LoadOptions {
  /** `isotok.wasm`; by default the one that is beside the script. */
  readonly wasm?: WasmSource | Promise<WasmSource>;
  /** `isotok-build.wasm`, loaded only for what is no blob. */
  readonly buildWasm?: WasmSource | Promise<WasmSource>;
  /** The module `isotok/foreign`, loaded only for a tokenizer.json or rank file; it compiles too. */
  readonly foreign?: ForeignReader;
  /**
   * How much of a blob to check: everything that memory and time depend on ("safe"), also
   * the checksum and each piece ("full"), or only the header ("trusted"): that is as
   * dangerous for the tokenizer's own memory, and only that, as loading a library.
   */
  readonly verify?: "safe" | "full" | "trusted";
  /**
   * Keep what is built from anything but a blob in the Cache API, under a name of yours or
   * ours (true). It is found by the contents of the file, and verified when opened.
   */
  readonly cache?: boolean | string;
  /**
   * Memory in which words are remembered with their tokens: a power of two, 2 MiB if not
   * given, 0 for none. It changes no id.
   */
  readonly cacheBytes?: number;
  /**
   * Give the ids and texts of sentencepiece up to 0.2.1, from a `.model` or `.spm.fb`. A blob
   * and a packed model are what they were compiled as; it is an error if that is not this.
   */
  readonly compat?: Compat;
  /** Name of the file, if the source has none: of a rank file, which encoding it is. */
  readonly name?: string;
  /**
   * Tokens beside those of the model, which must be from a tokenizer.json or a rank file: texts
   * (no special tokens), or more about them. A text of the vocabulary keeps its id, the others
   * follow the vocabulary in order. Takes `buildWasm` and `foreign`.
   */
  readonly addedTokens?: Iterable<string | AddedToken>;
}

export interface CompileOptions {
  readonly buildWasm?: WasmSource | Promise<WasmSource>;
  readonly foreign?: ForeignReader;
  /**
   * What to write: a blob; the packed form, which is smaller and built again at load; or a
   * file for SentencePiece ("model") or SentencePiece Lite ("spm.fb").
   */
  readonly form?: Form;
  /** Give the ids and texts of sentencepiece up to 0.2.1; see {@link LoadOptions}. */
  readonly compat?: Compat;
  /** Name of the file; see {@link LoadOptions}. */
  readonly name?: string;
}

/** What differs between environments. */
export interface Platform {
  /** Bytes of the model at an address or path. */
  open(name: string | URL): Promise<Bytes>;
  readonly readWasm: ReadWasm;
  /** The module that `load` takes by default. */
  readonly wasm: () => WasmSource | Promise<WasmSource>;
  readonly buildWasm: () => WasmSource | Promise<WasmSource>;
  readonly compiler: () => Promise<Compiler>;
  readonly foreign: () => ForeignReader | Promise<ForeignReader>;
}

const LEVELS: Readonly<Record<string, number>> = {
  safe: abi.VERIFY_SAFE,
  full: abi.VERIFY_FULL,
  trusted: abi.VERIFY_TRUSTED,
};

const CACHE_SIZE = 1 << 21;
const LEAST_CACHE = 1 << 12;
const MOST_CACHE = 1 << 28;

function cacheSizeOf(cacheBytes: number = CACHE_SIZE): number {
  if (cacheBytes === 0) return 0;
  if (Number.isInteger(cacheBytes) && cacheBytes >= LEAST_CACHE && cacheBytes <= MOST_CACHE) {
    return cacheBytes;
  }
  throw argumentError(
    `cacheBytes: ${cacheBytes} is neither 0 nor an integer from ${LEAST_CACHE} to ${MOST_CACHE}`,
  );
}

export async function openModel(
  platform: Platform,
  source: ModelSource | Promise<ModelSource>,
  options: LoadOptions = {},
): Promise<ModelInstance> {
  const { verify = "safe", addedTokens } = options;
  const level = Object.hasOwn(LEVELS, verify) ? (LEVELS[verify] as number) : undefined;
  if (level === undefined) {
    throw argumentError(`verify: ${verify} is unknown; use "safe", "full" or "trusted"`);
  }
  const cacheSize = cacheSizeOf(options.cacheBytes);
  // Both at the same time; whichever fails first, the other's failure is nobody's.
  const module = moduleOf(options.wasm ?? platform.wasm(), platform.readWasm);
  module.catch(() => {});
  const peek = async (from: ModelSource | Promise<ModelSource>) =>
    PeekedBytes.peek(await bytesOf(from, (name) => platform.open(name)), HEADER_SIZE);
  const bytes = await peek(source);
  const openBytes = async (blob: PeekedBytes, added?: Uint8Array) => {
    const machine = await Machine.create(await module, CORE);
    const size = await blob.into(machine.memory, machine.heapBase);
    try {
      return new ModelInstance(machine, size, level, cacheSize, added);
    } catch (error) {
      throw await described(platform, options, error);
    }
  };
  const open = async (blob: ModelSource, added?: Uint8Array) => openBytes(await peek(blob), added);
  const host = { platform, TokenizerError };
  try {
    await module; // no compiling for one that fails
    const model = isBlob(bytes.head)
      ? checked(await openBytes(bytes), options.compat)
      : await (await compilerOf(platform, options)).openOther(host, bytes.rest(), options, open);
    if (!addedTokens) return model;
    const { addTokens } = await compilerOf(platform, options);
    return await addTokens(host, model.blob(), addedTokens, options, open, findPiece);
  } catch (error) {
    bytes.cancel();
    throw error;
  }
}

/** An error of the core with its cause in words, if the script that has them can be loaded. */
async function described(platform: Platform, options: LoadOptions, error: unknown) {
  if (!(error instanceof TokenizerError && error.what > 0)) return error;
  try {
    return (await compilerOf(platform, options)).describe({ platform, TokenizerError }, error);
  } catch {
    return error;
  }
}

/** Not the packed form. */
function isBlob(head: Uint8Array): boolean {
  const features = head[HEADER_FEATURES + (FEATURE_PACKED >> 3)] as number;
  return (
    head.length === HEADER_SIZE &&
    String.fromCharCode(...head).startsWith(IDENTIFIER) &&
    ((features >> (FEATURE_PACKED & 7)) & 1) === 0
  );
}

/** What a blob gives was decided when it was compiled. */
function checked(model: ModelInstance, compat: Compat | undefined): ModelInstance {
  if (compat === undefined || model.info.compat === compat) return model;
  throw argumentError(
    `compat: the blob was not compiled for sentencepiece ${compat}; give the .model, ` +
      "or leave compat out",
  );
}

/** The script that compiles: the reader of other files has it too. */
async function compilerOf(
  platform: Platform,
  { foreign }: Pick<LoadOptions, "foreign">,
): Promise<Compiler> {
  if (foreign !== undefined) return foreign;
  try {
    return await platform.compiler();
  } catch (error) {
    throw sourceError("isotok-compile.js", `cannot be loaded (${reasonOf(error)})`, error);
  }
}

export async function compileModel(
  platform: Platform,
  source: ModelSource | Promise<ModelSource>,
  options: CompileOptions = {},
): Promise<Uint8Array<ArrayBuffer>> {
  const compiler = await compilerOf(platform, options);
  return compiler.compileModel({ platform, TokenizerError }, source, options);
}
