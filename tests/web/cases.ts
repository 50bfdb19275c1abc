/** Bugs that others had: the cases, on any host. Those of other libraries: cases_foreign.ts. */

import type { Tokenizer } from "isotok";
import {
  checkForeign,
  checkHostile,
  FOREIGN_NOT_HERE,
  foreignName,
  inlineRanks,
  isForeign,
} from "./cases_foreign.js";
import {
  check,
  fromHex,
  type GetFile,
  type Load,
  Models,
  newReport,
  type Report,
  same,
  sha256,
  skip,
} from "./report.js";

type Input = string | null | { bytes_hex: string } | { repeat: [string, number] } | object;

interface Expected {
  ids?: number[];
  spm_ids?: number[];
  spm?: { ids: number[]; offsets: [number, number][] };
  pieces?: string[];
  decoded?: string;
  text?: string;
  normalized?: string;
  offsets_codepoints?: [number, number][];
  len?: number;
  sha256_u32le?: string;
  total?: number;
  first?: number[];
  sha256_u32le_concat?: string;
}

export interface Case {
  id: string;
  /** A list for some of those that are not for us. */
  model: string;
  model_kind: string;
  input: Input;
  operation: { name: string; ids?: number[]; expr?: string } & Record<string, unknown>;
  expected: Expected & Record<string, unknown>;
}

const PROCESS = "about processes or Python objects";
const NOT_HERE: Record<string, string> = {
  "PRC-01": PROCESS,
  "PRC-02": PROCESS,
  "PRC-04": PROCESS,
  "PRC-06": PROCESS,
  "SEC-24": "needs more than 10 GiB",
  "WEB-01": "a test of its own: load takes a WebAssembly.Module",
  "WEB-05": "a test of its own: one crossing for a batch",
  "WEB-07": "a test of its own: fits takes the options of encode",
  "WEB-08": "a test of its own: Pyodide",
};

function isSentencePiece({ model_kind: kind }: Case): boolean {
  return kind.startsWith("sentencepiece .model");
}

/** Runs the cases. `getFile` gets `llama2.model` and `cases/models/SEC-01.model`. */
export async function runCases(load: Load, cases: Case[], getFile: GetFile): Promise<Report> {
  const report = newReport();
  const models = new Models(load, getFile);
  const ordered = [...cases].sort((a, b) => String(a.model).localeCompare(String(b.model)));
  for (const each of ordered.filter(isSentencePiece)) {
    const reason = NOT_HERE[each.id];
    if (reason !== undefined) skip(report, reason);
    else if (each.id.startsWith("SEC-")) await runHostile(report, load, each, getFile);
    else await runCase(report, models, each);
  }
  for (const each of ordered.filter(isForeign)) {
    const reason = FOREIGN_NOT_HERE[each.id];
    if (reason !== undefined) skip(report, reason);
    else await runForeign(report, load, models, each, getFile);
  }
  for (const each of ordered) {
    if (isSentencePiece(each) || isForeign(each)) continue;
    skip(report, NOT_HERE[each.id] ?? `a model of another kind: ${each.model_kind}`);
  }
  models.close();
  return report;
}

async function runForeign(
  report: Report,
  load: Load,
  models: Models,
  each: Case,
  getFile: GetFile,
): Promise<void> {
  const name = foreignName(each);
  const inline = name === undefined ? inlineRanks(each) : undefined;
  const text = each.input === null ? "" : (textOf(each.input) as string);
  if (each.id.startsWith("SEC-")) {
    const bytes = inline ?? (await getFile(name as string));
    if (bytes === undefined) return skip(report, `${name} is not here`);
    return check(report, each.id, () =>
      checkHostile(load(bytes, name ?? "cl100k_base.tiktoken"), text),
    );
  }
  const tokenizer = inline
    ? await load(inline, "cl100k_base.tiktoken")
    : await models.open(name as string);
  if (tokenizer === undefined) return skip(report, `${name} is not here`);
  await check(report, `${each.id} ${name ?? "ranks"}`, () => checkForeign(tokenizer, each, text));
  if (inline) tokenizer.dispose();
}

async function runCase(report: Report, models: Models, each: Case): Promise<void> {
  const name = each.model.split(" / ")[0] as string;
  const tokenizer = await models.open(name);
  if (tokenizer === undefined) return skip(report, `${name} is not here`);
  await check(report, each.id, async () => {
    const run = OPERATIONS[each.operation.name];
    if (run === undefined) throw new Error(`no check for ${each.operation.name}`);
    await run(tokenizer, each);
  });
}

