/** The vocabulary of a model: texts and their ids. */

import { checkWellFormed, isObject, type Json } from "./checked.js";
import { MOST_IDS } from "./document.js";
import { broken, shorten, unsupported } from "./errors.js";

export type Vocabulary = ReadonlyMap<string, number>;

const PATH = "model.vocab";
const MOST_ENTRIES = 1 << 21;
const GAPS = 1 << 16;

/** Reads `model.vocab` of BPE, WordPiece and WordLevel: an object of texts and ids. */
export function readVocabulary(model: Json): Vocabulary {
  const vocab = Object.hasOwn(model, "vocab") ? model["vocab"] : undefined;
  if (!isObject(vocab)) throw broken(PATH, "an object of texts and ids should be here");
  const vocabulary = new Map<string, number>();
  for (const text of Object.keys(vocab)) {
    const id = vocab[text];
    if (!isId(id)) {
      throw broken(
        `${PATH}[${shorten(text)}]`,
        `${shorten(id)} is not an id: 0 to ${MOST_IDS - 1}`,
      );
    }
    checkWellFormed(text, PATH);
    vocabulary.set(text, id);
  }
  if (vocabulary.size > MOST_ENTRIES) {
    throw unsupported(PATH, `more than ${MOST_ENTRIES.toLocaleString("en")} entries`);
  }
  checkIds(vocabulary);
  if (vocabulary.size === 0) throw unsupported(PATH, "a vocabulary without entries");
  return vocabulary;
}

function isId(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) < MOST_IDS;
}

/** The largest id. */
export function largestId(ids: Iterable<number>): number {
  let largest = 0;
  for (const id of ids) largest = Math.max(largest, id);
  return largest;
}

function checkIds(vocabulary: Vocabulary): void {
  const largest = largestId(vocabulary.values());
  if (largest > 4 * vocabulary.size + GAPS) {
    throw unsupported(PATH, `an id of ${largest} among ${vocabulary.size} entries`);
  }
  const seen = new Array<string | undefined>(largest + 1);
  for (const [text, id] of vocabulary) {
    const first = seen[id];
    if (first !== undefined) {
      throw broken(PATH, `${shorten(first)} and ${shorten(text)} have the same id ${id}`);
    }
    seen[id] = text;
  }
}
