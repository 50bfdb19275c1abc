/** The text as `encode` sees it. */

import type { ModelInstance } from "./instance.js";
import { RESULT_WORDS } from "./instance.js";
import * as abi from "./layout_gen.js";
import type { Address, Text } from "./memory.js";
import { Chunks } from "./text.js";

/** Normalized text as UTF-8, and for each of its bytes, and its end, the raw offset. */
export interface NormalizedBytes {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly offsets: Uint32Array<ArrayBuffer>;
}

/** Bytes of normalized text in the results, with a word for each behind them. */
const CAPACITY = Math.floor(RESULT_WORDS / 5) * 4;

function run(
  model: ModelInstance,
  text: Text,
  unit: number,
  map: Address,
  drain: (count: number) => void,
): void {
  const { at, machine, session } = model;
  const step = () =>
    machine.call(
      "isotok_normalize_step",
      session.pointer,
      at.input,
      at.results,
      map,
      CAPACITY,
      at.first,
      at.second,
      at.error,
    );
  try {
    model.writeOptions(0, 0, unit);
    model.begin("isotok_normalize_begin");
    model.run(text, step, () => drain(machine.memory.word(at.first)));
  } finally {
    model.settle();
  }
}

export function normalize(model: ModelInstance, text: Text): string {
  const { at, machine, utf8 } = model;
  let normalized = "";
  try {
    run(model, text, abi.UNIT_BYTE, 0, (count) => {
      normalized += machine.memory.readText(at.results, count, utf8, true);
    });
  } finally {
    normalized += utf8.decode(); // after an error, forgets what is left
  }
  return normalized;
}

export function normalizeBytes(model: ModelInstance, text: Text, unit: number): NormalizedBytes {
  const { at, machine } = model;
  const { memory } = machine;
  const bytes = new Chunks((length) => new Uint8Array(length));
  const offsets = new Chunks((length) => new Uint32Array(length));
  const map = at.results + CAPACITY;
  let end = 0;
  run(model, text, unit, map, (count) => {
    bytes.push(memory.copy(at.results, count));
    offsets.push(memory.copyWords(map, count));
    end = memory.word(at.second);
  });
  // Nothing has no places: the core leaves out the end of an empty text.
  offsets.push(Uint32Array.of(bytes.length === 0 ? 0 : end));
  return { bytes: bytes.join(), offsets: offsets.join() };
}
