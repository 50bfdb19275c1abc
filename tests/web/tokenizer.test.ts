/** The methods, on a model whose ids can be spelled out. */

import { runInNewContext } from "node:vm";
import { Tokenizer, TokenizerError } from "isotok";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { corpus, fixture, need, realModel, sameNumbers } from "./data.js";

/** <unk> 0, <s> 1, </s> 2, ▁hello 3, ▁world 4, ▁ 5, ld 6, then h e l o w r d from 7 on. */
let toy: Tokenizer;
/** The same with <pad>, <tag>, bytes and rules: Ａ→a, ﬁ→fi, tab→space, bell→nothing. */
let bytes: Tokenizer;

beforeAll(async () => {
  toy = await Tokenizer.load(fixture("toy.model"));
  bytes = await Tokenizer.load(fixture("toy_bytes.model"));
});

afterAll(() => {
  toy.dispose();
  bytes.dispose();
});

/** The error that a call throws. */
function errorOf(run: () => unknown): TokenizerError {
  try {
    run();
  } catch (error) {
    if (error instanceof TokenizerError) return error;
    throw error;
  }
  throw new Error("no error");
}

describe("encode", () => {
  test("ids, BOS and EOS", () => {
    expect(toy.encode("hello world")).toEqual(Uint32Array.of(3, 4));
    expect(toy.encode("hello", { bos: true })).toEqual(Uint32Array.of(1, 3));
    expect(toy.encode("hello", { bos: true, eos: true })).toEqual(Uint32Array.of(1, 3, 2));
    expect(toy.encode("")).toEqual(new Uint32Array());
    expect(toy.encode("", { eos: true })).toEqual(Uint32Array.of(2));
  });

  test("a text is a string or UTF-8", () => {
    const utf8 = new TextEncoder().encode("hello wörld");
    expect(toy.encode(utf8)).toEqual(toy.encode("hello wörld"));
    expect(toy.encode(Buffer.from("hello"))).toEqual(Uint32Array.of(3));
    for (const wrong of [undefined, null, 7, ["hello"], new ArrayBuffer(1)]) {
      const error = errorOf(() => toy.encode(wrong as unknown as string));
      expect(error.code).toBe("ARGUMENT");
      expect(error.message).toContain("string or a Uint8Array");
    }
  });

  test("arrays of other realms are as good", () => {
    const [utf8, ids, into] = runInNewContext(
      "[Uint8Array.of(104, 101, 108, 108, 111), Uint32Array.of(3, 4), new Uint32Array(9)]",
    ) as [Uint8Array, Uint32Array, Uint32Array];
    expect(utf8 instanceof Uint8Array).toBe(false);
    expect([...toy.encode(utf8)]).toEqual([3]);
    expect(toy.decode(ids)).toBe("hello world");
    expect(toy.encodeInto("hello world", into)).toBe(2);
  });

  test("what it returns is the caller's", () => {
    const first = toy.encode("hello world");
    toy.encode("world hello hello");
    expect([...first]).toEqual([3, 4]);
    first.fill(9);
    expect([...toy.encode("hello world")]).toEqual([3, 4]);
  });

  test("encodeInto", () => {
    const target = new Uint32Array(4).fill(77);
    expect(toy.encodeInto("hello world", target)).toBe(2);
    expect([...target]).toEqual([3, 4, 77, 77]);
    expect(toy.encodeInto("hello", target, { bos: true })).toBe(2);
    const error = errorOf(() => toy.encodeInto("hello world hello", new Uint32Array(2)));
    expect([error.code, error.need]).toEqual(["NEED_OUTPUT", 3]);
    expect(error.message).toContain("at least 3 elements");
    expect(errorOf(() => toy.encodeInto("a", [] as unknown as Uint32Array)).code).toBe("ARGUMENT");
  });

  test("with offsets and pieces", () => {
    const found = toy.encodeWithOffsets("hello wörld", { pieces: true });
    expect(found.pieces).toEqual(["▁hello", "▁", "w", "ö", "r", "ld"]);
    expect([...found.begin]).toEqual([0, 5, 6, 7, 8, 9]);
    expect([...found.end]).toEqual([5, 6, 7, 8, 9, 11]);
    expect(toy.encodeWithOffsets("hello")).not.toHaveProperty("pieces");
    expect(errorOf(() => toy.encodeWithOffsets("a", { unit: "line" as "byte" })).message).toContain(
      'use "utf16"',
    );
  });

  test("unknown tokens stand for normalized text", () => {
    const found = toy.encodeWithOffsets("日本 hello 語", { pieces: true, unit: "byte" });
    expect(found.pieces).toEqual(["▁", "日本", "▁hello", "▁", "語"]);
    expect([...found.begin]).toEqual([0, 0, 6, 12, 13]);
  });

  test("count, fits and truncate", () => {
    expect(toy.count("hello world")).toBe(2);
    expect(toy.count("hello world", { bos: true, eos: true })).toBe(4);
    expect([0, 1, 2, 3].map((limit) => toy.fits("hello world", limit))).toEqual([
      false,
      false,
      true,
      true,
    ]);
    expect(toy.fits("", 0)).toBe(true);
    expect(toy.fits("hello", 1, { bos: true })).toBe(false);
    expect([...toy.truncate("hello world hello", 2)]).toEqual([3, 4]);
    expect([...toy.truncate("hello world", 2, { bos: true, eos: true })]).toEqual([1, 3]);
    expect([...toy.truncate("hello", 9)]).toEqual([3]);
    expect([...toy.truncate("hello", 0)]).toEqual([]);
    for (const limit of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(errorOf(() => toy.fits("hello", limit)).code).toBe("ARGUMENT");
      expect(errorOf(() => toy.truncate("hello", limit)).code).toBe("ARGUMENT");
    }
  });

  test("fits and truncate stop early", () => {
    const text = "hello world ".repeat(2_000_000); // 24 MB
    const time = (run: () => unknown) => {
      const start = performance.now();
      run();
      return performance.now() - start;
    };
    const all = time(() => toy.count(text));
    expect(time(() => toy.fits(text, 1000))).toBeLessThan(all / 4);
    expect(time(() => toy.truncate(text, 1000))).toBeLessThan(all / 4);
  });

  test("a model without BOS says so", async () => {
    const tokenizer = await Tokenizer.load(fixture("toy_bare.model"));
    expect(tokenizer.bosId).toBeUndefined();
    const error = errorOf(() => tokenizer.encode("a", { bos: true }));
    expect(error.code).toBe("E_ARGUMENT");
    expect([...tokenizer.encode("a")]).toEqual([...tokenizer.encode("a")]);
    tokenizer.dispose();
  });
});

