/** tokenizer.json, tekken.json and rank files, in Node. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { Tokenizer, TokenizerError } from "isotok";
import * as foreign from "isotok/foreign";
import { Tokenizer as Inline } from "isotok/inline";
import { TokenizerWorker } from "isotok/worker";
import { expect, test } from "vitest";
import { DATA, fixture, need, ROOT, realModel } from "./data.js";
import { type ForeignAnswer, runForeign } from "./foreign.js";

const answers = JSON.parse(
  new TextDecoder().decode(fixture("foreign/foreign.json")),
) as ForeignAnswer[];
const small = answers.filter(({ real }) => !real);
const LONG = { timeout: 180_000 };

const getSmall = async (name: string) => fixture(`foreign/${name}`);

/** A file of the data folder, unpacked. */
async function getReal(name: string): Promise<Uint8Array | undefined> {
  const bytes = realModel(name);
  return bytes && name.endsWith(".gz") ? new Uint8Array(gunzipSync(bytes)) : bytes;
}

function smallFile(name: string): Uint8Array<ArrayBuffer> {
  const found = small.find((answer) => answer.name === name);
  return fixture(`foreign/${found?.file}`);
}

function fileOf(name: string): Record<string, never> & { model: Record<string, unknown> } {
  return JSON.parse(new TextDecoder().decode(smallFile(name)));
}

async function errorOf(promise: Promise<unknown>): Promise<TokenizerError> {
  const error = await promise.then(
    () => undefined,
    (reason) => reason,
  );
  expect(error).toBeInstanceOf(TokenizerError);
  return error as TokenizerError;
}

test("small files: blobs, ids, texts and refusals are Python's", LONG, async () => {
  const report = await runForeign({ Tokenizer }, small, getSmall);
  expect(report.failed).toEqual([]);
  expect(report.passed).toBe(small.length);
  expect(small.filter(({ blob }) => blob !== undefined).length).toBeGreaterThan(60);
});

test("white space of any length, in front of a token that may take it along", LONG, async () => {
  const tokenizer = await Tokenizer.load(smallFile("bytes.json"));
  const memory = tokenizer.memorySize;
  for (const unit of [" ", "\n"]) {
    for (const end of ["x", "<mask>"]) {
      const text = `a${unit.repeat(700_000)}${end}`;
      const ids = tokenizer.encode(text);
      if (end === "x") expect(tokenizer.decode(ids)).toBe(text);
      else expect(ids).toEqual(tokenizer.encode("a<mask>"));
      expect(tokenizer.count(text)).toBe(ids.length);
      for (const size of [300, 40_000, 650_000]) {
        const encoder = tokenizer.encoder();
        const found: number[] = [];
        for (let i = 0; i < text.length; i += size) {
          for (const id of encoder.push(text.slice(i, i + size))) found.push(id);
        }
        for (const id of encoder.flush()) found.push(id);
        expect(found.length).toBe(ids.length);
        expect(found.every((id, i) => id === ids[i])).toBe(true);
      }
    }
  }
  expect(tokenizer.memorySize - memory).toBeLessThan(1 << 25);
  tokenizer.dispose();
});

/** Bytes that are written to and moved in memory, that of the core included, by a function. */
function bytesMoved(run: () => void): number {
  const arrays = Object.getPrototypeOf(Uint8Array.prototype);
  const { set, copyWithin } = arrays;
  const { encodeInto } = TextEncoder.prototype;
  let moved = 0;
  try {
    arrays.set = function (this: Uint8Array, source: ArrayLike<number>, at?: number) {
      moved += source.length;
      return set.call(this, source, at);
    };
    arrays.copyWithin = function (this: Uint8Array, to: number, from: number, end = this.length) {
      moved += end - from;
      return copyWithin.call(this, to, from, end);
    };
    TextEncoder.prototype.encodeInto = function (text, target) {
      const result = encodeInto.call(this, text, target);
      moved += result.written;
      return result;
    };
    run();
  } finally {
    Object.assign(arrays, { set, copyWithin });
    TextEncoder.prototype.encodeInto = encodeInto;
  }
  return moved;
}

