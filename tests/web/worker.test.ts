/** Tokenizers in a worker thread, and the protocol between. */

import { Tokenizer, TokenizerError } from "isotok";
import { TokenizerWorker } from "isotok/worker";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { distFile, fixture, realModel, sameNumbers } from "./data.js";

let worker: TokenizerWorker;
let here: Tokenizer;

beforeAll(async () => {
  worker = new TokenizerWorker();
  here = await Tokenizer.load(fixture("toy_bytes.model"));
});

afterAll(() => {
  worker.dispose();
  here.dispose();
});

const load = () => worker.load(fixture("toy_bytes.model"));

async function errorOf(promise: Promise<unknown>): Promise<TokenizerError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof TokenizerError) return error;
    throw error;
  }
  throw new Error("no error");
}

test("every method of Tokenizer is there and gives the same", async () => {
  const tokenizer = await load();
  const text = "hello wörld 😀";
  const ids = here.encode(text);
  const calls: Record<string, unknown[]> = {
    encode: [text, { bos: true }],
    encodeBatch: [[text, "hello", ""], { eos: true }],
    encodeWithOffsets: [text, { unit: "codepoint", pieces: true }],
    count: [new TextEncoder().encode(text)],
    countBatch: [new Set([text, "hello"])],
    fits: [text, 3],
    truncate: [text, 3],
    normalize: [text],
    normalizeBytes: [text, { unit: "byte" }],
    sample: [text, { alpha: 0.5, seed: 2n ** 64n - 1n, bos: true }],
    nbest: [text, 3, { eos: true }],
    sampleNbest: [text, 3, { seed: 9 }],
    encodeNormalized: [here.normalize(text), { eos: true }],
    safeBoundaries: [here.normalize(text)],
    decode: [ids],
    decodeBytes: [ids.values()],
    decodePieces: [["▁hello", "!"]],
    idToPiece: [3],
    idToBytes: [3],
    score: [3],
    pieceType: [3],
    pieceToId: ["▁hello"],
    hasPiece: ["▁hello"],
    toBlob: [],
  };
  type Methods = Record<string, (...values: unknown[]) => unknown>;
  for (const [name, values] of Object.entries(calls)) {
    const fresh = name === "decodeBytes" ? [here.encode(text).values()] : values;
    const expected = (here as unknown as Methods)[name]?.(...fresh);
    const again = name === "decodeBytes" ? [here.encode(text).values()] : values;
    expect(await (tokenizer as unknown as Methods)[name]?.(...again), name).toEqual(expected);
  }
  const elsewhere = ["constructor", "encodeInto", "vocabSize", "unkId", "bosId", "eosId", "padId"];
  const known = [...Object.keys(calls), ...elsewhere, "memorySize"];
  const rest = Object.getOwnPropertyNames(Tokenizer.prototype).filter((n) => !known.includes(n));
  const inherited = Object.getOwnPropertyNames(Object.getPrototypeOf(Tokenizer.prototype));
  const missing = [...rest, ...inherited].filter((n) => !known.includes(n) && !(n in tokenizer));
  expect(missing).toEqual([]);
  expect(tokenizer.info).toEqual(here.info);
  tokenizer.dispose();
});

test("sources: bytes, Blob, stream, Response; a module", async () => {
  const bytes = fixture("toy.model");
  const wasm = await WebAssembly.compile(distFile("isotok.wasm"));
  for (const source of [
    bytes,
    bytes.buffer,
    new Blob([bytes]),
    new Blob([bytes]).stream(),
    Promise.resolve(new Response(bytes)),
    `data:application/octet-stream;base64,${Buffer.from(bytes).toString("base64")}`,
  ]) {
    const tokenizer = await worker.load(source, { wasm, verify: "full" });
    expect([...(await tokenizer.encode("hello world"))]).toEqual([3, 4]);
    tokenizer.dispose();
  }
  expect(bytes.length).toBeGreaterThan(100); // it was not taken away
});

test("calls at the same time come back to those who made them", async () => {
  const [one, two] = await Promise.all([load(), worker.load(fixture("toy.model"))]);
  const texts = Array.from({ length: 200 }, (_, i) => "hello ".repeat(i));
  const found = await Promise.all(texts.flatMap((text) => [one.count(text), two.count(text)]));
  expect(found).toEqual(texts.flatMap((text) => [here.count(text), here.count(text)]));
  one.dispose();
  two.dispose();
});

