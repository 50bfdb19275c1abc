/** Models and modules from everything they can come from. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Tokenizer, TokenizerError } from "isotok";
import { Tokenizer as InlineTokenizer } from "isotok/inline";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { distFile, fixture, realModel } from "./data.js";

const source = fixture("toy.model");
let blob: Uint8Array<ArrayBuffer>;
let packed: Uint8Array<ArrayBuffer>;
let lite: Uint8Array<ArrayBuffer>;
let folder: string;
let server: Server;
let base: string;
/** Paths that the server was asked for. */
let asked: string[] = [];

beforeAll(async () => {
  blob = await Tokenizer.compile(source);
  packed = await Tokenizer.compile(source, { form: "packed" });
  lite = await Tokenizer.compile(source, { form: "spm.fb" });
  folder = mkdtempSync(join(tmpdir(), "isotok-"));
  for (const [name, bytes] of Object.entries(files())) writeFileSync(join(folder, name), bytes);
  server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

afterEach(() => {
  asked = [];
  vi.unstubAllGlobals();
});

function files(): Record<string, Uint8Array> {
  return {
    "toy.isotok": blob,
    "toy.packed": packed,
    "toy.spm.fb": lite,
    "toy.model": source,
    "isotok.wasm": distFile("isotok.wasm"),
    "isotok-build.wasm": distFile("isotok-build.wasm"),
  };
}

/** Serves the files; `?…` says how. */
function answer(request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? "/", base);
  const name = url.pathname.slice(1);
  asked.push(name);
  const bytes = files()[name];
  if (bytes === undefined) {
    response.writeHead(404).end();
    return;
  }
  const type = name.endsWith(".wasm") && url.search !== "?octets" ? "wasm" : "octet-stream";
  response.setHeader("content-type", `application/${type}`);
  if (url.search === "?sized") response.setHeader("content-length", bytes.length);
  if (url.search === "?cut") {
    response.setHeader("content-length", bytes.length);
    response.write(bytes.subarray(0, 100), () => response.destroy());
    return;
  }
  for (let at = 0; at < bytes.length; at += 1000) response.write(bytes.subarray(at, at + 1000));
  response.end();
}

async function works(tokenizer: Tokenizer): Promise<void> {
  expect([...tokenizer.encode("hello world")]).toEqual([3, 4]);
  tokenizer.dispose();
}

async function errorOf(promise: Promise<unknown>): Promise<TokenizerError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof TokenizerError) return error;
    throw error;
  }
  throw new Error("no error");
}

/** A stream of chunks of so many bytes. */
function streamOf(bytes: Uint8Array, size: number): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at < bytes.length) controller.enqueue(bytes.subarray(at, at + size));
      else controller.close();
      at += size;
    },
  });
}

