/** Counting checks, and small helpers. No host's own modules: this runs everywhere. */

import type { Tokenizer } from "isotok";

/** Opens a model of any form, `name` that of its file; every host brings its own. */
export type Load = (bytes: Uint8Array, name?: string) => Promise<Tokenizer>;
/** A file by its name; undefined if this host does not have it. */
export type GetFile = (name: string) => Promise<Uint8Array | undefined>;

export interface Report {
  passed: number;
  /** "id: what differs", one for each failed vector. */
  failed: string[];
  /** How many were not run, by reason. */
  notApplicable: Record<string, number>;
}

export function newReport(): Report {
  return { passed: 0, failed: [], notApplicable: {} };
}

export function skip(report: Report, reason: string): void {
  report.notApplicable[reason] = (report.notApplicable[reason] ?? 0) + 1;
}

/** Runs the check of one vector and counts it. */
export async function check(
  report: Report,
  id: string,
  run: () => Promise<void> | void,
): Promise<void> {
  try {
    await run();
    report.passed++;
  } catch (error) {
    report.failed.push(`${id}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** A message if two values differ: numbers, strings, arrays and typed arrays. */
export function same(what: string, found: unknown, expected: unknown): void {
  const left = plain(found);
  const right = plain(expected);
  if (left !== right)
    throw new Error(`${what}: ${left.slice(0, 300)} is not ${right.slice(0, 300)}`);
}

function plain(value: unknown): string {
  return JSON.stringify(ArrayBuffer.isView(value) ? Array.from(value as Uint8Array) : value) ?? "";
}

export function fromHex(hex: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(hex.length / 2);
  for (let i = 0; i < bytes.length; i++)
    bytes[i] = Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16);
  return bytes;
}

export function toUtf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

export function fromUtf8(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

/** The text that bytes are, or undefined if they are ill-formed. */
export function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { ignoreBOM: true, fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

export function repeat(bytes: Uint8Array, count: number): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(bytes.length * count);
  for (let i = 0; i < count; i++) all.set(bytes, i * bytes.length);
  return all;
}

export async function sha256(
  value: Uint8Array<ArrayBuffer> | Uint32Array<ArrayBuffer>,
): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", value));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * Where each byte of a well-formed text lies, counted in code points or UTF-16 units. A
 * second way to the same numbers: the tokenizer counts in the core.
 */
export function unitPositions(text: string, unit: "codepoint" | "utf16"): number[] {
  const positions: number[] = [];
  let at = 0;
  for (const character of text) {
    const size = toUtf8(character).length;
    for (let i = 0; i < size; i++) positions.push(at);
    at += unit === "utf16" ? character.length : 1;
  }
  return [...positions, at];
}

/** Keeps models open by name, one at a time: hosts are small. */
export class Models {
  readonly #load: Load;
  readonly #getFile: GetFile;
  #name = "";
  #tokenizer: Tokenizer | undefined;

  constructor(load: Load, getFile: GetFile) {
    this.#load = load;
    this.#getFile = getFile;
  }

  async open(name: string): Promise<Tokenizer | undefined> {
    if (this.#tokenizer !== undefined && this.#name === name) return this.#tokenizer;
    this.close();
    const bytes = await this.#getFile(name);
    if (bytes === undefined) return undefined;
    this.#tokenizer = await this.#load(bytes, name);
    this.#name = name;
    return this.#tokenizer;
  }

  close(): void {
    this.#tokenizer?.dispose();
    this.#tokenizer = undefined;
  }
}
