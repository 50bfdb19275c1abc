import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vitest/config";

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** Imports `.wasm` as edge runtimes do: as a compiled module. */
const wasmModules: Plugin = {
  name: "wasm-modules",
  enforce: "pre",
  load(id) {
    if (!id.endsWith(".wasm")) return undefined;
    const base64 = readFileSync(id).toString("base64");
    return `export default new WebAssembly.Module(Buffer.from("${base64}", "base64"));`;
  },
};

const entry = (name: string, script: string) => ({
  find: new RegExp(`^${name}$`),
  replacement: path(script),
});

/** The tests are beside the others of the project; they run on what is in dist/. */
export default defineConfig({
  root: path("../tests/web"),
  cacheDir: path("node_modules/.vite"),
  plugins: [wasmModules],
  resolve: {
    alias: [
      entry("isotok", "dist/node.js"),
      entry("isotok/inline", "dist/inline.js"),
      entry("isotok/worker", "dist/worker_node.js"),
      entry("isotok/edge", "dist/edge.js"),
      entry("isotok/foreign", "dist/isotok-foreign.js"),
      entry("vitest", "node_modules/vitest/dist/index.js"),
    ],
  },
  server: { fs: { allow: [path("..")] } },
  test: {
    include: ["*.test.ts"],
    pool: "forks",
    execArgv: ["--expose-gc"],
    maxWorkers: 2,
    testTimeout: 30_000,
    reporters: ["default", path("scripts/reporter.mjs")],
  },
});
