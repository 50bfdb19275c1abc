/**
 * Model files that the compiler does not read itself, as what it reads. A script of its own,
 * `isotok-foreign.js`, which is loaded when it is needed.
 */

export { addTokens, compileModel, describe, openOther } from "../compile/compile.js";

import type { ErrorCode, ErrorDetails } from "../errors.js";
import type { AddedToken } from "../load/open.js";
import { addedSource, checkAddedIds } from "./added_at_load.js";
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

function tried<T>(make: () => T): T | Failure {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof ForeignError)) throw error;
    return { code: error.code, message: error.message, details: error.details };
  }
}

/** A source for the model compiler; `name` says of a rank file which encoding it is. */
export function readForeign(
  kind: ForeignKind,
  data: Uint8Array,
  name: string,
): Uint8Array<ArrayBuffer> | Failure {
  return tried(() =>
    packFields(
      kind === "json" ? tokenizerJsonFields(data) : rankFileFields(data, name, knownTables()),
    ),
  );
}

/** Tokens beside those of a blob, as the compiler takes them. */
export function addedTokens(
  tokens: Iterable<string | AddedToken>,
  blob: Uint8Array,
): Uint8Array<ArrayBuffer> | Failure {
  return tried(() => addedSource(tokens, blob, knownTables()));
}

/** What is wrong with the ids that they got. */
export function wrongIds(
  tokens: Iterable<string | AddedToken>,
  find: (content: string) => number | undefined,
): Failure | undefined {
  return tried(() => checkAddedIds(tokens, find)) ?? undefined;
}
