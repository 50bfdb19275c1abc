/** isotok on edge runtimes that import modules as `WebAssembly.Module` (workerd). */

import { edgePlatform } from "./edge_platform.js";
import module from "./isotok.wasm";
import type { Platform } from "./load/open.js";
import { Tokenizer as Base } from "./tokenizer.js";

export * from "./exports.js";

export class Tokenizer extends Base {
  /** @internal */
  protected static override readonly platform: Platform = edgePlatform(module);
}
