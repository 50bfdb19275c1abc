/** Files that are chosen or dropped. */

import { find } from "./dom.js";

export interface FileEvents {
  model(side: number, file: File): void;
  text(file: File): void;
}

export function watchFiles(events: FileEvents): void {
  for (const side of [0, 1]) {
    const input = find(`file-${side}`, HTMLInputElement);
    input.addEventListener("change", () => {
      for (const file of input.files ?? []) events.model(side, file);
      input.value = ""; // the same file can be chosen again
    });
  }
  watchDrops(events);
}

function watchDrops(events: FileEvents): void {
  const overlay = find("drop", HTMLElement);
  const show = (event: DragEvent, isOver: boolean) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    overlay.classList.toggle("over", isOver);
  };
  addEventListener("dragenter", (event) => show(event, true));
  addEventListener("dragover", (event) => show(event, true));
  addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) show(event, false);
  });
  addEventListener("drop", (event) => {
    show(event, false);
    const files = Array.from(event.dataTransfer?.files ?? []);
    const side = sideOf(event.target);
    let models = 0;
    for (const file of files) {
      // Browsers tell this by the name.
      if (file.type.startsWith("text/")) events.text(file);
      else events.model((side + models++) % 2, file);
    }
  });
}

function sideOf(target: EventTarget | null): number {
  const place = target instanceof Element ? target.closest<HTMLElement>("[data-side]") : null;
  return Number(place?.dataset["side"] ?? 0);
}
