/** Decoding ids as they come. */

import { Tokenizer, TokenizerError } from "isotok";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fixture, need, ownModel, realModel } from "./data.js";
import { fromUtf8, toUtf8 } from "./report.js";

let bytes: Tokenizer;

beforeAll(async () => {
  bytes = await Tokenizer.load(fixture("toy_bytes.model"));
});

afterAll(() => bytes.dispose());

/** Pieces of text that pushing ids one by one gives; the last is that of flush. */
function pushed(tokenizer: Tokenizer, ids: Iterable<number>): string[] {
  const decoder = tokenizer.decoder();
  const parts = Array.from(ids, (id) => decoder.push(id));
  parts.push(decoder.flush());
  decoder.dispose();
  return parts;
}

function errorOf(run: () => unknown): TokenizerError {
  try {
    run();
  } catch (error) {
    if (error instanceof TokenizerError) return error;
    throw error;
  }
  throw new Error("no error");
}

async function collect(parts: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = [];
  for await (const part of parts) all.push(part);
  return all;
}

const TEXT = "hello wörld 😀 日本 \ufffd\ufeff ﬁ 👩‍💻\0";

describe("decoder", () => {
  test("a character comes when it is whole", () => {
    const ids = bytes.encode("😀é");
    // ▁, four bytes, two bytes; the first ▁ is the one the normalizer put there.
    expect(pushed(bytes, ids)).toEqual(["", "", "", "", "😀", "", "é", ""]);
  });

  test("no part is cut inside a character, and together they are the text", () => {
    const parts = pushed(bytes, bytes.encode(TEXT));
    expect(parts.join("")).toBe(bytes.decode(bytes.encode(TEXT)));
    for (const part of parts) expect(fromUtf8(toUtf8(part))).toBe(part);
    expect(parts.join("").match(/\ufffd/g)?.length).toBe(1); // the genuine one
  });

  test("a genuine U+FFFD comes at once, ill-formed bytes when that is certain", () => {
    const [euro, a] = [0xe2, 0x41].map(
      (byte) => bytes.pieceToId(`<0x${byte.toString(16).toUpperCase()}>`) as number,
    );
    const decoder = bytes.decoder();
    expect(decoder.push(bytes.encode("\ufffd").slice(1))).toBe("\ufffd");
    expect(decoder.push(euro as number)).toBe("");
    expect(decoder.push(a as number)).toBe("\ufffdA");
    expect(decoder.push(euro as number)).toBe("");
    expect(decoder.flush()).toBe("\ufffd");
    decoder.dispose();
  });

  test("many at a time, in arrays of any kind", () => {
    const ids = bytes.encode(TEXT);
    const decoder = bytes.decoder();
    const text = decoder.push(ids.slice(0, 5)) + decoder.push([...ids.slice(5, 9)]);
    const rest = decoder.push(BigInt64Array.from(ids.slice(9), BigInt)) + decoder.flush();
    expect(text + rest).toBe(bytes.decode(ids));
    // The next text begins anew: its first space is taken away too.
    expect(decoder.push(3n)).toBe("hello");
    expect(decoder.push([])).toBe("");
    expect(() => decoder.push(null as unknown as number)).toThrow("ids must be");
    expect(() => decoder.push(undefined as unknown as number)).toThrow("out of range");
    expect(decoder.flush()).toBe("");
    decoder.dispose();
  });

  test("other calls and other decoders in between", () => {
    const ids = bytes.encode(TEXT);
    const decoders = [bytes.decoder(), bytes.decoder(), bytes.decoder()];
    const texts = ["", "", ""];
    for (const id of ids) {
      for (const [i, decoder] of decoders.entries()) texts[i] += decoder.push(id);
      bytes.encodeWithOffsets("in between");
      bytes.decode([3, 4]);
    }
    for (const [i, decoder] of decoders.entries()) {
      texts[i] += decoder.flush();
      decoder.dispose();
    }
    expect(new Set(texts)).toEqual(new Set([bytes.decode(ids)]));
  });

  test("an error ends the text, not the decoder", () => {
    const decoder = bytes.decoder();
    decoder.push(3);
    expect(() => decoder.push([3, 999_999])).toThrow(TokenizerError);
    expect(decoder.push(3)).toBe("hello");
    expect(decoder.flush()).toBe("");
    decoder.dispose();
    decoder.dispose();
    expect(() => decoder.push(3)).toThrow("disposed");
  });

  test("an id out of range has its position in the text", () => {
    const decoder = bytes.decoder();
    for (const before of [0, 7]) {
      for (let i = 0; i < before; i++) decoder.push(i % 2 ? 3 : [3, 4]);
      const error = errorOf(() => decoder.push([3, 999_999, 3]));
      expect([error.code, error.index]).toEqual(["E_ID_RANGE", before + Math.ceil(before / 2) + 1]);
    }
    decoder.push([3, 4]);
    decoder.flush();
    expect(errorOf(() => decoder.push(999_999)).index).toBe(0);
    decoder.dispose();
  });

  test.each(["uni_ill_formed", "bpe_ill_formed", "uni_denormalizer", "trained_bpe"])(
    "%s: parts together are the whole",
    async (name) => {
      // Also where pieces themselves are cut inside a character.
      const tokenizer = await Tokenizer.load(ownModel(name));
      let state = 7;
      for (let round = 0; round < 200; round++) {
        const ids = Array.from({ length: 1 + (round % 12) }, () => {
          state = (state * 1103515245 + 12345) % 2 ** 31;
          return state % tokenizer.vocabSize;
        });
        expect(pushed(tokenizer, ids).join("")).toBe(tokenizer.decode(ids));
      }
      tokenizer.dispose();
    },
  );

  test("more text in one push than there is room for, cut inside characters", async () => {
    const tokenizer = await Tokenizer.load(ownModel("uni_long"));
    const pieces = Array.from({ length: tokenizer.vocabSize }, (_, id) => tokenizer.idToPiece(id));
    const piece = pieces.filter((each) => /^é+$/.test(each)).sort((a, b) => b.length - a.length)[0];
    const id = pieces.indexOf(piece as string);
    expect(piece?.length).toBeGreaterThan(99);
    for (const count of [7_000, 20_000]) {
      // Shifted by one byte, another place is cut.
      for (const first of ["a", ""]) {
        const ids = new Uint32Array(count).fill(id);
        const text = (first && tokenizer.decode(tokenizer.encode(first))) + piece?.repeat(count);
        const all = Uint32Array.of(...(first ? tokenizer.encode(first) : []), ...ids);
        expect(tokenizer.decode(all) === text).toBe(true);
        const decoder = tokenizer.decoder();
        expect(decoder.push(all) + decoder.flush() === text).toBe(true);
        decoder.dispose();
      }
    }
    tokenizer.dispose();
  });

  test("memory does not grow with decoders that end, or that are forgotten", async () => {
    const tokenizer = await Tokenizer.load(fixture("toy_bytes.model"));
    pushed(tokenizer, [3]);
    const size = tokenizer.memorySize;
    for (let i = 0; i < 500; i++) pushed(tokenizer, [3, 4]);
    expect(tokenizer.memorySize).toBe(size);
    const collectGarbage = (globalThis as { gc?: () => void }).gc;
    expect(collectGarbage).toBeTypeOf("function"); // vitest.config.ts asks for it
    for (let round = 0; round < 40; round++) {
      for (let i = 0; i < 50; i++) tokenizer.decoder().push(3);
      collectGarbage?.();
      await new Promise((resolve) => setTimeout(resolve, 1)); // finalizers run between tasks
    }
    // 2,000 of them, of which hundreds at most are there at the same time.
    expect(tokenizer.memorySize).toBeLessThan(size + 500 * 6_000);
    tokenizer.dispose();
  });

  test("using gives the memory back", () => {
    const { memorySize } = bytes;
    for (let i = 0; i < 100; i++) {
      using decoder = bytes.decoder();
      decoder.push(3);
    }
    expect(bytes.memorySize).toBe(memorySize);
  });
});

