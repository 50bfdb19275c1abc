/** isotok on edge runtimes that mark imports of modules with `?module` (Vercel). */

import { edgePlatform } from "./edge_platform.js";
import module from "./isotok.wasm?module";
import type { Platform } from "./load/open.js";
import { Tokenizer as Base } from "./tokenizer.js";

export * from "./exports.js";

export class Tokenizer extends Base {
  /** @internal */
  protected static override readonly platform: Platform = edgePlatform(module);
}
