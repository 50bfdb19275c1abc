/** Boxes at the top of the page: what went wrong, and what to do. */

import { WorkerError } from "./client.js";
import { make } from "./dom.js";

const MAX_BOXES = 4;

export class Notices {
  readonly #place: HTMLElement;

  constructor(place: HTMLElement) {
    this.#place = place;
  }

  error(title: string, error: unknown): void {
    this.#add("notice error", "alert", title, errorParts(error));
  }

  info(title: string, text: string): void {
    this.#add("notice", "status", title, [make("p", {}, text)]);
  }

  /** Removes the boxes with this title. */
  clear(title: string): void {
    for (const box of this.#place.querySelectorAll<HTMLElement>(".notice")) {
      if (box.dataset["title"] === title) box.remove();
    }
  }

  #add(kind: string, role: string, title: string, parts: Node[]): void {
    this.clear(title);
    const close = make("button", { type: "button", "aria-label": `Close: ${title}` }, "×");
    const box = make(
      "div",
      { class: kind, role, "data-title": title },
      make("div", {}, make("strong", {}, title), ...parts),
      close,
    );
    close.addEventListener("click", () => box.remove());
    this.#place.append(box);
    while (this.#place.childElementCount > MAX_BOXES) this.#place.firstElementChild?.remove();
  }
}

/** What an error says, and for those of the core status, cause and place. */
export function errorParts(error: unknown): Node[] {
  const message = error instanceof Error ? error.message : String(error);
  const parts: Node[] = [make("p", {}, message)];
  if (!(error instanceof WorkerError) || error.code === undefined) return parts;
  const facts: [string, string | undefined][] = [
    ["status", error.status === 0 ? error.code : `${error.code} (${error.status})`],
    ["what", numberText(error.what)],
    ["offset", error.offset === 0 ? undefined : `byte ${error.offset}`],
    ["index", numberText(error.index)],
  ];
  const list = make("dl", { class: "facts" });
  for (const [name, value] of facts) {
    if (value !== undefined)
      list.append(make("div", {}, make("dt", {}, name), make("dd", {}, value)));
  }
  parts.push(list);
  return parts;
}

function numberText(number: number): string | undefined {
  return number === 0 ? undefined : String(number);
}