describe("decodeStream", () => {
  const ids = () => [...bytes.encode(TEXT)];

  test("a transform stream", async () => {
    const source = new ReadableStream<number>({
      start(controller) {
        for (const id of ids()) controller.enqueue(id);
        controller.close();
      },
    });
    const parts = await collect(source.pipeThrough(bytes.decodeStream()));
    expect(parts.join("")).toBe(bytes.decode(ids()));
    expect(parts).not.toContain("");
    expect(parts.length).toBeGreaterThan(10);
  });

  test("an async iterator, over arrays and other async iterators", async () => {
    expect((await collect(bytes.decodeStream(ids()))).join("")).toBe(bytes.decode(ids()));
    const chunks = async function* () {
      const all = ids();
      for (let at = 0; at < all.length; at += 3) yield Uint32Array.from(all.slice(at, at + 3));
    };
    expect((await collect(bytes.decodeStream(chunks()))).join("")).toBe(bytes.decode(ids()));
  });

  test("an id out of range ends it with an error", async () => {
    await expect(collect(bytes.decodeStream([3, 999_999]))).rejects.toThrow("out of range");
    const { readable, writable } = bytes.decodeStream();
    const writer = writable.getWriter();
    const parts = collect(readable);
    writer.write(3).catch(() => {});
    writer.write(999_999).catch(() => {});
    await expect(parts).rejects.toThrow("out of range");
    expect(bytes.decode([3])).toBe("hello");
  });

  test("leaving early gives the memory back", async () => {
    for (let i = 0; i < 3; i++) {
      for await (const part of bytes.decodeStream(ids())) {
        expect(part).toBe("hello");
        break;
      }
    }
    const { memorySize } = bytes;
    for (let i = 0; i < 50; i++) {
      for await (const _ of bytes.decodeStream(ids())) break;
    }
    expect(bytes.memorySize).toBe(memorySize);
  });

  test("a long stream of a real model", async (context) => {
    const tokenizer = await Tokenizer.load(need(context, realModel("llama2.model")));
    const text = "The 🦙 said 你好, « ça va ? » — 𝒜 \n\t".repeat(2_000);
    const parts = await collect(tokenizer.decodeStream(tokenizer.encode(text)));
    expect(parts.join("")).toBe(text);
    tokenizer.dispose();
  });
});
