/** Text that is normalized already: encoding it, and where it may be cut. */

import { Tokenizer, TokenizerError } from "isotok";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { corpus, fixture, need, ownModel, realModel, sameNumbers } from "./data.js";

const WINDOW = 1 << 18;
let toy: Tokenizer;
let bpe: Tokenizer;
let char: Tokenizer;

beforeAll(async () => {
  toy = await Tokenizer.load(fixture("toy.model"));
  bpe = await Tokenizer.load(ownModel("trained_bpe"));
  char = await Tokenizer.load(ownModel("char_bytes"));
});

afterAll(() => {
  for (const each of [toy, bpe, char]) each.dispose();
});

function errorOf(run: () => unknown): TokenizerError {
  try {
    run();
  } catch (error) {
    if (error instanceof TokenizerError) return error;
    throw error;
  }
  throw new Error("no error");
}

/** Ids of the chunks; a run of unknowns is one token. */
function chunkIds(tokenizer: Tokenizer, text: string): number[] {
  const ids: number[] = [];
  let begin = 0;
  for (const end of tokenizer.safeBoundaries(text)) {
    const found = [...tokenizer.encodeNormalized(text.slice(begin, end))];
    const again = ids.at(-1) === tokenizer.unkId && found[0] === tokenizer.unkId;
    ids.push(...found.slice(again ? 1 : 0));
    begin = end;
  }
  expect(begin).toBe(text.length);
  return ids;
}

describe("encodeNormalized", () => {
  test("ids, BOS and EOS", () => {
    expect(toy.encodeNormalized(toy.normalize("hello world"))).toEqual(Uint32Array.of(3, 4));
    expect(toy.encodeNormalized("▁hello", { bos: true, eos: true })).toEqual(
      Uint32Array.of(1, 3, 2),
    );
    expect(toy.encodeNormalized("")).toEqual(new Uint32Array());
    expect(toy.encodeNormalized("hello")).not.toEqual(toy.encode("hello"));
  });

  test("the same as encode on a corpus", async (context) => {
    const text = need(context, corpus("multi.txt")).slice(0, 300_000);
    const tokenizer = await Tokenizer.load(need(context, realModel("xlmr.model")));
    sameNumbers(tokenizer.encodeNormalized(tokenizer.normalize(text)), tokenizer.encode(text));
    const { bytes } = tokenizer.normalizeBytes(text);
    sameNumbers(tokenizer.encodeNormalized(bytes), tokenizer.encode(text));
    tokenizer.dispose();
  });
});

describe("safeBoundaries", () => {
  test("places in the units of the text", () => {
    const text = toy.normalize("hello world");
    expect([...toy.safeBoundaries(text)]).toEqual([6, 12]);
    expect([...toy.safeBoundaries(new TextEncoder().encode(text))]).toEqual([8, 16]);
    expect([...char.safeBoundaries("a😀é")]).toEqual([1, 3, 4]);
    expect([...toy.safeBoundaries("")]).toEqual([]);
  });

  test("chunks give the ids of the whole", () => {
    for (const raw of ["hello  the 日本 😀😀 year", "", "éé é😀", "  the\n\nend "]) {
      for (const tokenizer of [bpe, char]) {
        const text = tokenizer.normalize(raw);
        expect(chunkIds(tokenizer, text)).toEqual([...tokenizer.encode(raw)]);
      }
    }
  });

  test("on a corpus", async (context) => {
    const raw = need(context, corpus("ja.txt")).slice(0, 30_000);
    const tokenizer = await Tokenizer.load(need(context, realModel("llama2.model")));
    const text = tokenizer.normalize(raw);
    expect(chunkIds(tokenizer, text)).toEqual([...tokenizer.encode(raw)]);
    tokenizer.dispose();
  });

  test.each(["a", "日本", "▁é😀", "▁the"])("long texts of %s: windows do not matter", (unit) => {
    const text = unit.repeat(Math.ceil((2.3 * WINDOW) / new TextEncoder().encode(unit).length));
    for (const tokenizer of [bpe, char]) {
      // What repeats has boundaries that repeat, but for the first and the last time.
      const size = unit.length;
      const inner = (ends: Uint32Array, length: number) =>
        ends.filter((end) => end > size && end < length - size);
      const few = inner(tokenizer.safeBoundaries(unit.repeat(50)), 50 * size);
      const known = new Set(Array.from(few, (end) => end % size));
      const wanted = Uint32Array.from({ length: text.length }, (_, at) => at);
      const many = tokenizer.safeBoundaries(text);
      sameNumbers(
        inner(many, text.length),
        inner(wanted, text.length).filter((end) => known.has(end % size)),
      );
      expect(many.at(-1)).toBe(text.length);
    }
  });
});

describe("what no normalizer writes", () => {
  test.each([0, 3, WINDOW - 1, WINDOW + 5])("is refused at byte %d", (at) => {
    for (const text of [`${"a".repeat(at)} a`, `${"a".repeat(at)} `]) {
      for (const run of [() => toy.encodeNormalized(text), () => toy.safeBoundaries(text)]) {
        const error = errorOf(run);
        expect([error.code, error.offset]).toEqual(["E_TEXT", at]);
        expect(error.message).toContain("normalize it first");
      }
    }
    const broken = new Uint8Array(at + 2).fill(0x61);
    broken[at] = 0xe2;
    for (const run of [() => toy.encodeNormalized(broken), () => toy.safeBoundaries(broken)]) {
      expect(errorOf(run).offset).toBe(at);
    }
    expect([...toy.encode("hello")]).toEqual([3]);
  });
});
