/**
 * Scripts for pages: node build.mjs FOLDER
 *
 * One script for each engine, each with all that it imports, so that they share nothing.
 */

import { copyFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = fileURLToPath(new URL(".", import.meta.url));
const out = process.argv[2];

const forPages = {
  name: "for-pages",
  setup({ onResolve }) {
    onResolve({ filter: /^(node:)?fs$/ }, () => ({ path: join(here, "empty_fs.cjs") }));
    onResolve({ filter: /\/dist\/node\.js$/ }, ({ path, resolveDir }) => ({
      path: join(resolveDir, path.replace(/node\.js$/, "index.js")),
    }));
  },
};

const engines = readdirSync(join(here, "engines")).map((name) => join(here, "engines", name));
await build({
  entryPoints: [...engines, join(here, "page.mjs")],
  outdir: out,
  bundle: true,
  minify: true,
  format: "esm",
  platform: "browser",
  target: "es2022",
  external: ["module", "path", "url", "crypto"],
  plugins: [forPages],
  logLevel: "error",
});
copyFileSync(join(here, "page.html"), join(out, "page.html"));
