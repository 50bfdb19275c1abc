/** isotok in Node, Deno and Bun: models and modules are files too. */

import { type FileHandle, open, readFile } from "node:fs/promises";
import { reasonOf } from "./errors.js";
import { type Bytes, fetchBytes, type ModelSource, sourceError } from "./load/bytes.js";
import {
  type CompileOptions,
  compileModel as compileOn,
  type LoadOptions,
  openModel,
  type Platform,
} from "./load/open.js";
import { Tokenizer as Base } from "./tokenizer.js";

export * from "./exports.js";

const CHUNK = 1 << 20;

/** Everything that is no address on the web or in memory is a path. */
function isRemote(name: string | URL): boolean {
  return /^(https?|data|blob):/i.test(String(name));
}

function pathOf(name: string | URL): string | URL {
  return typeof name === "string" && /^file:/i.test(name) ? new URL(name) : name;
}

async function openFile(name: string | URL): Promise<Bytes> {
  if (isRemote(name)) return fetchBytes(name);
  let file: FileHandle;
  try {
    file = await open(pathOf(name));
  } catch (error) {
    throw sourceError(String(name), `cannot be opened (${reasonOf(error)})`, error);
  }
  const { size } = await file.stat();
  return { name: String(name), size, chunks: fileChunks(file, name) };
}

async function* fileChunks(file: FileHandle, name: string | URL): AsyncGenerator<Uint8Array> {
  const buffer = new Uint8Array(CHUNK);
  try {
    for (;;) {
      const { bytesRead } = await file.read(buffer);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } catch (error) {
    throw sourceError(String(name), `cannot be read (${reasonOf(error)})`, error);
  } finally {
    await file.close();
  }
}

const platform: Platform = {
  open: openFile,
  readWasm: (url) => (isRemote(url) ? fetch(url) : readFile(pathOf(url))),
  wasm: () => new URL("./isotok.wasm", import.meta.url),
  buildWasm: () => new URL("./isotok-build.wasm", import.meta.url),
};

/** An opened model; see the methods. */
export class Tokenizer extends Base {
  /**
   * Opens a model.
   *
   * @param source A blob, a packed model or a SentencePiece `.model`: its path or address, a
   * `Response`, a stream, a `Blob` or `File`, or its bytes.
   */
  static async load(
    source: ModelSource | Promise<ModelSource>,
    options?: LoadOptions,
  ): Promise<Tokenizer> {
    return new Tokenizer(await openModel(platform, source, options));
  }
}

/** Compiles a model file to a blob, or to the packed form, without opening it. */
export function compileModel(
  source: ModelSource | Promise<ModelSource>,
  options?: CompileOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  return compileOn(platform, source, options);
}
