/**
 * Builds the page from the package in ../dist:
 *
 *     node build.mjs [folder, by default ../../build/playground]
 *
 * What it writes can be served as it is by any static host.
 */

import { copyFileSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const web = dirname(here);
const target = resolve(process.argv[2] ?? join(web, "../build/playground"));
const { build } = createRequire(join(web, "package.json"))("esbuild");

const COPIED = [
  join(here, "index.html"),
  join(here, "style.css"),
  join(here, "icon.svg"),
  join(web, "dist/isotok.wasm"),
  join(web, "dist/isotok-build.wasm"),
  join(web, "dist/isotok-compile.js"),
  join(web, "../py_host/isotok/data/default.isotok-packed"),
];

for (const path of COPIED) {
  if (existsSync(path)) continue;
  console.error(`build.mjs: ${path} is missing; run ./build.sh build playground`);
  process.exit(1);
}

rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
await build({
  entryPoints: {
    app: join(here, "src/main.ts"),
    worker: join(here, "src/worker.ts"),
    theme: join(here, "src/theme.ts"),
  },
  outdir: target,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  alias: { isotok: join(web, "dist/index.js") },
  charset: "utf8",
  logLevel: "warning",
  logOverride: { "ignored-bare-import": "silent" },
});
for (const path of COPIED) copyFileSync(path, join(target, path.split("/").at(-1)));
