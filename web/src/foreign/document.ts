/** The members of a tokenizer.json apart from its model. */

import { flat, type Json, maybe, member, need } from "./checked.js";
import { broken } from "./errors.js";

/** All ids are below: three bytes hold one, and a few numbers that are none. */
export const MOST_IDS = 0xffff00;

export interface AddedToken {
  readonly id: number;
  readonly content: string;
  /** It is no text: decoding may leave it out. */
  readonly special: boolean;
  /** It takes the white space beside it along. */
  readonly lstrip: boolean;
  readonly rstrip: boolean;
  /** It is not found inside a word. */
  readonly singleWord: boolean;
  /** It is looked for in normalized text. */
  readonly normalized: boolean;
}

/** A tokenizer.json whose shape has been checked. */
export interface Document {
  readonly model: Json;
  readonly addedTokens: readonly AddedToken[];
  readonly normalizer: Json | undefined;
  readonly preTokenizer: Json | undefined;
  readonly postProcessor: Json | undefined;
  readonly decoder: Json | undefined;
}

const LISTS = {
  normalizer: "normalizers",
  pre_tokenizer: "pretokenizers",
  post_processor: "processors",
  decoder: "decoders",
} as const;

export function readDocument(file: Json): Document {
  const version = maybe(file, "version", "string", "") ?? "1.0";
  if (version !== "1.0") throw broken("version", `'${version}' is not 1.0`);
  for (const [name, steps] of Object.entries(LISTS)) flat(file[name], name, steps);
  const part = (name: keyof typeof LISTS) => maybe(file, name, "object", "");
  const document = {
    model: member(file, "model", "object", ""),
    addedTokens: (maybe(file, "added_tokens", "array", "") ?? []).map(addedToken),
    normalizer: part("normalizer"),
    preTokenizer: part("pre_tokenizer"),
    postProcessor: part("post_processor"),
    decoder: part("decoder"),
  };
  for (const name of ["truncation", "padding"]) maybe(file, name, "object", "");
  return document;
}

function addedToken(value: unknown, i: number): AddedToken {
  const path = `added_tokens[${i}]`;
  const part = need(value, "object", path);
  const id = member(part, "id", "integer", path);
  if (!(id >= 0 && id < MOST_IDS)) {
    throw broken(`${path}.id`, `${id} is not an id: 0 to ${MOST_IDS - 1}`);
  }
  const flag = (name: string) => member(part, name, "boolean", path);
  return {
    id,
    special: flag("special"),
    lstrip: flag("lstrip"),
    rstrip: flag("rstrip"),
    singleWord: flag("single_word"),
    normalized: flag("normalized"),
    content: member(part, "content", "string", path),
  };
}

/**
 * Added tokens with the ids that tokenizers gives them: what the vocabulary has keeps its id,
 * others are numbered on from the number of its entries. What comes again replaces the one
 * before.
 */
export function resolveAdded(
  tokens: readonly AddedToken[],
  find: (text: string) => number | undefined,
  vocabSize: number,
): AddedToken[] {
  const found = new Map<string, AddedToken>();
  let next = vocabSize;
  for (const token of tokens) {
    if (token.content === "") continue;
    const before = found.get(token.content);
    found.delete(token.content); // it goes to the end
    const id = before?.id ?? find(token.content) ?? next++;
    found.set(token.content, { ...token, id });
  }
  return [...found.values()];
}
