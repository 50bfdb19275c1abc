/** The table of operations (api.json) and the built package have the same names. */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Tokenizer } from "isotok";
import type * as Typescript from "typescript";
import { beforeAll, describe, expect, test } from "vitest";
import { fixture, VECTORS } from "./data.js";
import { entryScripts, importAlone, WEB } from "./entries.js";

type Cell = string | string[] | { none: string };
interface Row {
  operation: string;
  typescript: Cell;
  worker?: Cell;
}

const table = JSON.parse(readFileSync(join(VECTORS, "api.json"), "utf8")) as {
  groups: { rows: Row[] }[];
};
const rows = table.groups.flatMap((group) => group.rows);

const namesIn = (cell: Cell): string[] =>
  typeof cell === "string" ? [cell] : Array.isArray(cell) ? cell : [];
const sorted = (names: Iterable<string>): string[] => [...new Set(names)].sort();

/** Names of the entry points with `Tokenizer`, and of those for workers. */
const NAMES = sorted(rows.flatMap((row) => namesIn(row.typescript)));
const WORKER_NAMES = sorted(
  rows.flatMap((row) => {
    if (row.worker !== undefined) return namesIn(row.worker);
    return namesIn(row.typescript).map((name) =>
      name.replace(/^(Tokenizer|Encoder|Decoder)(?=[.[])/, "Remote$1"),
    );
  }),
);

/** Scripts that serve a worker export nothing. */
const SCRIPTS = entryScripts().filter((name) => name !== "worker_main");
const expected = (script: string) => (script.startsWith("worker") ? WORKER_NAMES : NAMES);

/** Classes whose members are operations; those of other types are described with them. */
const CLASSES = [
  ...["Tokenizer", "Encoder", "Decoder"],
  ...["TokenizerWorker", "RemoteTokenizer", "RemoteEncoder", "RemoteDecoder"],
];
/** In a worker, two types are there for functions that take either. */
const HERE = ["Encoder", "Decoder"];
const isListed = (script: string, name: string) =>
  CLASSES.includes(name) && !(script.startsWith("worker") && HERE.includes(name));
const member = (owner: string, name: string) => `${owner}${name.startsWith("[") ? "" : "."}${name}`;

const ts = createRequire(join(WEB, "package.json"))("typescript") as typeof Typescript;

/** Names that the declarations of a script have: what is exported, and public members. */
function declared(program: Typescript.Program, script: string): string[] {
  const checker = program.getTypeChecker();
  const file = program.getSourceFile(join(WEB, "dist", `${script}.d.ts`));
  const module = file && checker.getSymbolAtLocation(file);
  if (module === undefined) throw new Error(`${script}.d.ts is no module`);
  const isPublic = (symbol: Typescript.Symbol) =>
    !(symbol.declarations ?? []).some((each) => {
      const flags = ts.getCombinedModifierFlags(each);
      return flags & (ts.ModifierFlags.Private | ts.ModifierFlags.Protected);
    });
  const names: string[] = [];
  for (const found of checker.getExportsOfModule(module)) {
    const isAlias = (found.flags & ts.SymbolFlags.Alias) !== 0;
    const symbol = isAlias ? checker.getAliasedSymbol(found) : found;
    names.push(found.name);
    if (!isListed(script, found.name)) continue;
    const own = checker.getDeclaredTypeOfSymbol(symbol);
    const statics = checker.getTypeOfSymbol(symbol).getProperties();
    for (const each of [...statics, ...checker.getPropertiesOfType(own)]) {
      if (!isPublic(each) || each.name === "prototype" || /^(__)?#/.test(each.name)) continue;
      const name = each.name.startsWith("__@dispose") ? "[Symbol.dispose]" : each.name;
      names.push(member(found.name, name));
    }
  }
  return sorted(names);
}

describe("declarations", () => {
  let program: Typescript.Program;
  beforeAll(() => {
    const files = SCRIPTS.map((script) => join(WEB, "dist", `${script}.d.ts`));
    program = ts.createProgram(files, {
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      target: ts.ScriptTarget.ES2022,
      lib: ["lib.es2022.d.ts", "lib.dom.d.ts", "lib.esnext.disposable.d.ts"],
      types: [],
    });
  });

  test.each(SCRIPTS)("%s.d.ts has the names of the table and no others", (script) => {
    expect(declared(program, script)).toEqual(expected(script));
  });
});

/** What only types have, or what instances get when they are made. */
const FIELDS = ["Tokenizer.info"];

test.each(SCRIPTS)("%s.js has them too", async (script) => {
  const { exports } = await importAlone(script);
  const values = Object.entries(exports).flatMap(([owner, members]) => [
    owner,
    ...members.filter((name) => name !== "platform").map((name) => member(owner, name)),
  ]);
  const owners = Object.keys(exports);
  const wanted = expected(script).filter((name) => {
    const [owner = ""] = name.split(/[.[]/);
    return owners.includes(owner) && !FIELDS.includes(name);
  });
  expect(sorted(values)).toEqual(wanted);
  expect(owners).toContain(script.startsWith("worker") ? "TokenizerWorker" : "Tokenizer");
});

test("every name works on an opened model", async () => {
  const tokenizer = await Tokenizer.load(fixture("toy_bytes.model"));
  const instances: Record<string, Disposable> = {
    Encoder: tokenizer.encoder(),
    Decoder: tokenizer.decoder(),
    Tokenizer: tokenizer,
  };
  for (const name of NAMES) {
    const [, owner = "", key = ""] = /^(\w+)[.[](.*?)\]?$/.exec(name) ?? [];
    if (owner === "") continue;
    const object = instances[owner] as unknown as Record<PropertyKey, unknown>;
    const found = key === "Symbol.dispose" ? object[Symbol.dispose] : object[key];
    const own = (Tokenizer as unknown as Record<string, unknown>)[key];
    expect(found ?? (owner === "Tokenizer" ? own : undefined), name).toBeDefined();
  }
  for (const each of Object.values(instances)) each[Symbol.dispose]();
});
