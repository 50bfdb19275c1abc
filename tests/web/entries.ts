/** The scripts of the package that can be imported, and what they do when that happens. */

import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "./data.js";

export const WEB = join(ROOT, "web");

export interface Imported {
  /** What was called by the import, and until a model was loaded. */
  touched: string[];
  later: string[];
  /** Exported values; of classes, their own members and those of their instances. */
  exports: Record<string, string[]>;
}

/** Names of the scripts, without suffix, that package.json leads to. */
export function entryScripts(): string[] {
  const { exports } = JSON.parse(readFileSync(join(WEB, "package.json"), "utf8"));
  const paths = new Set<string>();
  const collect = (value: unknown) => {
    if (typeof value === "string") paths.add(value);
    else for (const each of Object.values(value as object)) collect(each);
  };
  collect(exports);
  const names = [...paths].map((path) => /^\.\/dist\/(\w+)\.js$/.exec(path)?.[1]);
  return names.filter((name) => name !== undefined).sort();
}

/** Imports a script in a process of its own, where everything that is work is watched. */
export async function importAlone(name: string, load = false): Promise<Imported> {
  const script = join(ROOT, "tests/web/import_alone.mjs");
  const values = [script, join(WEB, "dist", `${name}.js`), ...(load ? ["load"] : [])];
  const { stdout } = await promisify(execFile)(process.execPath, values);
  return JSON.parse(stdout);
}
