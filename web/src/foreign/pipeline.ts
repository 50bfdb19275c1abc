/** What happens to text in front of the model: a program of the core, and what cuts it. */

import * as abi from "../layout_gen.js";
import { flat, get, isObject, type Json } from "./checked.js";
import type { Document } from "./document.js";
import { broken, uncompiled } from "./errors.js";
import { type Field, scalar } from "./fields.js";
import type { Known } from "./known.js";
import type { PretokArrays } from "./known_pretok.js";
import { type Cut, cutsAtSpaces, readPreTokenizer, rewritesOf, shown } from "./pretok.js";
import { sha256 } from "./sha256.js";

const ESCAPE = 4;
/** Last step of the key of a program for what does not know that no space is left. */
const SPACES: Cut = ["spaces"];

export interface Pipeline {
  /** Of the normalizer; none: text stays as it is. */
  readonly fields: readonly Field[];
  /** Of what cuts text. */
  readonly pretokenizer: readonly Field[];
  /** The model sees bytes, spelled as letters. */
  readonly byteLevel: boolean;
  /** Nothing is cut but at spaces, of which none is left. */
  readonly cutsNothing: boolean;
  /** A pre-tokenizer that cuts nothing. */
  readonly onePretoken: () => readonly Field[];
}

/** What normalizer and pre-tokenizer do; those that are in no table are refused by name. */
export function readPipeline(document: Document, known: Known): Pipeline {
  const pre = readPreTokenizer(document.preTokenizer);
  const { rewrites, cuts } = rewritesOf(pre);
  const normalizer = readNormalizer(document.normalizer);
  const key = [...normalizer.key, ...rewrites];
  let program = key.length > 0 ? known.normalizer(key) : undefined;
  if (program?.escapes && (pre.byteLevel || !(pre.space || cuts.every(cutsAtSpaces)))) {
    program = known.normalizer([...key, SPACES]);
  }
  if (key.length > 0 && program === undefined) {
    throw uncompiled("normalizer", `what rewrites the text, ${shown(key)},`);
  }
  const fields: Field[] = [];
  if (program !== undefined) {
    fields.push(
      [abi.FIELD_UNICODE_HEADER, program.header],
      [abi.FIELD_UNICODE_TABLES, program.tables],
      [abi.FIELD_UNICODE_TEXT, program.text],
      [abi.FIELD_NORMALIZER_FLAGS, scalar(program.escapes ? ESCAPE : 0)],
    );
    if (normalizer.charsmap) fields.push([abi.FIELD_CHARSMAP, normalizer.charsmap]);
  }
  return {
    fields,
    pretokenizer: cuts.length > 0 || pre.byteLevel ? pretokenizerFields(cuts, known) : [],
    byteLevel: pre.byteLevel,
    onePretoken: () => pretokenizerFields([], known),
    cutsNothing: program?.escapes === true && cuts.every(cutsAtSpaces),
  };
}

function pretokenizerFields(cuts: readonly Cut[], known: Known): Field[] {
  const arrays = known.pretokenizer(cuts);
  if (arrays === undefined) {
    throw uncompiled("pre_tokenizer", `what cuts the text, ${shown(cuts)},`);
  }
  return arraysFields(arrays);
}

export function arraysFields({ header, tables, classes }: PretokArrays): Field[] {
  return [
    [abi.FIELD_PRETOK_HEADER, header],
    [abi.FIELD_PRETOK_TABLES, tables],
    [abi.FIELD_PRETOK_CLASSES, classes],
  ];
}

// -- the normalizer -----------------------------------------------------------------

interface Normalizer {
  /** Step by step: equal ones rewrite alike. */
  readonly key: readonly Cut[];
  readonly charsmap: Uint8Array | undefined;
}

/** Members that decide what a step does; the other types have none. */
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  Strip: ["strip_left", "strip_right"],
  Prepend: ["prepend"],
  BertNormalizer: ["clean_text", "handle_chinese_chars", "strip_accents", "lowercase"],
};

function readNormalizer(value: Json | undefined): Normalizer {
  const key: Cut[] = [];
  let charsmap: Uint8Array | undefined;
  for (const { path, kind, part } of flat(value, "normalizer", "normalizers")) {
    if (kind === "Precompiled") {
      charsmap = charsmapOf(part, path);
      key.push([kind, sha256(charsmap)]);
    } else if (kind === "Replace") {
      const pattern = get(part, "pattern");
      const texts = isObject(pattern) ? Object.entries(pattern).flat() : [];
      key.push([kind, ...texts, get(part, "content")]);
    } else if (kind !== "Prepend" || get(part, "prepend") !== "") {
      key.push([kind, ...(MEMBERS[kind] ?? []).map((name) => memberOf(part, name))]);
    }
  }
  return { key, charsmap };
}

function memberOf(part: Json, name: string): unknown {
  return get(
    part,
    name === "strip_accents" ? (get(part, name) === undefined ? "lowercase" : name) : name,
  );
}

function charsmapOf(part: Json, path: string): Uint8Array {
  const text = get(part, "precompiled_charsmap");
  if (typeof text !== "string" || text === "") throw broken(path, "no precompiled_charsmap");
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    throw broken(path, "a precompiled_charsmap that is not base64");
  }
}
