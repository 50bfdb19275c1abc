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
  for (const name of ["version.d.ts", "isotok-compile.d.ts", "isotok-foreign.d.ts"]) {
    copyFileSync(join(web, "src", name), join(dist, name));
  }
}

/** Data of the Python package, deflated: what src/foreign/known.ts unpacks. */
function knownTables() {
  const data = (name) => readFileSync(join(web, "../py_host/isotok/data", name));
  const file = (name) => data(`${name}.bin`);
  const packed = (bytes) =>
    JSON.stringify([bytes.length, deflateRawSync(bytes, { level: 9 }).toString("base64")]);
  const normalizers = file("normalizer_known");
  const head = 4 + normalizers.readUInt32LE(0);
  const body = inflateRawSync(normalizers.subarray(head));
  const encodings = JSON.stringify(JSON.parse(data("tiktoken_encodings.json")));
  return (
    `export const encodings = ${encodings};\n` +
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

/**
 * Members that no caller and no other script sees. They get short names, also in the scripts that
 * a page bundles: no bundler may do that.
 */
const INTERNAL = `
  added adopt alive allowed column columns copyWords copyWordsTo draw first give head heapBase
  home input into isEmpty loan machine memory nameFunction normBegin normEnd openSession output
  peek pointer readText reserve rest results runPart second session setBits setDouble setLong
  setWindow setWord settle window word writeIds writeOptions writeOutput writeTarget writeText
  writeWindow
`
  .trim()
  .split(/\s+/);

/** A member that objects of the language or of a host have keeps its name. */
function checkInternal() {
  for (const scope of [globalThis, WebAssembly]) {
    for (const name of Object.getOwnPropertyNames(scope)) {
      const prototype = typeof scope[name] === "function" ? scope[name].prototype : undefined;
      const taken = INTERNAL.find((each) => Object.hasOwn(prototype ?? {}, each));
      if (taken !== undefined) fail(`${taken} is a member of ${name} too; take another name`);
    }
  }
}

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
    external: ["node:*", "*.wasm", "*.wasm?module", "./isotok-compile.js", "./isotok-foreign.js"],
    chunkNames: "[name]-[hash]",
    mangleProps: new RegExp(`^(${INTERNAL.join("|")})$`),
  });
  // Alone and small: bundlers copy them as they are.
  await build({
    ...options,
    entryPoints: {
      "isotok-compile": join(web, "src/compile/compile.ts"),
      "isotok-foreign": join(web, "src/foreign/read.ts"),
    },
    outdir: dist,
    minify: true,
  });
}

version();
checkInternal();
rmSync(dist, { recursive: true, force: true });
declarations();
await scripts();
for (const name of ["isotok.wasm", "isotok-build.wasm"]) {
  writeFileSync(join(dist, name), readModule(name)); // not its mode: it is no program
}
copyFileSync(join(web, "../LICENSE"), join(web, "LICENSE"));
rmSync(join(web, "dist"), { recursive: true, force: true });
renameSync(dist, join(web, "dist"));
