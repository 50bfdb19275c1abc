/** Model files that the compiler does not read itself, as what it reads: the lazy part. */

import { packFields } from "./fields.js";
import { knownTables } from "./known.js";
import { rankFileFields } from "./tiktoken.js";
import { tokenizerJsonFields } from "./tokenizer_json.js";

/** A source for the model compiler; `name` says of a rank file which encoding it is. */
export function readForeign(
  kind: "json" | "ranks",
  data: Uint8Array,
  name: string,
): Uint8Array<ArrayBuffer> {
  if (kind === "json") return packFields(tokenizerJsonFields(data));
  return packFields(rankFileFields(data, name, knownTables()));
}
