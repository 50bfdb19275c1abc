/** Samples and n-best lists, at every entry point and in another process. */

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { type SampleOptions, type Scored, Tokenizer, TokenizerError } from "isotok";
import { Tokenizer as Edge } from "isotok/edge";
import { Tokenizer as Inline } from "isotok/inline";
import { TokenizerWorker } from "isotok/worker";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  corpus,
  distFile,
  fixture,
  need,
  ownModel,
  ROOT,
  readIf,
  sameNumbers,
  VECTORS,
} from "./data.js";
import { fromHex, fromUtf8, type Load, same, toUtf8 } from "./report.js";
import { drawn, runSamples, type Samples } from "./samples.js";

const SAMPLES = JSON.parse(readFileSync(join(VECTORS, "samples.json"), "utf8")) as Samples;
const getModel = async (name: string) => readIf(join(VECTORS, "models", name));
const LONG = { timeout: 120_000 };

/** Prose that the trained models have much to choose in. */
const PROSE = SAMPLES.samples
  .filter(({ model }) => model === "trained_unigram")
  .map(({ text }) => fromUtf8(fromHex(text)))
  .reduce((longest, text) => (text.length > longest.length ? text : longest));

let unigram: Tokenizer;
let bpe: Tokenizer;

beforeAll(async () => {
  unigram = await Tokenizer.load(ownModel("trained_unigram"));
  bpe = await Tokenizer.load(ownModel("trained_bpe"));
});

afterAll(() => {
  unigram.dispose();
  bpe.dispose();
});

/** The message of the error that a call makes, and its code. */
function errorOf(run: () => unknown): [code: string, message: string] {
  try {
    run();
  } catch (error) {
    if (error instanceof TokenizerError) return [error.code, error.message];
    throw error;
  }
  throw new Error("no error");
}

describe("samples.json", () => {
  const buildWasm = new WebAssembly.Module(distFile("isotok-build.wasm"));
  const entries: Record<string, Load> = {
    isotok: (bytes) => Tokenizer.load(bytes as Uint8Array<ArrayBuffer>),
    "isotok/inline": (bytes) => Inline.load(bytes as Uint8Array<ArrayBuffer>),
    "isotok/edge": (bytes) => Edge.load(bytes as Uint8Array<ArrayBuffer>, { buildWasm }),
  };

  test.each(Object.keys(entries))("%s", LONG, async (name) => {
    const report = await runSamples(entries[name] as Load, SAMPLES, getModel);
    expect(report.failed).toEqual([]);
    expect(report.notApplicable).toEqual({});
    expect(report.passed).toBe(SAMPLES.samples.length);
    console.log(`\n| samples.json, ${name} in Node: ${report.passed} draws, all equal`);
  });

  test("isotok/worker", LONG, async () => {
    const worker = new TokenizerWorker();
    let tokenizer: Awaited<ReturnType<typeof worker.load>> | undefined;
    let name = "";
    for (const row of SAMPLES.samples) {
      if (row.model !== name) {
        tokenizer?.dispose();
        name = row.model;
        tokenizer = await worker.load(ownModel(name));
      }
      same(name, await drawn(tokenizer as NonNullable<typeof tokenizer>, row), row.ids);
    }
    worker.dispose();
    const count = SAMPLES.samples.length;
    console.log(`\n| samples.json, isotok/worker in Node: ${count} draws, all equal`);
  });

  test("another process", LONG, async () => {
    const script = `
      import { createHash } from "node:crypto";
      import { readFileSync } from "node:fs";
      import { Tokenizer } from ${JSON.stringify(join(ROOT, "web/dist/node.js"))};
      const vectors = ${JSON.stringify(VECTORS)};
      const { samples } = JSON.parse(readFileSync(vectors + "/samples.json", "utf8"));
      const hash = createHash("sha256");
      for (const { model, text: hex, method, alpha, paths, seed, ids } of samples) {
        const tokenizer = await Tokenizer.load(vectors + "/models/" + model + ".model");
        const text = Buffer.from(hex, "hex");
        const options = method === "dropout" ? { dropout: alpha } : { alpha };
        if (method === "gumbel") options.method = method;
        options.seed = BigInt(seed);
        const found = method === "nbest"
          ? tokenizer.sampleNbest(text, paths, options)
          : tokenizer.sample(text, options);
        hash.update(found.length + ":" + found.join());
        tokenizer.dispose();
      }
      console.log(hash.digest("hex"));`;
    const values = ["--input-type=module", "-e", script];
    const { stdout } = await promisify(execFile)(process.execPath, values);
    const hash = createHash("sha256");
    for (const { ids } of SAMPLES.samples) hash.update(`${ids.length}:${ids.join()}`);
    expect(stdout.trim()).toBe(hash.digest("hex"));
    console.log(`\n| samples.json, another process: ${SAMPLES.samples.length} draws, all equal`);
  });
});

