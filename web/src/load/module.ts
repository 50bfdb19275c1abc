/** WebAssembly modules from whatever they come from. */

import { reasonOf, TokenizerError } from "../errors.js";
import { isArrayBuffer, isModule } from "../tags.js";
import { sourceError } from "./bytes.js";

/** `isotok.wasm` or `isotok-build.wasm`: an address, a response, bytes, or compiled. */
export type WasmSource =
  | string
  | URL
  | Response
  | ArrayBuffer
  | ArrayBufferView<ArrayBuffer>
  | WebAssembly.Module;

/** Reads an address: a response to compile while it arrives, or bytes. */
export type ReadWasm = (url: string | URL) => Promise<Response | Uint8Array<ArrayBuffer>>;

/**
 * Modules of addresses, compiled once in this realm; what could not be compiled is tried
 * again. Modules are immutable and hold no state of a tokenizer.
 */
const compiled = new Map<string, Promise<WebAssembly.Module>>();

export async function moduleOf(
  source: WasmSource | Promise<WasmSource>,
  read: ReadWasm,
): Promise<WebAssembly.Module> {
  const found = await source;
  if (typeof found !== "string" && !(found instanceof URL)) return compile(found);
  const key = String(found);
  let module = compiled.get(key);
  if (module === undefined) {
    module = read(found).then(compile, (error) => {
      throw sourceError(key, `the module cannot be read (${reasonOf(error)})`, error);
    });
    compiled.set(key, module);
    module.catch(() => compiled.delete(key));
  }
  return module;
}

async function compile(source: Exclude<WasmSource, string | URL>): Promise<WebAssembly.Module> {
  if (isModule(source)) return source as WebAssembly.Module;
  try {
    // Bytes first: in Node, to mention Response takes 30 ms.
    const isBytes = ArrayBuffer.isView(source) || isArrayBuffer(source);
    if (isBytes) return await WebAssembly.compile(source as BufferSource);
    return await compileResponse(source as Response);
  } catch (error) {
    throw moduleError(error);
  }
}

async function compileResponse(response: Response): Promise<WebAssembly.Module> {
  if (!("headers" in response)) throw new Error("it is no module, bytes or response");
  if (!response.ok) throw new Error(`${response.url}: the server answered ${response.status}`);
  const type = response.headers.get("content-type")?.split(";")[0]?.trim();
  if (type === "application/wasm" && WebAssembly.compileStreaming !== undefined) {
    return WebAssembly.compileStreaming(response);
  }
  return WebAssembly.compile(await response.arrayBuffer());
}

function moduleError(error: unknown): TokenizerError {
  return new TokenizerError(
    "SOURCE",
    `wasm: the module cannot be compiled (${reasonOf(error)}). It must be isotok.wasm (or ` +
      "isotok-build.wasm) of this version; a Content-Security-Policy needs 'wasm-unsafe-eval'; " +
      "an edge runtime takes only a WebAssembly.Module that it has imported itself",
    {},
    { cause: error },
  );
}
