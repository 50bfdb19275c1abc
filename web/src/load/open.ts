/** From a source of any kind to an opened model. */

import { HEADER_SIZE } from "../blob_gen.js";
import { argumentError, reasonOf, TokenizerError } from "../errors.js";
import type { Failure } from "../foreign/read.js";
import type { Compat } from "../info.js";
import { ModelInstance } from "../instance.js";
import * as abi from "../layout_gen.js";
import { Machine } from "../machine.js";
import type { Address, Memory } from "../memory.js";
import { VERSION } from "../version.js";
import { findPiece } from "../vocabulary.js";
import { build, buildAdded, checkCompat, type Form, isForm } from "./build.js";
import { type Bytes, bytesOf, type ModelSource, PeekedBytes, sourceError } from "./bytes.js";
import { BlobCache } from "./cache.js";
import { kindOf } from "./kind.js";
import { moduleOf, type ReadWasm, type WasmSource } from "./module.js";

/** What `import("isotok/foreign")` gives: the reader of other libraries' files. */
export type ForeignReader = Pick<
  typeof import("../isotok-foreign.js"),
  "readForeign" | "addedTokens" | "wrongIds"
>;

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
  /** The module `isotok/foreign`, loaded only for a tokenizer.json or rank file. */
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
   * Memory in which words are remembered with their tokens: a power of two, 1 MiB if not
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
  readonly foreign: () => ForeignReader | Promise<ForeignReader>;
}

const LEVELS: Readonly<Record<string, number>> = {
  safe: abi.VERIFY_SAFE,
  full: abi.VERIFY_FULL,
  trusted: abi.VERIFY_TRUSTED,
};

/** How the core opens a model. */
interface Opening {
  readonly level: number;
  readonly cacheSize: number;
}

const CACHE_SIZE = 1 << 20;
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
  const { verify = "safe" } = options;
  const level = Object.hasOwn(LEVELS, verify) ? (LEVELS[verify] as number) : undefined;
  if (level === undefined) {
    throw argumentError(`verify: ${verify} is unknown; use "safe", "full" or "trusted"`);
  }
  checkCompat(options.compat);
  const opening = { level, cacheSize: cacheSizeOf(options.cacheBytes) };
  // Both at the same time; whichever fails first, the other's failure is nobody's.
  const module = moduleOf(options.wasm ?? platform.wasm(), platform.readWasm);
  module.catch(() => {});
  const bytes = await peek(platform, source);
  try {
    const machine = await Machine.create(await module, "isotok_name");
    const model =
      kindOf(bytes.head) === "blob"
        ? checked(await openBlob(machine, bytes, opening), options.compat)
        : await openForeign(platform, machine, bytes, opening, options);
    const { addedTokens } = options;
    return addedTokens ? await withTokens(platform, model, addedTokens, opening, options) : model;
  } catch (error) {
    bytes.cancel();
    throw error;
  }
}

/** The model with tokens beside its own. */
async function withTokens(
  platform: Platform,
  model: ModelInstance,
  given: Iterable<string | AddedToken>,
  opening: Opening,
  options: LoadOptions,
): Promise<ModelInstance> {
  const blob = model.blob();
  const tokens = typeof given === "string" ? given : [...given];
  const reader = options.foreign ?? (await loadReader(platform));
  const source = succeeded(reader.addedTokens(tokens, blob));
  const module = moduleOf(options.buildWasm ?? platform.buildWasm(), platform.readWasm);
  const { memory, at, size } = await buildAdded(await module, blob, source);
  const machine = await Machine.create(model.machine.module, "isotok_name");
  machine.memory.reserve(machine.heapBase + blob.length);
  machine.memory.write(machine.heapBase, blob);
  const { level, cacheSize } = opening;
  const added = memory.copy(at, size);
  const found = new ModelInstance(machine, blob.length, level, cacheSize, added);
  succeeded(reader.wrongIds(tokens, (content) => findPiece(found, content)));
  return found;
}

/** What the script for other files returns, unless it is an error. */
function succeeded<T extends object | undefined>(result: T | Failure): T {
  if (result === undefined || !("message" in result)) return result as T;
  throw new TokenizerError(result.code, result.message, result.details);
}

/** What a blob gives was decided when it was compiled. */
function checked(model: ModelInstance, compat: Compat | undefined): ModelInstance {
  if (compat === undefined || model.info.compat === compat) return model;
  throw argumentError(
    `compat: the blob was not compiled for sentencepiece ${compat}; give the .model, ` +
      "or leave compat out",
  );
}

