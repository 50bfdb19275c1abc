/**
 * Makes a folder in build/hosts: the package, installed from its tarball, and what runs in
 * the hosts. Everything there is served to them; see server.mjs. Each run has its own.
 */

import { execFileSync, spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

export const HERE = dirname(fileURLToPath(import.meta.url));
export const ROOT = join(HERE, "../../..");
const SITES = join(ROOT, "build/hosts");
export const SITE = join(SITES, `site-${process.pid}`);
export const DATA = process.env["ISOTOK_DATA"] || join(ROOT, "../shared/data");
const WEB = join(ROOT, "web");
const PACKAGE = join(SITE, "node_modules/isotok");

const { build } = createRequire(join(WEB, "package.json"))("esbuild");

/** Whether a process is there that may use its folder. */
function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Removes the folders of runs that have ended. */
export function removeSites() {
  for (const name of existsSync(SITES) ? readdirSync(SITES) : []) {
    const pid = Number(/^site-(\d+)$/.exec(name)?.[1]);
    if (pid === process.pid || (pid > 0 && !isAlive(pid))) {
      rmSync(join(SITES, name), { recursive: true });
    }
  }
}

/** Packs web/ and installs the tarball, as a user would. */
function installPackage() {
  const npm = (values, cwd) => execFileSync("npm", values, { cwd, encoding: "utf8" }).trim();
  const tarball = npm(["pack", "--silent", "--pack-destination", SITE], WEB).split("\n").at(-1);
  const manifest = { private: true, type: "module", dependencies: { isotok: `file:${tarball}` } };
  writeFileSync(join(SITE, "package.json"), JSON.stringify(manifest));
  npm(["install", "--offline", "--silent", "--no-audit", "--no-fund", "--no-package-lock"], SITE);
}

/** Address of an entry point on the server, as a resolver with this condition finds it. */
export function entryOf(name, condition) {
  const code = `console.log(import.meta.resolve(${JSON.stringify(name)}))`;
  const values = [`--conditions=${condition}`, "--input-type=module", "-e", code];
  const url = execFileSync(process.execPath, values, { cwd: SITE, encoding: "utf8" }).trim();
  return `/${relative(SITE, fileURLToPath(url))}`;
}

/** Which entry point a bundle has taken: the script in dist/ that imports the modules. */
function entryIn(metafile) {
  const names = Object.keys(metafile.inputs).map((path) => path.split("/").at(-1));
  return names.filter((name) => /^(edge|edge_light|node|index|inline)\.js$/.test(name)).join();
}

const shared = {
  bundle: true,
  absWorkingDir: SITE,
  metafile: true,
  target: "es2022",
  logLevel: "warning",
};

/** A worker for workerd: what wrangler makes, with the modules beside it. */
async function bundleEdge() {
  const { metafile } = await build({
    ...shared,
    entryPoints: ["edge.mjs"],
    outdir: "edge",
    format: "esm",
    conditions: ["workerd", "worker", "browser"],
    loader: { ".wasm": "copy" },
    assetNames: "[name]",
  });
  return entryIn(metafile);
}

/** Imports of modules become global variables. */
const globalModules = {
  name: "global-modules",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\.wasm\?module$/ }, ({ path }) => ({ path, namespace: "global-module" }));
    onLoad({ filter: /./, namespace: "global-module" }, ({ path }) => ({
      contents: `export default globalThis[${JSON.stringify(globalName(path))}];`,
    }));
  },
};

const globalName = (path) => `wasm_${/([\w-]+)\.wasm/.exec(path)[1].replace("-", "_")}`;

/** A script for edge-runtime. */
async function bundleEdgeLight() {
  const { metafile } = await build({
    ...shared,
    entryPoints: ["edge_light.mjs"],
    outfile: "edge_light/script.js",
    format: "iife",
    conditions: ["edge-light", "browser"],
    plugins: [globalModules],
  });
  return entryIn(metafile);
}

/** Modules of the installed package, by the names of their global variables. */
export async function compiledModules() {
  const modules = {};
  for (const name of ["isotok.wasm", "isotok-build.wasm"]) {
    modules[globalName(name)] = await WebAssembly.compile(
      readFileSync(join(PACKAGE, "dist", name)),
    );
  }
  return modules;
}

function nativeAnswers() {
  const python = join(ROOT, ".venv/bin/python");
  const values = [join(HERE, "native.py"), join(SITE, "native")];
  const { status } = spawnSync(existsSync(python) ? python : "python3", values, {
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (status !== 0) throw new Error("native.py failed; run ./build.sh build native wasm py");
}

/** Returns which entry points the bundles have. */
export async function prepare() {
  removeSites();
  mkdirSync(SITE, { recursive: true });
  const runner = join(ROOT, "build/web/runner.mjs");
  if (!existsSync(runner)) throw new Error(`${runner} is missing; run ./build.sh build web`);
  copyFileSync(runner, join(SITE, "runner.mjs"));
  copyFileSync(join(HERE, "../tasks.mjs"), join(SITE, "tasks.mjs"));
  for (const name of readdirSync(join(HERE, "inside"))) {
    copyFileSync(join(HERE, "inside", name), join(SITE, name));
  }
  installPackage();
  nativeAnswers();
  return { edge: await bundleEdge(), edgeLight: await bundleEdgeLight() };
}
