/** What differs between hosts: how models arrive, streams, caches, workers. */

import type { LoadOptions, ModelSource, Tokenizer } from "isotok";
import type { TokenizerWorker } from "isotok/worker";
import { check, newReport, type Report, same, skip } from "./report.js";

export interface Host {
  /** The class that `import "isotok"` gives on this host. */
  Tokenizer: typeof Tokenizer;
  /** What this host has to pass to `load`. */
  options?: LoadOptions;
  /** Where the files are. */
  base: string;
  /** The class of `isotok/worker`, where there are workers. */
  TokenizerWorker?: typeof TokenizerWorker;
}

const TEXT = "hello wörld 日本 😀 \0 and hello again";
// Not as literals: Deno's parser refuses what esbuild makes of a pair beside a half.
const [HIGH, LOW] = [String.fromCharCode(0xd83d), String.fromCharCode(0xde00)];
const LONE: readonly (readonly [string, string])[] = [
  [HIGH, "\ufffd"],
  [`a${HIGH} b${LOW}`, "a\ufffd b\ufffd"],
  [`${LOW}${HIGH}`, "\ufffd\ufffd"],
  [`${HIGH}${HIGH}${LOW}`, "\ufffd😀"],
];

/** Runs them with the model at `name` under the base address. */
export async function runUses(host: Host, name: string): Promise<Report> {
  const report = newReport();
  const url = `${host.base}/${name}`;
  const { Tokenizer, options = {} } = host;
  const bytes = new Uint8Array(await (await fetch(url)).arrayBuffer());
  const tokenizer = await Tokenizer.load(bytes, options);
  const ids = tokenizer.encode(TEXT);

  const compiled = await Tokenizer.compile(bytes, options);
  const packed = await Tokenizer.compile(bytes, { ...options, form: "packed" });
  const sources: Record<string, () => ModelSource | Promise<ModelSource>> = {
    "an address": () => url,
    "a URL": () => new URL(url),
    "a response": () => fetch(url),
    "a stream": async () => (await fetch(url)).body as ReadableStream<Uint8Array>,
    "a Blob": () => new Blob([bytes]),
    "an ArrayBuffer": () => bytes.slice().buffer,
    "a blob of ours": () => compiled,
    "a packed model": () => packed,
  };
  for (const [what, source] of Object.entries(sources)) {
    await check(report, `load of ${what}`, async () => {
      const other = await Tokenizer.load(source(), options);
      same("ids", other.encode(TEXT), ids);
      other.dispose();
    });
  }
  await check(report, "an address without a model", async () => {
    same("error", await codeOf(Tokenizer.load(`${host.base}/nothing.model`, options)), "SOURCE");
  });
  await check(report, "lone surrogates", () => {
    for (const [text, wanted] of LONE)
      same("ids", tokenizer.encode(text), tokenizer.encode(wanted));
  });
  await check(report, "a stream of ids", () => streamOfIds(tokenizer, ids));
  await check(report, "an iterator over ids", async () => {
    let text = "";
    for await (const part of tokenizer.decodeStream(ids)) text += part;
    same("text", text, tokenizer.decode(ids));
  });
  await check(report, "a stream of chunks", () => streamOfChunks(tokenizer, ids));
  await check(report, "an iterator over chunks", async () => {
    const found: number[] = [];
    for await (const part of tokenizer.encodeStream(chunksOf(TEXT))) found.push(...part);
    same("ids", found, ids);
  });
  await check(report, "samples without a seed", () => samplesDiffer(host));
  await runCache(report, host, bytes, ids);
  await runWorker(report, host, bytes, ids);
  tokenizer.dispose();
  return report;
}

async function codeOf(promise: Promise<unknown>): Promise<string | undefined> {
  try {
    await promise;
  } catch (error) {
    return (error as { code?: string }).code;
  }
  return undefined;
}

/** A text cut everywhere, also between surrogates. */
function chunksOf(text: string): string[] {
  return text.split("");
}

async function streamOfChunks(tokenizer: Tokenizer, ids: Uint32Array): Promise<void> {
  const source = new ReadableStream<string>({
    start(controller) {
      for (const chunk of chunksOf(TEXT)) controller.enqueue(chunk);
      controller.close();
    },
  });
  const reader = source.pipeThrough(tokenizer.encodeStream()).getReader();
  const found: number[] = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    found.push(...value);
  }
  same("ids", found, ids);
}

/** The host has random numbers, which are others each time. */
async function samplesDiffer({ Tokenizer, options, base }: Host): Promise<void> {
  const url = `${base}/vectors/models/trained_unigram.model`;
  const tokenizer = await Tokenizer.load(await (await fetch(url)).arrayBuffer(), options);
  const text = TEXT.repeat(20);
  const found = Array.from({ length: 10 }, () => tokenizer.sample(text, { alpha: 0 }).join());
  same("different samples", new Set(found).size, 10);
  tokenizer.dispose();
}

async function streamOfIds(tokenizer: Tokenizer, ids: Uint32Array): Promise<void> {
  const source = new ReadableStream<number>({
    start(controller) {
      for (const id of ids) controller.enqueue(id);
      controller.close();
    },
  });
  const reader = source.pipeThrough(tokenizer.decodeStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    text += value;
  }
  same("text", text, tokenizer.decode(ids));
}

/** The second time, the compiler is not needed. */
async function runCache(
  report: Report,
  { Tokenizer, options = {} }: Host,
  bytes: Uint8Array<ArrayBuffer>,
  ids: Uint32Array,
): Promise<void> {
  if (!(await hasCache())) return skip(report, "there is no Cache API here");
  await check(report, "the Cache API", async () => {
    const cache = `isotok test ${Date.now()}`;
    (await Tokenizer.load(bytes, { ...options, cache })).dispose();
    const buildWasm = Promise.reject(new Error("it was not in the cache"));
    buildWasm.catch(() => {});
    const tokenizer = await Tokenizer.load(bytes, { ...options, cache, buildWasm });
    same("ids", tokenizer.encode(TEXT), ids);
    tokenizer.dispose();
    await caches.delete(cache);
  });
}

async function hasCache(): Promise<boolean> {
  try {
    const cache = await caches.open("isotok probe");
    await cache.put("https://isotok.invalid/probe", new Response("kept"));
    const found = await cache.match("https://isotok.invalid/probe");
    await caches.delete("isotok probe");
    return (await found?.text()) === "kept";
  } catch {
    return false;
  }
}

async function runWorker(
  report: Report,
  { TokenizerWorker }: Host,
  bytes: Uint8Array<ArrayBuffer>,
  ids: Uint32Array,
): Promise<void> {
  if (TokenizerWorker === undefined) return skip(report, "there are no workers here");
  await check(report, "isotok/worker", async () => {
    const worker = new TokenizerWorker();
    try {
      const tokenizer = await worker.load(bytes.slice());
      same("ids", await tokenizer.encode(TEXT), ids);
      same("text", await tokenizer.decode(ids), TEXT);
      const encoder = await tokenizer.encoder();
      const parts = await Promise.all(chunksOf(TEXT).map((chunk) => encoder.push(chunk)));
      const rest = await encoder.flush();
      same(
        "ids of chunks",
        [...parts, rest].flatMap((part) => [...part]),
        ids,
      );
      same("error", await codeOf(worker.load(bytes.slice(0, 100))), "E_CORRUPT");
    } finally {
      worker.dispose();
    }
  });
}