describe("batches", () => {
  test("ids of all texts, with their ends", () => {
    const { ids, ends } = toy.encodeBatch(["hello", "", "hello world", "world"]);
    expect([...ids]).toEqual([3, 3, 4, 4]);
    expect([...ends]).toEqual([1, 1, 3, 4]);
    expect([...toy.countBatch(["hello", "", "hello world"])]).toEqual([1, 0, 2]);
    expect([...toy.countBatch(["hello", ""], { bos: true })]).toEqual([2, 1]);
  });

  test("any iterable of texts, but not one text", () => {
    const texts = new Set(["hello", "world"]);
    expect([...toy.encodeBatch(texts).ids]).toEqual([3, 4]);
    expect(errorOf(() => toy.encodeBatch("hello")).message).toContain("not one");
    expect(toy.encodeBatch([]).ends.length).toBe(0);
    expect(errorOf(() => toy.encodeBatch(["a", 7 as unknown as string])).code).toBe("ARGUMENT");
  });

  test.each([
    ["many short ones", Array.from({ length: 40_000 }, (_, i) => "hello".repeat(i % 3))],
    ["longer than the window together", Array.from({ length: 9 }, () => "world ".repeat(9_000))],
    ["one longer than the window", ["a", "hello ".repeat(90_000), "b", "", "é".repeat(300_000)]],
    ["characters at the window's end", ["a".repeat((1 << 18) - 2), "日本", "😀"]],
  ])("%s", (_, texts) => {
    const { ids, ends } = bytes.encodeBatch(texts);
    const counts = bytes.countBatch(texts);
    let at = 0;
    for (const [i, text] of texts.entries()) {
      const one = bytes.encode(text);
      expect(counts[i]).toBe(one.length);
      sameNumbers(ids.subarray(at, ends[i]), one);
      at += one.length;
      if (ends[i] !== at) throw new Error(`text ${i} ends at ${ends[i]}, not ${at}`);
    }
    expect(ids.length).toBe(at);
  });

  test("more ids than bytes: U+FDFA in a model that spells it out", async (context) => {
    const tokenizer = await Tokenizer.load(need(context, realModel("sp_test_model.model")));
    const texts = Array.from({ length: 12 }, () => "\ufdfa".repeat(6_000));
    const { ids, ends } = tokenizer.encodeBatch(texts);
    expect([...ends]).toEqual(texts.map((_, i) => (i + 1) * (ids.length / 12)));
    sameNumbers(ids.subarray(0, ends[0]), tokenizer.encode(texts[0] as string));
    tokenizer.dispose();
  });
});

