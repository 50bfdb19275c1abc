/** The piece that is pointed at or focused. */

import { make } from "./dom.js";
import type { Group } from "./protocol.js";
import { tokenRow, tokenTable, tokenText, visibleNodes } from "./tokens.js";

/** Id of the description of the piece, for screen readers. */
export const DESCRIPTION = "description";
const MAX_DESCRIBED = 8;

export class Details {
  readonly #place: HTMLElement;

  constructor(place: HTMLElement) {
    this.#place = place;
    this.clear();
  }

  clear(): void {
    const hint =
      "Point at a piece, or tab to the pieces and use the arrow keys, to see its id, score and offsets.";
    this.#place.replaceChildren(make("p", { class: "hint" }, hint));
  }

  show(model: string, { text, tokens, differs }: Group): void {
    const table = tokenTable(`Tokens of this piece with ${model}`);
    table.tBodies[0]?.append(...tokens.map((token) => tokenRow(token, differs)));
    const scroll = {
      class: "scroll",
      tabindex: 0,
      role: "region",
      "aria-label": "Tokens of the piece",
    };
    const title =
      text === "" ? "from no text" : make("bdi", { class: "shown" }, ...visibleNodes(text, true));
    const words = tokens.slice(0, MAX_DESCRIBED).map(tokenText);
    if (differs) words.push("the other model cuts the text otherwise");
    this.#place.replaceChildren(
      make("p", { id: DESCRIPTION, hidden: true }, words.join("; ")),
      make("p", {}, title, make("span", { class: "model" }, model)),
      make("div", scroll, table),
    );
  }
}
