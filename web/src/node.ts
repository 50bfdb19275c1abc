/** isotok in Node, Deno and Bun: models and modules are files too. */

import { type FileHandle, open, readFile } from "node:fs/promises";
import { reasonOf } from "./errors.js";
import { type Bytes, fetchBytes, sourceError } from "./load/bytes.js";
import type { Platform } from "./load/open.js";
import { Tokenizer as Base } from "./tokenizer.js";

export * from "./exports.js";

/** Small beside a blob: the memory that a tokenizer takes should be the blob's. */
const CHUNK = 1 << 18;

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

export class Tokenizer extends Base {
  /** @internal */
  protected static override readonly platform: Platform = {
    open: openFile,
    readWasm: (url) => (isRemote(url) ? fetch(url) : readFile(pathOf(url))),
    wasm: () => new URL("./isotok.wasm", import.meta.url),
    buildWasm: () => new URL("./isotok-build.wasm", import.meta.url),
    compiler: () => import("./isotok-compile.js"),
    foreign: () => import("./isotok-foreign.js"),
  };
}
