/** What one model makes of the text. */

import { WorkerError } from "./client.js";
import { grouped, make, plural } from "./dom.js";
import { describe, type Model } from "./models.js";
import { errorParts } from "./notices.js";
import { PieceList } from "./pieces.js";
import type { Group, Groups, Side, SideResult, TextCounts, Timing } from "./protocol.js";
import { roundTripNodes } from "./round_trip_text.js";
import type { View } from "./share.js";
import { tokenRow, tokenTable } from "./tokens.js";

export interface PanelOptions {
  readonly spaces: boolean;
  readonly view: View;
  readonly comparing: boolean;
}

export interface PanelEvents {
  /** A piece was pointed at or focused. */
  pick(model: string, group: Group): void;
  /** More groups are wanted. */
  more(): Promise<Groups>;
  copyIds(): Promise<void>;
}

export class Panel {
  readonly element: HTMLElement;
  readonly #events: PanelEvents;
  readonly #title = make("h2");
  readonly #about = make("p", { class: "about" });
  readonly #body = make("div");
  readonly #shown = make("p", { class: "amount" });
  readonly #more = make("button", { type: "button" }, "Show more");
  readonly #copy = make("button", { type: "button" }, "Copy ids");
  #model: Model | undefined;
  #result: SideResult | undefined;
  #counts: TextCounts | undefined;
  #groups: Groups[] = [];
  #options: PanelOptions = { spaces: true, view: "text", comparing: false };
  #append: (groups: Groups) => void = () => {};

  constructor(side: number, events: PanelEvents) {
    this.#events = events;
    this.#title.id = `title-${side}`;
    this.element = make(
      "section",
      { class: "panel", "data-side": side, "aria-labelledby": this.#title.id },
      make("header", {}, this.#title, this.#about),
      this.#body,
      make("footer", {}, this.#shown, this.#more, this.#copy),
    );
    this.#more.addEventListener("click", () => void this.#showMore());
    this.#copy.addEventListener("click", () => void events.copyIds());
  }

  /** Shows that it is not up to date, without taking away what is there. */
  set busy(busy: boolean) {
    this.element.setAttribute("aria-busy", String(busy));
  }

  show(model: Model, side: Side, counts: TextCounts, options: PanelOptions): void {
    this.#model = model;
    this.#title.replaceChildren(make("bdi", {}, model.name));
    this.#about.textContent = describe(model);
    this.#options = options;
    this.#counts = counts;
    if ("error" in side) {
      this.#result = undefined;
      const parts = errorParts(new WorkerError(side.error));
      this.#body.replaceChildren(
        make("div", { class: "notice error", role: "alert" }, make("div", {}, ...parts)),
      );
      this.#updateFooter();
      return;
    }
    this.#result = side;
    this.#groups = [side.groups];
    this.#draw();
  }

  /** Draws the same again with other options. */
  setOptions(options: PanelOptions): void {
    this.#options = options;
    if (this.#result !== undefined) this.#draw();
  }

  #draw(): void {
    const [result, counts, model] = [this.#result, this.#counts, this.#model];
    if (result === undefined || counts === undefined || model === undefined) return;
    const pieces = this.#options.view === "text" ? this.#textView(model) : this.#tableView(model);
    this.#body.replaceChildren(
      statistics(result, counts),
      make("div", { class: "round-trip" }, ...roundTripNodes(result.roundTrip)),
      pieces,
    );
    for (const groups of this.#groups) this.#append(groups);
    this.#updateFooter();
  }

  #textView({ name }: Model): HTMLElement {
    const list = new PieceList(`Pieces, ${name}`, this.#options, (group) =>
      this.#events.pick(name, group),
    );
    this.#append = (groups) => list.append(groups);
    return list.element;
  }

  #tableView({ name }: Model): HTMLElement {
    const table = tokenTable(`Tokens, ${name}`);
    this.#append = ({ groups }) => {
      const rows = groups.flatMap(({ tokens, differs }) =>
        tokens.map((token) => tokenRow(token, differs)),
      );
      table.tBodies[0]?.append(...rows);
    };
    const label = `Table of tokens, ${name}`;
    return make(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": label },
      table,
    );
  }

  async #showMore(): Promise<void> {
    const result = this.#result;
    this.#more.disabled = true;
    try {
      const groups = await this.#events.more();
      if (this.#result !== result) return; // the text is another one by now
      this.#groups.push(groups);
      this.#append(groups);
    } finally {
      this.#more.disabled = false;
      this.#updateFooter();
    }
  }

  #updateFooter(): void {
    const total = this.#result?.tokens ?? 0;
    const last = this.#result === undefined ? undefined : this.#groups.at(-1);
    const isPart = last !== undefined && !last.done;
    this.#shown.textContent = isPart
      ? `The first ${grouped(last.tokens)} of ${plural(total, "token")} are shown.`
      : "";
    this.#more.hidden = !isPart;
    this.#copy.hidden = total === 0;
  }
}

function statistics(result: SideResult, counts: TextCounts): HTMLElement {
  const { tokens, timing, differences } = result;
  const items: [string, string, string?][] = [["Tokens", grouped(tokens)]];
  if (tokens > 0) {
    items.push(["Characters per token", ratioText(counts.characters / tokens)]);
    items.push(["Encoded in", timeText(timing), `mean of ${plural(timing.runs, "run")}`]);
    items.push(["Speed", speedText(timing, counts.bytes)]);
  }
  if (differences !== undefined) items.push(["Cut otherwise", plural(differences, "place")]);
  const list = make("dl", { class: "statistics" });
  for (const [name, value, title] of items) {
    list.append(make("div", { title }, make("dt", {}, name), make("dd", {}, value)));
  }
  return list;
}

function ratioText(ratio: number): string {
  return ratio < 100 ? ratio.toFixed(2) : grouped(Math.round(ratio));
}

function timeText({ milliseconds }: Timing): string {
  if (milliseconds >= 100) return `${Math.round(milliseconds)} ms`;
  return milliseconds >= 0.1
    ? `${milliseconds.toPrecision(2)} ms`
    : `${(1000 * milliseconds).toPrecision(2)} µs`;
}

function speedText({ milliseconds }: Timing, bytes: number): string {
  return `${(bytes / 1000 / milliseconds).toPrecision(3)} MB/s`;
}
