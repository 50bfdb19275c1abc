/** isotok with its modules in the script: nothing but models is ever fetched. */

import { fetchBytes } from "./load/bytes.js";
import type { Platform } from "./load/open.js";
import { Tokenizer as Base } from "./tokenizer.js";
import wasm from "./wasm_inline.js";

export * from "./exports.js";

/** Addresses under which the modules are compiled once. */
const WASM = "inline:isotok.wasm";
const BUILD_WASM = "inline:isotok-build.wasm";

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

export class Tokenizer extends Base {
  /** @internal */
  protected static override readonly platform: Platform = {
    open: fetchBytes,
    async readWasm(url) {
      if (url === WASM) return fromBase64(wasm);
      if (url === BUILD_WASM) return fromBase64((await import("./build_wasm_inline.js")).default);
      return fetch(url);
    },
    wasm: () => WASM,
    buildWasm: () => BUILD_WASM,
    compiler: () => import("./isotok-compile.js"),
    foreign: () => import("./isotok-foreign.js"),
  };
}
