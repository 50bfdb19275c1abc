/**
 * The text: in a text field, or, if it is too long for one, beside it.
 *
 * Browsers take a second to lay out a megabyte in a text field, and text fields turn CR LF
 * into LF. So a long text, and one of a file or link with CR, is held here as it is, and the
 * field only shows its beginning.
 */

import { grouped } from "./dom.js";

/** UTF-16 units that a text field takes without delay. */
const MAX_EDITED = 50_000;
const SHOWN = 5_000;
/** UTF-16 units; a browser cannot do much with more. */
export const MAX_TEXT = 64 << 20;

export interface EditorParts {
  readonly area: HTMLTextAreaElement;
  readonly held: HTMLElement;
  readonly heldText: HTMLElement;
  readonly clear: HTMLButtonElement;
}

export class Editor {
  readonly #parts: EditorParts;
  readonly #onChange: () => void;
  readonly #onError: (error: Error) => void;
  #held: string | undefined;

  constructor(parts: EditorParts, onChange: () => void, onError: (error: Error) => void) {
    this.#parts = parts;
    this.#onChange = onChange;
    this.#onError = onError;
    const { area, clear } = parts;
    area.addEventListener("input", () => this.#typed());
    area.addEventListener("paste", (event) => {
      this.#insert(event, event.clipboardData?.getData("text/plain") ?? "");
    });
    area.addEventListener("drop", (event) => {
      this.#insert(event, event.dataTransfer?.getData("text/plain") ?? "");
    });
    clear.addEventListener("click", () => {
      this.set("");
      area.focus();
    });
  }

  get text(): string {
    return this.#held ?? this.#parts.area.value;
  }

  /** Replaces the text. */
  set(text: string): void {
    if (text.length > MAX_TEXT) {
      this.#onError(
        new Error(
          `The text has ${grouped(text.length)} characters; this page takes up to ` +
            `${grouped(MAX_TEXT)}. Use a part of it.`,
        ),
      );
      return;
    }
    this.#hold(text.length > MAX_EDITED || text.includes("\r") ? text : undefined);
    this.#parts.area.value = this.#held === undefined ? text : text.slice(0, SHOWN);
    this.#onChange();
  }

  #hold(text: string | undefined): void {
    const { area, held, heldText } = this.#parts;
    this.#held = text;
    area.readOnly = text !== undefined;
    held.hidden = text === undefined;
    if (text === undefined) return;
    heldText.textContent =
      text.length > MAX_EDITED
        ? "The text is too long to edit here. All of it is encoded; the field shows its beginning."
        : "The text has carriage returns, which a text field would change. It is encoded as " +
          "it is, and cannot be edited here.";
  }

  #typed(): void {
    const { value } = this.#parts.area;
    if (value.length > MAX_EDITED || this.#held !== undefined) this.set(value);
    else this.#onChange();
  }

  /** Holds what is inserted, if the text becomes too long; else leaves it to the browser. */
  #insert(event: Event, content: string): void {
    if (content === "") return;
    const inserted = content.replace(/\r\n?/g, "\n"); // as a text field does
    const { area } = this.#parts;
    const { selectionStart, selectionEnd, value } = area;
    if (this.#held !== undefined) {
      event.preventDefault();
      this.set(inserted);
    } else if (value.length - (selectionEnd - selectionStart) + inserted.length > MAX_EDITED) {
      event.preventDefault();
      this.set(value.slice(0, selectionStart) + inserted + value.slice(selectionEnd));
    }
  }
}
