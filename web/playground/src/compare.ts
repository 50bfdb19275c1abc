/** Where two models cut the same text otherwise. */

import type { Analysis } from "./analysis.js";

/** Tokens for one range of bytes: those without a range of their own go with the next. */
interface Segment {
  readonly first: number;
  readonly last: number;
  readonly begin: number;
  readonly end: number;
}

/**
 * Marks the tokens of both sides whose bytes the other side does not cut just so.
 *
 * Both lists of ranges ascend, so it is a merge. Control tokens stand for no text and are
 * left out.
 */
export function compare(a: Analysis, b: Analysis): void {
  const marksOfA = new Uint8Array(a.ids.length).fill(1);
  const marksOfB = new Uint8Array(b.ids.length).fill(1);
  const left = new Segments(a, marksOfA);
  const right = new Segments(b, marksOfB);
  let [x, y] = [left.next(), right.next()];
  while (x !== undefined && y !== undefined) {
    const order = x.begin - y.begin || x.end - y.end;
    if (order === 0 && x.last - x.first === y.last - y.first) {
      marksOfA.fill(0, x.first, x.last);
      marksOfB.fill(0, y.first, y.last);
    } else {
      if (order <= 0) left.different++;
      if (order >= 0) right.different++;
    }
    if (order <= 0) x = left.next();
    if (order >= 0) y = right.next();
  }
  for (; x !== undefined; x = left.next()) left.different++;
  for (; y !== undefined; y = right.next()) right.different++;
  [a.differs, a.differences] = [marksOfA, left.different];
  [b.differs, b.differences] = [marksOfB, right.different];
}

class Segments {
  different = 0;
  readonly #analysis: Analysis;
  readonly #marks: Uint8Array;
  readonly #controls: ReadonlySet<number>;
  #at = 0;

  constructor(analysis: Analysis, marks: Uint8Array) {
    const { bosId, eosId } = analysis.tokenizer.info;
    this.#analysis = analysis;
    this.#marks = marks;
    this.#controls = new Set([bosId, eosId].filter((id) => id !== undefined));
  }

  next(): Segment | undefined {
    const { ids } = this.#analysis;
    const { begin, end } = this.#analysis.ranges.byte;
    while (this.#at < ids.length && this.#isControl(this.#at)) this.#marks[this.#at++] = 0;
    if (this.#at === ids.length) return undefined;
    const first = this.#at;
    let last = first;
    while (last + 1 < ids.length && begin[last] === end[last] && !this.#isControl(last + 1)) last++;
    this.#at = last + 1;
    return {
      first,
      last: last + 1,
      begin: begin[first] as number,
      end: end[last] as number,
    };
  }

  #isControl(index: number): boolean {
    const { ids, ranges } = this.#analysis;
    const empty = ranges.byte.begin[index] === ranges.byte.end[index];
    return empty && this.#controls.has(ids[index] as number);
  }
}