describe("sample", () => {
  const text = PROSE.slice(0, 100);

  test("the defaults are those of the other hosts", () => {
    const options: SampleOptions = { alpha: 0.1, method: "ffbs", seed: 5 };
    expect(unigram.sample(text, { seed: 5 })).toEqual(unigram.sample(text, options));
    expect(bpe.sample(text, { seed: 5 })).toEqual(bpe.sample(text, { dropout: 0.1, seed: 5n }));
    const best = { alpha: 0.1, seed: 6 };
    expect(unigram.sampleNbest(text, 9, { seed: 6 })).toEqual(unigram.sampleNbest(text, 9, best));
    const nothing = { alpha: undefined, dropout: undefined, seed: 5 } as unknown as SampleOptions;
    expect(unigram.sample(text, nothing)).toEqual(unigram.sample(text, { seed: 5 }));
  });

  test("without noise it is encode", () => {
    expect(unigram.sample(text, { alpha: 1e9, seed: 1 })).toEqual(unigram.encode(text));
    expect(unigram.sample(text, { alpha: 0, method: "gumbel" })).toEqual(unigram.encode(text));
    expect(bpe.sample(text, { dropout: 0 })).toEqual(bpe.encode(text));
    expect(bpe.sample(text, { dropout: 1 }).length).toBeGreaterThan(bpe.encode(text).length);
    expect(bpe.decode(bpe.sample(text, { dropout: 1 }))).toBe(bpe.decode(bpe.encode(text)));
  });

  test("BOS and EOS, empty texts, bytes", () => {
    const ends = [unigram.bosId, unigram.eosId];
    expect([...unigram.sample("", { bos: true, eos: true })]).toEqual(ends);
    expect([...unigram.sampleNbest("", 3, { bos: true, eos: true })]).toEqual(ends);
    expect(unigram.nbest("", 3)).toEqual([{ ids: new Uint32Array(), score: 0 }]);
    expect(unigram.sample("")).toEqual(new Uint32Array());
    expect(unigram.sample(toUtf8(text), { seed: 3 })).toEqual(unigram.sample(text, { seed: 3 }));
  });

  test("all 64 bits of a seed count", () => {
    const most = 2n ** 64n - 1n;
    const seeds = [0, 1, 2 ** 32, Number.MAX_SAFE_INTEGER, 2n ** 53n, 2n ** 63n, most];
    const found = seeds.map((seed) => unigram.sample(text, { alpha: 0, seed }).join());
    expect(new Set(found).size).toBe(seeds.length);
    expect(unigram.sample(text, { seed: 7 })).toEqual(unigram.sample(text, { seed: 7n }));
  });

  test("without a seed every call draws anew", () => {
    const set = (run: () => Uint32Array) => new Set(Array.from({ length: 20 }, () => run().join()));
    expect(set(() => unigram.sample(text, { alpha: 0 })).size).toBeGreaterThan(10);
    expect(set(() => bpe.sample(text, { dropout: 0.5 })).size).toBeGreaterThan(10);
    expect(set(() => unigram.sampleNbest(text, 100, { alpha: 0 })).size).toBeGreaterThan(10);
  });

  test("other calls do not notice", () => {
    const before = unigram.encodeWithOffsets(text);
    for (let i = 0; i < 3; i++) {
      unigram.sample(text, { alpha: 0 });
      expect(unigram.encode(text)).toEqual(before.ids);
      unigram.nbest(text, 5, { bos: true });
      expect(unigram.encodeWithOffsets(text)).toEqual(before);
      unigram.sampleNbest(text, 5);
      expect(unigram.count(text)).toBe(before.ids.length);
      expect(unigram.encodeBatch([text, text]).ids.length).toBe(2 * before.ids.length);
    }
  });

  test("long texts, of many windows", async (context) => {
    const long = need(context, corpus("multi.txt")).slice(0, 400_000);
    const ids = unigram.sample(long, { seed: 5 });
    expect(unigram.decode(ids) === unigram.decode(unigram.encode(long))).toBe(true);
    sameNumbers(unigram.sample(toUtf8(long), { seed: 5 }), ids);
  });
});

