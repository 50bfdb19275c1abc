/** compat: "0.2.1": golden vectors, what keeps it, and what is refused. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Compat, Tokenizer, TokenizerError } from "isotok";
import { TokenizerWorker } from "isotok/worker";
import { describe, expect, test } from "vitest";
import { ownModel, VECTORS } from "./data.js";

interface Vector {
  readonly id: string;
  readonly model: string;
  readonly op: string;
  readonly text: string | [unit: string, count: number];
  readonly ids: number[];
}
interface Golden {
  readonly left_out: Record<string, string>;
  readonly refused: Record<string, string>;
  readonly differences: Record<string, { ids?: number[]; decoded?: string }>;
}

const read = <T>(name: string) => JSON.parse(readFileSync(join(VECTORS, name), "utf8")) as T;
const golden = read<Golden>("sentencepiece_0_2_1.json");
const { vectors } = read<{ vectors: Vector[] }>("spine.json");
const MODELS = [...new Set(vectors.map(({ model }) => model))].filter(
  (model) => !(model in golden.left_out) && !(model in golden.refused),
);
const [NAME, TEXT, OLD, TODAY] = ["bpe_scores", "hij", [3, 18, 22], [3, 20, 19]] as const;

function textOf(text: Vector["text"]): Uint8Array {
  const [unit, count] = typeof text === "string" ? [text, 1] : text;
  return Buffer.from(unit.repeat(count), "hex");
}

async function errorOf(call: () => Promise<unknown>): Promise<TokenizerError> {
  const error = await call().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(TokenizerError);
  return error as TokenizerError;
}

describe("golden vectors", () => {
  test.each(MODELS)("%s", async (model) => {
    const tokenizer = await Tokenizer.load(ownModel(model), { compat: "0.2.1" });
    expect(tokenizer.info.compat).toBe("0.2.1");
    for (const vector of vectors.filter((each) => each.model === model)) {
      const { ids, decoded } = golden.differences[vector.id] ?? {};
      if (vector.op === "encode") {
        const found = tokenizer.encode(textOf(vector.text));
        expect(Array.from(found), vector.id).toEqual(ids ?? vector.ids);
      }
      if (decoded !== undefined && vector.op !== "decode_pieces") {
        const text = Buffer.from(decoded, "hex").toString();
        expect(tokenizer.decode(vector.ids), vector.id).toBe(text);
      }
    }
  });

  test("there are differences of both kinds", () => {
    const found = Object.values(golden.differences);
    expect(found.filter(({ ids }) => ids !== undefined).length).toBeGreaterThan(30);
    expect(found.filter(({ decoded }) => decoded !== undefined).length).toBeGreaterThan(10);
  });
});

test("a model file gives either", async () => {
  const old = await Tokenizer.load(ownModel(NAME), { compat: "0.2.1" });
  const today = await Tokenizer.load(ownModel(NAME));
  expect(Array.from(old.encode(TEXT))).toEqual(OLD);
  expect(Array.from(today.encode(TEXT))).toEqual(TODAY);
  expect(today.info.compat).toBeUndefined();
});

test.each(["blob", "packed"] as const)("a %s keeps its own", async (form) => {
  const old = await Tokenizer.compile(ownModel(NAME), { form, compat: "0.2.1" });
  const today = await Tokenizer.compile(ownModel(NAME), { form });
  for (const options of [{}, { compat: "0.2.1" }] as const) {
    expect(Array.from((await Tokenizer.load(old, options)).encode(TEXT))).toEqual(OLD);
  }
  expect(Array.from((await Tokenizer.load(today)).encode(TEXT))).toEqual(TODAY);
  const error = await errorOf(() => Tokenizer.load(today, { compat: "0.2.1" }));
  expect(error.message).toContain("not compiled for sentencepiece 0.2.1");
});

test("other releases are unknown", async () => {
  for (const unknown of ["0.2.0", "", null, true]) {
    const options = { compat: unknown as unknown as Compat };
    const calls = [
      () => Tokenizer.load(ownModel(NAME), options),
      () => Tokenizer.compile(ownModel(NAME), options),
    ];
    for (const call of calls) {
      expect((await errorOf(call)).message).toMatch(/^compat: .* is unknown; use "0\.2\.1"/);
    }
  }
});

test("a worker", async () => {
  const worker = new TokenizerWorker();
  const tokenizer = await worker.load(ownModel(NAME), { compat: "0.2.1" });
  expect(tokenizer.info.compat).toBe("0.2.1");
  expect(Array.from(await tokenizer.encode(TEXT))).toEqual(OLD);
  worker.dispose();
});
