/** What goes between a page and its worker. */

import { type ErrorCode, type ErrorDetails, TokenizerError } from "./errors.js";
import type { Info } from "./info.js";

/** One end of a channel: a Worker, a worker's own scope, or something like them. */
export interface Port {
  send(message: unknown, transfer: ArrayBuffer[]): void;
  listen(onMessage: (message: never) => void, onError: (reason: string) => void): void;
  /** Ends the other side. */
  close(): void;
}

/** A call. `target` is the number of a tokenizer, encoder or decoder; there is none for `load`. */
export interface Request {
  readonly id: number;
  readonly target: number;
  readonly method: string;
  readonly values: readonly unknown[];
}

export interface Loaded {
  readonly target: number;
  readonly info: Info;
}

/** An error in a form that can be sent. */
export interface SentError {
  readonly message: string;
  readonly code: ErrorCode | undefined;
  readonly details: ErrorDetails | undefined;
}

export interface Reply {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: SentError;
}

export function sendableError(error: unknown): SentError {
  if (!(error instanceof TokenizerError)) {
    return { message: String(error), code: undefined, details: undefined };
  }
  const { code, message, status, what, index, offset, need } = error;
  return { message, code, details: { status, what, index, offset, need } };
}

export function receivedError({ message, code, details }: SentError): Error {
  return code === undefined ? new Error(message) : new TokenizerError(code, message, details);
}

/** The memory of typed arrays in a result: it is sent without a copy. */
export function transferable(result: unknown): ArrayBuffer[] {
  if (typeof result !== "object" || result === null) return [];
  const values: unknown[] = ArrayBuffer.isView(result) ? [result] : Object.values(result);
  const views = values.filter((value) => ArrayBuffer.isView(value));
  return views.map((view) => view.buffer as ArrayBuffer);
}