describe("a model", () => {
  const forms = ["toy.isotok", "toy.packed", "toy.model", "toy.spm.fb"];

  test.each(forms)("%s: bytes", async (name) => {
    const bytes = files()[name] as Uint8Array<ArrayBuffer>;
    await works(await Tokenizer.load(bytes));
    await works(await Tokenizer.load(Buffer.from(bytes)));
    await works(await Tokenizer.load(bytes.slice().buffer));
    await works(await Tokenizer.load(new DataView(bytes.slice().buffer)));
    await works(await Tokenizer.load(Promise.resolve(bytes)));
  });

  test.each(forms)("%s: Blob and File", async (name) => {
    const bytes = files()[name] as Uint8Array<ArrayBuffer>;
    await works(await Tokenizer.load(new Blob([bytes])));
    await works(await Tokenizer.load(new File([bytes], name)));
  });

  test.each(forms)("%s: streams of small and large chunks", async (name) => {
    const bytes = files()[name] as Uint8Array<ArrayBuffer>;
    for (const size of [1, 63, 64, 65, 100_000]) {
      await works(await Tokenizer.load(streamOf(bytes, size)));
    }
    await works(await Tokenizer.load(new Response(streamOf(bytes, 999))));
  });

  test.each(forms)("%s: paths and addresses", async (name) => {
    await works(await Tokenizer.load(join(folder, name)));
    await works(await Tokenizer.load(pathToFileURL(join(folder, name))));
    await works(await Tokenizer.load(pathToFileURL(join(folder, name)).href));
    await works(await Tokenizer.load(`${base}/${name}`));
    await works(await Tokenizer.load(new URL(`${base}/${name}?sized`)));
    await works(await Tokenizer.load(fetch(`${base}/${name}`)));
    const data = Buffer.from(files()[name] as Uint8Array).toString("base64");
    await works(await Tokenizer.load(`data:application/octet-stream;base64,${data}`));
  });

  test("all forms give the same blob", async () => {
    const large = realModel("xlmr.model") ?? source;
    const wanted = await Tokenizer.compile(large);
    const forms = (["packed", "model", "spm.fb"] as const).map((form) =>
      Tokenizer.compile(wanted, { form }),
    );
    const blobs = [large, ...(await Promise.all(forms))].map((bytes) => Tokenizer.load(bytes));
    for (const tokenizer of await Promise.all(blobs)) {
      expect(Buffer.from(tokenizer.toBlob()).equals(wanted)).toBe(true);
      tokenizer.dispose();
    }
  });

  test("what is not there, and what is no model", async () => {
    const missing = join(folder, "missing.isotok");
    expect((await errorOf(Tokenizer.load(missing))).message).toContain(missing);
    expect((await errorOf(Tokenizer.load(`${base}/missing`))).message).toContain("404");
    const refused = await errorOf(Tokenizer.load("http://127.0.0.1:1/x"));
    expect(refused.message).toContain("cannot be fetched");
    const cut = await errorOf(Tokenizer.load(`${base}/toy.isotok?cut`));
    expect([cut.code, cut.message.includes("reading stopped")]).toEqual(["SOURCE", true]);
    for (const wrong of [undefined, null, 7, {}]) {
      const error = await errorOf(Tokenizer.load(wrong as unknown as string));
      expect(error.message).toContain("give a URL");
    }
    const used = new Response(blob);
    await used.arrayBuffer();
    expect((await errorOf(Tokenizer.load(used))).message).toContain("used before");
    const text = await errorOf(Tokenizer.load(new TextEncoder().encode("not a model")));
    expect(text.code).toBe("E_CORRUPT");
    expect((await errorOf(Tokenizer.load(new Uint8Array()))).code).not.toBe("TRAP");
  });

  test("verify", async () => {
    for (const verify of ["safe", "full", "trusted"] as const) {
      await works(await Tokenizer.load(blob, { verify }));
    }
    const damaged = blob.slice();
    damaged[damaged.length - 1] = (damaged.at(-1) as number) ^ 1;
    const error = await errorOf(Tokenizer.load(damaged, { verify: "full" }));
    expect(error.code).toBe("E_CORRUPT");
    expect((await errorOf(Tokenizer.load(blob, { verify: "no" as "safe" }))).code).toBe("ARGUMENT");
  });
});

describe("the module", () => {
  test("as an address, a response, bytes, compiled", async () => {
    const bytes = distFile("isotok.wasm");
    const module = await WebAssembly.compile(bytes);
    const sources = [
      `${base}/isotok.wasm`,
      new URL(`${base}/isotok.wasm?octets`),
      join(folder, "isotok.wasm"),
      await fetch(`${base}/isotok.wasm`),
      fetch(`${base}/isotok.wasm?octets`),
      bytes,
      bytes.slice().buffer,
      module,
      Promise.resolve(module),
    ];
    for (const wasm of sources) await works(await Tokenizer.load(blob, { wasm }));
  });

  test("is fetched and compiled once for an address, also by loads at the same time", async () => {
    const compile = vi.spyOn(WebAssembly, "compileStreaming");
    const options = { wasm: `${base}/isotok.wasm?once` };
    const all = await Promise.all([blob, blob, blob].map((each) => Tokenizer.load(each, options)));
    await works(await Tokenizer.load(blob, options));
    expect(asked).toEqual(["isotok.wasm"]);
    expect(compile).toHaveBeenCalledTimes(1);
    // An instance each.
    all[0]?.dispose();
    await works(all[1] as Tokenizer);
    compile.mockRestore();
  });

  test("that failed is tried again", async () => {
    const options = { wasm: `${base}/later.wasm` };
    const error = await errorOf(Tokenizer.load(blob, options));
    expect([error.code, error.message.includes("404")]).toEqual(["SOURCE", true]);
    await errorOf(Tokenizer.load(blob, options));
    expect(asked).toEqual(["later.wasm", "later.wasm"]);
  });

  test("that is not there", async () => {
    const path = await errorOf(Tokenizer.load(blob, { wasm: join(folder, "missing.wasm") }));
    expect([path.code, path.message.includes("missing.wasm")]).toEqual(["SOURCE", true]);
    const refused = await errorOf(Tokenizer.load(blob, { wasm: "http://127.0.0.1:1/x" }));
    expect(refused.code).toBe("SOURCE");
  });

  test("the compiler is asked for only when it is needed", async () => {
    const options = {
      wasm: `${base}/isotok.wasm?need`,
      buildWasm: `${base}/isotok-build.wasm?need`,
    };
    await works(await Tokenizer.load(blob, options));
    expect(asked).toEqual(["isotok.wasm"]);
    await works(await Tokenizer.load(packed, options));
    await works(await Tokenizer.load(source, options));
    expect(asked).toEqual(["isotok.wasm", "isotok-build.wasm"]);
  });

  test("of something else", async () => {
    const cut = await errorOf(Tokenizer.load(blob, { wasm: new Uint8Array([0, 97, 115]) }));
    expect(cut.message).toContain("wasm-unsafe-eval");
    const empty = await WebAssembly.compile(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0));
    expect((await errorOf(Tokenizer.load(blob, { wasm: empty }))).message).toContain(
      "not isotok's",
    );
    const swapped = await WebAssembly.compile(distFile("isotok-build.wasm"));
    expect((await errorOf(Tokenizer.load(blob, { wasm: swapped }))).code).toBe("SOURCE");
    const other = { buildWasm: distFile("isotok.wasm") };
    expect((await errorOf(Tokenizer.load(source, other))).code).toBe("SOURCE");
  });

  test("has no imports and is the same in all entry points", async () => {
    for (const name of ["isotok.wasm", "isotok-build.wasm"]) {
      const module = await WebAssembly.compile(distFile(name));
      expect(WebAssembly.Module.imports(module)).toEqual([]);
    }
  });

  test("inline: nothing is fetched", async () => {
    vi.stubGlobal("fetch", () => {
      throw new Error("fetch was called");
    });
    await works(await InlineTokenizer.load(blob));
    await works(await InlineTokenizer.load(source));
  });
});

