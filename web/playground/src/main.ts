/** The page: puts its parts together. */

import { Client } from "./client.js";
import { Details } from "./details.js";
import { find, grouped, make, plural } from "./dom.js";
import { Editor } from "./editor.js";
import { watchFiles } from "./files.js";
import { Models } from "./models.js";
import { Notices } from "./notices.js";
import { Panel, type PanelOptions } from "./panel.js";
import type { Analysed, Options, TextCounts } from "./protocol.js";
import { SAMPLES } from "./samples.js";
import { readFragment, type Shared, type View, writeFragment } from "./share.js";

/** Groups drawn at first, and by each "Show more". */
const FIRST_GROUPS = 600;
const MORE_GROUPS = 2000;
/** After the last change, when a screen reader is told. */
const ANNOUNCE_MILLISECONDS = 1000;

class Page {
  readonly #notices = new Notices(find("notices", HTMLElement));
  readonly #details = new Details(find("details", HTMLElement));
  readonly #client = new Client((reason) => void this.#restarted(reason));
  readonly #models = new Models(
    this.#client,
    [find("model-0", HTMLSelectElement), find("model-1", HTMLSelectElement)],
    (side) => {
      this.#awaited[side] = undefined;
      this.#changed();
    },
  );
  readonly #editor = new Editor(
    {
      area: find("text", HTMLTextAreaElement),
      held: find("held", HTMLElement),
      heldText: find("held-text", HTMLElement),
      clear: find("clear", HTMLButtonElement),
    },
    () => this.#changed(),
    (error) => this.#notices.error("Text too long", error),
  );
  readonly #panels = [0, 1].map((side) => this.#panel(side));
  readonly #boxes = {
    bos: find("bos", HTMLInputElement),
    eos: find("eos", HTMLInputElement),
    spaces: find("spaces", HTMLInputElement),
  };
  readonly #views = document.querySelectorAll<HTMLInputElement>('input[name="view"]');
  readonly #counts = find("counts", HTMLElement);
  readonly #live = find("live", HTMLElement);
  /** Names in a link whose files are not there yet. */
  #awaited: [string | undefined, string | undefined] = [undefined, undefined];
  /** The text that the worker has. */
  #sentText: string | undefined;
  #isAnalysing = false;
  #isStale = false;
  #announcing = 0;

  async start(): Promise<void> {
    find("panels", HTMLElement).append(...this.#panels.map((panel) => panel.element));
    this.#listen();
    this.#addSamples();
    try {
      await this.#models.openDefault();
    } catch (error) {
      this.#notices.error("The default model cannot be opened", error);
    }
    if (!(await this.#openLink())) this.#editor.set(SAMPLES[0]?.text ?? "");
  }

  // -- what the reader does -------------------------------------------------------

  #listen(): void {
    const { bos, eos, spaces } = this.#boxes;
    for (const box of [bos, eos]) box.addEventListener("change", () => this.#changed());
    for (const box of [spaces, ...this.#views]) {
      box.addEventListener("change", () => this.#redraw());
    }
    find("share", HTMLButtonElement).addEventListener("click", () => void this.#share());
    addEventListener("hashchange", () => void this.#openLink());
    watchFiles({
      model: (side, file) => void this.#openModel(side, file),
      text: (file) => void this.#openText(file),
    });
  }

  #addSamples(): void {
    const buttons = SAMPLES.map(({ label, lang, text }) => {
      const button = make("button", { type: "button", lang }, label);
      button.addEventListener("click", () => this.#editor.set(text));
      return button;
    });
    find("samples", HTMLElement).append(...buttons);
  }

  async #openModel(side: number, file: File): Promise<void> {
    const title = `${file.name} cannot be opened`;
    const list = find(`model-${side}`, HTMLSelectElement);
    list.setAttribute("aria-busy", "true");
    this.#announce(`Opening ${file.name}`);
    try {
      const model = await this.#models.openFile(file);
      this.#notices.clear(title);
      const awaiting = [0, 1].filter((other) => this.#awaited[other] === model.name);
      for (const place of awaiting.length > 0 ? awaiting : [side]) {
        this.#models.choose(place, model);
        this.#awaited[place] = undefined;
      }
    } catch (error) {
      this.#notices.error(title, error);
    } finally {
      list.removeAttribute("aria-busy");
    }
    this.#changed();
  }

  async #openText(file: File): Promise<void> {
    const bytes = await file.arrayBuffer();
    this.#editor.set(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes));
  }

  // -- analysis -------------------------------------------------------------------

  get #options(): Options {
    return { bos: this.#boxes.bos.checked, eos: this.#boxes.eos.checked };
  }

  get #view(): View {
    return Array.from(this.#views).some((b) => b.checked && b.value === "table") ? "table" : "text";
  }

  get #panelOptions(): PanelOptions {
    const comparing = this.#models.chosen[1] !== undefined;
    return { spaces: this.#boxes.spaces.checked, view: this.#view, comparing };
  }

  /** Analyses the text, after what is being analysed now. */
  #changed(): void {
    if (this.#isAnalysing) this.#isStale = true;
    else void this.#analyse();
  }

  async #analyse(): Promise<void> {
    this.#isAnalysing = true;
    for (const panel of this.#panels) panel.busy = true;
    do {
      this.#isStale = false;
      try {
        await this.#analyseOnce();
      } catch (error) {
        this.#notices.error("The text cannot be analysed", error);
      }
    } while (this.#isStale);
    for (const panel of this.#panels) panel.busy = false;
    this.#isAnalysing = false;
  }

  async #analyseOnce(): Promise<void> {
    const models = this.#models.chosen.filter((model) => model !== undefined);
    if (models.length === 0) return;
    const { text } = this.#editor;
    if (text !== this.#sentText) {
      this.#sentText = text;
      await this.#client.call("setText", text);
    }
    const keys = models.map(({ key }) => key);
    const analysed = await this.#client.call("analyse", keys, this.#options, FIRST_GROUPS);
    if (this.#isStale) return;
    this.#details.clear();
    for (const [i, panel] of this.#panels.entries()) {
      const [model, side] = [models[i], analysed.sides[i]];
      panel.element.hidden = model === undefined;
      if (model !== undefined && side !== undefined) {
        panel.show(model, side, analysed.counts, this.#panelOptions);
      }
    }
    find("panels", HTMLElement).classList.toggle("two", models.length === 2);
    this.#redrawLegend();
    this.#counts.textContent = countsText(analysed.counts);
    this.#announce(
      summary(
        models.map(({ name }) => name),
        analysed,
      ),
    );
  }

  #redraw(): void {
    for (const panel of this.#panels) panel.setOptions(this.#panelOptions);
    this.#redrawLegend();
  }

  #redrawLegend(): void {
    const { comparing, view } = this.#panelOptions;
    find("legend", HTMLElement).hidden = !comparing || view !== "text";
  }

  #panel(side: number): Panel {
    const panel = new Panel(side, {
      pick: (model, group) => this.#details.show(model, group),
      more: () => this.#client.call("more", side, MORE_GROUPS),
      copyIds: () => this.#copyIds(side),
    });
    panel.element.hidden = true;
    return panel;
  }

  async #restarted(reason: string): Promise<void> {
    this.#sentText = undefined;
    this.#notices.error("The worker was started again", new Error(`It had ended: ${reason}`));
    try {
      await this.#models.reopen();
    } catch (error) {
      this.#notices.error("A model cannot be opened again", error);
    }
  }

  /** Tells screen readers, when no more changes come. */
  #announce(text: string): void {
    clearTimeout(this.#announcing);
    this.#announcing = setTimeout(() => {
      this.#live.textContent = text;
    }, ANNOUNCE_MILLISECONDS);
  }

  // -- the clipboard and links ----------------------------------------------------

  async #copyIds(side: number): Promise<void> {
    const ids = await this.#client.call("ids", side);
    await this.#copy(Array.from(ids).join(" "), plural(ids.length, "id"));
  }

  async #share(): Promise<void> {
    const title = "No link";
    try {
      const address = new URL(location.href);
      address.hash = await writeFragment(this.#shared());
      history.replaceState(null, "", address);
      this.#notices.clear(title);
      await this.#copy(address.href, "The link");
    } catch (error) {
      this.#notices.error(title, error);
    }
  }

  #shared(): Shared {
    const [first, second] = this.#models.chosen;
    const names = [
      this.#awaited[0] ?? first?.name ?? "",
      this.#awaited[1] ?? second?.name,
    ] as const;
    const { spaces, view } = this.#panelOptions;
    return { text: this.#editor.text, models: names, ...this.#options, spaces, view };
  }

  async #copy(text: string, what: string): Promise<void> {
    const title = "Clipboard";
    try {
      await navigator.clipboard.writeText(text);
      this.#notices.info(title, `${what} copied.`);
    } catch {
      this.#notices.info(title, "The browser does not let this page write to the clipboard.");
    }
  }

  /** Shows what the link holds; returns whether it holds anything. */
  async #openLink(): Promise<boolean> {
    let shared: Shared | undefined;
    try {
      shared = await readFragment(location.hash.slice(1));
    } catch (error) {
      this.#notices.error("The link cannot be read", error);
    }
    if (shared === undefined) return false;
    const { bos, eos, spaces } = this.#boxes;
    [bos.checked, eos.checked, spaces.checked] = [shared.bos, shared.eos, shared.spaces];
    for (const box of this.#views) box.checked = box.value === shared.view;
    this.#chooseShared(shared.models);
    this.#editor.set(shared.text);
    return true;
  }

  #chooseShared(names: Shared["models"]): void {
    this.#awaited = [undefined, undefined];
    for (const [side, name] of names.entries()) {
      const model = name === undefined ? undefined : this.#models.named(name);
      if (side === 1 || model !== undefined) this.#models.choose(side, model);
      if (name !== undefined && model === undefined) this.#awaited[side] = name;
    }
    const missing = this.#awaited.filter((name) => name !== undefined);
    if (missing.length === 0) return;
    this.#notices.info(
      `The link was made with ${missing.join(" and ")}`,
      "A link holds the text, not the model. Open the file here to see the same tokens.",
    );
  }
}

function countsText({ characters, bytes, loneSurrogates }: TextCounts): string {
  const parts = [plural(characters, "character"), plural(bytes, "byte")];
  if (loneSurrogates > 0) {
    parts.push(`${plural(loneSurrogates, "lone surrogate")}, encoded as U+FFFD`);
  }
  return parts.join(" · ");
}

function summary(names: readonly string[], { counts, sides }: Analysed): string {
  const perModel = sides.map((side, i) => {
    const result = "error" in side ? "error" : plural(side.tokens, "token");
    return `${names[i]}: ${result}`;
  });
  return `${perModel.join("; ")}; ${grouped(counts.characters)} characters`;
}

void new Page().start();
