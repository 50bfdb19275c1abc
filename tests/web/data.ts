/** Where tests in Node find models and data that are not in the repository. */

import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../../", import.meta.url));
export const VECTORS = join(ROOT, "tests/vectors");
export const DATA = process.env["ISOTOK_DATA"] || resolve(ROOT, "../shared/data");
export const SHARED_VECTORS = resolve(DATA, "../vectors");
export const CASES = resolve(DATA, "../cases");

/** A file, or undefined if it is not here. */
export function readIf(path: string): Uint8Array<ArrayBuffer> | undefined {
  return existsSync(path) ? new Uint8Array(readFileSync(path)) : undefined;
}

/** A model of the repository. */
export function ownModel(name: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(readFileSync(join(VECTORS, "models", `${name}.model`)));
}

/** A real model; undefined where the data is not here. */
export function realModel(name: string): Uint8Array<ArrayBuffer> | undefined {
  return readIf(join(DATA, "models", name));
}

export function corpus(name: string): string | undefined {
  const bytes = readIf(join(DATA, "corpora", name));
  return bytes && new TextDecoder().decode(bytes);
}

/** Skips the test, and says why, if what it needs is not here. */
export function need<T>(context: { skip(note: string): never }, value: T | undefined): T {
  return value ?? context.skip("the data is not here; set ISOTOK_DATA to the data folder");
}

const FIXTURES = join(ROOT, "build/web/fixtures");

/** What make_fixtures.py has made. */
export function fixture(name: string): Uint8Array<ArrayBuffer> {
  const bytes = readIf(join(FIXTURES, name));
  if (bytes !== undefined) return bytes;
  throw new Error(`build/web/fixtures/${name} is missing; run ./build.sh test web`);
}

/** A file of the built package. */
export function distFile(name: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(readFileSync(join(ROOT, "web/dist", name)));
}

/** Throws if two arrays of numbers differ; quick for millions of them. */
export function sameNumbers(found: Uint32Array | Uint8Array, expected: typeof found): void {
  const bytes = (array: typeof found) =>
    Buffer.from(array.buffer, array.byteOffset, array.byteLength);
  if (found.BYTES_PER_ELEMENT === expected.BYTES_PER_ELEMENT) {
    if (bytes(found).equals(bytes(expected))) return;
  }
  const at = found.findIndex((number, i) => number !== expected[i]);
  throw new Error(
    `${found.length} numbers, not ${expected.length}; at ${at}: ${found[at]}, not ${expected[at]}`,
  );
}
