/** Offsets in all units, against code points of another implementation. */

import { Tokenizer } from "isotok";
import { afterAll, describe, expect, test } from "vitest";
import { fixture, ownModel, realModel, sameNumbers } from "./data.js";
import { unitPositions } from "./report.js";

interface Row {
  model: string;
  label: string;
  text: string;
  ids: number[];
  codepoint: [number, number][];
  utf16: [number, number][];
}

const { origin, rows } = JSON.parse(new TextDecoder().decode(fixture("offsets.json"))) as {
  origin: string;
  rows: Row[];
};

function bytesOf(name: string): Uint8Array<ArrayBuffer> {
  if (name.startsWith("toy")) return fixture(`${name}.model`);
  return realModel(`${name}.model`) ?? ownModel(name);
}

const opened = new Map<string, Promise<Tokenizer>>();

function open(name: string): Promise<Tokenizer> {
  const tokenizer = opened.get(name) ?? Tokenizer.load(bytesOf(name));
  opened.set(name, tokenizer);
  return tokenizer;
}

afterAll(async () => {
  for (const tokenizer of opened.values()) (await tokenizer).dispose();
});

describe(`offsets are those of ${origin}`, () => {
  test.each([...new Set(rows.map((row) => row.model))])("%s", async (model) => {
    const tokenizer = await open(model);
    for (const row of rows.filter((each) => each.model === model)) {
      const found = { ids: [...tokenizer.encode(row.text)], codepoint: [], utf16: [] } as Omit<
        Row,
        "model" | "label" | "text"
      >;
      for (const unit of ["codepoint", "utf16"] as const) {
        const { ids, begin, end } = tokenizer.encodeWithOffsets(row.text, { unit });
        expect([...ids]).toEqual(found.ids);
        found[unit] = Array.from(begin, (at, i) => [at, end[i] as number]);
      }
      const { ids, codepoint, utf16 } = row;
      expect({ label: row.label, ...found }).toEqual({ label: row.label, ids, codepoint, utf16 });
    }
  });
});

test.each([...new Set(rows.map((row) => row.model))])(
  "%s: normalized bytes come from the same places in every unit",
  async (model) => {
    const tokenizer = await open(model);
    for (const { label, text } of rows.filter((each) => each.model === model)) {
      const { bytes, offsets } = tokenizer.normalizeBytes(text, { unit: "byte" });
      for (const unit of ["codepoint", "utf16"] as const) {
        const places = unitPositions(text, unit);
        const found = tokenizer.normalizeBytes(text, { unit });
        expect({ label, ...found }).toEqual({
          label,
          bytes,
          offsets: offsets.map((at) => places[at] as number),
        });
      }
    }
  },
);

test("UTF-16 is the default unit, and cuts the string where tokens are", async () => {
  const tokenizer = await open("trained_bpe");
  const text = "a😀b 👩‍💻 the שלום";
  const { begin, end } = tokenizer.encodeWithOffsets(text);
  const parts = Array.from(begin, (at, i) => text.slice(at, end[i]));
  // The bytes of a character beyond the vocabulary all stand at that character.
  expect(parts.filter((part, i) => part !== parts[i - 1] || part.length < 2)).toContain("😀");
  const places = unitPositions(text, "utf16");
  for (const at of [...begin, ...end]) expect(places).toContain(at);
});

test("bytes count as UTF-8 of a string, whatever form the text has", async () => {
  const tokenizer = await open("trained_unigram");
  const text = "é😀 ﬁ";
  const bytes = new TextEncoder().encode(text);
  for (const unit of ["byte", "codepoint", "utf16"] as const) {
    expect(tokenizer.encodeWithOffsets(bytes, { unit })).toEqual(
      tokenizer.encodeWithOffsets(text, { unit }),
    );
  }
  const { end } = tokenizer.encodeWithOffsets(text, { unit: "byte" });
  expect(end.at(-1)).toBe(bytes.length);
});

test("offsets go on across windows of a long text", async () => {
  const tokenizer = await open("trained_unigram");
  const unit = "the 😀 ﬁé\n";
  const text = unit.repeat(80_000); // 1.2 MB of UTF-8
  const { ids, begin, end } = tokenizer.encodeWithOffsets(text);
  sameNumbers(ids, tokenizer.encode(text));
  expect(end.at(-1)).toBe(text.length);
  for (let i = 1; i < ids.length; i++) {
    if ((begin[i] as number) < (begin[i - 1] as number)) throw new Error(`token ${i} goes back`);
  }
  // The same place in another repetition.
  const one = tokenizer.encodeWithOffsets(unit.repeat(2));
  const perUnit = tokenizer.count(unit.repeat(2)) - tokenizer.count(unit);
  const last = ids.length - perUnit;
  const wanted = Array.from(one.begin.slice(-perUnit), (at) => at + text.length - 2 * unit.length);
  expect([...begin.slice(last)]).toEqual(wanted);
});

test("lone surrogates count as the one unit that they are", async () => {
  const tokenizer = await open("toy_bytes");
  const { ids, begin, end } = tokenizer.encodeWithOffsets("hello\ud800o");
  expect(ids).toEqual(tokenizer.encode("hello\ufffdo"));
  expect([begin.at(-1), end.at(-1)]).toEqual([6, 7]);
});
