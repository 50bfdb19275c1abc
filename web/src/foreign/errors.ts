/** Errors of a tokenizer.json: what, where in the JSON, and what to do. */

import type { ErrorCode, ErrorDetails } from "../errors.js";
import * as abi from "../layout_gen.js";

const NAME = "tokenizer.json";

/** What becomes a `TokenizerError` where that class is: this script shares none with others. */
export class ForeignError extends Error {
  readonly code: ErrorCode;
  readonly details: Partial<ErrorDetails>;

  constructor(code: ErrorCode, message: string, details: Partial<ErrorDetails>) {
    super(message);
    this.code = code;
    this.details = details;
  }
}
const SHOWN = 80;

/** Error for a file that is refused as broken by everyone. */
export function broken(path: string, what: string): ForeignError {
  return damaged(`${NAME}: ${prefix(path)}${what}; get the file again, or correct it`);
}

export function damaged(message: string, index = 0): ForeignError {
  const details = { status: abi.E_CORRUPT, what: abi.WHAT_PROTOBUF, index };
  return new ForeignError("E_CORRUPT", message, details);
}

/** Error for a file that is well-formed, but would have to be approximated. */
export function unsupported(path: string, what: string): ForeignError {
  return refused(`${NAME}: ${prefix(path)}${what}; isotok does not support this`);
}

/** Error for what only a host with all compilers can read. */
export function uncompiled(path: string, what: string): ForeignError {
  return refused(
    `${NAME}: ${prefix(path)}${what} is none of those that are compiled in advance; make a blob ` +
      "with the Python package (isotok compile tokenizer.json -o model.isotok) and load that",
  );
}

export function refused(message: string): ForeignError {
  const details = { status: abi.E_UNSUPPORTED, what: abi.WHAT_SOURCE_KIND };
  return new ForeignError("E_UNSUPPORTED", message, details);
}

/** A value cut to what fits a message, written as the Python package writes it. */
export function shorten(value: unknown): string {
  const shown = represent(value);
  return shown.length <= SHOWN
    ? shown
    : `${Array.from(shown.slice(0, 2 * SHOWN))
        .slice(0, SHOWN - 1)
        .join("")}…`;
}

function represent(value: unknown, depth = 0): string {
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "string") return quoted(value.slice(0, 2 * SHOWN));
  if (typeof value !== "object") return String(value);
  if (depth > 4) return "…";
  if (Array.isArray(value)) {
    return `[${value
      .slice(0, SHOWN)
      .map((each) => represent(each, depth + 1))
      .join(", ")}]`;
  }
  const members = Object.entries(value).slice(0, SHOWN);
  return `{${members.map(([name, each]) => `${quoted(name)}: ${represent(each, depth + 1)}`).join(", ")}}`;
}

const ESCAPES: Readonly<Record<string, string>> = {
  "\\": "\\\\",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
};

function quoted(text: string): string {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  const inside = text.replace(/[\\\p{Cc}\p{Cs}]/gu, (character) => {
    const code = character.charCodeAt(0);
    const hex = code.toString(16);
    return (
      ESCAPES[character] ??
      (code < 256 ? `\\x${hex.padStart(2, "0")}` : `\\u${hex.padStart(4, "0")}`)
    );
  });
  return mark + (mark === "'" ? inside.replaceAll("'", "\\'") : inside) + mark;
}

function prefix(path: string): string {
  return path && `${path}: `;
}
