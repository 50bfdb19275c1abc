/** Tokens as rows of a table, for the details of a piece and for all pieces. */

import { make } from "./dom.js";
import type { Range, Token } from "./protocol.js";
import { visibleParts } from "./text.js";

const COLUMNS = [
  "#",
  "Id",
  "Piece",
  "Bytes",
  "Score",
  "Type",
  "UTF-16",
  "Code points",
  "Byte range",
];

export function tokenTable(caption: string): HTMLTableElement {
  const head = make("tr", {}, ...COLUMNS.map((name) => make("th", { scope: "col" }, name)));
  return make(
    "table",
    { class: "tokens" },
    make("caption", { class: "hidden" }, caption),
    make("thead", {}, head),
    make("tbody"),
  );
}

/** @param differs Whether the other model cuts the text otherwise there. */
export function tokenRow(token: Token, differs: boolean): HTMLTableRowElement {
  return make(
    "tr",
    { class: differs ? "differs" : undefined },
    make("td", { class: "number" }, `${token.index}${differs ? " ≠" : ""}`),
    make("td", { class: "number" }, String(token.id)),
    make("td", { class: "piece-text" }, make("bdi", {}, ...visibleNodes(token.piece, true))),
    make("td", { class: "bytes" }, token.bytes),
    make("td", { class: "number" }, scoreText(token.score)),
    make("td", {}, token.type.replace("_", " ")),
    ...[token.utf16, token.codepoint, token.byte].map((range) =>
      make("td", { class: "number" }, rangeText(range)),
    ),
  );
}

/** The same in words. */
export function tokenText(token: Token): string {
  const ranges = `UTF-16 ${rangeText(token.utf16)}, code points ${rangeText(token.codepoint)}`;
  const { id, score, type, bytes, byte } = token;
  return `id ${id}, ${type}, score ${scoreText(score)}, bytes ${bytes}, ${ranges}, bytes ${rangeText(byte)}`;
}

/** A text with signs for spaces, if they are to be seen, and codes for hidden characters. */
export function visibleNodes(text: string, spaces: boolean): Node[] {
  return visibleParts(text, spaces).map((part) =>
    part.kind === "text"
      ? document.createTextNode(part.text)
      : make("span", { class: part.kind }, part.text),
  );
}

function scoreText(score: number): string {
  return String(Number(score.toFixed(4)));
}

function rangeText([begin, end]: Range): string {
  return `${begin}–${end}`;
}
