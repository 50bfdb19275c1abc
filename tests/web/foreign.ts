/** Files of other libraries, and what Python answered for them: any host must too. */

import type { AddedToken, DecodeOptions, EncodeOptions, Tokenizer } from "isotok";
import { check, type GetFile, newReport, type Report, same, sha256, skip } from "./report.js";
import type { Host } from "./uses.js";

interface Row {
  text: string;
  options: EncodeOptions;
  /** Null: an error. */
  ids: number[] | null;
  /** By itself, without special tokens, with them. */
  decoded?: string[];
}

export interface ForeignAnswer {
  file: string;
  /** Whether it is one of the data folder. */
  real: boolean;
  name: string;
  /** Digest of the blob. */
  blob?: string;
  rows?: Row[];
  /** The same with tokens added at load, or the error. */
  added?: { tokens: AddedToken[]; rows?: Row[]; refused?: string };
  /** The error; whether it is the same here, to the letter. */
  refused?: string;
  exact?: boolean;
}

const CHOICES: readonly (DecodeOptions | undefined)[] = [
  undefined,
  { skipSpecialTokens: true },
  { skipSpecialTokens: false },
];

/** Compares with the answers; `getFile` gets the files. */
export async function runForeign(
  host: Pick<Host, "Tokenizer" | "options">,
  answers: ForeignAnswer[],
  getFile: GetFile,
): Promise<Report> {
  const report = newReport();
  for (const answer of answers) {
    const bytes = await getFile(answer.file);
    if (bytes === undefined) skip(report, `${answer.name} is not here`);
    else await check(report, answer.name, () => checkFile(host, answer, bytes));
  }
  return report;
}

async function checkFile(
  { Tokenizer, options = {} }: Pick<Host, "Tokenizer" | "options">,
  answer: ForeignAnswer,
  bytes: Uint8Array,
): Promise<void> {
  const { name } = answer;
  if (answer.refused !== undefined) {
    return checkRefusal(answer, Tokenizer.load(bytes, { ...options, name }));
  }
  const blob = await Tokenizer.compile(bytes, { ...options, name });
  same("blob", await sha256(blob), answer.blob);
  const tokenizer = await Tokenizer.load(answer.real ? blob : bytes, { ...options, name });
  for (const row of answer.rows ?? []) checkRow(tokenizer, row);
  tokenizer.dispose();
  if (answer.added === undefined) return;
  const { tokens, rows, refused } = answer.added;
  const loading = Tokenizer.load(blob, { ...options, addedTokens: tokens });
  if (refused !== undefined) return checkRefusal({ ...answer, refused, exact: false }, loading);
  const larger = await loading;
  for (const row of rows ?? []) checkRow(larger, row);
  larger.dispose();
}

async function checkRefusal(answer: ForeignAnswer, loading: Promise<Tokenizer>): Promise<void> {
  let message = "";
  try {
    (await loading).dispose();
  } catch (error) {
    if ((error as Error).name !== "TokenizerError") throw error;
    ({ message } = error as Error);
  }
  const begin = answer.exact ? undefined : 5;
  same("message", message.slice(0, begin), answer.refused?.slice(0, begin));
}

function checkRow(tokenizer: Tokenizer, { text, options, ids, decoded }: Row): void {
  const what = JSON.stringify([text, options]);
  let found: Uint32Array;
  try {
    found = tokenizer.encode(text, options);
  } catch (error) {
    if (ids === null) return;
    throw error;
  }
  same(`ids of ${what}`, found, ids);
  same(`number of ${what}`, tokenizer.count(text, options), found.length);
  const encoder = tokenizer.encoder(options);
  const chunks = Array.from(text, (character) => [...encoder.push(character)]);
  same(`ids of chunks of ${what}`, [...chunks.flat(), ...encoder.flush()], ids);
  encoder.dispose();
  for (const [i, choice] of CHOICES.entries()) {
    same(`text of ${what}`, tokenizer.decode(found, choice), decoded?.[i]);
    const decoder = tokenizer.decoder(choice);
    const parts = Array.from(found, (id) => decoder.push(id)).join("");
    same(`parts of ${what}`, parts + decoder.flush(), decoded?.[i]);
    decoder.dispose();
  }
}