const OPERATIONS: Record<string, (tokenizer: Tokenizer, each: Case) => Promise<void> | void> = {
  "sp.encode+decode": checkEncode,
  "sp.encode(bytes)": checkEncode,
  "sp.encode": checkEncode,
  "sp.normalize / encode / offset_mapping (code points)": checkEncode,
  "sp offset_mapping": checkEncode,
  offset_mapping: checkEncode,
  encode: checkEncode,
  "encode with special tokens": checkEncode,
  encode_batch: checkBatch,
  "python expression": checkExpression,
  "sp.decode"(tokenizer, { operation, expected }) {
    same("text", tokenizer.decode(operation.ids ?? []), expected.text);
  },
};

function textOf(input: Input): string | Uint8Array {
  if (typeof input === "string") return input;
  if (input !== null && "bytes_hex" in input) return fromHex(input.bytes_hex);
  if (input !== null && "repeat" in input) return input.repeat[0].repeat(input.repeat[1]);
  throw new Error(`no text: ${JSON.stringify(input)}`);
}

async function checkEncode(tokenizer: Tokenizer, { input, expected }: Case): Promise<void> {
  const text = textOf(input);
  const ids = tokenizer.encode(text);
  const wanted = expected.ids ?? expected.spm_ids ?? expected.spm?.ids;
  if (wanted !== undefined) same("ids", ids, wanted);
  if (expected.len !== undefined) same("length", ids.length, expected.len);
  if (expected.sha256_u32le !== undefined) {
    same("digest", await sha256(ids), expected.sha256_u32le);
  }
  if (expected.decoded !== undefined) same("decoded", tokenizer.decode(ids), expected.decoded);
  if (expected.normalized !== undefined) {
    same("normalized", tokenizer.normalize(text), expected.normalized);
  }
  const found = tokenizer.encodeWithOffsets(text, { unit: "codepoint", pieces: true });
  if (expected.pieces !== undefined) same("pieces", found.pieces, expected.pieces);
  const offsets = expected.offsets_codepoints ?? expected.spm?.offsets;
  if (offsets !== undefined) {
    const spans = Array.from(found.begin, (begin, i) => [begin, found.end[i]]);
    same("offsets", spans, offsets);
  }
  for (const [key, value] of Object.entries(expected)) {
    const match = /^(decode_\[|piece_)(\d+)\]?$/.exec(key);
    if (match === null) continue;
    const id = Number(match[2]);
    const text = match[1] === "piece_" ? tokenizer.idToPiece(id) : tokenizer.decode([id]);
    same(key, text, value);
  }
}

/** The only batch of the cases: 2,000 texts that Python writes as an expression. */
async function checkBatch(tokenizer: Tokenizer, { input, expected }: Case): Promise<void> {
  const { python } = input as { python: string };
  same("input", python, "[f'{i} {i} '*50 for i in range(2000)]");
  const texts = Array.from({ length: 2000 }, (_, i) => `${i} ${i} `.repeat(50));
  const { ids, ends } = tokenizer.encodeBatch(texts);
  same("total", ids.length, expected.total);
  same("first", ids.subarray(0, expected.first?.length), expected.first);
  same("digest", await sha256(ids), expected.sha256_u32le_concat);
  const single = texts.map((text) => tokenizer.count(text));
  let total = 0;
  same(
    "ends",
    ends,
    single.map((count) => (total += count)),
  );
}

/** Ids out of range: an error that says so, where Python has exceptions of several kinds. */
function checkExpression(tokenizer: Tokenizer, { operation }: Case): void {
  const match = /^sp\.(decode|id_to_piece)\((.*)\)$/.exec(operation.expr ?? "");
  if (match === null) throw new Error(`no check for ${operation.expr}`);
  const argument = (match[2] as string).replace("2**31", String(2 ** 31));
  let code = "";
  try {
    if (match[1] === "decode") tokenizer.decode(JSON.parse(argument));
    else tokenizer.idToPiece(JSON.parse(argument));
  } catch (error) {
    code = (error as { code?: string }).code ?? "";
  }
  same("code", code, "E_ID_RANGE");
}

/** A hostile file gives a model that works, or an error of ours. */
async function runHostile(report: Report, load: Load, each: Case, getFile: GetFile): Promise<void> {
  const names = each.model.includes("*")
    ? [0, 1, 7, 100, 5000, 126582, 253164].map((size) => each.model.replace("*", String(size)))
    : [each.model];
  for (const name of names) {
    const bytes = await getFile(name);
    if (bytes === undefined) skip(report, `${name} is not here`);
    else {
      const text = textOf(each.input) as string;
      await check(report, `${each.id} ${name}`, () => checkHostile(load(bytes), text));
    }
  }
}