describe("nbest", () => {
  interface Lattice {
    name: string;
    pieces: [text: string, score: number, kind: number][];
    text: string;
  }
  const lattices = readFileSync(join(VECTORS, "lattices.json"), "utf8");
  const rows = JSON.parse(lattices) as Lattice[];

  /** All segmentations, their scores summed from the end in float32. */
  function everyPath({ pieces, text }: Lattice): Scored[] {
    const paths = (at: number): Scored[] =>
      at === text.length
        ? [{ ids: new Uint32Array(), score: 0 }]
        : [...pieces.entries()]
            .filter(([, [piece, , kind]]) => kind === 1 && text.startsWith(piece, at))
            .flatMap(([id, [piece, score]]) =>
              paths(at + piece.length).map((rest) => ({
                ids: Uint32Array.of(id, ...rest.ids),
                score: Math.fround(Math.fround(score) + rest.score),
              })),
            );
    return paths(0).sort((a, b) => b.score - a.score);
  }

  test.each(["four_paths", "many_paths", "sharp", "uniform"])("%s: all paths", async (name) => {
    const row = rows.find((each) => each.name === name) as Lattice;
    const tokenizer = await Tokenizer.load(ownModel(`lattices/${name}`));
    const every = everyPath(row);
    const found = tokenizer.nbest(row.text, 512);
    // A sum may be rounded otherwise on the way; what is equal is ordered by chance.
    const shown = (paths: Scored[]) => paths.map(({ ids }) => ids.join()).sort();
    expect(shown(found)).toEqual(shown(every));
    expect(every.length).toBeGreaterThan(3);
    for (const [i, { score }] of found.entries()) {
      expect(score).toBeCloseTo((every[i] as Scored).score, 4);
      expect(Math.fround(score)).toBe(score);
    }
    const few = tokenizer.nbest(row.text, 3);
    expect(few).toEqual(found.slice(0, 3));
    tokenizer.dispose();
  });

  test("the first is that of encode; BOS and EOS", async () => {
    const toy = await Tokenizer.load(fixture("toy.model"));
    const found = toy.nbest("hello world", 2, { bos: true, eos: true });
    expect(found.map(({ ids, score }) => [[...ids], score])).toEqual([
      [[1, 3, 4, 2], -2],
      [[1, 3, 5, 11, 10, 12, 6, 2], -18],
    ]);
    expect(toy.nbest("hello world", 1)).toEqual([{ ids: toy.encode("hello world"), score: -2 }]);
    toy.dispose();
  });

  test("more ids than there is room for at first, and memory that comes back", async () => {
    const tokenizer = await Tokenizer.load(ownModel("trained_unigram"));
    const text = PROSE.repeat(2).slice(0, 1_600);
    const [best] = tokenizer.nbest(text, 1) as [Scored];
    const { memorySize } = tokenizer;
    const found = tokenizer.nbest(text, 512);
    expect(found.length).toBe(512);
    expect(found.reduce((sum, { ids }) => sum + ids.length, 0)).toBeGreaterThan(5 << 16);
    expect((found[0] as Scored).ids).toEqual(best.ids);
    for (const { ids } of [found[7], found[300], found[511]] as Scored[]) {
      expect(tokenizer.decode(ids)).toBe(tokenizer.decode(best.ids));
    }
    expect(tokenizer.memorySize).toBeLessThan(memorySize + (1 << 25));
    expect(tokenizer.nbest(text, 512)).toEqual(found);
    expect(tokenizer.encode(text)).toEqual(best.ids);
    tokenizer.dispose();
  });

  test("texts that are longer than the window", async () => {
    const tokenizer = await Tokenizer.load(ownModel("trained_unigram"));
    const { memorySize } = tokenizer;
    for (const unit of ["the year ", "日本 😀 "]) {
      const text = unit.repeat(40_000);
      const ids = tokenizer.encode(text);
      for (const given of [text, toUtf8(text)]) {
        const [best] = tokenizer.nbest(given, 1) as [Scored];
        sameNumbers(best.ids, ids);
      }
    }
    expect(tokenizer.memorySize).toBeLessThan(memorySize + (1 << 25));
    tokenizer.dispose();
  });

  test("many calls take no more memory than one", () => {
    unigram.nbest("the year", 10);
    const { memorySize } = unigram;
    for (let i = 0; i < 500; i++) unigram.nbest(`the year ${i}`, 10);
    expect(unigram.memorySize).toBe(memorySize);
  });

  test("a decoder that is open meanwhile", () => {
    const decoder = unigram.decoder();
    const ids = unigram.encode("the year");
    const first = decoder.push(ids.subarray(0, 1));
    expect(unigram.nbest("the year ".repeat(2000), 2).length).toBeGreaterThan(0);
    const rest = decoder.push(ids.subarray(1)) + decoder.flush();
    expect(first + rest).toBe(unigram.decode(ids));
    decoder.dispose();
  });
});