/** Names of the functions that a tokenizer calls from now on. */
async function withCalls(model: Uint8Array): Promise<{ tokenizer: Tokenizer; calls: string[] }> {
  const calls: string[] = [];
  const real = WebAssembly.instantiate;
  const spy = vi.spyOn(WebAssembly, "instantiate").mockImplementation((async (
    module: WebAssembly.Module,
    imports: WebAssembly.Imports,
  ) => {
    const { exports } = await real(module, imports);
    const counted = Object.entries(exports).map(([name, value]) => {
      if (typeof value !== "function") return [name, value];
      return [name, (...values: unknown[]) => calls.push(name) && value(...values)];
    });
    return { exports: Object.fromEntries(counted) };
  }) as never);
  const tokenizer = await Tokenizer.load(model);
  spy.mockRestore();
  calls.length = 0;
  return { tokenizer, calls };
}

describe("crossings into wasm", () => {
  test("10,000 short texts are one", async () => {
    const { tokenizer, calls } = await withCalls(fixture("toy.model"));
    const texts = Array.from({ length: 10_000 }, (_, i) => (i % 2 ? "hello world" : "hello"));
    expect(tokenizer.countBatch(texts)[9_999]).toBe(2);
    expect(calls).toEqual(["isotok_encode_batch"]);
    expect(tokenizer.encodeBatch(texts).ids.length).toBe(15_000);
    expect(calls.length).toBe(2);
    tokenizer.dispose();
  });

  test("one text is two, with a count or offsets too", async () => {
    const { tokenizer, calls } = await withCalls(fixture("toy.model"));
    for (const run of [
      () => tokenizer.encode("hello"),
      () => tokenizer.count("hello"),
      () => tokenizer.encodeWithOffsets("hello"),
    ]) {
      calls.length = 0;
      run();
      expect(calls).toEqual(["isotok_encode_begin", "isotok_encode_step"]);
    }
    tokenizer.dispose();
  });
});

describe("long texts", () => {
  test.each(["en.txt", "ja.txt", "code.txt"])("%s: every way gives the same", (name) => {
    const text = corpus(name)?.slice(0, 1_000_000) ?? "hello wörld 日本 😀\n".repeat(60_000);
    const all = bytes.encode(text);
    const utf8 = new TextEncoder().encode(text);
    sameNumbers(bytes.encode(utf8), all);
    expect(bytes.count(text)).toBe(all.length);
    const target = new Uint32Array(all.length);
    expect(bytes.encodeInto(text, target)).toBe(all.length);
    sameNumbers(target, all);
    sameNumbers(bytes.encodeWithOffsets(text).ids, all);
    expect(bytes.decode(all)).toBe(bytes.decode(Array.from(all)));
  });

  test("a text cut at every place of a surrogate pair", () => {
    // The window ends inside, before and after the pair.
    for (let shift = 0; shift < 5; shift++) {
      const text = `${"a".repeat((1 << 18) - shift)}😀${"b".repeat(10)}`;
      const { ids, end } = bytes.encodeWithOffsets(text, { unit: "byte" });
      expect(ids.length).toBeGreaterThan(10);
      expect(end.at(-1)).toBe(new TextEncoder().encode(text).length);
      expect(bytes.decode(ids)).toBe(text);
    }
  });
});

describe("normalize", () => {
  test("text and places", () => {
    expect(bytes.normalize("  ﬁ\tＡ ")).toBe("▁fi▁a");
    const { bytes: normalized, offsets } = bytes.normalizeBytes(" ﬁ😀");
    expect(new TextDecoder().decode(normalized)).toBe("▁fi😀");
    // ▁ (3 bytes) f i and the four bytes of 😀, then the end.
    expect([...offsets]).toEqual([1, 1, 1, 1, 1, 2, 2, 2, 2, 4]);
    expect([...bytes.normalizeBytes("").offsets]).toEqual([0]);
    expect(bytes.normalize("")).toBe("");
    const points = bytes.normalizeBytes(" ﬁ😀", { unit: "codepoint" }).offsets;
    expect(points.at(-1)).toBe(3);
  });

  test("long texts", () => {
    const text = "ﬁ😀é ".repeat(100_000);
    const normalized = bytes.normalize(text);
    expect(normalized.length).toBe("fi😀é▁".length * 100_000);
    const { offsets } = bytes.normalizeBytes(text);
    expect(offsets.at(-1)).toBe(text.trimEnd().length);
  });
});

