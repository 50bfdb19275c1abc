/**
 * What is no blob, to blobs. A script of its own, `isotok-compile.js`, which is loaded when it is
 * needed: it has all that it uses in it, and gives its host bytes alone.
 */

import { HEADER_SIZE } from "../blob_gen.js";
import { argumentError, message, reasonOf, TokenizerError } from "../errors.js";
import type { Failure } from "../foreign/read.js";
import * as abi from "../layout_gen.js";
import { type Bytes, bytesOf, type ModelSource, PeekedBytes, sourceError } from "../load/bytes.js";
import { moduleOf } from "../load/module.js";
import type {
  AddedToken,
  CompileOptions,
  ForeignReader,
  LoadOptions,
  Platform,
} from "../load/open.js";
import { VERSION } from "../version.js";
import { build, buildAdded, checkCompat, type Form, isForm, statusText } from "./build.js";
import { BlobCache } from "./cache.js";
import { kindOf } from "./kind.js";

/** The script that has loaded this one. */
export interface Host {
  readonly platform: Platform;
  /** The class of its errors, which is not the one here. */
  readonly TokenizerError: typeof TokenizerError;
}

/** Opens a blob. */
type Open<Model> = (blob: ModelSource) => Promise<Model>;
type Options = Pick<LoadOptions, "buildWasm" | "foreign" | "name" | "compat">;

/** Errors from here as the host's. */
async function translated<T>(host: Host, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof TokenizerError)) throw error;
    const { code, message, cause } = error;
    throw new host.TokenizerError(code, message, error, cause === undefined ? {} : { cause });
  }
}

/** What an error that a blob could not be opened with says of the model. */
export function describe(host: Host, error: TokenizerError): TokenizerError {
  const what = abi.OPENING_WHAT_TEXTS[error.what];
  if (what === undefined) return error;
  const text = message(error, statusText(error.status), what, "model");
  return new host.TokenizerError(error.code, text, error);
}

/** Compiles a model to a blob, which `open` opens. */
export function openOther<Model>(
  host: Host,
  source: Bytes,
  options: LoadOptions,
  open: Open<Model>,
): Promise<Model> {
  return translated(host, async () => {
    checkCompat(options.compat);
    const bytes = await PeekedBytes.peek(source, HEADER_SIZE);
    return options.cache
      ? openCached(host.platform, bytes, options, options.cache, open)
      : open(await compile(host.platform, bytes, "blob", options));
  });
}

export function compileModel(
  host: Host,
  source: ModelSource | Promise<ModelSource>,
  options: CompileOptions = {},
): Promise<Uint8Array<ArrayBuffer>> {
  const { platform } = host;
  return translated(host, async () => {
    const { form = "blob" } = options;
    checkCompat(options.compat);
    if (!isForm(String(form))) {
      throw argumentError(
        `form: ${String(form)} is unknown; use "blob", "packed", "model" or "spm.fb"`,
      );
    }
    moduleFor(platform, options).catch(() => {}); // at the same time
    const bytes = await bytesOf(source, (name) => platform.open(name));
    const peeked = await PeekedBytes.peek(bytes, HEADER_SIZE);
    return (await compile(platform, peeked, form, options)).slice();
  });
}

/**
 * Compiles tokens beside those of a blob; `open` opens both, `find` finds a text among the pieces.
 */
export function addTokens<Model>(
  host: Host,
  blob: Uint8Array<ArrayBuffer>,
  given: Iterable<string | AddedToken>,
  options: LoadOptions,
  open: (blob: Uint8Array<ArrayBuffer>, added: Uint8Array) => Promise<Model>,
  find: (model: Model, content: string) => number | undefined,
): Promise<Model> {
  const { platform } = host;
  return translated(host, async () => {
    const tokens = typeof given === "string" ? given : [...given];
    const reader = options.foreign ?? (await loadReader(platform));
    const source = succeeded(reader.addedTokens(tokens, blob));
    const added = await buildAdded(await moduleFor(platform, options), blob, source);
    const model = await open(blob, added);
    succeeded(reader.wrongIds(tokens, (content) => find(model, content)));
    return model;
  });
}

function moduleFor(platform: Platform, options: Options): Promise<WebAssembly.Module> {
  return moduleOf(options.buildWasm ?? platform.buildWasm(), platform.readWasm);
}

async function compile(
  platform: Platform,
  bytes: PeekedBytes,
  form: Form,
  options: Options,
): Promise<Uint8Array> {
  const source = await readable(platform, bytes, options);
  return build(await moduleFor(platform, options), source, form, options.compat);
}

/** What the compiler reads: the bytes, or what a script makes of them. */
async function readable(
  platform: Platform,
  bytes: PeekedBytes,
  { foreign, name = bytes.name }: Options,
): Promise<PeekedBytes> {
  const kind = kindOf(bytes.head);
  if (kind === undefined) return bytes;
  const reader = foreign ?? (await loadReader(platform));
  const fields = succeeded(reader.readForeign(kind, await all(bytes), name));
  return peekAt(fields, name);
}

function peekAt(bytes: Uint8Array, name: string): Promise<PeekedBytes> {
  const chunks = [bytes].values();
  return PeekedBytes.peek({ name, size: bytes.length, chunks }, HEADER_SIZE);
}

async function loadReader(platform: Platform): Promise<ForeignReader> {
  try {
    return await platform.foreign();
  } catch (error) {
    // An error that names what to do is not of this script.
    if (error instanceof Error && error.name === "TokenizerError") throw error;
    throw sourceError("isotok-foreign.js", `cannot be loaded (${reasonOf(error)})`, error);
  }
}

/** What the script for other files returns, unless it is an error. */
function succeeded<T extends object | undefined>(result: T | Failure): T {
  if (result === undefined || !("message" in result)) return result as T;
  throw new TokenizerError(result.code, result.message, result.details);
}

/** All bytes in memory of their own. */
async function all(bytes: PeekedBytes): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of bytes.chunks()) {
    parts.push(chunk.slice());
    size += chunk.length;
  }
  const joined = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

async function openCached<Model>(
  platform: Platform,
  bytes: PeekedBytes,
  options: LoadOptions,
  name: string | true,
  open: Open<Model>,
): Promise<Model> {
  const source = await all(bytes);
  const about = [options.compat, kindOf(bytes.head) === "ranks" && (options.name ?? bytes.name)];
  const version = [VERSION, ...about.filter(Boolean).map(String).map(encodeURIComponent)].join();
  const cache = await BlobCache.open(name, source, version);
  const stored = await openStored(cache, open);
  if (stored !== undefined) return stored;
  const again = await peekAt(source, bytes.name);
  const blob = await compile(platform, again, "blob", options);
  const model = await open(blob as Uint8Array<ArrayBuffer>);
  await cache?.put(blob.slice());
  return model;
}

/** Opens what the cache has; a damaged blob is removed and built again. */
async function openStored<Model>(
  cache: BlobCache | undefined,
  open: Open<Model>,
): Promise<Model | undefined> {
  const response = await cache?.get();
  if (response === undefined) return undefined;
  try {
    return await open(response);
  } catch (error) {
    if ((error as Partial<TokenizerError>).code === "E_TOO_LARGE") throw error;
    await cache?.delete();
    return undefined;
  }
}
