/** Texts to token ids: single texts, with offsets, and batches. */

import { TokenizerError } from "./errors.js";
import {
  BATCH,
  type Draw,
  type Flags,
  isSet,
  type ModelInstance,
  NO_TAIL,
  type Session,
  withFlags,
} from "./instance.js";
import * as abi from "./layout_gen.js";
import type { Text } from "./memory.js";
import { Chunks, writeText } from "./text.js";

type Words = Uint32Array<ArrayBuffer>;

/** Ids of many texts end to end: text i has those from `ends[i - 1]` (or 0) to `ends[i]`. */
export interface Batch {
  readonly ids: Words;
  readonly ends: Words;
}

/** Ids with their ranges in the text, and perhaps in the bytes of the normalized text. */
export interface Spans {
  readonly ids: Words;
  readonly begin: Words;
  readonly end: Words;
  readonly normBegin: Words | undefined;
  readonly normEnd: Words | undefined;
}

const newWords = (length: number): Words => new Uint32Array(length);

/** What a text is encoded to. */
interface Plan {
  readonly flags: Flags;
  readonly limit: number;
  readonly unit: number;
  readonly columns: number;
  readonly draw?: Draw | undefined;
}

/** Of ids alone. */
const idsPlan = (flags: Flags, limit = 0, draw?: Draw): Plan => ({
  flags,
  limit,
  unit: abi.UNIT_BYTE,
  columns: 1,
  draw,
});

/** Encodes a text. */
function run(model: ModelInstance, text: Text, plan: Plan, drain: (count: number) => void): void {
  const { session } = model;
  try {
    begin(model, session, plan);
    runPart(model, session, NO_TAIL, text, true, plan, drain);
  } finally {
    model.settle();
  }
}

function begin(model: ModelInstance, session: Session, plan: Plan): void {
  model.writeOptions(plan.flags, plan.limit, plan.unit, plan.draw, session);
  model.begin("isotok_encode_begin", session);
}

/**
 * Encodes a part of a text; `drain` takes what is in the results. That is all of it where it
 * has room, so that it is copied once.
 *
 * @returns What the call for the next part gets as `tail`.
 */
function runPart(
  model: ModelInstance,
  session: Session,
  tail: Uint8Array,
  text: Text,
  last: boolean,
  { flags, columns }: Plan,
  drain: (count: number) => void,
): Uint8Array<ArrayBuffer> {
  const { at } = model;
  const { memory } = model.machine;
  const isOnlyCounted = isSet(flags, abi.COUNT_ONLY);
  let held = 0;
  const step = () => {
    model.writeOutput(columns, isOnlyCounted ? 0 : held);
    return model.machine.call("isotok_encode_step", session.pointer, at.input, at.output, at.error);
  };
  const rest = model.runPart(session, tail, text, last, step, (status) => {
    held += memory.word(at.output + abi.OUTPUT_COUNT);
    if (status !== abi.NEED_OUTPUT) return;
    drain(held);
    held = 0;
  });
  drain(held);
  return rest;
}

/** Ids of a text, at most `limit` of them unless that is 0. */
export function encode(
  model: ModelInstance,
  text: Text,
  flags: Flags,
  limit: number,
  draw?: Draw,
): Words {
  const ids = new Chunks(newWords);
  run(model, text, idsPlan(flags, limit, draw), collectIds(model, ids));
  return ids.join();
}

/** Takes ids out of the results. */
function collectIds(model: ModelInstance, ids: Chunks<Words>): (count: number) => void {
  return (count) => ids.push(model.machine.memory.copyWords(model.at.results, count));
}

/** Begins a text that comes in parts. */
export function beginParts(model: ModelInstance, session: Session, flags: Flags): void {
  begin(model, session, idsPlan(flags));
}

/** Ids of its next part, and the bytes that belong in front of the one after that. */
export function encodePart(
  model: ModelInstance,
  session: Session,
  tail: Uint8Array,
  text: Text,
  last: boolean,
): { ids: Words; tail: Uint8Array<ArrayBuffer> } {
  const ids = new Chunks(newWords);
  const rest = runPart(model, session, tail, text, last, idsPlan(0), collectIds(model, ids));
  return { ids: ids.join(), tail: rest };
}

/** Writes as many ids as there is room for; returns the number there are. */
export function encodeInto(
  model: ModelInstance,
  text: Text,
  flags: Flags,
  target: Uint32Array,
): number {
  let done = 0;
  run(model, text, idsPlan(flags), (count) => {
    const room = Math.min(count, target.length - done);
    if (room > 0) model.machine.memory.copyWordsTo(target, done, model.at.results, room);
    done += count;
  });
  return done;
}

