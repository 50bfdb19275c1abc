/** Every vector and case, in Node. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { Tokenizer } from "isotok";
import { expect, test } from "vitest";
import { type Case, runCases } from "./cases.js";
import { CASES, DATA, need, readIf, SHARED_VECTORS, VECTORS } from "./data.js";
import type { Load, Report } from "./report.js";
import { runSentencePiece, runVectors, type SentencePieceVector, type Spine } from "./vectors.js";

const load: Load = (bytes, name = "") => Tokenizer.load(bytes, { name });

/** A file of the data folder, unpacked. */
async function getFile(name: string): Promise<Uint8Array | undefined> {
  if (name.startsWith("cases/")) return readIf(join(CASES, "..", name));
  const packed = readIf(join(DATA, "models", `${name}.gz`));
  return packed ? new Uint8Array(gunzipSync(packed)) : readIf(join(DATA, "models", name));
}

/** A line like this; for all hosts see hosts/. */
function show(name: string, report: Report): void {
  const skipped = Object.entries(report.notApplicable);
  const count = skipped.reduce((sum, [, each]) => sum + each, 0);
  console.log(
    `node ${process.versions.node}: ${name}: ${report.passed} passed, ` +
      `${report.failed.length} failed, ${count} not applicable`,
  );
  for (const [reason, each] of skipped) console.log(`    ${each}: ${reason}`);
}

function linesOf<T>(bytes: Uint8Array): T[] {
  const lines = new TextDecoder().decode(bytes).split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as T);
}

const LONG = { timeout: 120_000 };

test("our vectors, spine.json", LONG, async () => {
  const spine = JSON.parse(readFileSync(join(VECTORS, "spine.json"), "utf8")) as Spine;
  const getModel = async (name: string) => readIf(join(VECTORS, "models", name));
  const report = await runVectors(load, spine, getModel);
  show("spine", report);
  expect(report.failed).toEqual([]);
  expect(report.notApplicable).toEqual({});
  expect(report.passed).toBeGreaterThan(spine.vectors.length);
});

test("SentencePiece's vectors", LONG, async (context) => {
  const bytes = need(context, readIf(join(SHARED_VECTORS, "semantics_vectors.jsonl")));
  const getFile = async (name: string) => readIf(join(SHARED_VECTORS, "models", name));
  const report = await runSentencePiece(load, linesOf<SentencePieceVector>(bytes), getFile);
  show("sentencepiece", report);
  expect(report.failed).toEqual([]);
  expect(report.passed).toBeGreaterThan(150);
});

test("cases", LONG, async (context) => {
  const bytes = need(context, readIf(join(CASES, "bug_cases.jsonl")));
  const report = await runCases(load, linesOf<Case>(bytes), getFile);
  show("cases", report);
  expect(report.failed).toEqual([]);
  expect(report.passed).toBeGreaterThan(180);
});