test.each(["lstrip", "rstrip"])("white space in tiny chunks beside %s is linear", async (flag) => {
  const file = fileOf("bytes.json") as unknown as { added_tokens: Record<string, unknown>[] };
  const flags = { special: true, lstrip: false, rstrip: false, single_word: false };
  const token = { id: 0, content: "<tiny>", normalized: false, ...flags, [flag]: true };
  file.added_tokens = [token];
  const tokenizer = await Tokenizer.load(new TextEncoder().encode(JSON.stringify(file)));
  const chunks = (count: number, chunk: string) => {
    const encoder = tokenizer.encoder();
    const parts = ["a<tiny>", ...Array<string>(count).fill(chunk), "<tiny>b"];
    const found = parts.flatMap((part) => [...encoder.push(part)]);
    expect([...found, ...encoder.flush()]).toEqual([...tokenizer.encode(parts.join(""))]);
    encoder.dispose();
  };
  for (const chunk of [" ", "\u3000"]) {
    const [one, two, four] = [10_000, 20_000, 40_000].map((count) =>
      bytesMoved(() => chunks(count, chunk)),
    ) as [number, number, number];
    expect(one).toBeGreaterThan(10_000);
    expect(two - one).toBeLessThan(40 * 10_000 * chunk.length);
    expect(four - two).toBeLessThan(2.2 * (two - one));
  }
  tokenizer.dispose();
});

test("half a pair, and bytes behind it, in long white space", async () => {
  const tokenizer = await Tokenizer.load(smallFile("bytes.json"));
  const spaces = " ".repeat(5000);
  const encoder = tokenizer.encoder();
  const parts = [spaces, "\ud83d", new TextEncoder().encode(spaces), "\ud83d", "\ude00", spaces];
  const found = parts.flatMap((part) => [...encoder.push(part)]);
  found.push(...encoder.flush());
  expect(found).toEqual([...tokenizer.encode(`${spaces}\ufffd${spaces}\ud83d\ude00${spaces}`)]);
  tokenizer.dispose();
});

test("the same of the package in one script", LONG, async () => {
  const some = small.filter((_, i) => i % 7 === 0);
  const report = await runForeign({ Tokenizer: Inline }, some, getSmall);
  expect(report.failed).toEqual([]);
});

test("files of the data folder", LONG, async (context) => {
  const real = answers.filter((answer) => answer.real);
  need(context, realModel("gpt2.tokenizer.json"));
  expect(real.length, `files in ${DATA}`).toBeGreaterThan(10);
  const report = await runForeign({ Tokenizer }, real, getReal);
  expect(report.failed).toEqual([]);
  expect(report.passed).toBe(real.length);
});

test("a rank file is named by its path, a File, an address or the option", async () => {
  const bytes = smallFile("cl100k_base.tiktoken");
  for (const load of [
    () => Tokenizer.load(new File([bytes], "cl100k_base.tiktoken")),
    () => Tokenizer.load(bytes, { name: "https://example.com/cl100k_base.tiktoken?v=1" }),
    () => Tokenizer.load(bytes, { name: "C:\\models\\cl100k_base.tiktoken" }),
    () => Tokenizer.load(bytes, { name: "cl100k_base" }),
  ]) {
    const tokenizer = await load();
    expect([...tokenizer.encode("hello world")]).toEqual([259, 260]);
    tokenizer.dispose();
  }
  const error = await errorOf(Tokenizer.load(bytes));
  expect(error.message).toContain("give one of these as the option name");
  expect(error.code).toBe("E_UNSUPPORTED");
});

test("what is in no table is named, with what to do", async () => {
  const file = fileOf("bytes.json");
  const split = { type: "Split", pattern: { Regex: "abc|d" }, behavior: "Isolated", invert: false };
  const cases: [object, RegExp][] = [
    [
      {
        pre_tokenizer: {
          type: "Sequence",
          pretokenizers: [split, (file as object as { pre_tokenizer: object }).pre_tokenizer],
        },
      },
      /^tokenizer\.json: pre_tokenizer: .*abc\|d/,
    ],
    [
      { normalizer: { type: "Replace", pattern: { String: "a" }, content: "b" } },
      /^tokenizer\.json: normalizer: .*'Replace', 'String', 'a', 'b'/,
    ],
    [
      { normalizer: { type: "Precompiled", precompiled_charsmap: "AAAA" } },
      /^tokenizer\.json: normalizer: .*'Precompiled'/,
    ],
  ];
  for (const [change, message] of cases) {
    const bytes = new TextEncoder().encode(JSON.stringify({ ...file, ...change }));
    const error = await errorOf(Tokenizer.load(bytes));
    expect(error.message).toMatch(message);
    expect(error.message).toContain("isotok compile tokenizer.json -o model.isotok");
    expect(error.code).toBe("E_UNSUPPORTED");
  }
});