describe("decode", () => {
  test("ids of any kind", () => {
    const text = "hello world";
    expect(toy.decode(toy.encode(text))).toBe(text);
    expect(toy.decode([3, 4])).toBe(text);
    expect(toy.decode(new Int32Array([3, 4]))).toBe(text);
    expect(toy.decode(new BigInt64Array([3n, 4n]))).toBe(text);
    expect(toy.decode(new Float64Array([3, 4]))).toBe(text);
    expect(toy.decode(new Set([3, 4]))).toBe(text);
    expect(toy.decode([])).toBe("");
    expect(errorOf(() => toy.decode("34" as unknown as number[])).code).toBe("ARGUMENT");
    expect(errorOf(() => toy.decode(3 as unknown as number[])).code).toBe("ARGUMENT");
  });

  test.each([-1, 1.5, Number.NaN, 2 ** 32 + 3, 0xffffffff, 999])("id %d is out of range", (id) => {
    const error = errorOf(() => toy.decode([3, 4, id, 3]));
    expect([error.code, error.index]).toEqual(["E_ID_RANGE", 2]);
    expect(error.message).toContain("ids[2]");
    expect(errorOf(() => toy.idToPiece(id)).code).toBe("E_ID_RANGE");
    expect(toy.decode([3, 4])).toBe("hello world");
  });

  test("the position of an error counts from the first id", () => {
    const ids = new Uint32Array(200_000).fill(3);
    ids[150_000] = 4_000_000;
    expect(errorOf(() => toy.decode(ids)).index).toBe(150_000);
  });

  test("bytes as they are", () => {
    const ids = bytes.encode("é");
    expect(bytes.decodeBytes(ids)).toEqual(new TextEncoder().encode("é"));
    const first = ids.slice(1, 2); // behind ▁: the first byte of é
    expect([...bytes.decodeBytes(first)]).toEqual([0xc3]);
    expect(bytes.decode(first)).toBe("\ufffd");
  });

  test("a byte order mark and U+FFFD are characters like others", () => {
    for (const text of ["\ufeffhello", "a\ufffdb", "\ufffd", "\u0000a"]) {
      expect(bytes.decode(bytes.encode(text))).toBe(text);
    }
  });

  test("pieces", () => {
    expect(toy.decodePieces(["▁hello", "▁world", "?!"])).toBe("hello world?!");
    expect(toy.decodePieces([])).toBe("");
  });

  test("millions of ids", () => {
    const ids = new Uint32Array(1_000_000).fill(3);
    expect(toy.decode(ids).length).toBe(6_000_000 - 1);
  });
});

describe("vocabulary", () => {
  test("properties", () => {
    expect(toy.vocabSize).toBe(14);
    expect([toy.unkId, toy.bosId, toy.eosId, toy.padId]).toEqual([0, 1, 2, undefined]);
    expect(bytes.padId).toBe(14);
    expect(toy.info).toMatchObject({ algorithm: "unigram", parity: "sentencepiece" });
    expect(toy.info.maxPieceBytes).toBe(8);
  });

  test("pieces by id and by text", () => {
    expect(toy.idToPiece(3)).toBe("▁hello");
    expect(toy.idToBytes(5)).toEqual(new TextEncoder().encode("▁"));
    expect(toy.score(5)).toBe(-2);
    expect([0, 1, 3].map((id) => toy.pieceType(id))).toEqual(["unknown", "control", "normal"]);
    expect(bytes.pieceType(15)).toBe("user_defined");
    expect(bytes.pieceType(16)).toBe("byte");
    expect(toy.pieceToId("▁world")).toBe(4);
    expect(toy.pieceToId("?!")).toBe(toy.unkId);
    expect([toy.hasPiece("ld"), toy.hasPiece("?!"), toy.hasPiece("")]).toEqual([
      true,
      false,
      false,
    ]);
    expect(toy.hasPiece("x".repeat(1_000_000))).toBe(false);
  });

  test("every piece is found under its text", () => {
    for (let id = 0; id < bytes.vocabSize; id++) {
      expect(bytes.pieceToId(bytes.idToBytes(id))).toBe(id);
    }
  });
});

describe("the end", () => {
  test("dispose", async () => {
    const tokenizer = await Tokenizer.load(fixture("toy.model"));
    const decoder = tokenizer.decoder();
    expect(tokenizer.memorySize).toBeGreaterThan(1 << 20);
    tokenizer.dispose();
    tokenizer.dispose();
    expect(tokenizer.memorySize).toBe(0);
    expect(tokenizer.vocabSize).toBe(14);
    for (const run of [() => tokenizer.encode("a"), () => decoder.push(3)]) {
      expect(errorOf(run).code).toBe("DISPOSED");
      expect(errorOf(run).message).toContain("load the model again");
    }
  });

  test("using", async () => {
    let kept: Tokenizer;
    {
      using tokenizer = await Tokenizer.load(fixture("toy.model"));
      kept = tokenizer;
      expect(kept.count("hello")).toBe(1);
    }
    expect(errorOf(() => kept.count("hello")).code).toBe("DISPOSED");
  });
});
