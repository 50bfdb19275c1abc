/** The decoders BPEDecoder and CTC: what they make of a token, which the core does in few ways. */

import * as abi from "../layout_gen.js";
import { shorten, unsupported } from "./errors.js";
import type { Field } from "./fields.js";

/** Where the text of a token begins in FIELD_PIECE_TEXT, and the text. */
export type Text = readonly [at: number, text: string];

const NOWHERE = 0xffffffff;
const CLEANUP = [
  [" .", "."],
  [" ?", "?"],
  [" !", "!"],
  [" ,", ","],
  [" ' ", "'"],
  [" n't", "n't"],
  [" 'm", "'m"],
  [" do not", " don't"],
  [" 's", "'s"],
  [" 've", "'ve"],
  [" 're", "'re"],
] as const;

/** The tokens of a model. */
export function textsOf(fields: readonly Field[]): Text[] {
  const find = (number: number) => fields.find(([each]) => each === number)?.[1];
  const pool = find(abi.FIELD_PIECE_TEXT) as Uint8Array;
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const texts: Text[] = [];
  let at = 0;
  for (const size of find(abi.FIELD_PIECE_SIZES) as Uint16Array) {
    if (size > 0) texts.push([at, decoder.decode(pool.subarray(at, at + size))]);
    at += size;
  }
  return texts;
}

/** Refuses a token that holds the suffix elsewhere than at its end. */
export function checkSuffix(suffix: string, texts: readonly Text[], path: string): void {
  if (suffix === "") throw unsupported(path, "BPEDecoder without a suffix");
  for (const [, text] of texts) {
    const at = text.indexOf(suffix);
    if (at < 0 || at + suffix.length === text.length) continue;
    const what = `BPEDecoder of ${shorten(text)}, where the suffix is not at the end`;
    throw unsupported(path, what);
  }
}

/** Where the delimiter begins; a token of which CTC makes anything else is refused. */
export function findDelimiter(
  { pad, delimiter, cleanup }: { pad: string; delimiter: string; cleanup: boolean },
  texts: readonly Text[],
  path: string,
): number {
  const found = cleanup ? texts.find(([, text]) => text === delimiter)?.[0] : undefined;
  for (const [at, text] of texts) {
    let want = pad === "" ? text : text.replaceAll(pad, "");
    if (cleanup) {
      for (const [old, next] of CLEANUP) want = want.replaceAll(old, next);
      want = want.replaceAll(delimiter, " ");
    }
    const made = at === found ? " " : text.startsWith(pad) ? text.slice(pad.length) : text;
    if (want === made) continue;
    throw unsupported(path, `CTC that makes ${shorten(want)} of ${shorten(text)}`);
  }
  return found ?? NOWHERE;
}