/** Number of ids; counting stops at `limit` unless that is 0. */
export function count(model: ModelInstance, text: Text, flags: Flags, limit: number): number {
  let total = 0;
  run(model, text, idsPlan(withFlags(flags, abi.COUNT_ONLY), limit), (found) => {
    total += found;
  });
  return total;
}

// -- spans --------------------------------------------------------------------------

/** Encodes with offsets in `unit`, and with `norms` in the normalized text too. */
export function encodeSpans(
  model: ModelInstance,
  text: Text,
  flags: Flags,
  unit: number,
  norms: boolean,
): Spans {
  const columns = norms ? 5 : 3;
  const found = Array.from({ length: columns }, () => new Chunks(newWords));
  const wanted = withFlags(flags, abi.OFFSETS | (norms ? abi.NORM_SPANS : 0));
  run(model, text, { flags: wanted, limit: 0, unit, columns }, (count) => {
    checkBases(model);
    for (const [i, column] of found.entries()) {
      column.push(model.machine.memory.copyWords(model.column(i, columns), count));
    }
  });
  const [ids, begin, end, normBegin, normEnd] = found.map((column) => column.join());
  return { ids, begin, end, normBegin, normEnd } as Spans;
}

function checkBases(model: ModelInstance): void {
  const { memory } = model.machine;
  const { output } = model.at;
  if (memory.long(output + abi.OUTPUT_BASE) === 0) {
    if (memory.long(output + abi.OUTPUT_NORM_BASE) === 0) return;
  }
  throw new TokenizerError("E_TOO_LARGE", "text: offsets end at 2 GiB; encode it in parts", {
    status: abi.E_TOO_LARGE,
  });
}

// -- batches ------------------------------------------------------------------------

/** Encodes (or, by the flags, only counts) texts: as many as fit the window in one crossing. */
export function encodeBatch(model: ModelInstance, texts: readonly Text[], flags: Flags): Batch {
  const ids = new Chunks(newWords);
  const ends = new Uint32Array(texts.length);
  let total = 0;
  for (let next = 0; next < texts.length; ) {
    const together = layOut(model, texts, next);
    const found = together > 0 ? encodeLaidOut(model, together, flags) : undefined;
    if (found !== undefined) {
      for (const end of found.ends) ends[next++] = total + end;
      ids.push(found.ids);
      total = ends[next - 1] as number;
      continue;
    }
    // Too long for the window, or more ids than there is room for: one by one, in parts.
    for (const last = next + Math.max(together, 1); next < last; next++) {
      const text = texts[next] as Text;
      if (isSet(flags, abi.COUNT_ONLY)) {
        total += count(model, text, flags, 0);
      } else {
        run(model, text, idsPlan(flags), collectIds(model, ids));
        total = ids.length;
      }
      ends[next] = total;
    }
  }
  return { ids: ids.join(), ends };
}

/** Writes the texts from `first` on that fit the window together; returns their number. */
function layOut(model: ModelInstance, texts: readonly Text[], first: number): number {
  const { memory } = model.machine;
  const most = Math.min(BATCH, texts.length - first);
  let used = 0;
  for (let i = 0; i < most; i++) {
    const text = texts[first + i] as Text;
    const { read, written } = writeText(memory, text, used, model.window - used);
    if (read < text.length) return i;
    used += written;
    memory.setWord(model.at.ends + 4 * i, used);
  }
  return most;
}

/** Encodes the texts in the window; undefined if there is too little room for the ids. */
function encodeLaidOut(model: ModelInstance, count: number, flags: Flags): Batch | undefined {
  const { machine, at, session } = model;
  const { memory } = machine;
  const idEnds = at.ends + 4 * count;
  model.writeOptions(flags, 0, abi.UNIT_BYTE);
  model.writeOutput(1);
  memory.setWord(at.second, 0); // texts done
  memory.setWord(at.output + abi.OUTPUT_COUNT, 0);
  try {
    for (;;) {
      const status = machine.call(
        "isotok_encode_batch",
        session.pointer,
        at.options,
        at.text,
        at.ends,
        count,
        at.second,
        at.output,
        idEnds,
        at.error,
      );
      if (status < 0) throw model.error(status, "text");
      if (status === abi.NEED_OUTPUT) return undefined;
      if (status === abi.OK) break;
      model.grow(session);
    }
    const ends = memory.copyWords(idEnds, count);
    const total = isSet(flags, abi.COUNT_ONLY) ? 0 : (ends[count - 1] as number);
    return { ids: memory.copyWords(at.results, total), ends };
  } finally {
    model.settle();
  }
}
