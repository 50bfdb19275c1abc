/** The round trip in words. */

import { make, plural } from "./dom.js";
import type { Difference, RoundTrip } from "./protocol.js";
import { codeOf } from "./text.js";
import { visibleNodes } from "./tokens.js";

const MEANINGS: Readonly<Record<RoundTrip["outcome"], readonly [sign: string, text: string]>> = {
  exact: ["✓", "Round trip: decoding the ids gives the text back."],
  repaired: [
    "✓",
    "Round trip: decoding gives the text back, with U+FFFD for the lone surrogates, which are " +
      "no characters.",
  ],
  normalized: [
    "≈",
    "Round trip: decoding gives another text, which this model normalizes to the same. " +
      "Nothing is lost but what its normalizer changes.",
  ],
  lost: ["≠", "Round trip: decoding gives another text, also after normalization."],
};

export function roundTripNodes({ outcome, unknownTokens, difference }: RoundTrip): Node[] {
  const [sign, text] = MEANINGS[outcome];
  const unknown =
    unknownTokens === 0 ? "" : ` ${plural(unknownTokens, "unknown token")}: that text is lost.`;
  const line = [
    make("span", { class: `mark ${outcome}`, "aria-hidden": true }, sign),
    text + unknown,
  ];
  if (difference === undefined) return [make("p", {}, ...line)];
  return [
    make(
      "details",
      {},
      make("summary", {}, ...line),
      make(
        "dl",
        { class: "difference" },
        ...row("first difference", `UTF-16 offset ${difference.at}`),
        ...row("the text has", ...excerpt(difference, "text")),
        ...row("decoding gives", ...excerpt(difference, "decoded")),
      ),
    ),
  ];
}

function row(name: string, ...content: (Node | string)[]): Node[] {
  return [make("dt", {}, name), make("dd", {}, ...content)];
}

function excerpt(difference: Difference, side: "text" | "decoded"): (Node | string)[] {
  const text = difference[side];
  if (text === "") return ["its end"];
  const codes = Array.from(text).slice(0, 4).map(codeOf).join(" ");
  return [
    make("bdi", { class: "shown" }, ...visibleNodes(text, true)),
    make("span", { class: "codes" }, codes),
  ];
}