/** As much of the Cache API as is used. */
class FakeCaches {
  readonly stores = new Map<string, Map<string, Response>>();
  full = false;

  async open(name: string) {
    const store = this.stores.get(name) ?? new Map<string, Response>();
    this.stores.set(name, store);
    return {
      match: async (key: string) => store.get(key)?.clone(),
      put: async (key: string, response: Response) => {
        if (this.full) throw new DOMException("no room", "QuotaExceededError");
        store.set(key, response);
      },
      delete: async (key: string) => store.delete(key),
    };
  }
}

describe("the cache", () => {
  const options = () => ({ buildWasm: `${base}/isotok-build.wasm?octets`, cache: true });
  const built = () => asked.filter((name) => name === "isotok-build.wasm").length;

  test("keeps what was built, by the contents of the file", async () => {
    const caches = new FakeCaches();
    vi.stubGlobal("caches", caches);
    const each = { ...options(), buildWasm: `${base}/isotok-build.wasm?keeps` };
    await works(await Tokenizer.load(source, each));
    expect(built()).toBe(1);
    const [key, response] = [...(caches.stores.get("isotok") ?? [])][0] as [string, Response];
    expect(key).toMatch(/^https:\/\/isotok\.invalid\/[\d.]+\/[0-9a-f]{64}\.isotok$/);
    expect(Buffer.from(await response.clone().arrayBuffer()).equals(blob)).toBe(true);
    const compile = vi.spyOn(WebAssembly, "compile").mockImplementation(() => {
      throw new Error("the compiler was compiled");
    });
    await works(await Tokenizer.load(new Blob([source]), { ...each, buildWasm: "no" }));
    compile.mockRestore();
    await works(await Tokenizer.load(packed, { ...each, cache: "mine" }));
    expect([...caches.stores.keys()]).toEqual(["isotok", "mine"]);
  });

  test("a damaged entry is built again", async () => {
    const caches = new FakeCaches();
    vi.stubGlobal("caches", caches);
    await works(await Tokenizer.load(source, options()));
    const store = caches.stores.get("isotok") as Map<string, Response>;
    const [key] = [...store.keys()] as [string];
    store.set(key, new Response(blob.subarray(0, 5000)));
    await works(await Tokenizer.load(source, options()));
    expect((await store.get(key)?.clone().arrayBuffer())?.byteLength).toBe(blob.length);
  });

  test("no room and no Cache API are no errors; blobs are not kept", async () => {
    await works(await Tokenizer.load(source, options())); // Node has none
    const caches = new FakeCaches();
    caches.full = true;
    vi.stubGlobal("caches", caches);
    await works(await Tokenizer.load(source, options()));
    expect(caches.stores.get("isotok")?.size).toBe(0);
    caches.stores.clear();
    await works(await Tokenizer.load(blob, options()));
    expect(caches.stores.size).toBe(0);
  });
});

test("memory is the blob and less than 5 MB", async () => {
  for (const name of ["toy.model", "llama2.model", "gemma3.model", "xlmr.model"]) {
    const bytes = name === "toy.model" ? source : realModel(name);
    if (bytes === undefined) continue;
    const tokenizer = await Tokenizer.load(bytes);
    const size = tokenizer.toBlob().length;
    tokenizer.encodeWithOffsets("hello world 日本 😀 ".repeat(50_000));
    expect(tokenizer.memorySize - size).toBeLessThan(5_000_000);
    tokenizer.dispose();
  }
});
