/** Tokens as rows of a table, for the details of a piece and for all pieces. */

import { make } from "./dom.js";
import type { Range, Token } from "./protocol.js";
import { visibleParts } from "./text.js";

const COLUMNS = ["#", "Id", "Piece", "Bytes", "Score", "Type", "UTF-16", "Code points", "Byte range"];

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

export function tokenRow(token: Token): HTMLTableRowElement {
  return make(
    "tr",
    {},
    make("td", { class: "number" }, String(token.index)),
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
