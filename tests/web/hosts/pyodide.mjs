/**
 * Rows of Pyodide, which the tests of tests/web/pyodide have left in build/pyodide: there
 * the Python package is tested. Of its tests on spine.json each takes all vectors of a model.
 */

import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./prepare.mjs";

const HOSTS = ["Node", "Chromium"];

/** A row for each host of Pyodide; without results if there are none for this binary. */
export function pyodideRows() {
  return HOSTS.map((name) => {
    const path = join(ROOT, `build/pyodide/row-${name}.json`);
    const row = existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : {};
    const found = row.wasm === digestOf("build/wasm/isotok.wasm") ? row : { results: {} };
    return { ...found, host: `Pyodide, ${name}`, entry: "wheel" };
  });
}

function digestOf(name) {
  return createHash("sha256")
    .update(readFileSync(join(ROOT, name)))
    .digest("hex");
}
