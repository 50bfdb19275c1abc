/** The template (`post_processor`) as operations of the blob. */

import * as abi from "../layout_gen.js";
import { flat, get, type Json, maybe, member, need } from "./checked.js";
import type { Document } from "./document.js";
import { broken, shorten, unsupported } from "./errors.js";
import type { Field } from "./fields.js";

const TOKEN = 1;
const SEQUENCE = 2;
const SEQUENCE_PAIR = 3;
const PAIR = 0x10000;
const TRIM = 0x20000;
const TRIM_PREFIX = 0x40000;
const MOST_TYPES = 0xffff;

/** One step of a template: a token, or a sequence (0 or 1). */
interface Step {
  readonly typeId: number;
  readonly token?: number;
  readonly sequence?: number;
}

/** What is put around one text, and around a pair. */
interface Template {
  readonly single: readonly Step[];
  readonly pair: readonly Step[];
  /** Flags: spans are without white space. */
  readonly trim?: number;
  /** There are tokens in front of the text already. */
  readonly trimsLast?: boolean;
}

/** Normalizers behind which a U+0020 is one of the text. */
const SPACES_STAY = ["NFC", "NFD", "Lowercase", "Sequence"];
/** What tokenizers takes for a space at the ends of a token, too. */
const SPACE_LETTER = "Ġ";
const REMOVING = ["BertPreTokenizer", "CharDelimiterSplit", "Whitespace", "WhitespaceSplit"];

const A = { typeId: 0, sequence: 0 } as const;
const PLAIN: Template = { single: [A], pair: [A, { typeId: 1, sequence: 1 }] };

/** The operations of a post_processor; what is not supported is refused by name. */
export function templateFields(document: Document, byteLevel: boolean): Field[] {
  const { single, pair, trim = 0, trimsLast = false } = readTemplate(document.postProcessor);
  if (trim !== 0) checkTrimming(document, byteLevel, trimsLast);
  const operations = [
    ...single.map((step) => operation(step, step.token === undefined ? trim : 0)),
    ...pair.map((step) => operation(step, PAIR)),
  ];
  return [[abi.FIELD_TEMPLATE, Uint32Array.from(operations.flat())]];
}

function operation({ typeId, token, sequence }: Step, flag: number): number[] {
  if (token !== undefined) return [TOKEN, flag | typeId, token];
  return [sequence ? SEQUENCE_PAIR : SEQUENCE, flag | typeId, 0];
}

/** Refuses `trim_offsets` where the white space of a token is not that of the text. */
function checkTrimming(document: Document, byteLevel: boolean, last: boolean): void {
  const { model, normalizer, preTokenizer, addedTokens } = document;
  const steps = flat(normalizer, "normalizer", "normalizers");
  if (!byteLevel || steps.some(({ kind }) => !SPACES_STAY.includes(kind))) {
    const what = "trim_offsets of another model than ByteLevel without changes of white space";
    throw unsupported("post_processor", what);
  }
  for (const name of ["continuing_subword_prefix", "end_of_word_suffix"]) {
    if (!get(model, name)) continue; // tokens do not end with their text's white space
    throw unsupported("post_processor", `trim_offsets with model.${name}`);
  }
  const cuts = flat(preTokenizer, "pre_tokenizer", "pretokenizers");
  const removes = ({ kind, part }: (typeof cuts)[number]) =>
    get(part, "behavior") === "Removed" || REMOVING.includes(kind);
  if (last && cuts.some(removes)) {
    const what = "trim_offsets behind a template and a pre_tokenizer that removes text";
    throw unsupported("post_processor", what);
  }
  for (const { content } of addedTokens) {
    if (content.startsWith(SPACE_LETTER) || content.endsWith(SPACE_LETTER)) {
      throw unsupported("post_processor", `trim_offsets with ${shorten(content)}`);
    }
  }
}

