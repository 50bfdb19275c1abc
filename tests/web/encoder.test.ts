/** Encoding a text that comes in chunks: the same as at once, wherever it is cut. */

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type Encoder, Tokenizer, TokenizerError } from "isotok";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { corpus, fixture, need, ownModel, realModel, sameNumbers, VECTORS } from "./data.js";
import { textOf, toUtf8 } from "./report.js";

type Text = string | Uint8Array;

let bytes: Tokenizer;

beforeAll(async () => {
  bytes = await Tokenizer.load(fixture("toy_bytes.model"));
});

afterAll(() => bytes.dispose());

const [HELLO, WORLD] = [3, 4];

/** Numbers below a limit, the same in every run. */
function random(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

function joined(parts: Uint32Array[]): Uint32Array {
  const all = new Uint32Array(parts.reduce((sum, each) => sum + each.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Ids of chunks, by an encoder. */
function pushed(encoder: Encoder, chunks: Iterable<Text>): Uint32Array {
  const parts = Array.from(chunks, (chunk) => encoder.push(chunk));
  return joined([...parts, encoder.flush()]);
}

function encoded(tokenizer: Tokenizer, chunks: Iterable<Text>): number[] {
  const encoder = tokenizer.encoder();
  const ids = [...pushed(encoder, chunks)];
  encoder.dispose();
  return ids;
}

/** Cuts a text anywhere: into chunks of 0 to `longest` bytes or UTF-16 units. */
function* cut<T extends Text>(text: T, longest: number, below: (n: number) => number) {
  for (let at = 0; at < text.length; ) {
    const end = at + below(longest + 1);
    yield text.slice(at, end);
    at = end;
  }
}

async function collect(parts: AsyncIterable<Uint32Array>): Promise<Uint32Array[]> {
  const all: Uint32Array[] = [];
  for await (const part of parts) all.push(part);
  return all;
}

const TEXT = "hello wörld 😀 日本 \ufffd\ufeff ﬁ 👩‍💻\0 hello";

describe("every chunking", () => {
  const names = readdirSync(join(VECTORS, "models"))
    .filter((name) => name.endsWith(".model"))
    .map((name) => name.slice(0, -".model".length));
  const rounds = Math.ceil(10_000 / names.length);

  /** Pieces end to end, with spaces, characters without a piece, and stray bytes. */
  function someText(pieces: Uint8Array[], below: (n: number) => number): Text {
    const parts: Uint8Array[] = [];
    let size = 0;
    for (const wanted = [4, 30, 300][below(3)] as number; size < wanted; ) {
      const kind = below(20);
      let part = (pieces[below(pieces.length)] as Uint8Array).slice(0, 600);
      if (kind < 2) part = toUtf8(" ");
      else if (kind < 5) part = toUtf8(["é", "漢", "😀", "z", "\0"][below(5)] as string);
      else if (kind < 6) part = Uint8Array.of(below(256));
      parts.push(part);
      size += part.length;
    }
    const all = Buffer.concat(parts);
    const text = textOf(new Uint8Array(all));
    return text === undefined || below(3) === 0 ? new Uint8Array(all) : text;
  }

  test.each(names)("%s", async (name) => {
    let tokenizer: Tokenizer;
    try {
      tokenizer = await Tokenizer.load(ownModel(name));
    } catch {
      return; // it is there to be refused
    }
    const below = random(names.indexOf(name));
    const pieces = Array.from({ length: tokenizer.vocabSize }, (_, id) => tokenizer.idToBytes(id));
    for (let round = 0; round < rounds; round++) {
      const text = someText(pieces, below);
      const bos = below(2) === 0 && tokenizer.bosId !== undefined;
      const eos = below(2) === 0 && tokenizer.eosId !== undefined;
      const encoder = tokenizer.encoder({ bos, eos });
      const chunks = [...cut(text, [1, 3, 40, 1000][below(4)] as number, below)];
      const found = pushed(encoder, chunks);
      const wanted = tokenizer.encode(text, { bos, eos });
      if (found.join() !== wanted.join()) {
        throw new Error(`round ${round}: ${JSON.stringify(chunks)}: ${found}, not ${wanted}`);
      }
      encoder.dispose();
    }
    tokenizer.dispose();
  });

  test.each(["xlmr.model", "llama2.model", "gemma3.model"])(
    "%s on a corpus",
    async (name) => {
      const tokenizer = await Tokenizer.load(realModel(name) ?? ownModel("trained_bpe"));
      const text = (corpus("multi.txt") ?? TEXT.repeat(5_000)).slice(0, 400_000);
      const ids = tokenizer.encode(text);
      const below = random(5);
      for (const longest of [50, 5_000, 390_000]) {
        const encoder = tokenizer.encoder();
        sameNumbers(pushed(encoder, cut(text, longest, below)), ids);
        sameNumbers(pushed(encoder, cut(toUtf8(text), longest, below)), ids);
        encoder.dispose();
      }
      tokenizer.dispose();
    },
    60_000,
  );
});

describe("encoder", () => {
  test("ids come when they are final", () => {
    const encoder = bytes.encoder({ bos: true, eos: true });
    const chunks = ["hello ", "wor", "ld hello", " hello", " hello"];
    const found = chunks.map((chunk) => [...encoder.push(chunk)]);
    expect(found).toEqual([[1], [], [HELLO], [WORLD], [HELLO]]);
    expect([...encoder.flush()]).toEqual([HELLO, HELLO, 2]);
    encoder.dispose();
  });

  test("surrogates meet, or become U+FFFD", () => {
    const whole = [...bytes.encode("a😀b")];
    const [empty, b] = [new Uint8Array(), toUtf8("b")];
    for (const parts of [
      ["a\ud83d", "\ude00b"],
      ["a", "\ud83d", "", "\ude00", "b"],
      ["a\ud83d", empty, "\ude00", b],
    ]) {
      expect(encoded(bytes, parts)).toEqual(whole);
    }
    const lone = [...bytes.encode("a\ufffdb")];
    for (const parts of [
      ["a\ud83d", "b"],
      ["a\ud83d", b],
      ["a", "\ud83d", empty, b],
      ["a", "\ude00", "b"],
    ]) {
      expect(encoded(bytes, parts)).toEqual(lone);
    }
    expect(encoded(bytes, ["a\ud83d"])).toEqual([...bytes.encode("a\ufffd")]);
    expect(encoded(bytes, ["\ud83d\ud83d", "\ude00"])).toEqual([...bytes.encode("\ufffd😀")]);
  });

  test("characters of UTF-8 meet, and strings and bytes mix", () => {
    const text = toUtf8(TEXT);
    const single = Array.from(text, (byte) => Uint8Array.of(byte));
    expect(encoded(bytes, single)).toEqual([...bytes.encode(TEXT)]);
    const mixed = ["h", toUtf8("ell"), "o wörl", Uint8Array.of(0x64, 0x20, 0xf0)];
    expect(encoded(bytes, [...mixed, Uint8Array.of(0x9f, 0x98, 0x80)])).toEqual([
      ...bytes.encode("hello wörld 😀"),
    ]);
    expect(encoded(bytes, [Uint8Array.of(0xe3, 0x81), "a"])).toEqual([
      ...bytes.encode(Uint8Array.of(0xe3, 0x81, 0x61)),
    ]);
  });

  test("flush begins another text", () => {
    const encoder = bytes.encoder({ bos: true });
    for (let i = 0; i < 3; i++) {
      expect([...pushed(encoder, ["hello wor", "ld"])]).toEqual([1, HELLO, WORLD]);
    }
    expect([...encoder.flush()]).toEqual([1]);
    encoder.dispose();
  });

  test("other calls, encoders and decoders in between", () => {
    const encoders = [bytes.encoder(), bytes.encoder({ eos: true }), bytes.encoder()];
    const found: Uint32Array[][] = [[], [], []];
    const decoder = bytes.decoder();
    for (const chunk of cut(TEXT, 3, random(2))) {
      for (const [i, encoder] of encoders.entries()) {
        (found[i] as Uint32Array[]).push(encoder.push(chunk));
        bytes.encodeWithOffsets("in between", { bos: true });
        bytes.sample("hello", { seed: 1 });
        bytes.nbest("hello world", 3);
        decoder.push(HELLO);
      }
    }
    for (const [i, encoder] of encoders.entries()) {
      const ids = joined([...(found[i] as Uint32Array[]), encoder.flush()]);
      expect(ids).toEqual(bytes.encode(TEXT, { eos: i === 1 }));
      encoder.dispose();
    }
    decoder.dispose();
  });

  test("what is no chunk does not end the text", () => {
    const encoder = bytes.encoder();
    const begun = encoder.push("hel");
    expect(() => encoder.push(null as unknown as string)).toThrow("must be a string");
    expect([...joined([begun, encoder.push("lo"), encoder.flush()])]).toEqual([HELLO]);
    encoder.dispose();
  });

  test("an error ends the text, not the encoder", async () => {
    const bare = await Tokenizer.load(fixture("toy_bare.model"));
    const encoder = bare.encoder({ bos: true });
    for (let i = 0; i < 3; i++) {
      expect(() => encoder.push("a")).toThrow(TokenizerError);
      expect(() => encoder.flush()).toThrow(TokenizerError);
    }
    encoder.dispose();
    bare.dispose();
  });

  test("dispose, twice, and before the end of a text", async () => {
    const tokenizer = await Tokenizer.load(fixture("toy_bytes.model"));
    const encoder = tokenizer.encoder();
    encoder.push("hel");
    encoder.dispose();
    encoder.dispose();
    expect(() => encoder.push("lo")).toThrow("disposed");
    expect(() => encoder.flush()).toThrow("disposed");
    const other = tokenizer.encoder();
    other.push("hel");
    tokenizer.dispose();
    expect(() => other.push("lo")).toThrow("disposed");
    expect(() => tokenizer.encoder()).toThrow("disposed");
    other.dispose();
  });
});

describe("memory", () => {
  test("does not grow with the text", async () => {
    const tokenizer = await Tokenizer.load(ownModel("trained_unigram"));
    const encoder = tokenizer.encoder();
    const chunk = `${"the year 日本 😀 wörld\n".repeat(3_000)}`;
    encoder.push(chunk);
    const { memorySize } = tokenizer;
    const one = tokenizer.count(chunk);
    let count = 0;
    const begin = process.memoryUsage().heapUsed;
    for (let size = 0; size < 64 << 20; size += toUtf8(chunk).length) {
      count += encoder.push(chunk).length;
      expect(tokenizer.memorySize).toBe(memorySize);
    }
    expect(count).toBeGreaterThan(200 * one);
    (globalThis as { gc?: () => void }).gc?.();
    expect(process.memoryUsage().heapUsed - begin).toBeLessThan(4 << 20);
    encoder.dispose();
    tokenizer.dispose();
  }, 120_000);

  test("comes back after a text that cannot be cut", async () => {
    const tokenizer = await Tokenizer.load(ownModel("bpe_runs"));
    const text = "a".repeat(5_000_000);
    expect(tokenizer.safeBoundaries(tokenizer.normalize(text)).length).toBe(1);
    const encoder = tokenizer.encoder();
    pushed(encoder, ["aa"]);
    const { memorySize } = tokenizer;
    const ids = tokenizer.encode(text);
    expect(tokenizer.memorySize).toBeLessThan(memorySize + (1 << 25));
    const begun = Array.from(cut(text, 100_000, random(1)), (chunk) => encoder.push(chunk));
    expect(tokenizer.memorySize).toBeGreaterThan(memorySize + (1 << 25));
    sameNumbers(joined([...begun, encoder.flush()]), ids);
    expect(tokenizer.memorySize).toBeLessThan(memorySize + (1 << 25));
    expect([...pushed(encoder, ["aab", " aa"])]).toEqual([...tokenizer.encode("aab aa")]);
    encoder.dispose();
    tokenizer.dispose();
  }, 60_000);

  test("does not grow with encoders that end, or that are forgotten", async () => {
    const tokenizer = await Tokenizer.load(fixture("toy_bytes.model"));
    encoded(tokenizer, ["hello"]);
    const size = tokenizer.memorySize;
    for (let i = 0; i < 300; i++) encoded(tokenizer, ["hel", "lo"]);
    for (let i = 0; i < 300; i++) {
      using encoder = tokenizer.encoder();
      encoder.push("hel");
    }
    for (let i = 0; i < 300; i++) tokenizer.encoder().flush();
    expect(tokenizer.memorySize).toBe(size);
    const collectGarbage = (globalThis as { gc?: () => void }).gc;
    for (let round = 0; round < 40; round++) {
      for (let i = 0; i < 10; i++) tokenizer.encoder().push("hel");
      collectGarbage?.();
      await new Promise((resolve) => setTimeout(resolve, 1)); // finalizers run between tasks
    }
    // 400 of them, of which a hundred at most are there at the same time.
    expect(tokenizer.memorySize).toBeLessThan(size + 100 * 300_000);
    tokenizer.dispose();
  });

  test("what the cache has counted stays when an instance is replaced", async () => {
    const tokenizer = await Tokenizer.load(ownModel("trained_unigram"));
    for (let i = 0; i < 5; i++) tokenizer.encode("the year");
    const before = tokenizer.cacheInfo();
    encoded(tokenizer, ["e".repeat(4_000_000)]);
    for (let i = 0; i < 3; i++) tokenizer.nbest("the year ".repeat(30_000), 1);
    expect(tokenizer.cacheInfo().hits).toBeGreaterThanOrEqual(before.hits);
    expect(tokenizer.cacheInfo().probes).toBeGreaterThanOrEqual(before.probes);
    tokenizer.dispose();
  }, 60_000);
});

describe("encodeStream", () => {
  const chunks = () => [...cut(TEXT, 3, random(4))];

  test("a transform stream, of strings or bytes", async () => {
    for (const parts of [chunks(), [...cut(toUtf8(TEXT), 3, random(4))]]) {
      const source = new ReadableStream<Text>({
        start(controller) {
          for (const part of parts) controller.enqueue(part);
          controller.close();
        },
      });
      const found = await collect(source.pipeThrough(bytes.encodeStream(undefined, { eos: true })));
      expect(joined(found)).toEqual(bytes.encode(TEXT, { eos: true }));
      expect(found.length).toBeGreaterThan(3);
      expect(found.every((ids) => ids.length > 0)).toBe(true);
    }
    const blob = new Blob([TEXT]).stream().pipeThrough(bytes.encodeStream());
    expect(joined(await collect(blob))).toEqual(bytes.encode(TEXT));
  });

  test("an async iterator, over arrays and async iterators", async () => {
    const found = await collect(bytes.encodeStream(["hello ", "wor", "ld hello"]));
    expect(found.map((ids) => [...ids])).toEqual([[HELLO], [WORLD, HELLO]]);
    const generator = async function* () {
      yield* chunks();
    };
    const ids = await collect(bytes.encodeStream(generator(), { bos: true }));
    expect(joined(ids)).toEqual(bytes.encode(TEXT, { bos: true }));
    expect(await collect(bytes.encodeStream([]))).toEqual([]);
  });

  test("one text is no source", () => {
    for (const text of [TEXT, toUtf8(TEXT)]) {
      const source = text as unknown as string[];
      expect(() => bytes.encodeStream(source)).toThrow("for one text use encode()");
    }
  });

  test("a source that fails, and a chunk that is none", async () => {
    const failing = function* () {
      yield "hello world hello ";
      throw new Error("the file is gone");
    };
    await expect(collect(bytes.encodeStream(failing()))).rejects.toThrow("the file is gone");
    const wrong = ["a", 5 as unknown as string];
    await expect(collect(bytes.encodeStream(wrong))).rejects.toThrow("must be a string");
    const { readable, writable } = bytes.encodeStream();
    const writer = writable.getWriter();
    const parts = collect(readable);
    for (const chunk of wrong) writer.write(chunk).catch(() => {});
    await expect(parts).rejects.toThrow("must be a string");
    expect([...bytes.encode("hello")]).toEqual([HELLO]);
  });

  test("leaving early gives the memory back", async () => {
    const leave = async () => {
      for await (const _ of bytes.encodeStream(chunks())) break;
    };
    await leave();
    const { memorySize } = bytes;
    for (let i = 0; i < 50; i++) await leave();
    expect(bytes.memorySize).toBe(memorySize);
  });

  test("a long stream of a real model", async (context) => {
    const tokenizer = await Tokenizer.load(need(context, realModel("llama2.model")));
    const text = "The 🦙 said 你好, « ça va ? » — 𝒜 \n\t".repeat(2_000);
    const parts = await collect(tokenizer.encodeStream(cut(text, 100, random(9))));
    sameNumbers(joined(parts), tokenizer.encode(text));
    tokenizer.dispose();
  });
});
