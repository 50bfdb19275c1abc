/**
 * Prints what a page downloads, and holds it to the limits.
 *
 *     node scripts/sizes.mjs           print, fail if a limit is passed
 *     node scripts/sizes.mjs --readme  write the table into README.md too
 *     node scripts/sizes.mjs --check   fail if README.md says something else (by > 2 %)
 */

import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build } from "esbuild";

const web = dirname(dirname(fileURLToPath(import.meta.url)));
const readme = join(web, "README.md");
const KB = 1024;

async function bundle(entry) {
  const { outputFiles } = await build({
    entryPoints: [join(web, "dist", entry)],
    bundle: true,
    minify: true,
    format: "esm",
    write: false,
    // Chunks that an entry point only needs for their effects, of which they have none.
    logOverride: { "ignored-bare-import": "silent" },
  });
  return outputFiles[0].contents;
}

function measure(name, bytes, limits = {}) {
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } };
  return {
    name,
    raw: bytes.length,
    gzip: gzipSync(bytes, { level: 9 }).length,
    brotli: brotliCompressSync(bytes, quality).length,
    limits,
  };
}

async function rows() {
  const script = measure("script, minified", await bundle("index.js"));
  const wasm = measure("`isotok.wasm`", readFileSync(join(web, "dist/isotok.wasm")));
  const both = {
    name: "**both**",
    raw: script.raw + wasm.raw,
    gzip: script.gzip + wasm.gzip,
    brotli: script.brotli + wasm.brotli,
    limits: { gzip: 45 * KB },
  };
  const compiler = readFileSync(join(web, "dist/isotok-build.wasm"));
  const driver = readFileSync(join(web, "dist/isotok-compile.js"));
  const foreign = readFileSync(join(web, "dist/isotok-foreign.js"));
  return [
    script,
    wasm,
    both,
    measure("`isotok-build.wasm`, for what is no blob", compiler, { raw: 256 * KB }),
    measure("`isotok-compile.js`, beside it", driver, { gzip: 8 * KB }),
    measure("`isotok-foreign.js`, for files of other libraries", foreign, { gzip: 192 * KB }),
    measure("`isotok/inline`, all inside", await bundle("inline.js")),
    measure("`isotok/worker`", await bundle("worker.js")),
  ];
}

const kilobytes = (bytes) => (bytes / KB).toFixed(1);
const line = (cells) => `| ${cells.join(" | ")} |`;

function table(all) {
  const body = all.map((row) =>
    line([row.name, kilobytes(row.raw), kilobytes(row.gzip), kilobytes(row.brotli)]),
  );
  return [line(["KB", "raw", "gzip", "brotli"]), "|---|--:|--:|--:|", ...body].join("\n");
}

function problems(all) {
  return all.flatMap((row) =>
    Object.entries(row.limits)
      .filter(([kind, limit]) => row[kind] > limit)
      .map(([kind, limit]) => `${row.name}: ${row[kind]} bytes ${kind}, the limit is ${limit}`),
  );
}

const MARKED = /(<!-- sizes -->\n)[\s\S]*?(\n<!-- \/sizes -->)/;

/** What a table in README.md says otherwise than it was measured; it has rounded. */
function differences(all, stated) {
  const lines = stated.split("\n").filter((each) => each.startsWith("|"));
  const rows = lines.slice(2).map((each) => each.split("|").map((cell) => cell.trim()));
  if (rows.map((cells) => cells[1]).join() !== all.map((row) => row.name).join()) {
    return ["other rows"];
  }
  return all.flatMap((row, i) =>
    ["raw", "gzip", "brotli"].flatMap((kind, k) => {
      const [measured, number] = [row[kind] / KB, Number(rows[i][k + 2])];
      if (Math.abs(number - measured) <= 0.02 * measured + 0.05) return [];
      return [`${row.name}: ${number} KB ${kind}, measured ${measured.toFixed(1)}`];
    }),
  );
}

const all = await rows();
const text = table(all);
console.log(text);
const wrong = problems(all);
const page = readFileSync(readme, "utf8");
if (process.argv.includes("--readme")) {
  writeFileSync(readme, page.replace(MARKED, `$1${text}$2`));
} else if (process.argv.includes("--check")) {
  const found = differences(all, MARKED.exec(page)?.[0] ?? "");
  wrong.push(...found.map((each) => `README.md has ${each}; fix: npm run sizes -- --readme`));
}
for (const problem of wrong) console.error(`sizes.mjs: ${problem}`);
process.exitCode = wrong.length > 0 ? 1 : 0;
