/** The flags of a call, and which special tokens it looks for. */

import { choice, type EncodeOptions } from "./arguments.js";
import { encodeSpans } from "./encode.js";
import { argumentError, TokenizerError } from "./errors.js";
import type { Flags, ModelInstance } from "./instance.js";
import * as abi from "./layout_gen.js";
import { getPiece } from "./vocabulary.js";

/** Sets whose ids a model remembers. */
const MOST_SETS = 64;

/** `more`: flags beside those of the options. */
export function flagsOf(model: ModelInstance, options: EncodeOptions | undefined, more = 0): Flags {
  if (options === undefined) return more;
  const { bos, eos, special, addSpecialTokens } = options;
  const flags =
    more |
    (bos ? abi.BOS : 0) |
    (eos ? abi.EOS : 0) |
    choice(addSpecialTokens, abi.TEMPLATE, abi.NO_TEMPLATE);
  if (special === undefined) return flags;
  if (special === "all") return flags | abi.SPECIAL;
  if (special === "none") return flags | abi.NO_SPECIAL | abi.NO_CONTROL;
  if (typeof special === "object" && special !== null && Symbol.iterator in special) {
    return { flags: flags | abi.SPECIAL, allowed: allowedOf(model, [...special]) };
  }
  throw argumentError(
    `special: ${String(special)} is unknown; use "none", "all" or a set of special tokens`,
  );
}

/** The ids of tokens as the core takes them: where ranges of them begin and end, in turn. */
function allowedOf(model: ModelInstance, tokens: readonly (string | number)[]): Uint32Array {
  const key = JSON.stringify(tokens);
  const { sets } = model;
  const known = sets.get(key);
  if (known !== undefined) return known;
  const ids = new Set(tokens.map((token) => specialId(model, token)));
  const edges = [...ids].flatMap((id) => [id, id + 1]);
  const allowed = Uint32Array.from(edges.filter((edge) => ids.has(edge) !== ids.has(edge - 1)));
  allowed.sort();
  if (sets.size >= MOST_SETS) sets.clear();
  sets.set(key, allowed);
  return allowed;
}

/** The text of a special token alone is this token, of no normalized text. */
function specialId(model: ModelInstance, token: string | number): number {
  try {
    const text = typeof token === "string" ? token : getPiece(model, token).bytes;
    const alone = abi.SPECIAL | abi.NO_TEMPLATE;
    const { ids, normBegin, normEnd } = encodeSpans(model, text, alone, abi.UNIT_BYTE, true);
    const id = ids[0] as number;
    const isSpecial = ids.length === 1 && normBegin?.[0] === normEnd?.[0];
    if (isSpecial && (typeof token === "string" || token === id)) return id;
  } catch (error) {
    if (!(error instanceof TokenizerError && error.code === "E_ID_RANGE")) throw error;
  }
  throw argumentError(
    `special: ${JSON.stringify(token) ?? String(token)} is no special token of the model, or ` +
      "it is not found in texts; leave it out",
  );
}
