/** Where characters, as people see them, end. */

/** UTF-16 units looked at for one character; a longer one is taken to end there. */
const LONGEST = 1024;
/** From a boundary further behind than this, a new start is made. */
const FARTHEST = 4096;

/**
 * Answers for ascending positions whether a text may be cut there.
 *
 * Clusters depend only on what precedes them, so it goes on from a boundary that is known
 * instead of looking at the whole text.
 */
export class Graphemes {
  readonly #text: string;
  readonly #segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });
  /** A boundary. */
  #known = 0;

  constructor(text: string) {
    this.#text = text;
  }

  isBoundary(position: number): boolean {
    if (position <= 0 || position >= this.#text.length || this.#isSimple(position)) {
      this.#known = position;
      return true;
    }
    if (position - this.#known > FARTHEST) this.#known = this.#startNear(position);
    while (this.#known < position) this.#known += this.#sizeAt(this.#known);
    return this.#known === position;
  }

  /** Between two characters below U+0300 is a boundary, but for CR LF. */
  #isSimple(position: number): boolean {
    const [left, right] = [this.#text.charCodeAt(position - 1), this.#text.charCodeAt(position)];
    return left < 0x300 && right < 0x300 && !(left === 13 && right === 10);
  }

  /** A place that is a boundary in all but pathological texts. */
  #startNear(position: number): number {
    let start = position - LONGEST;
    while (start < position && !this.#isSimple(start)) start++;
    if (start < position) return start;
    start = position - LONGEST;
    return (this.#text.charCodeAt(start) & 0xfc00) === 0xdc00 ? start - 1 : start;
  }

  #sizeAt(start: number): number {
    for (let size = 32; ; size *= 4) {
      const part = this.#text.slice(start, start + Math.min(size, LONGEST));
      const first = this.#segmenter.segment(part)[Symbol.iterator]().next();
      const found = first.value?.segment.length ?? 1;
      const isWhole = found < part.length || start + found === this.#text.length;
      if (isWhole || size >= LONGEST) return found;
    }
  }
}
