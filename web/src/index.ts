/** isotok in browsers, and wherever else there is `fetch` and an address of the script. */

import { fetchBytes } from "./load/bytes.js";
import type { Platform } from "./load/open.js";
import { Tokenizer as Base } from "./tokenizer.js";

export * from "./exports.js";

export class Tokenizer extends Base {
  /** @internal */
  protected static override readonly platform: Platform = {
    open: fetchBytes,
    readWasm: (url) => fetch(url),
    // Bundlers look for exactly this form.
    wasm: () => new URL("./isotok.wasm", import.meta.url),
    buildWasm: () => new URL("./isotok-build.wasm", import.meta.url),
    // Files beside the script too: not every bundler can divide the script of a worker.
    compiler: () =>
      import(
        /* @vite-ignore */ /* webpackIgnore: true */
        new URL("./isotok-compile.js", import.meta.url).href
      ),
    foreign: () =>
      import(
        /* @vite-ignore */ /* webpackIgnore: true */
        new URL("./isotok-foreign.js", import.meta.url).href
      ),
  };
}