async function peek(
  platform: Platform,
  source: ModelSource | Promise<ModelSource>,
): Promise<PeekedBytes> {
  return PeekedBytes.peek(await bytesOf(source, (name) => platform.open(name)), HEADER_SIZE);
}

async function openBlob(
  machine: Machine,
  bytes: PeekedBytes,
  opening: Opening,
): Promise<ModelInstance> {
  const size = await bytes.into(machine.memory, machine.heapBase);
  return new ModelInstance(machine, size, opening.level, opening.cacheSize);
}

async function openForeign(
  platform: Platform,
  machine: Machine,
  bytes: PeekedBytes,
  opening: Opening,
  options: LoadOptions,
): Promise<ModelInstance> {
  const module = () => moduleOf(options.buildWasm ?? platform.buildWasm(), platform.readWasm);
  if (!options.cache) {
    const source = await readable(platform, bytes, options);
    const built = await build(await module(), source, "blob", options.compat);
    return adopt(machine, built.memory, built.at, built.size, opening);
  }
  const source = await bytes.all();
  const about = [options.compat, kindOf(bytes.head) === "ranks" && (options.name ?? bytes.name)];
  const version = [VERSION, ...about.filter(Boolean).map(String).map(encodeURIComponent)].join();
  const cache = await BlobCache.open(options.cache, source, version);
  const stored = await openStored(platform, machine.module, cache, opening);
  if (stored !== undefined) return stored;
  const again = await PeekedBytes.peek({ ...bytes, chunks: [source].values() }, HEADER_SIZE);
  const readableAgain = await readable(platform, again, options);
  const built = await build(await module(), readableAgain, "blob", options.compat);
  const model = adopt(machine, built.memory, built.at, built.size, opening);
  await cache?.put(built.memory.copy(built.at, built.size));
  return model;
}

/** What the compiler reads: the bytes, or what a script makes of them. */
async function readable(
  platform: Platform,
  bytes: PeekedBytes,
  options: Pick<LoadOptions, "foreign" | "name">,
): Promise<PeekedBytes> {
  const kind = kindOf(bytes.head);
  if (kind !== "json" && kind !== "ranks") return bytes;
  const { foreign, name = bytes.name } = options;
  const reader = foreign ?? (await loadReader(platform));
  const fields = succeeded(reader.readForeign(kind, await bytes.all(), name));
  const { length } = fields;
  return PeekedBytes.peek({ name, size: length, chunks: [fields].values() }, HEADER_SIZE);
}

async function loadReader(platform: Platform): Promise<ForeignReader> {
  try {
    return await platform.foreign();
  } catch (error) {
    if (error instanceof TokenizerError) throw error;
    throw sourceError("isotok-foreign.js", `cannot be loaded (${reasonOf(error)})`, error);
  }
}

function adopt(
  machine: Machine,
  memory: Memory,
  at: Address,
  size: number,
  opening: Opening,
): ModelInstance {
  machine.memory.reserve(machine.heapBase + size);
  machine.memory.adopt(machine.heapBase, memory, at, size);
  return new ModelInstance(machine, size, opening.level, opening.cacheSize);
}

/** Opens what the cache has; a damaged blob is removed and built again. */
async function openStored(
  platform: Platform,
  module: WebAssembly.Module,
  cache: BlobCache | undefined,
  opening: Opening,
): Promise<ModelInstance | undefined> {
  const response = await cache?.get();
  if (response === undefined) return undefined;
  try {
    return await openBlob(
      await Machine.create(module, "isotok_name"),
      await peek(platform, response),
      opening,
    );
  } catch (error) {
    if (error instanceof TokenizerError && error.code === "E_TOO_LARGE") throw error;
    await cache?.delete();
    return undefined;
  }
}

export async function compileModel(
  platform: Platform,
  source: ModelSource | Promise<ModelSource>,
  options: CompileOptions = {},
): Promise<Uint8Array<ArrayBuffer>> {
  const { form = "blob", compat } = options;
  checkCompat(compat);
  if (!isForm(String(form))) {
    throw argumentError(
      `form: ${String(form)} is unknown; use "blob", "packed", "model" or "spm.fb"`,
    );
  }
  const module = moduleOf(options.buildWasm ?? platform.buildWasm(), platform.readWasm);
  module.catch(() => {});
  const bytes = await peek(platform, source);
  const readableBytes = await readable(platform, bytes, options);
  const { memory, at, size } = await build(await module, readableBytes, form, compat);
  return memory.copy(at, size);
}
