/** isotok in browsers, and wherever else there is `fetch` and an address of the script. */

import { fetchBytes, type ModelSource } from "./load/bytes.js";
import {
  type CompileOptions,
  compileModel as compileOn,
  type LoadOptions,
  openModel,
  type Platform,
} from "./load/open.js";
import { Tokenizer as Base } from "./tokenizer.js";

export * from "./exports.js";

const platform: Platform = {
  open: fetchBytes,
  readWasm: (url) => fetch(url),
  // Bundlers look for exactly this form.
  wasm: () => new URL("./isotok.wasm", import.meta.url),
  buildWasm: () => new URL("./isotok-build.wasm", import.meta.url),
};

/** An opened model; see the methods. */
export class Tokenizer extends Base {
  /**
   * Opens a model.
   *
   * @param source A blob, a packed model or a SentencePiece `.model`: its address, a
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