test("hostile files: an error that says where, or a model", LONG, async () => {
  const deep = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
  const texts = [
    "{",
    "{}",
    '{"model": 5}',
    `{"model": ${deep}}`,
    `{"model": {"vocab": ${deep}}}`,
    `{"model": {}, "normalizer": ${'{"type": "Sequence", "normalizers": ['.repeat(50)}${"]}".repeat(50)}}`,
    '{"model": {"type": "BPE", "vocab": {"__proto__": 0}, "merges": []}}',
    '{"model": {"type": "constructor"}}',
    '{"model": {"type": "BPE", "vocab": {"a": 1e300}, "merges": []}}',
    '{"model": {"type": "Unigram", "vocab": [["a", 1e999]]}}',
    '{"config": {}, "vocab": []}',
  ];
  for (const text of texts) {
    const error = await errorOf(Tokenizer.load(new TextEncoder().encode(text)));
    expect(error.message).toMatch(/^(tokenizer\.json|vocabulary): /);
    expect(error.code).not.toBe("TRAP");
  }
  const source = smallFile("unigram.json");
  for (let size = 1; size < source.length; size += 31) {
    await errorOf(Tokenizer.load(source.slice(0, size)));
  }
  for (let at = 0; at < source.length; at += 17) {
    const damaged = source.slice();
    damaged[at] = 48 + (at % 10);
    try {
      (await Tokenizer.load(damaged)).dispose();
    } catch (error) {
      expect(error).toBeInstanceOf(TokenizerError);
      expect((error as TokenizerError).code).not.toBe("TRAP");
    }
  }
});

test("options that make no sense", async () => {
  const tokenizer = await Tokenizer.load(smallFile("bytes.json"));
  for (const special of ["some", 5, null, {}]) {
    expect(() => tokenizer.encode("a", { special: special as never })).toThrow(
      `special: ${String(special)} is unknown; use "none", "all" or a set of special tokens`,
    );
  }
  for (const token of ["hello", "", "<mask>x", 5, 10 ** 9, -1, 0.5, {}]) {
    expect(() => tokenizer.count("a", { special: ["<mask>", token as never] })).toThrow(
      `special: ${JSON.stringify(token)} is no special token of the model`,
    );
  }
  tokenizer.dispose();
});

test("a set of special tokens, in every call", async () => {
  const tokenizer = await Tokenizer.load(smallFile("bytes, template.json"));
  const text = "<mask>hello</s> [CLS] <s>the end<mask>";
  const options = { special: new Set(["<mask>", 0]), addSpecialTokens: false };
  const ids = [...tokenizer.encode(text, options)];
  const special = ["<mask>", "[CLS]", "<s>", "</s>"].map((name) => tokenizer.pieceToId(name));
  const found = special.map((id) => ids.filter((each) => each === id).length);
  expect(found).toEqual([2, 0, 1, 0]);
  expect(tokenizer.decode(ids, { skipSpecialTokens: false })).toBe(text);
  expect([...tokenizer.encodeWithOffsets(text, options).ids]).toEqual(ids);
  expect([...tokenizer.encodeBatch([text, "", text], options).ids]).toEqual([...ids, ...ids]);
  expect([...tokenizer.countBatch([text, "<s>"], options)]).toEqual([ids.length, 1]);
  const target = new Uint32Array(ids.length);
  expect(tokenizer.encodeInto(text, target, options)).toBe(ids.length);
  expect([...target]).toEqual(ids);
  expect(tokenizer.fits(text, ids.length, options)).toBe(true);
  expect(tokenizer.fits(text, ids.length - 1, options)).toBe(false);
  expect([...tokenizer.truncate(text, 3, options)]).toEqual(ids.slice(0, 3));
  expect([...tokenizer.sample(text, { ...options, dropout: 0 })]).toEqual(ids);
  const long = text.repeat(20_000);
  expect(tokenizer.count(long, options)).toBe(20_000 * ids.length);
  tokenizer.dispose();
});

