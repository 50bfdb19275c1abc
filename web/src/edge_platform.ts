/** Edge runtimes: modules are imported, never compiled. */

import { TokenizerError } from "./errors.js";
import { fetchBytes } from "./load/bytes.js";
import type { Platform } from "./load/open.js";

export function edgePlatform(module: WebAssembly.Module): Platform {
  return {
    open: fetchBytes,
    readWasm: (url) => fetch(url),
    wasm: () => module,
    compiler: () => import("./isotok-compile.js"),
    foreign() {
      throw new TokenizerError(
        "SOURCE",
        "model: a tokenizer.json or rank file has to be compiled. Do that before (isotok " +
          'compile), or import * as foreign from "isotok/foreign" and pass it as foreign',
      );
    },
    buildWasm() {
      throw new TokenizerError(
        "SOURCE",
        "model: what is no blob has to be compiled. Do that before (isotok compile), " +
          'or import module from "isotok/isotok-build.wasm" and pass it as buildWasm',
      );
    },
  };
}