function readTemplate(postProcessor: Json | undefined): Template {
  let found = PLAIN;
  let trimsLast = false;
  const trims: boolean[] = []; // of the steps that trim: add_prefix_space
  for (const { path, kind, part } of flat(postProcessor, "post_processor", "processors")) {
    if (kind === "ByteLevel" || kind === "RobertaProcessing") {
      const prefix = maybe(part, "add_prefix_space", "boolean", path) ?? true;
      if (maybe(part, "trim_offsets", "boolean", path) ?? true) {
        trims.push(prefix);
        trimsLast = found !== PLAIN;
      }
    }
    if (kind === "ByteLevel") continue;
    const read = Object.hasOwn(TEMPLATES, kind) ? TEMPLATES[kind] : undefined;
    if (read === undefined) throw unsupported(path, `the post_processor ${kind}`);
    if (found !== PLAIN) throw unsupported(path, "more than one template");
    found = read(part, path);
  }
  if (trims.length > 1) throw unsupported("post_processor", "trim_offsets twice");
  if (trims[0] === undefined) return found;
  return { ...found, trim: TRIM | (trims[0] ? TRIM_PREFIX : 0), trimsLast };
}

function templateProcessing(part: Json, path: string): Template {
  const specials = readSpecials(part, path);
  const single = readSteps(part, "single", specials, path);
  const pair = readSteps(part, "pair", specials, path);
  if (sequences(single) !== "0") {
    throw unsupported(`${path}.single`, "a template for one text that has not just that text");
  }
  if (!["0,1", "1,0"].includes(sequences(pair))) {
    throw unsupported(`${path}.pair`, "a template for two texts that has not just these");
  }
  return { single, pair };
}

function sequences(steps: readonly Step[]): string {
  return steps.flatMap(({ sequence }) => (sequence === undefined ? [] : [sequence])).join();
}

function readSpecials(part: Json, path: string): Map<string, number[]> {
  const where = `${path}.special_tokens`;
  const specials = new Map<string, number[]>();
  for (const [name, value] of Object.entries(need(part["special_tokens"], "object", where))) {
    const token = need(value, "object", `${where}.${name}`);
    const ids = member(token, "ids", "array", `${where}.${name}`);
    specials.set(
      name,
      ids.map((id) => need(id, "integer", `${where}.${name}.ids`)),
    );
  }
  return specials;
}

function readSteps(
  part: Json,
  name: string,
  specials: Map<string, number[]>,
  path: string,
): Step[] {
  return member(part, name, "array", path).flatMap((value, i): Step[] => {
    const where = `${path}.${name}[${i}]`;
    const step = need(value, "object", where);
    const [kind = "", ...others] = Object.keys(step);
    if (others.length > 0 || !["SpecialToken", "Sequence"].includes(kind)) {
      throw broken(where, `${shorten(value)} is neither a SpecialToken nor a Sequence`);
    }
    const piece = need(step[kind], "object", `${where}.${kind}`);
    const typeId = member(piece, "type_id", "integer", `${where}.${kind}`);
    if (!(typeId >= 0 && typeId <= MOST_TYPES)) {
      throw unsupported(`${where}.${kind}.type_id`, shorten(typeId));
    }
    const label = member(piece, "id", "string", `${where}.${kind}`);
    if (kind === "Sequence") {
      if (label !== "A" && label !== "B") {
        throw broken(`${where}.Sequence.id`, `${shorten(label)} is neither A nor B`);
      }
      return [{ typeId, sequence: label === "B" ? 1 : 0 }];
    }
    const ids = specials.get(label);
    if (ids === undefined) throw broken(where, `${shorten(label)} is not among special_tokens`);
    return ids.map((token) => ({ typeId, token }));
  });
}

/** Ids of `cls` and `sep`, which are pairs of a text and an id. */
function readEnds(part: Json, path: string): { cls: Step; sep: Step } {
  const [cls, sep] = ["cls", "sep"].map((name) => {
    const pair = member(part, name, "array", path);
    if (pair.length !== 2) {
      throw broken(`${path}.${name}`, `${shorten(pair)} is no pair of a text and an id`);
    }
    return { typeId: 0, token: need(pair[1], "integer", `${path}.${name}[1]`) };
  }) as [Step, Step];
  return { cls, sep };
}

function bert(part: Json, path: string): Template {
  const { cls, sep } = readEnds(part, path);
  const single = [cls, A, sep];
  return { single, pair: [...single, { typeId: 1, sequence: 1 }, { ...sep, typeId: 1 }] };
}

function roberta(part: Json, path: string): Template {
  const { cls, sep } = readEnds(part, path);
  const single = [cls, A, sep];
  return { single, pair: [...single, sep, { typeId: 0, sequence: 1 }, sep] };
}

const TEMPLATES: Readonly<Record<string, (part: Json, path: string) => Template>> = {
  TemplateProcessing: templateProcessing,
  BertProcessing: bert,
  RobertaProcessing: roberta,
};
