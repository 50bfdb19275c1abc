/** What is published: the tarball, its entry points and types, and what bundlers make of it. */

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Tokenizer } from "isotok";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { distFile, fixture, ROOT, readIf } from "./data.js";

const WEB = join(ROOT, "web");
const BIN = join(WEB, "node_modules/.bin");
const run = promisify(execFile);

const WORDS = {
  model: { type: "WordLevel", vocab: { "[UNK]": 0, hello: 1, world: 2 }, unk_token: "[UNK]" },
  pre_tokenizer: { type: "WhitespaceSplit" },
};

let folder: string;
/** The package as it is installed from the tarball. */
let installed: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "isotok-package-"));
  installed = join(folder, "node_modules/isotok");
  mkdirSync(installed, { recursive: true });
  await run("npm", ["pack", "--silent", "--pack-destination", folder], { cwd: WEB });
  await run("tar", ["xf", tarball(), "-C", installed, "--strip-components=1"]);
  writeFileSync(join(folder, "package.json"), '{"type": "module", "private": true}');
  writeFileSync(join(folder, "model.isotok"), await Tokenizer.compile(fixture("toy.model")));
  writeFileSync(join(folder, "toy.model"), fixture("toy.model"));
  writeFileSync(join(folder, "words.json"), JSON.stringify(WORDS));
}, 60_000);

afterAll(() => rmSync(folder, { recursive: true }));

function tarball(): string {
  const name = readdirSync(folder).find((each) => each.endsWith(".tgz"));
  return join(folder, name ?? "no tarball");
}

