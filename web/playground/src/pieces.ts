/** The pieces of a text, in their colours; arrow keys go from one to the next. */

import { DESCRIPTION } from "./details.js";
import { make } from "./dom.js";
import type { Group, Groups, Token } from "./protocol.js";
import { visibleNodes } from "./tokens.js";

const COLOURS = 5;
/** A piece that can stand alone; marks and joiners cannot. */
const STANDS_ALONE = /^[\p{L}\p{N}\p{P}\p{S}][^\p{M}\p{Cf}]*$/u;

export interface PieceOptions {
  readonly spaces: boolean;
  /** Whether pieces that both models have are grey. */
  readonly comparing: boolean;
}

export class PieceList {
  readonly element: HTMLElement;
  readonly #label: string;
  readonly #options: PieceOptions;
  readonly #groups: Group[] = [];
  readonly #elements: HTMLElement[] = [];
  readonly #onPick: (group: Group) => void;
  #current = 0;

  constructor(label: string, options: PieceOptions, onPick: (group: Group) => void) {
    this.#options = options;
    this.#onPick = onPick;
    this.#label = label;
    this.element = make("div", { class: "pieces" });
    this.element.addEventListener("focusin", (event) => this.#focused(event.target));
    this.element.addEventListener("mouseover", (event) => {
      const group = this.#groups[this.#indexOf(event.target)];
      if (group !== undefined) onPick(group);
    });
    this.element.addEventListener("keydown", (event) => this.#pressed(event));
  }

  append({ groups, rest }: Groups): void {
    const nodes: Node[] = [];
    for (const group of groups) {
      if (group.before !== "") nodes.push(this.#uncovered(group.before));
      nodes.push(this.#add(group));
    }
    if (rest !== "") nodes.push(this.#uncovered(rest));
    this.element.append(...nodes);
    // Without an option, it would be a list that misses its content.
    if (this.#elements.length === 0) return;
    this.element.setAttribute("role", "listbox");
    this.element.setAttribute("aria-label", this.#label);
  }

  #add(group: Group): HTMLElement {
    const index = this.#elements.length;
    const element = make(
      "span",
      {
        role: "option",
        "aria-selected": "false",
        tabindex: index === 0 ? 0 : -1,
        class: this.#classesOf(group, index),
        "data-index": index,
      },
      ...this.#content(group),
    );
    this.#groups.push(group);
    this.#elements.push(element);
    return element;
  }

  #classesOf(group: Group, index: number): string {
    const classes = ["piece"];
    const type = group.tokens[0]?.type;
    if (group.text === "") classes.push("ghost");
    if (type === "unknown") classes.push("unknown");
    if (this.#options.comparing && !group.differs) classes.push("same", `s${index % 2}`);
    else classes.push(`c${index % COLOURS}`);
    if (this.#options.comparing && group.differs) classes.push("differs");
    return classes.join(" ");
  }

  #content({ text, tokens }: Group): Node[] {
    if (text === "" && tokens.length === 1) return [document.createTextNode(partText(tokens[0]))];
    const isWhole = tokens.length === 1 && tokens[0]?.type !== "byte";
    if (isWhole) return this.#nodes(text);
    // A line ends after the bytes, not before.
    const breaks = text.endsWith("\n");
    const nodes = this.#nodes(text);
    const parts = tokens.map((token) => make("span", { class: "part" }, partText(token)));
    if (!breaks) return [...nodes, make("span", { class: "parts", dir: "ltr" }, ...parts)];
    const last = nodes.at(-1);
    if (last !== undefined) last.textContent = (last.textContent ?? "").slice(0, -1);
    return [...nodes, make("span", { class: "parts", dir: "ltr" }, ...parts), make("br")];
  }

  #nodes(text: string): Node[] {
    return visibleNodes(text, this.#options.spaces);
  }

  /** Text that no token stands for. */
  #uncovered(text: string): HTMLElement {
    return make("span", { class: "uncovered" }, ...this.#nodes(text));
  }

  // -- focus ----------------------------------------------------------------------

  #indexOf(target: EventTarget | null): number {
    const piece = target instanceof Element ? target.closest<HTMLElement>("[data-index]") : null;
    return piece === null ? -1 : Number(piece.dataset["index"]);
  }

  #focused(target: EventTarget | null): void {
    const index = this.#indexOf(target);
    const [group, element] = [this.#groups[index], this.#elements[index]];
    if (group === undefined || element === undefined) return;
    const old = this.#elements[this.#current];
    old?.setAttribute("tabindex", "-1");
    old?.setAttribute("aria-selected", "false");
    old?.removeAttribute("aria-describedby");
    element.setAttribute("tabindex", "0");
    element.setAttribute("aria-selected", "true");
    element.setAttribute("aria-describedby", DESCRIPTION);
    this.#current = index;
    this.#onPick(group);
  }

  #pressed(event: KeyboardEvent): void {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const next = this.#target(event.key);
    if (next === undefined) return;
    event.preventDefault();
    this.#elements[Math.min(Math.max(next, 0), this.#elements.length - 1)]?.focus();
  }

  #target(key: string): number | undefined {
    switch (key) {
      case "ArrowDown":
        return this.#current + 1;
      case "ArrowUp":
        return this.#current - 1;
      case "ArrowRight":
        return this.#current + (this.#runsLeft() ? -1 : 1);
      case "ArrowLeft":
        return this.#current + (this.#runsLeft() ? 1 : -1);
      case "Home":
        return 0;
      case "End":
        return this.#elements.length - 1;
      default:
        return undefined;
    }
  }

  /** Whether the text runs from right to left here: a neighbour on the line tells. */
  #runsLeft(): boolean {
    const here = this.#box(this.#current);
    const [after, before] = [this.#box(this.#current + 1), this.#box(this.#current - 1)];
    const onLine = (box: DOMRect | undefined) => Math.abs((box?.top ?? NaN) - here.top) < 4;
    if (after !== undefined && onLine(after)) return after.left < here.left;
    return before !== undefined && onLine(before) && before.left > here.left;
  }

  #box(index: number): DOMRect {
    return this.#elements[index]?.getBoundingClientRect() ?? new DOMRect(NaN, NaN);
  }
}

/** What is shown of one of several tokens of a character. */
function partText(token: Token | undefined): string {
  if (token === undefined) return "";
  if (token.type === "byte" || !STANDS_ALONE.test(token.piece)) return token.bytes;
  return token.piece;
}