describe("arguments", () => {
  const wrong = (options: object) => options as SampleOptions;

  test.each([
    ["trained_unigram", wrong({ dropout: 0.1 }), "dropout: this is no bpe model; use alpha"],
    ["trained_unigram", wrong({ alpha: -1 }), "alpha: -1 is out of range; use a finite number"],
    ["trained_unigram", wrong({ alpha: Infinity }), "alpha: Infinity is out of range"],
    ["trained_unigram", wrong({ alpha: Number.NaN }), "alpha: NaN is out of range"],
    ["trained_unigram", wrong({ alpha: "1" }), "alpha: 1 is out of range"],
    ["trained_unigram", wrong({ alpha: null }), "alpha: null is out of range"],
    ["trained_unigram", wrong({ method: "magic" }), 'method: magic is unknown; use "ffbs"'],
    ["trained_unigram", wrong({ seed: -1 }), "seed: -1 is out of range; use 0 to 2**64 - 1"],
    ["trained_unigram", wrong({ seed: -1n }), "seed: -1 is out of range"],
    ["trained_unigram", wrong({ seed: 2n ** 64n }), "seed: 18446744073709551616 is out of range"],
    ["trained_unigram", wrong({ seed: 2 ** 53 }), "a bigint above 2**53 - 1"],
    ["trained_unigram", wrong({ seed: 0.5 }), "seed: 0.5 is out of range"],
    ["trained_unigram", wrong({ seed: "1" }), "seed: 1 is out of range"],
    ["trained_bpe", wrong({ alpha: 0.1 }), "alpha, method: this is a bpe model; use dropout"],
    ["trained_bpe", wrong({ method: "gumbel" }), "alpha, method: this is a bpe model"],
    ["trained_bpe", wrong({ dropout: 1.1 }), "dropout: 1.1 is out of range; use at most 1"],
    ["trained_bpe", wrong({ dropout: -0.1 }), "dropout: -0.1 is out of range"],
  ])("%s, %o", async (name, options, message) => {
    const tokenizer = name === "trained_bpe" ? bpe : unigram;
    const [code, found] = errorOf(() => tokenizer.sample("text", options));
    expect(code).toBe("ARGUMENT");
    expect(found).toContain(message);
    expect(tokenizer.sample("", {})).toEqual(new Uint32Array());
  });

  test.each(["word_plain", "char_plain"])("%s has no sampling", async (name) => {
    const tokenizer = await Tokenizer.load(ownModel(name));
    const runs = [
      () => tokenizer.sample("text"),
      () => tokenizer.nbest("text", 2),
      () => tokenizer.sampleNbest("text", 2),
    ];
    for (const run of runs) {
      const [code, message] = errorOf(run);
      expect(code).toBe("E_ARGUMENT");
      expect(message).toContain("no such sampling");
    }
    expect(tokenizer.encode("a").length).toBeGreaterThan(0);
    tokenizer.dispose();
  });

  test.each([0, 513, -1, 1.5, Number.NaN, "2"])("n = %s", (n) => {
    const message = `n: ${n} is out of range; use 1 to 512`;
    expect(errorOf(() => unigram.nbest("text", n as number))).toEqual(["ARGUMENT", message]);
    expect(errorOf(() => unigram.sampleNbest("text", n as number))[1]).toBe(message);
  });

  test("texts, BOS that is not there, and models that are gone", async () => {
    expect(errorOf(() => unigram.sample(5 as unknown as string))[1]).toContain("must be a string");
    expect(errorOf(() => unigram.nbest(null as unknown as string, 2))[0]).toBe("ARGUMENT");
    expect(errorOf(() => bpe.nbest("text", 2))[1]).toContain("no such sampling");
    const tokenizer = await Tokenizer.load(fixture("toy_bare.model"));
    expect(errorOf(() => tokenizer.sample("a", { bos: true }))[0]).toBe("E_ARGUMENT");
    expect(errorOf(() => tokenizer.nbest("a", 2, { bos: true }))[0]).toBe("E_ARGUMENT");
    tokenizer.dispose();
    expect(errorOf(() => tokenizer.sample("a"))[0]).toBe("DISPOSED");
    expect(errorOf(() => tokenizer.nbest("a", 2))[0]).toBe("DISPOSED");
  });
});