/** Runs a program; what it prints on failure is the error. */
async function succeed(command: string, values: string[], cwd = folder): Promise<string> {
  try {
    return (await run(command, values, { cwd })).stdout;
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${command} ${values.join(" ")}:\n${stdout}\n${stderr}`);
  }
}

async function runScript(name: string, code: string, flags: string[] = []): Promise<string> {
  writeFileSync(join(folder, name), code);
  return succeed(process.execPath, [...flags, name]);
}

const USE = `
  const tokenizer = await Tokenizer.load(model);
  console.log([...tokenizer.encode("hello world")].join());`;

describe("the tarball", () => {
  test("holds the package and nothing else", () => {
    const files = readdirSync(installed).sort();
    expect(files).toEqual(["LICENSE", "README.md", "dist", "package.json"]);
    const size = statSync(tarball()).size;
    expect(size).toBeLessThan(400_000); // half of it is isotok-foreign.js
  });

  test("has the modules that were built, and Python has the same", () => {
    const digest = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
    for (const name of ["isotok.wasm", "isotok-build.wasm"]) {
      const wanted = digest(readFileSync(join(ROOT, "build/wasm", name)));
      expect(digest(readFileSync(join(installed, "dist", name)))).toBe(wanted);
      expect(digest(distFile(name))).toBe(wanted);
      const python = readIf(join(ROOT, "py_host/isotok/data", name));
      if (python !== undefined) expect(digest(python)).toBe(wanted);
      const inline = name === "isotok.wasm" ? /^inline\.js$/ : /^build_wasm_inline-.*\.js$/;
      const script = readdirSync(join(installed, "dist")).find((each) => inline.test(each)) ?? "";
      const text = readFileSync(join(installed, "dist", script), "utf8");
      const [base64] = /[A-Za-z0-9+/=]{1000,}/.exec(text) ?? [""];
      expect(digest(Buffer.from(base64, "base64"))).toBe(wanted);
    }
  });

  test("publint has nothing to say", async () => {
    await succeed(process.execPath, [join(BIN, "../publint/src/cli.js"), installed, "--strict"]);
  });

  test("attw: types of all entry points", async () => {
    const ignored = [
      "--profile",
      "esm-only",
      "--exclude-entrypoints",
      "isotok.wasm",
      "isotok-build.wasm",
    ];
    await succeed(join(BIN, "attw"), [tarball(), ...ignored]);
  }, 60_000);

  test("names no address of a registry", () => {
    const lock = readFileSync(join(WEB, "package-lock.json"), "utf8");
    expect(lock).not.toContain('"resolved"');
  });
});

describe("import", () => {
  test("no code is made of strings", async () => {
    const code = `import { readFileSync } from "node:fs";
      import { Tokenizer } from "isotok";
      const model = readFileSync("toy.model");${USE}`;
    const flags = ["--disallow-code-generation-from-strings"];
    expect((await runScript("strings.mjs", code, flags)).trim()).toBe("3,4");
  });

  test("works without FinalizationRegistry and Symbol.dispose", async () => {
    const code = `delete globalThis.FinalizationRegistry;
      const Original = Symbol;
      const { asyncDispose, dispose, prototype, length, name, ...rest } =
        Object.getOwnPropertyDescriptors(Original);
      globalThis.Symbol = Object.defineProperties((text) => Original(text), rest);
      const { Tokenizer } = await import("isotok");
      const model = "toy.model";${USE}
      const decoder = tokenizer.decoder();
      console.log(decoder.push(3) + decoder.flush());
      decoder.dispose();
      tokenizer.dispose();`;
    expect((await runScript("old.mjs", code)).trim()).toBe("3,4\nhello");
  });

  test("the version is that of the project", async () => {
    const out = await runScript("v.mjs", `console.log((await import("isotok")).VERSION)`);
    expect(out.trim()).toBe(readFileSync(join(ROOT, "VERSION"), "utf8").trim());
  });
});

describe("types", () => {
  const tsc = join(WEB, "node_modules/typescript/bin/tsc");
  const code = `
    import { Tokenizer, TokenizerError, type Encoding, type ModelSource } from "isotok";
    import { Tokenizer as Inline } from "isotok/inline";
    import { Tokenizer as Edge } from "isotok/edge";
    import { TokenizerWorker, type RemoteTokenizer } from "isotok/worker";
    async function use(source: ModelSource): Promise<number> {
      const tokenizer: Tokenizer = await Tokenizer.load(source, { verify: "full" });
      const found: Encoding = tokenizer.encodeWithOffsets("a", { unit: "byte" });
      const pieces: string[] = tokenizer.encodeWithOffsets("a", { pieces: true }).pieces;
      const text: string = tokenizer.decode(tokenizer.encode("a", { bos: true }));
      const stream: TransformStream<number, string> = tokenizer.decodeStream();
      for await (const part of tokenizer.decodeStream([1, 2n])) console.log(part, stream);
      // @ts-expect-error there is no such unit
      tokenizer.encodeWithOffsets("a", { unit: "line" });
      // @ts-expect-error pieces have to be asked for
      tokenizer.encodeWithOffsets("a").pieces;
      // @ts-expect-error only load makes one
      new Tokenizer();
      const remote: RemoteTokenizer = await new TokenizerWorker().load(source);
      const id: number | undefined = tokenizer.pieceToId("a") ?? (await remote.pieceToId("a"));
      const others: Tokenizer[] = [await Inline.load("x"), await Edge.load(new Blob([]))];
      if (!(globalThis instanceof TokenizerError)) return others.length;
      return found.begin.length + pieces.length + text.length + (id ?? 0);
    }
    use(new Uint8Array());`;

  test.each([
    ["nodenext", "nodenext"],
    ["bundler", "esnext"],
  ])(
    "resolution %s, without skipLibCheck",
    async (moduleResolution, module) => {
      writeFileSync(join(folder, "use.ts"), code);
      const compilerOptions = {
        module,
        moduleResolution,
        noEmit: true,
        strict: true,
        exactOptionalPropertyTypes: true,
        target: "es2022",
        lib: ["es2022", "dom", "dom.iterable", "dom.asynciterable"],
        types: [],
      };
      const config = { compilerOptions, files: ["use.ts"] };
      writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
      await succeed(process.execPath, [tsc]);
      rmSync(join(folder, "tsconfig.json"));
    },
    60_000,
  );
});

const CUT =
  "model: the model is damaged: header: total size is not the file's (byte 8); copy the file again";

describe("bundlers", () => {
  const esbuild = (values: string[]) =>
    succeed(join(BIN, "esbuild"), ["--bundle", "--format=esm", "--log-level=warning", ...values]);

  test("esbuild for browsers: the module is passed", async () => {
    const code = `import { Tokenizer } from "isotok";
      import * as foreign from "isotok/foreign";
      export async function use(model, wasm, buildWasm) {
        const tokenizer = await Tokenizer.load(model, { wasm, buildWasm, foreign });
        return [...tokenizer.encode("hello world")].join();
      }`;
    writeFileSync(join(folder, "page.js"), code);
    await esbuild(["page.js", "--minify", "--platform=browser", "--outfile=page.out.mjs"]);
    const bundle = readFileSync(join(folder, "page.out.mjs"), "utf8");
    expect(bundle).not.toMatch(/node:|\beval\(|new Function/);
    const out = await runScript(
      "run-page.mjs",
      `import { readFileSync } from "node:fs";
      import { use } from "./page.out.mjs";
      const wasm = readFileSync("node_modules/isotok/dist/isotok.wasm");
      const buildWasm = readFileSync("node_modules/isotok/dist/isotok-build.wasm");
      console.log(await use(readFileSync("model.isotok"), wasm));
      console.log(await use(readFileSync("words.json"), wasm, buildWasm));
      const cut = readFileSync("model.isotok").subarray(0, -64);
      console.log(await use(cut, wasm).catch(({ message }) => message));`,
    );
    expect(out.trim()).toBe(`3,4\n1,2\n${CUT}`);
  });

  test("esbuild for browsers: isotok-compile.js is not there", async () => {
    const code = `import { Tokenizer } from "isotok";
      export const load = (model, wasm) => Tokenizer.load(model, { wasm });`;
    writeFileSync(join(folder, "bare.js"), code);
    await esbuild(["bare.js", "--platform=browser", "--outfile=bare.out.mjs"]);
    const out = await runScript(
      "run-bare.mjs",
      `import { readFileSync } from "node:fs";
      import { load } from "./bare.out.mjs";
      const wasm = readFileSync("node_modules/isotok/dist/isotok.wasm");
      const blob = readFileSync("model.isotok");
      for (const model of [blob.subarray(0, -64), readFileSync("toy.model")]) {
        await load(model, wasm).catch(({ code, message }) => console.log(code, message));
      }
      console.log((await load(blob, wasm)).encode("hello world").join());`,
    );
    const [damaged, other, ids] = out.trim().split("\n");
    expect(damaged).toBe(
      "E_CORRUPT model: E_CORRUPT (byte 8); get the file again, or update isotok",
    );
    expect(other).toMatch(/^SOURCE isotok-compile\.js: cannot be loaded \(.*\); check the address/);
    expect(ids).toBe("3,4");
  });

  test("esbuild for Node: the modules are beside the bundle", async () => {
    writeFileSync(
      join(folder, "server.js"),
      `import { Tokenizer } from "isotok"; const model = "toy.model";${USE}`,
    );
    await esbuild(["server.js", "--platform=node", "--outfile=out/server.mjs"]);
    for (const name of ["isotok.wasm", "isotok-build.wasm"]) {
      cpSync(join(installed, "dist", name), join(folder, "out", name));
    }
    expect((await succeed(process.execPath, ["out/server.mjs"])).trim()).toBe("3,4");
  });

  test("esbuild for workerd: the module stays an import", async () => {
    writeFileSync(join(folder, "worker.js"), `export { Tokenizer } from "isotok";`);
    const conditions = ["--conditions=workerd", "--loader:.wasm=copy"];
    await esbuild(["worker.js", ...conditions, "--outdir=edge", "--asset-names=[name]"]);
    expect(readdirSync(join(folder, "edge")).sort()).toEqual(["isotok.wasm", "worker.js"]);
    const bundle = readFileSync(join(folder, "edge/worker.js"), "utf8");
    expect(bundle).toMatch(/import \w+ from "\.\/isotok\.wasm"/);
    expect(bundle).not.toContain("import.meta");
    const light = ["--conditions=edge-light", "--external:*.wasm?module"];
    await esbuild(["worker.js", ...light, "--outfile=edge/light.js"]);
    const other = readFileSync(join(folder, "edge/light.js"), "utf8");
    expect(other).toMatch(/from "\.\/isotok\.wasm\?module"/);
  });

  test("esbuild, all in one file", async () => {
    writeFileSync(
      join(folder, "one.js"),
      `import { Tokenizer } from "isotok/inline";
      export const use = async (model) => {
        const tokenizer = await Tokenizer.load(model);
        return [...tokenizer.encode("hello world")].join();
      };`,
    );
    await esbuild(["one.js", "--minify", "--platform=browser", "--outfile=alone/one.mjs"]);
    const out = await runScript(
      "run-one.mjs",
      `import { readFileSync } from "node:fs";
      import { use } from "./alone/one.mjs";
      globalThis.fetch = undefined;
      for (const name of ["model.isotok", "toy.model", "words.json"]) {
        console.log(await use(readFileSync(name)));
      }`,
    );
    expect(out.trim()).toBe("3,4\n3,4\n1,2");
  });

  test("vite: modules and the worker become files of the build", async () => {
    const site = join(folder, "site");
    mkdirSync(site);
    cpSync(join(folder, "node_modules"), join(site, "node_modules"), { recursive: true });
    writeFileSync(join(site, "index.html"), `<script type="module" src="main.js"></script>`);
    writeFileSync(
      join(site, "main.js"),
      `import { Tokenizer } from "isotok";
      import { TokenizerWorker } from "isotok/worker";
      window.load = Tokenizer.load;
      window.TokenizerWorker = TokenizerWorker;`,
    );
    const vite = join(WEB, "node_modules/vite/bin/vite.js");
    const flags = ["build", "--logLevel", "warn", "--assetsInlineLimit", "0"];
    await succeed(process.execPath, [vite, ...flags], site);
    const files = readdirSync(join(site, "dist/assets")).map((name) =>
      name.replace(/-[\w-]{8}\./, "."),
    );
    const names = ["isotok.wasm", "isotok-build.wasm", "isotok-compile.js", "isotok-foreign.js"];
    for (const name of [...names, "worker_main.js", "index.js"]) {
      expect(files).toContain(name);
    }
    const emitted = readdirSync(join(site, "dist/assets")).filter(
      (n) => n.endsWith(".wasm") && !n.startsWith("isotok-build"),
    );
    const bytes = readFileSync(join(site, "dist/assets", emitted[0] as string));
    expect(bytes.equals(distFile("isotok.wasm"))).toBe(true);
  }, 60_000);
});

test("the checks for other hosts are one script, with nothing of Node", () => {
  const script = readFileSync(join(ROOT, "build/web/runner.mjs"), "utf8");
  expect(script).not.toMatch(/from "node:|require\(|process\./);
  expect(script).toMatch(/runCases,[\s\S]*runSentencePiece,[\s\S]*runVectors/);
});

test("sizes are within the limits, and README.md has them", async () => {
  await succeed(process.execPath, [join(WEB, "scripts/sizes.mjs"), "--check"]);
});
