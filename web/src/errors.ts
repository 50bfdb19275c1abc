/** Errors of isotok: each says what is wrong, where, and what to do. */

import * as abi from "./layout_gen.js";

/**
 * What an error is about. The names of the core's statuses, or, for errors that the
 * TypeScript side finds: `ARGUMENT` (of a call), `SOURCE` (a model or module that cannot be
 * read), `DISPOSED`, and `TRAP` (the core stopped; the tokenizer cannot be used any more).
 */
export type ErrorCode =
  | "NEED_OUTPUT"
  | "E_ARGUMENT"
  | "E_ABI"
  | "E_UNSUPPORTED"
  | "E_CORRUPT"
  | "E_ALIGNMENT"
  | "E_ID_RANGE"
  | "E_TEXT"
  | "E_STATE"
  | "E_TOO_LARGE"
  | "ARGUMENT"
  | "SOURCE"
  | "DISPOSED"
  | "TRAP";

/** Members of the core's `isotok_error`; 0 where they do not apply. */
export interface ErrorDetails {
  /** The core's status; 0 for errors that the TypeScript side finds. */
  readonly status: number;
  /** Number of the cause, `ISOTOK_WHAT_…` in isotok.h. */
  readonly what: number;
  /** The element: piece, slot, position in the ids … */
  readonly index: number;
  /** Byte of the model or text. */
  readonly offset: number;
  /** Size that would have been enough, in bytes or elements. */
  readonly need: number;
}

/** A model, a text or ids that cannot be used. */
export class TokenizerError extends Error implements ErrorDetails {
  declare readonly code: ErrorCode;
  declare readonly status: number;
  declare readonly what: number;
  declare readonly index: number;
  declare readonly offset: number;
  declare readonly need: number;

  constructor(
    code: ErrorCode,
    message: string,
    details: Partial<ErrorDetails> = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = "TokenizerError";
    const { status = 0, what = 0, index = 0, offset = 0, need = 0 } = details;
    Object.assign(this, { code, status, what, index, offset, need });
  }
}

const WITH_PLACE: readonly number[] = [
  abi.E_CORRUPT,
  abi.E_UNSUPPORTED,
  abi.E_ARGUMENT,
  abi.E_TEXT,
];

/**
 * Error for an `isotok_error` of the core.
 *
 * @param statusText What it says, and perhaps what to do; the cause may know better.
 * @param subject What `offset` and `index` count in: model, source, text, ids …
 */
export function coreError(
  details: ErrorDetails,
  statusText: string,
  whatText: string,
  subject: string,
): TokenizerError {
  const code = (abi.STATUS_NAMES[details.status] ?? "E_STATE") as ErrorCode;
  // Of a model that cannot be opened the caller may know more.
  const text = statusText || `${code}; get the file again, or update isotok`;
  return new TokenizerError(code, message(details, text, whatText, subject), details);
}

export function message(
  details: ErrorDetails,
  statusText: string,
  whatText: string,
  subject: string,
): string {
  const { status, index } = details;
  const ofOptions = status === abi.E_ARGUMENT && (subject === "text" || subject === "texts");
  if (status === abi.E_ID_RANGE) {
    const where = subject === "ids" ? ` (ids[${index}])` : "";
    return `token id out of range${where}; ids are whole numbers, 0 <= id < vocabSize`;
  }
  const [problem, usual = ""] = split(statusText);
  const [what, todo = usual] = split(whatText);
  const place = WITH_PLACE.includes(status) && !ofOptions ? placeOf(details) : "";
  return (
    `${ofOptions ? "options" : subject}: ${problem}` +
    (what && `: ${what}`) +
    (place && ` (${place})`) +
    (todo && `; ${todo}`)
  );
}

/** What is wrong, and what to do. */
function split(text: string): [what: string, todo?: string] {
  const [what = "", ...todo] = text.split("; ");
  return todo.length > 0 ? [what, todo.join("; ")] : [what];
}

function placeOf({ status, index, offset }: ErrorDetails): string {
  const places: string[] = [];
  if (index !== 0) places.push(`index ${index}`);
  if (offset !== 0 || status === abi.E_TEXT) places.push(`byte ${offset}`);
  return places.join(", ");
}

/**
 * Error for a buffer of the caller's that is too small for all ids.
 */
export function bufferError(need: number): TokenizerError {
  return new TokenizerError(
    "NEED_OUTPUT",
    `the buffer is too small: the text has ${need} tokens; give at least ${need} elements`,
    { status: abi.NEED_OUTPUT, need },
  );
}

/**
 * Error for an argument that makes no sense.
 */
export function argumentError(message: string): TokenizerError {
  return new TokenizerError("ARGUMENT", message);
}

/** Text of whatever was thrown, for messages. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
