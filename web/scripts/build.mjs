/**
 * Builds the package: dist/ from src/ and the two wasm modules.
 *
 *     node scripts/build.mjs [folder of the modules, by default ../build/wasm]
 */

import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const web = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = resolve(process.argv[2] ?? join(web, "../build/wasm"));
const dist = join(web, "dist");

function fail(message) {
  console.error(`build.mjs: ${message}`);
  process.exit(1);
}

/** The version is in VERSION; package.json must repeat it. */
function version() {
  const wanted = readFileSync(join(web, "../VERSION"), "utf8").trim();
  const found = JSON.parse(readFileSync(join(web, "package.json"), "utf8")).version;
  if (found !== wanted) fail(`package.json has version ${found}, VERSION says ${wanted}`);
  return wanted;
}

function compile() {
  const tsc = join(web, "node_modules/typescript/bin/tsc");
  const { status } = spawnSync(process.execPath, [tsc, "-p", web], { stdio: "inherit" });
  if (status !== 0) fail("tsc found errors");
}

function writeVersion(text) {
  writeFileSync(join(dist, "version_gen.js"), `export const VERSION = "${text}";\n`);
  copyFileSync(join(web, "src/version_gen.d.ts"), join(dist, "version_gen.d.ts"));
}

function addModules() {
  for (const [name, inline] of [
    ["isotok.wasm", "inline_gen.js"],
    ["isotok-build.wasm", "inline_build_gen.js"],
  ]) {
    const path = join(modules, name);
    if (!existsSync(path)) fail(`${path} is missing; run ./build.sh build wasm`);
    writeFileSync(join(dist, name), readFileSync(path)); // not its mode: it is no program
    const base64 = readFileSync(path).toString("base64");
    writeFileSync(join(dist, inline), `export default "${base64}";\n`);
  }
}

const text = version();
rmSync(dist, { recursive: true, force: true });
mkdirSync(dist);
compile();
writeVersion(text);
addModules();
copyFileSync(join(web, "../LICENSE"), join(web, "LICENSE"));