test("encoders with sets of their own, one beside the other", async () => {
  const tokenizer = await Tokenizer.load(smallFile("bytes.json"));
  const sets = [["<mask>"], ["<s>", "</s>"], [], ["[CLS]", "<mask>", "</s>"]];
  const text = "<mask>hello</s> [CLS] <s>the end<mask>";
  const encoders = sets.map((special) => tokenizer.encoder({ special }));
  const found: number[][] = sets.map(() => []);
  for (let round = 0; round < 3; round++) {
    for (const character of text) {
      for (const [i, encoder] of encoders.entries()) found[i]?.push(...encoder.push(character));
      tokenizer.encode("<s>", { special: ["<s>", "[CLS]"] });
    }
    for (const [i, encoder] of encoders.entries()) found[i]?.push(...encoder.flush());
  }
  for (const [i, special] of sets.entries()) {
    const ids = [...tokenizer.encode(text, { special })];
    expect(found[i]).toEqual([...ids, ...ids, ...ids]);
  }
  for (const encoder of encoders) encoder.dispose();
  tokenizer.dispose();
});

test("parts, each with its special tokens", async () => {
  const tokenizer = await Tokenizer.load(smallFile("bytes, template.json"));
  const bytes = Uint8Array.of(
    ...[0x61, 0xf0, 0x9f, 0x98, 0x20, 0xe4, 0xef, 0xbf, 0xbd],
    ...new TextEncoder().encode("é🙂<s>"),
  );
  const parts = [
    ["<mask>hello", "all"],
    [" <mask> 🙂wor\ud800", "none"],
    [bytes, new Set(["<s>"])],
    ["", []],
    ["</s><s>", undefined],
  ] as const;
  const around = [...tokenizer.encode("")];
  const bare = parts.map(([text, special]) =>
    tokenizer.encode(text, { addSpecialTokens: false, ...(special && { special }) }),
  );
  const ids = [...tokenizer.encodeParts(parts)];
  expect(ids).toEqual([around[0], ...bare.flatMap((part) => [...part]), ...around.slice(1)]);
  expect([...tokenizer.encodeParts(parts, { addSpecialTokens: false })]).toEqual(
    ids.slice(1, 1 - around.length),
  );
  expect(tokenizer.encodeParts([]).length).toBe(around.length);
  const whole = `<mask>hello <mask> 🙂wor\ufffda\ufffd\ufffd\ufffd \ufffd\ufffdé🙂<s></s><s>`;
  const lengths = { utf16: whole.length, codepoint: [...whole].length, byte: 54 };
  for (const unit of ["utf16", "codepoint", "byte"] as const) {
    const found = tokenizer.encodePartsWithOffsets(parts, { unit });
    expect([...found.ids]).toEqual(ids);
    const last = ids.length - around.length; // the second half of </s><s>
    expect(found.end[last], unit).toBe(lengths[unit]);
    expect(found.begin[last], unit).toBe(lengths[unit] - 3);
    expect([found.begin[0], found.end[0], found.end[ids.length - 1]]).toEqual([0, 0, 0]);
    expect(found.begin[1]).toBe(0);
  }
  expect(() => tokenizer.encodeParts([["a", undefined], "ab" as never])).toThrow(
    "parts[1] must be [text, special]",
  );
  expect(() => tokenizer.encodeParts([["a", ["zz"]]])).toThrow('parts[0]: special: "zz" is no');
  const worker = new TokenizerWorker();
  const remote = await worker.load(smallFile("bytes, template.json"), { foreign });
  expect([...(await remote.encodeParts(parts))]).toEqual(ids);
  const places = tokenizer.encodePartsWithOffsets(parts);
  expect(await remote.encodePartsWithOffsets(parts)).toEqual(places);
  worker.dispose();
  tokenizer.dispose();
});

