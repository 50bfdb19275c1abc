/** The entry point for edge runtimes, with what such runtimes forbid. */

import { Tokenizer, TokenizerError } from "isotok/edge";
import * as foreign from "isotok/foreign";
import { afterEach, expect, test, vi } from "vitest";
import { distFile, fixture } from "./data.js";

const module = new WebAssembly.Module(distFile("isotok-build.wasm"));

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

await new Response("").text(); // Node compiles something of its own the first time

/** No code from bytes at run time, no FinalizationRegistry; fetch gives the model. */
function restrict(model: Uint8Array<ArrayBuffer>): void {
  const forbidden = () => {
    throw new WebAssembly.CompileError("Wasm code generation disallowed by embedder");
  };
  for (const name of ["compile", "compileStreaming"] as const) {
    vi.spyOn(WebAssembly, name).mockImplementation(forbidden);
  }
  const instantiate = WebAssembly.instantiate;
  vi.spyOn(WebAssembly, "instantiate").mockImplementation(((source: unknown, imports: never) => {
    if (!(source instanceof WebAssembly.Module)) return forbidden();
    return instantiate(source, imports);
  }) as never);
  vi.stubGlobal("FinalizationRegistry", undefined);
  vi.stubGlobal("fetch", async () => new Response(model));
}

test("a blob", async () => {
  const blob = await Tokenizer.compile(fixture("toy.model"), { buildWasm: module });
  restrict(blob);
  const tokenizer = await Tokenizer.load("https://example.com/model.isotok");
  expect([...tokenizer.encode("hello world")]).toEqual([3, 4]);
  let text = "";
  for await (const part of tokenizer.decodeStream([3, 4])) text += part;
  expect(text).toBe("hello world");
  tokenizer.dispose();
});

test("a .model needs the compiler as a module, and says so", async () => {
  restrict(fixture("toy.model"));
  const failed = Tokenizer.load("https://example.com/toy.model");
  await expect(failed).rejects.toThrow('import module from "isotok/isotok-build.wasm"');
  await expect(failed).rejects.toBeInstanceOf(TokenizerError);
  const tokenizer = await Tokenizer.load(fixture("toy.model"), { buildWasm: module });
  expect(tokenizer.count("hello world")).toBe(2);
  tokenizer.dispose();
});

test("a tokenizer.json needs its reader too, and says so", async () => {
  const answers = JSON.parse(new TextDecoder().decode(fixture("foreign/foreign.json")));
  const { file } = answers.find(({ name }: { name: string }) => name === "bytes.json");
  const bytes = fixture(`foreign/${file}`);
  restrict(bytes);
  const failed = Tokenizer.load("https://example.com/tokenizer.json", { buildWasm: module });
  await expect(failed).rejects.toThrow('import * as foreign from "isotok/foreign"');
  await expect(failed).rejects.toBeInstanceOf(TokenizerError);
  const tokenizer = await Tokenizer.load(bytes, { buildWasm: module, foreign });
  expect(tokenizer.decode(tokenizer.encode("hello world"))).toBe("hello world");
  tokenizer.dispose();
});

test("bytes of a module cannot be compiled: the error says what to do", async () => {
  restrict(fixture("toy.model"));
  const failed = Tokenizer.load(fixture("toy.model"), { wasm: distFile("isotok.wasm") });
  await expect(failed).rejects.toThrow("an edge runtime takes only a WebAssembly.Module");
});
