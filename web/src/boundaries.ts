/** Where normalized text may be cut. */

import type { ModelInstance } from "./instance.js";
import { RESULT_WORDS } from "./instance.js";
import * as abi from "./layout_gen.js";
import type { Text } from "./memory.js";
import { Chunks, writeText } from "./text.js";

type Words = Uint32Array<ArrayBuffer>;

const newWords = (length: number): Words => new Uint32Array(length);

/**
 * Ends of the chunks, in units of the text: UTF-16 code units of a string, bytes of bytes. A
 * cut depends on the two characters at it, so the last character of a window is the first
 * of the next.
 */
export function safeBoundaries(model: ModelInstance, text: Text): Words {
  const found = new Chunks(newWords);
  let position = 0; // units of the text before the window
  let bytes = 0; // the same in UTF-8
  while (position < text.length) {
    const { read, written } = writeCharacters(model, text, position);
    const window = model.machine.memory.copy(model.at.text, written);
    const ends = windowEnds(model, written, bytes);
    const last = position + read === text.length;
    const inUnits = typeof text === "string" && read !== written;
    found.push(shifted(last ? ends : ends.subarray(0, -1), inUnits ? window : undefined, position));
    if (last) break;
    const start = characterStart(window, written - 1);
    position += read - (typeof text === "string" ? units(window, start, written) : written - start);
    bytes += start;
  }
  return found.join();
}

/** Writes whole characters from `position` on, as many as the window holds. */
function writeCharacters(
  model: ModelInstance,
  text: Text,
  position: number,
): { read: number; written: number } {
  const { memory } = model.machine;
  if (typeof text === "string") return writeText(memory, text.slice(position), 0, model.window);
  let end = Math.min(position + model.window, text.length);
  if (end < text.length) end = characterStart(text, end);
  return writeText(memory, text.subarray(position, end), 0, model.window);
}

/** `at`, or up to three bytes before it, where a character begins. */
function characterStart(bytes: Uint8Array, at: number): number {
  for (let start = at; start > Math.max(at - 4, 0); start--) {
    if (((bytes[start] as number) & 0xc0) !== 0x80) return start;
  }
  return at;
}

/** UTF-16 code units of UTF-8. */
function units(bytes: Uint8Array, begin: number, end: number): number {
  let count = 0;
  for (let i = begin; i < end; i++) {
    const byte = bytes[i] as number;
    if ((byte & 0xc0) !== 0x80) count += byte < 0xf0 ? 1 : 2;
  }
  return count;
}

/** Ends in the text from those in its window; with the window's bytes, as UTF-16. */
function shifted(ends: Words, window: Uint8Array | undefined, position: number): Words {
  let byte = 0;
  let unit = 0;
  return ends.map((end) => {
    if (window === undefined) return position + end;
    unit += units(window, byte, end);
    byte = end;
    return position + unit;
  });
}

/** Ends in the window, in bytes. */
function windowEnds(model: ModelInstance, size: number, bytes: number): Words {
  const { at, machine } = model;
  const { memory } = machine;
  const ends = new Chunks(newWords);
  memory.setWord(at.first, 0); // position
  let status: number;
  do {
    status = machine.call(
      "isotok_boundaries",
      model.model,
      at.text,
      size,
      at.first,
      at.results,
      RESULT_WORDS,
      at.second,
      at.error,
    );
    if (status < 0) {
      const offset = at.error + abi.ERROR_OFFSET;
      memory.setLong(offset, memory.long(offset) + bytes);
      throw model.error(status, "text");
    }
    ends.push(memory.copyWords(at.results, memory.word(at.second)));
  } while (status === abi.NEED_OUTPUT);
  return ends.join();
}
