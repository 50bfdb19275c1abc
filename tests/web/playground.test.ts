/** Parts of the playground that need no page. */

import { describe, expect, test } from "vitest";
import { Graphemes } from "../../web/playground/src/graphemes.js";
import { readFragment, type Shared, writeFragment } from "../../web/playground/src/share.js";
import { countText, repairSurrogates, visibleParts } from "../../web/playground/src/text.js";

const ALPHABET = Array.from(
  "ab \n\r\u0301\u0337\u200d\ufe0f👩🏽👦💻🇯🇵🇫कष्षि각\u1100\u1161ก\u0e33\0",
);

/** The same numbers each time (xorshift). */
function* numbers(below: number, seed = 1): Generator<number> {
  let state = seed;
  for (;;) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    yield (state >>> 0) % below;
  }
}

function texts(count: number, length: number): string[] {
  const random = numbers(ALPHABET.length);
  const one = () => Array.from({ length }, () => ALPHABET[random.next().value as number]).join("");
  return Array.from({ length: count }, one);
}

describe("boundaries of characters", () => {
  function boundaries(text: string): Set<number> {
    const segments = new Intl.Segmenter("en").segment(text);
    return new Set([...Array.from(segments, ({ index }) => index), text.length]);
  }

  test("at every position", () => {
    for (const text of texts(200, 40)) {
      const [graphemes, wanted] = [new Graphemes(text), boundaries(text)];
      for (let at = 0; at <= text.length; at++) {
        expect(graphemes.isBoundary(at), `${JSON.stringify(text)} ${at}`).toBe(wanted.has(at));
      }
    }
  });

  test("at some positions, also far apart", () => {
    for (const text of texts(5, 20_000)) {
      const [graphemes, wanted] = [new Graphemes(text), boundaries(text)];
      const random = numbers(3000, 7);
      for (let at = 0; at <= text.length; at += 1 + (random.next().value as number)) {
        expect(graphemes.isBoundary(at)).toBe(wanted.has(at));
      }
    }
  });

  test("a character without end takes no time without end", () => {
    const text = `a${"\u0301".repeat(1_000_000)}`;
    const graphemes = new Graphemes(text);
    const begin = performance.now();
    for (let at = 0; at < text.length; at += 500) graphemes.isBoundary(at);
    expect(performance.now() - begin).toBeLessThan(10_000);
  });
});

describe("links", () => {
  const base: Shared = {
    text: "",
    models: ["default", undefined],
    bos: false,
    eos: false,
    spaces: true,
    view: "text",
  };

  test("hold any text", async () => {
    const odd = [
      "",
      "a",
      "\0",
      "\ufeff",
      "\ud800",
      "a\udc00\ud83db",
      "\r\n",
      "&t=%#+",
      "é".repeat(3000),
    ];
    for (const text of [...odd, ...texts(50, 30)]) {
      expect(await readFragment(await writeFragment({ ...base, text }))).toEqual({ ...base, text });
    }
  });

  test("hold the settings", async () => {
    const shared: Shared = {
      text: "x",
      models: ["a & b.model", "ü#.isotok"],
      bos: true,
      eos: true,
      spaces: false,
      view: "table",
    };
    expect(await readFragment(await writeFragment(shared))).toEqual(shared);
    expect(await readFragment("")).toBeUndefined();
  });
});

test("counts are those of an encoder", () => {
  for (const text of ["", "é👍日\ud800a\udc00\ud83d", ...texts(100, 30)]) {
    const counts = countText(text);
    expect(counts.bytes).toBe(new TextEncoder().encode(text).length);
    expect(counts.characters).toBe(Array.from(text).length);
    const lone = Array.from(text).filter((c) => /^[\ud800-\udfff]$/.test(c)).length;
    expect(counts.loneSurrogates).toBe(lone);
    expect(repairSurrogates(text)).toBe(
      new TextDecoder("utf-8", { ignoreBOM: true }).decode(new TextEncoder().encode(text)),
    );
  }
});

test("hidden characters are shown by their numbers, joiners are left alone", () => {
  const shown = (text: string) =>
    visibleParts(text, true).map(({ kind, text }) => `${kind}:${text}`);
  expect(shown("a b\u202ec\ud800\0")).toEqual([
    ...["text:a", "sign:·", "text:b", "code:U+202E", "text:c", "code:U+D800", "code:U+0000"],
  ]);
  expect(shown("👩‍💻🏳️‍🌈 ن\u200cه")).toEqual(["text:👩‍💻🏳️‍🌈", "sign:·", "text:ن\u200cه"]);
  expect(visibleParts("a b\n", false)).toEqual([{ kind: "text", text: "a b\n" }]);
});