test("tokens added at load", async () => {
  const file = smallFile("bytes.json");
  const plain = await Tokenizer.load(file);
  const addedTokens = ["<user>", { content: "<t>", special: true, rstrip: true }, "hello"];
  const tokenizer = await Tokenizer.load(file, { addedTokens });
  const { vocabSize } = plain;
  expect(tokenizer.vocabSize).toBe(vocabSize + 2);
  const ids = tokenizer.encode("<t>  hello<user>");
  expect([...ids]).toEqual([vocabSize + 1, plain.pieceToId("hello"), vocabSize]);
  expect(tokenizer.decode(ids)).toBe("hello<user>");
  expect([...tokenizer.encode("<t>", { special: ["<t>"] })]).toEqual([vocabSize + 1]);
  expect(tokenizer.toBlob()).toEqual(plain.toBlob());
  // Its memory is given back, and it goes on in another instance.
  const long = `<t>${" ".repeat(30_000_000)}hello`;
  expect(tokenizer.count(long)).toBe(2);
  expect([...tokenizer.encode("<t>  hello<user>")]).toEqual([...ids]);
  const many = Array.from({ length: 6400 }, (_, i) => `<unused${i}>`);
  const large = await Tokenizer.load(plain.toBlob(), { addedTokens: many, cacheBytes: 1 << 16 });
  expect([...large.encode(many.join(""))]).toEqual(many.map((_, i) => vocabSize + i));
  const worker = new TokenizerWorker();
  const remote = await worker.load(file, { foreign, addedTokens });
  expect([...(await remote.encode("<t>  hello<user>"))]).toEqual([...ids]);
  worker.dispose();
  for (const each of [plain, tokenizer, large]) each.dispose();
  for (const [tokens, message] of [
    ["ab", "addedTokens must be several, not one"],
    [[5], "addedTokens[0] must be a text"],
    [["a", ""], "added token: empty"],
    [["\ud800"], "addedTokens[0] holds a lone surrogate"],
    [["Ġa"], "added token: its letters"],
    [[{ content: "<u>", id: 3 }], 'addedTokens[0]: "<u>" has the id'],
  ] as const) {
    const error = await errorOf(Tokenizer.load(file, { addedTokens: tokens as never }));
    expect(error.message).toContain(message);
  }
  const normalized = { content: "<u>", normalized: true };
  const other = smallFile("llama.json");
  const error = await errorOf(Tokenizer.load(other, { addedTokens: [normalized] }));
  expect(error.message).toContain("normalized: true behind a normalizer");
});

test("a worker: options, and the name of a Response", async () => {
  const worker = new TokenizerWorker();
  const tokenizer = await worker.load(smallFile("bytes, template.json"), { foreign });
  const bare = await tokenizer.encode("hello</s>", { addSpecialTokens: false, special: "none" });
  expect(await tokenizer.decode(bare)).toBe("hello</s>");
  const some = await tokenizer.encode("<s></s>", { special: new Set(["<s>"]) });
  expect(await tokenizer.decode(some)).toBe("</s>");
  const ids = await tokenizer.encode("hello</s>");
  expect(ids.length).toBe(5); // <s> hello </s> </s> <s>
  expect(await tokenizer.decode(ids)).toBe("hello");
  expect(await tokenizer.decode(ids, { skipSpecialTokens: false })).toBe("<s>hello</s></s><s>");
  const decoder = await tokenizer.decoder({ skipSpecialTokens: false });
  expect((await decoder.push(0)) + (await decoder.flush())).toBe("<s>");
  const response = new Response(smallFile("cl100k_base.tiktoken"));
  Object.defineProperty(response, "url", { value: "https://example.com/cl100k_base.tiktoken" });
  expect([...(await (await worker.load(response)).encode("hello world"))]).toEqual([259, 260]);
  worker.dispose();
});

test("a packed model, and the blob of one", async () => {
  const source = smallFile("llama.json");
  const packed = await Tokenizer.compile(source, { form: "packed" });
  const blob = await Tokenizer.compile(source);
  expect(Buffer.from(await Tokenizer.compile(packed)).equals(blob)).toBe(true);
});

test("scripts that only such files need are not in what is loaded at once", () => {
  const script = readFileSync(join(ROOT, "web/dist/index.js"), "utf8");
  const names = [...script.matchAll(/from "\.\/([\w-]+\.js)"/g)].map((match) => match[1] as string);
  expect(names.length).toBeGreaterThan(0);
  for (const name of names) {
    const text = readFileSync(join(ROOT, "web/dist", name), "utf8");
    expect(text).not.toMatch(/model\.vocab|handle_chinese_chars|import\("/);
    expect(text.length).toBeLessThan(120_000);
  }
});