test("errors are those of the worker", async () => {
  const tokenizer = await load();
  const error = await errorOf(tokenizer.decode([3, 999]));
  expect([error.code, error.index]).toEqual(["E_ID_RANGE", 1]);
  expect((await errorOf(worker.load(new Uint8Array(100)))).code).toBe("E_CORRUPT");
  expect((await errorOf(tokenizer.encode(7 as unknown as string))).code).toBe("ARGUMENT");
  expect((await errorOf(tokenizer.encodeBatch("text"))).code).toBe("ARGUMENT");
  tokenizer.dispose();
  expect((await errorOf(tokenizer.encode("a"))).code).toBe("DISPOSED");
});

describe("encoding in parts", () => {
  const chunks = ["hel", "lo wörld \ud83d", "\ude00 ", new TextEncoder().encode("日本")];
  const text = "hello wörld 😀 日本";

  test("encoder", async () => {
    const tokenizer = await load();
    const encoder = await tokenizer.encoder({ eos: true });
    const ids: number[] = [];
    for (const chunk of chunks) ids.push(...(await encoder.push(chunk)));
    ids.push(...(await encoder.flush()));
    expect(ids).toEqual([...here.encode(text, { eos: true })]);
    expect((await errorOf(encoder.push(5 as unknown as string))).code).toBe("ARGUMENT");
    encoder.dispose();
    expect((await errorOf(encoder.push("a"))).code).toBe("DISPOSED");
    tokenizer.dispose();
  });

  test("streams", async () => {
    const tokenizer = await load();
    const ids: number[] = [];
    for await (const part of tokenizer.encodeStream(chunks, { bos: true })) ids.push(...part);
    const stream = new Blob([text]).stream().pipeThrough(tokenizer.encodeStream());
    for await (const part of stream) ids.push(...part);
    expect(ids).toEqual([...here.encode(text, { bos: true }), ...here.encode(text)]);
    expect(() => tokenizer.encodeStream("text")).toThrow("for one text use encode()");
    tokenizer.dispose();
  });
});

describe("decoding", () => {
  const text = "hello wörld 😀 日本";

  test("decoder", async () => {
    const tokenizer = await load();
    const decoder = await tokenizer.decoder();
    let found = "";
    for (const id of here.encode(text)) found += await decoder.push(id);
    expect(found + (await decoder.flush())).toBe(text);
    decoder.dispose();
    expect((await errorOf(decoder.push(3))).code).toBe("DISPOSED");
    tokenizer.dispose();
  });

  test("streams", async () => {
    const tokenizer = await load();
    const ids = here.encode(text);
    let found = "";
    for await (const part of tokenizer.decodeStream(ids)) found += part;
    const source = new Blob(["ignored"]).stream().pipeThrough(
      new TransformStream<Uint8Array, Uint32Array>({
        transform: (_, controller) => controller.enqueue(ids),
      }),
    );
    for await (const part of source.pipeThrough(tokenizer.decodeStream())) found += part;
    expect(found).toBe(text + text);
    tokenizer.dispose();
  });
});

test("long texts do not block this thread", async () => {
  const tokenizer = await worker.load(realModel("xlmr.model") ?? fixture("toy_bytes.model"));
  const text = "hello wörld 日本 😀 ".repeat(200_000);
  let ticks = 0;
  const timer = setInterval(() => ticks++, 1);
  const ids = await tokenizer.encode(text);
  clearInterval(timer);
  expect(ticks).toBeGreaterThan(3);
  sameNumbers(ids.slice(0, 4), await tokenizer.truncate(text, 4));
  tokenizer.dispose();
});

test("a worker that ends ends its calls", async () => {
  const other = new TokenizerWorker();
  const tokenizer = await other.load(fixture("toy.model"));
  const waiting = errorOf(tokenizer.encode("hello ".repeat(500_000)));
  other.dispose();
  expect((await waiting).message).toContain("terminated");
  expect((await errorOf(tokenizer.encode("a"))).code).toBe("DISPOSED");
});
