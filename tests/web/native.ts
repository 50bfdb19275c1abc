/** What the native back end answered on texts, made by hosts/native.py: any host must too. */

import type { Tokenizer } from "isotok";
import {
  check,
  type GetFile,
  type Load,
  Models,
  newReport,
  type Report,
  same,
  sha256,
  skip,
  textOf,
  toUtf8,
} from "./report.js";

export interface NativeAnswer {
  /** Names of files. */
  model: string;
  text: string;
  count: number;
  /** Digests: of numbers as 32-bit words, of texts as UTF-8. */
  ids: string;
  offsets: string;
  normalized: string;
  decoded: string;
  /** A sample with the default noise, where the model has any. */
  drawn?: string;
  /** The best segmentations, where the model has any, with their scores. */
  best?: string;
  scores?: number[];
}

/** As hosts/native.py has them. */
const DRAWN = 4_000;
const LISTED = 300;
const PATHS = 8;
const SEED = 0x0123_4567_89ab_cdefn;

/** Compares with the answers. `getFile` gets models as they are named, and `native/x.txt`. */
export async function runNative(
  load: Load,
  answers: NativeAnswer[],
  getFile: GetFile,
): Promise<Report> {
  const report = newReport();
  const texts = new Map<string, Uint8Array<ArrayBuffer>>();
  for (const { text } of answers) {
    if (texts.has(text)) continue;
    texts.set(text, new Uint8Array((await getFile(`native/${text}`)) ?? []));
  }
  const models = new Models(load, getFile);
  for (const answer of answers) {
    const tokenizer = await models.open(answer.model);
    if (tokenizer === undefined) {
      skip(report, `${answer.model} is not here`);
      continue;
    }
    const bytes = texts.get(answer.text) ?? new Uint8Array();
    await check(report, `${answer.model}, ${answer.text}`, async () => {
      const string = textOf(bytes);
      // Offsets into ill-formed text are counted in bytes.
      const [text, unit] =
        string === undefined ? ([bytes, "byte"] as const) : ([string, "utf16"] as const);
      const { ids, begin, end } = tokenizer.encodeWithOffsets(text, { unit });
      same("count", ids.length, answer.count);
      same("ids", await sha256(ids), answer.ids);
      same("ids without offsets", await sha256(tokenizer.encode(text)), answer.ids);
      const places = new Uint32Array(2 * ids.length);
      for (const [i, at] of begin.entries()) places.set([at, end[i] as number], 2 * i);
      same("offsets", await sha256(places), answer.offsets);
      const normalized =
        string === undefined
          ? tokenizer.normalizeBytes(bytes).bytes
          : toUtf8(tokenizer.normalize(string));
      same("normalized", await sha256(normalized), answer.normalized);
      same("decoded", await sha256(toUtf8(tokenizer.decode(ids))), answer.decoded);
      await checkOthers(tokenizer, answer, bytes);
    });
  }
  models.close();
  return report;
}

/** What there is beside the best segmentation. */
async function checkOthers(
  tokenizer: Tokenizer,
  answer: NativeAnswer,
  bytes: Uint8Array,
): Promise<void> {
  if (answer.drawn !== undefined) {
    const ids = tokenizer.sample(bytes.subarray(0, DRAWN), { seed: SEED });
    same("sample", await sha256(ids), answer.drawn);
  }
  if (answer.best !== undefined) {
    const best = tokenizer.nbest(bytes.subarray(0, LISTED), PATHS);
    const numbers = best.flatMap(({ ids }) => [ids.length, ...ids]);
    same("n best", await sha256(Uint32Array.from(numbers)), answer.best);
    const scores = best.map(({ score }) => score);
    same("scores", scores, answer.scores);
  }
}
