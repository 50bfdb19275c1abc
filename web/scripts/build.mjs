/**
 * Builds the package: dist/ from src/ and the two wasm modules.
 *
 *     node scripts/build.mjs [folder of the modules, by default ../build/wasm]
 *
 * tsc checks the types and writes the declarations; esbuild joins the scripts, so that an
 * import reads few files. What entry points share is in chunks: classes are the same in all.
 */

import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { build } from "esbuild";

const web = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = resolve(process.argv[2] ?? join(web, "../build/wasm"));
/** Built beside dist/, which it replaces at the end: others may be reading that. */
const dist = join(web, "dist.new");

const ENTRIES = [
  "index",
  "node",
  "edge",
  "edge_light",
  "inline",
  "worker",
  "worker_main",
  "worker_node",
  "worker_main_node",
];

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

function readModule(name) {
  const path = join(modules, name);
  if (!existsSync(path)) fail(`${path} is missing; run ./build.sh build wasm`);
  return readFileSync(path);
}

function declarations() {
  const tsc = join(web, "node_modules/typescript/bin/tsc");
  const flags = ["-p", web, "--emitDeclarationOnly", "--outDir", dist];
  const { status } = spawnSync(process.execPath, [tsc, ...flags], { stdio: "inherit" });
  if (status !== 0) fail("tsc found errors");
  // Declarations that are written by hand, for the scripts that are made here.
  for (const name of ["version.d.ts", "isotok-foreign.d.ts"]) {
    copyFileSync(join(web, "src", name), join(dist, name));
  }
}

/** Data of the Python package, deflated: what src/foreign/known.ts unpacks. */
function knownTables() {
  const file = (name) => readFileSync(join(web, "../py_host/isotok/data", `${name}.bin`));
  const packed = (bytes) =>
    JSON.stringify([bytes.length, deflateRawSync(bytes, { level: 9 }).toString("base64")]);
  const normalizers = file("normalizer_known");
  const head = 4 + normalizers.readUInt32LE(0);
  const body = inflateRawSync(normalizers.subarray(head));
  return (
    `export const pretokenizers = ${packed(file("pretok_known"))};\n` +
    `export const normalizers = ${packed(Buffer.concat([normalizers.subarray(0, head), body]))};\n`
  );
}

/** Scripts that hold the version, the modules and the tables. */
const generated = {
  name: "generated",
  setup({ onLoad, onResolve }) {
    const contents = {
      "./version.js": () => `export const VERSION = ${JSON.stringify(version())};`,
      "./wasm_inline.js": () => base64("isotok.wasm"),
      "./build_wasm_inline.js": () => base64("isotok-build.wasm"),
      "./known_tables.js": knownTables,
    };
    const base64 = (name) => `export default "${readModule(name).toString("base64")}";`;
    onResolve(
      { filter: /\/(version|wasm_inline|build_wasm_inline|known_tables)\.js$/ },
      ({ path }) => ({
        path: path.replace("../", "./"),
        namespace: "generated",
      }),
    );
    onLoad({ filter: /./, namespace: "generated" }, ({ path }) => ({ contents: contents[path]() }));
  },
};

/** Numbers of the C interface instead of their names, which no bundler does over files. */
const numbers = {
  name: "numbers",
  setup({ onLoad }) {
    const layout = readFileSync(join(web, "src/layout_gen.ts"), "utf8");
    const known = Object.fromEntries(
      [...layout.matchAll(/^export const (\w+) = (-?\d+);$/gm)].map(([, ...pair]) => pair),
    );
    onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, "utf8").replace(/\babi\.(\w+)/g, (whole, name) =>
        name in known ? `(${known[name]})` : whole,
      ),
      loader: "ts",
    }));
  },
};

const options = {
  bundle: true,
  format: "esm",
  platform: "neutral",
  target: "es2022",
  plugins: [generated, numbers],
  logLevel: "warning",
};

async function scripts() {
  await build({
    ...options,
    entryPoints: ENTRIES.map((name) => join(web, "src", `${name}.ts`)),
    outdir: dist,
    splitting: true,
    external: ["node:*", "*.wasm", "*.wasm?module", "./isotok-foreign.js"],
    chunkNames: "[name]-[hash]",
  });
  // Alone and small: bundlers copy it as it is.
  await build({
    ...options,
    entryPoints: [join(web, "src/foreign/read.ts")],
    outfile: join(dist, "isotok-foreign.js"),
    minify: true,
  });
}

version();
rmSync(dist, { recursive: true, force: true });
declarations();
await scripts();
for (const name of ["isotok.wasm", "isotok-build.wasm"]) {
  writeFileSync(join(dist, name), readModule(name)); // not its mode: it is no program
}
copyFileSync(join(web, "../LICENSE"), join(web, "LICENSE"));
rmSync(join(web, "dist"), { recursive: true, force: true });
renameSync(dist, join(web, "dist"));
