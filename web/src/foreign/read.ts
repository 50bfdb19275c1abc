/**
 * Model files that the compiler does not read itself, as what it reads. A script of its own,
 * `isotok-foreign.js`, which is loaded when it is needed.
 */

import type { ErrorCode, ErrorDetails } from "../errors.js";
import { ForeignError } from "./errors.js";
import { packFields } from "./fields.js";
import { knownTables } from "./known.js";
import { rankFileFields } from "./tiktoken.js";
import { tokenizerJsonFields } from "./tokenizer_json.js";

export type ForeignKind = "json" | "ranks";

/** What is wrong with a file. */
export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details: Partial<ErrorDetails>;
}

/** A source for the model compiler; `name` says of a rank file which encoding it is. */
export function readForeign(
  kind: ForeignKind,
  data: Uint8Array,
  name: string,
): Uint8Array<ArrayBuffer> | Failure {
  try {
    if (kind === "json") return packFields(tokenizerJsonFields(data));
    return packFields(rankFileFields(data, name, knownTables()));
  } catch (error) {
    if (!(error instanceof ForeignError)) throw error;
    return { code: error.code, message: error.message, details: error.details };
  }
}
