/** Members of JSON objects, with their types checked. */

import { broken, shorten, unsupported } from "./errors.js";

export type Json = Readonly<Record<string, unknown>>;

interface Kinds {
  boolean: boolean;
  integer: number;
  string: string;
  array: readonly unknown[];
  object: Json;
}

type Kind = keyof Kinds;

const NAMES: Readonly<Record<Kind, string>> = {
  boolean: "true or false",
  integer: "a whole number",
  string: "a string",
  array: "an array",
  object: "an object",
};

const MOST_NESTED = 10;

function isKind(value: unknown, kind: Kind): boolean {
  if (kind === "integer") return Number.isInteger(value);
  if (kind === "array") return Array.isArray(value);
  if (kind === "object") return isObject(value);
  return typeof value === kind;
}

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value, which must be of this type. */
export function need<K extends Kind>(value: unknown, kind: K, path: string): Kinds[K] {
  if (!isKind(value, kind)) throw broken(path, `${shorten(value)} is not ${NAMES[kind]}`);
  if (typeof value === "string") checkWellFormed(value, path);
  return value as Kinds[K];
}

function below(path: string, name: string): string {
  return path ? `${path}.${name}` : name;
}

/** A member that must be there. */
export function member<K extends Kind>(part: Json, name: string, kind: K, path: string): Kinds[K] {
  if (!Object.hasOwn(part, name)) throw broken(path, `the member "${name}" is missing`);
  return need(part[name], kind, below(path, name));
}

/** A member, or undefined where it is missing or null. */
export function maybe<K extends Kind>(
  part: Json,
  name: string,
  kind: K,
  path: string,
): Kinds[K] | undefined {
  const value = get(part, name);
  return value === undefined ? undefined : need(value, kind, below(path, name));
}

/** A member as it is; undefined where it is missing or null. */
export function get(part: Json, name: string): unknown {
  return Object.hasOwn(part, name) ? (part[name] ?? undefined) : undefined;
}

export interface Step {
  readonly path: string;
  readonly kind: string;
  readonly part: Json;
}

/** The steps of nested Sequences, whose lists are called `name`. */
export function flat(value: unknown, path: string, name: string, depth = 0): Step[] {
  if (value === null || value === undefined) return [];
  const part = need(value, "object", path);
  const kind = member(part, "type", "string", path);
  if (kind !== "Sequence") return [{ path, kind, part }];
  if (depth > MOST_NESTED) throw unsupported(path, "Sequences nested more than ten times");
  return member(part, name, "array", path).flatMap((step, i) =>
    flat(step, `${path}.${name}[${i}]`, name, depth + 1),
  );
}

/** Refuses half a surrogate pair, which JSON can spell and no text can hold. */
export function checkWellFormed(text: string, path: string): void {
  if (/\p{Cs}/u.test(text)) throw broken(path, `${shorten(text)} holds half a surrogate pair`);
}

/** Number of bytes of a text as UTF-8. */
export function utf8Length(text: string): number {
  let length = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    // Of a pair of surrogates, each half stands for two bytes.
    length += code < 0x80 ? 1 : code < 0x800 || (code & 0xf800) === 0xd800 ? 2 : 3;
  }
  return length;
}

/** Number of code points. */
export function lengthOf(text: string): number {
  let length = text.length;
  for (let i = 0; i < text.length; i++) {
    if ((text.charCodeAt(i) & 0xfc00) === 0xdc00) length--;
  }
  return length;
}
