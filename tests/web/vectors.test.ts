/** Every vector and case, in Node. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Tokenizer } from "isotok";
import { describe, expect, test } from "vitest";
import { type Case, runCases } from "./cases.js";
import { CASES, DATA, REASON, readIf, SHARED_VECTORS, VECTORS } from "./data.js";
import type { Load, Report } from "./report.js";
import { runSentencePiece, runVectors, type SentencePieceVector, type Spine } from "./vectors.js";

const load: Load = (bytes) => Tokenizer.load(bytes);

/** One of these for each host: `./build.sh test web` prints them. */
function show(name: string, report: Report): void {
  const skipped = Object.entries(report.notApplicable);
  const count = skipped.reduce((sum, [, each]) => sum + each, 0);
  console.log(
    `node ${process.versions.node}: ${name}: ${report.passed} passed, ` +
      `${report.failed.length} failed, ${count} not applicable`,
  );
  for (const [reason, each] of skipped) console.log(`    ${each}: ${reason}`);
}

function linesOf<T>(path: string): T[] {
  const lines = readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line) as T);
}

describe("vectors", () => {
  test("spine", { timeout: 120_000 }, async () => {
    const spine = JSON.parse(readFileSync(join(VECTORS, "spine.json"), "utf8")) as Spine;
    const report = await runVectors(load, spine, async (name) =>
      readIf(join(VECTORS, "models", name)),
    );
    show("spine", report);
    expect(report.failed).toEqual([]);
    expect(report.passed).toBeGreaterThan(3500);
  });

  const path = join(SHARED_VECTORS, "semantics_vectors.jsonl");
  test.skipIf(readIf(path) === undefined)(
    `SentencePiece's (skipped if ${REASON})`,
    { timeout: 120_000 },
    async () => {
      const report = await runSentencePiece(
        load,
        linesOf<SentencePieceVector>(path),
        async (name) => readIf(join(SHARED_VECTORS, "models", name)),
      );
      show("sentencepiece", report);
      expect(report.failed).toEqual([]);
      expect(report.passed).toBeGreaterThan(140);
    },
  );

  const cases = join(CASES, "bug_cases.jsonl");
  test.skipIf(readIf(cases) === undefined)(
    `cases (skipped if ${REASON})`,
    { timeout: 120_000 },
    async () => {
      const report = await runCases(load, linesOf<Case>(cases), async (name) =>
        readIf(name.startsWith("cases/") ? join(CASES, "..", name) : join(DATA, "models", name)),
      );
      show("cases", report);
      expect(report.failed).toEqual([]);
      expect(report.passed).toBeGreaterThan(80);
    },
  );
});
