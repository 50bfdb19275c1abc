/** The token cache: its size, what it has done, and that no id depends on it. */

import { type CacheInfo, Tokenizer, TokenizerError } from "isotok";
import { TokenizerWorker } from "isotok/worker";
import { describe, expect, test } from "vitest";
import { fixture, ownModel, sameNumbers } from "./data.js";

const LEAST = 4096;
const NONE: CacheInfo = { entries: 0, probes: 0, hits: 0, uncertified: 0, bypassed: 0 };
const MODELS = ["trained_unigram", "trained_bpe", "uni_ties", "uni_rounding", "uni_recentre"];

const open = (name: string, cacheBytes?: number) =>
  Tokenizer.load(ownModel(name), cacheBytes === undefined ? {} : { cacheBytes });

/** Words of a few letters, some of them often. */
function words(count: number): string {
  let state = 1;
  const below = (limit: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
  const all = Array.from({ length: 300 }, () =>
    Array.from({ length: 1 + below(9) }, () => "abetin-é日\0"[below(10)]).join(""),
  );
  return Array.from({ length: count }, () => all[below(1 + below(300))]).join(" ");
}

describe("cacheBytes", () => {
  test.each([-1, 1, LEAST - 1, (1 << 28) + 1, 4096.5, Number.NaN, Infinity, "4096", null])(
    "%s is refused",
    async (cacheBytes) => {
      const options = { cacheBytes: cacheBytes as number };
      const error = await Tokenizer.load(fixture("toy.model"), options).catch((thrown) => thrown);
      expect(error).toBeInstanceOf(TokenizerError);
      expect(error.message).toMatch(/^cacheBytes: .* is neither 0 nor an integer from 4096 to /);
    },
  );

  test.each([
    [undefined, 1 << 15],
    [0, 0],
    [LEAST, 64],
    [2 * LEAST - 1, 64],
    [1 << 22, 1 << 16],
  ])("%s gives %s entries", async (cacheBytes, entries) => {
    const tokenizer = await open("trained_unigram", cacheBytes);
    expect(tokenizer.cacheInfo()).toEqual({ ...NONE, entries });
    tokenizer.encode("the year ".repeat(20));
    expect(tokenizer.cacheInfo().hits > 0).toBe(entries > 0);
    if (entries === 0) expect(tokenizer.cacheInfo()).toEqual(NONE);
  });

  test("a word model has no use for it", async () => {
    const tokenizer = await open("word_plain");
    tokenizer.encode("ab abc ".repeat(20));
    expect(tokenizer.cacheInfo()).toEqual(NONE);
  });
});

describe.each(MODELS)("%s", (name) => {
  test("no id depends on it", async () => {
    const text = words(40_000); // the score of the text passes 100,000 again and again
    const [without, tiny, large] = await Promise.all([
      open(name, 0),
      open(name, LEAST),
      open(name),
    ]);
    const ids = without.encode(text);
    for (const tokenizer of [tiny, large]) {
      for (let i = 0; i < 2; i++) sameNumbers(tokenizer.encode(text), ids);
      expect(tokenizer.count(text)).toBe(ids.length);
      sameNumbers(tokenizer.encodeBatch([text, text]).ids.slice(ids.length), ids);
      sameNumbers(tokenizer.encodeWithOffsets(text).begin, without.encodeWithOffsets(text).begin);
      const { hits, uncertified, probes } = tokenizer.cacheInfo();
      expect(hits).toBeGreaterThan(0);
      expect(hits + uncertified).toBeLessThan(probes);
    }
  });
});

test("two looks miss, then a word is found", async () => {
  const tokenizer = await Tokenizer.load(fixture("toy.model"));
  let before = tokenizer.cacheInfo();
  for (const hits of [0, 0, 2, 4]) {
    tokenizer.encode("hello world");
    const after = tokenizer.cacheInfo();
    expect(after).toEqual({ ...before, probes: before.probes + 2, hits });
    before = after;
  }
});

test("counts outlive a text that grows the session, and the instance", async () => {
  const tokenizer = await open("trained_unigram");
  for (let i = 0; i < 3; i++) tokenizer.encode("the year");
  const before = tokenizer.cacheInfo();
  for (const size of [100_000, 10_000_000]) {
    tokenizer.encode("e".repeat(size));
    const after = tokenizer.cacheInfo();
    expect(after.hits).toBeGreaterThanOrEqual(before.hits);
    expect(after.entries).toBe(before.entries);
  }
});

test("a tokenizer in a worker", async () => {
  const worker = new TokenizerWorker();
  const tokenizer = await worker.load(ownModel("trained_unigram"), { cacheBytes: LEAST });
  for (let i = 0; i < 3; i++) await tokenizer.encode("the year");
  const { entries, hits } = await tokenizer.cacheInfo();
  expect(entries).toBe(64);
  expect(hits).toBeGreaterThan(0);
  worker.dispose();
});

test("a disposed tokenizer has none", async () => {
  const tokenizer = await open("trained_unigram");
  tokenizer.dispose();
  expect(() => tokenizer.cacheInfo()).toThrow(TokenizerError);
});
