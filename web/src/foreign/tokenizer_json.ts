/** `tokenizer.json` of Hugging Face, and `tekken.json`, as fields. */

import { addedFields } from "./added.js";
import { templateFields } from "./around.js";
import { settleBytes } from "./byte_normalizer.js";
import { isObject, type Json } from "./checked.js";
import { decoderFields } from "./decoder.js";
import { readDocument } from "./document.js";
import { broken } from "./errors.js";
import type { Field } from "./fields.js";
import { readScores } from "./floats.js";
import { knownTables } from "./known.js";
import { readerOf } from "./models.js";
import { textsOf } from "./piece_decoders.js";
import { readPipeline } from "./pipeline.js";
import { isTekken, tekkenFields } from "./tekken.js";
import { isEntry } from "./unigram.js";

const MOST_BYTES = 1 << 28;

/** Fields that give the ids of tokenizers, or a refusal that says of what. */
export function tokenizerJsonFields(data: Uint8Array): Field[] {
  const file = parse(data);
  const known = knownTables();
  if (isTekken(file)) return tekkenFields(file, known);
  const document = settleBytes(readDocument(file));
  const read = readerOf(document.model);
  const pipeline = readPipeline(document, known);
  const { fields, added, unkToken } = read(document, pipeline);
  const unkSpecial = added.some(({ special, content }) => special && content === unkToken);
  return [
    ...fields,
    ...pipeline.fields,
    ...addedFields(added, pipeline.fields.length > 0, known),
    ...templateFields(document, pipeline.byteLevel),
    ...decoderFields(document.decoder, pipeline.byteLevel, unkSpecial, () => textsOf(fields)),
  ];
}

function parse(data: Uint8Array): Json {
  if (data.length > MOST_BYTES) throw broken("", `more than ${MOST_BYTES} bytes`);
  let text: string;
  let file: unknown;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(data);
  } catch {
    throw broken("", "text that is not UTF-8");
  }
  try {
    file = JSON.parse(text);
  } catch (error) {
    if (error instanceof RangeError) throw broken("", "JSON that is nested too deep");
    throw broken("", `not JSON: ${(error as Error).message}`);
  }
  if (!isObject(file)) throw broken("", "{ expected");
  rereadScores(file, text);
  return file;
}

/** Gives the scores of Unigram the value that tokenizers reads. */
function rereadScores(file: Json, text: string): void {
  const vocab = isObject(file["model"]) ? file["model"]["vocab"] : undefined;
  if (!Array.isArray(vocab) || !vocab.every(isEntry)) return;
  const scores = readScores(
    text,
    vocab.map(([piece]) => piece),
  );
  for (const [i, entry] of vocab.entries()) entry[1] = scores[i] as number;
}
