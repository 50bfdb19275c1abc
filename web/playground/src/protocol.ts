/** What goes between the page and its worker. */

import type { Info, PieceType } from "isotok";

/** A model is known by the number that the page gave it. */
export type ModelKey = number;

export interface Options {
  readonly bos: boolean;
  readonly eos: boolean;
}

/** Requests, by name; each gets one answer. */
export interface Calls {
  /** Opens a model from a file, or from an address relative to the page. */
  open(model: ModelKey, source: Blob | string): Opened;
  /** Lets go of a model. */
  close(model: ModelKey): void;
  /** Sets the text that is analysed from now on. */
  setText(text: string): void;
  /** Encodes the text with one or two models and returns what is shown first. */
  analyse(models: readonly ModelKey[], options: Options, groups: number): Analysed;
  /** Next groups of one side of the last analysis. */
  more(side: number, groups: number): Groups;
  /** All ids of one side. */
  ids(side: number): Uint32Array;
}

export interface Opened {
  readonly info: Info;
  readonly milliseconds: number;
}

export interface TextCounts {
  /** Code points; lone surrogates count as one each. */
  readonly characters: number;
  /** UTF-8 bytes. */
  readonly bytes: number;
  readonly loneSurrogates: number;
}

export interface Analysed {
  readonly counts: TextCounts;
  readonly sides: readonly Side[];
}

export type Side = SideResult | { readonly error: SentError };

export interface SideResult {
  readonly tokens: number;
  readonly timing: Timing;
  readonly roundTrip: RoundTrip;
  /** Places where the other model cuts the text otherwise; undefined without one. */
  readonly differences: number | undefined;
  readonly groups: Groups;
}

export interface Timing {
  /** Mean of the runs. */
  readonly milliseconds: number;
  readonly runs: number;
}

/** What decoding the ids gives, beside the text. */
export interface RoundTrip {
  /**
   * exact: the text. repaired: the text, with U+FFFD for lone surrogates. normalized: another
   * text, which the model normalizes to the same. lost: something else.
   */
  readonly outcome: "exact" | "repaired" | "normalized" | "lost";
  readonly unknownTokens: number;
  /** The first difference; undefined when exact. */
  readonly difference: Difference | undefined;
}

export interface Difference {
  /** UTF-16 offset in the text. */
  readonly at: number;
  readonly text: string;
  readonly decoded: string;
}

export interface Groups {
  readonly groups: readonly Group[];
  /** Tokens shown so far, these included. */
  readonly tokens: number;
  /** Text behind the last group that no token stands for; only when there are no more. */
  readonly rest: string;
  readonly done: boolean;
}

/** Tokens that are shown together: as few as possible without breaking a character. */
export interface Group {
  /** Text before it that no token stands for. */
  readonly before: string;
  /** The text that it stands for; empty for tokens that came from nothing. */
  readonly text: string;
  readonly tokens: readonly Token[];
  readonly differs: boolean;
}

export interface Token {
  readonly index: number;
  readonly id: number;
  readonly piece: string;
  /** Bytes of the token in hexadecimal, as `F0 9F`. */
  readonly bytes: string;
  readonly score: number;
  readonly type: PieceType;
  readonly utf16: Range;
  readonly codepoint: Range;
  readonly byte: Range;
}

export type Range = readonly [begin: number, end: number];

/** An error of the package, or any other, in a form that can be sent. */
export interface SentError {
  readonly message: string;
  readonly code: string | undefined;
  readonly status: number;
  readonly what: number;
  readonly index: number;
  readonly offset: number;
}

export interface Request {
  readonly number: number;
  readonly name: keyof Calls;
  readonly values: readonly unknown[];
}

export interface Reply {
  readonly number: number;
  readonly result?: unknown;
  readonly error?: SentError;
}
