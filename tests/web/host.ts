/** Everything that is compared, on one host: gets its files from a server, gives reports. */

import { type Case, runCases } from "./cases.js";
import { type ForeignAnswer, runForeign } from "./foreign.js";
import { type NativeAnswer, runNative } from "./native.js";
import type { Load, Report } from "./report.js";
import { runSamples, type Samples } from "./samples.js";
import { type Host, runUses } from "./uses.js";
import { runSentencePiece, runVectors, type SentencePieceVector, type Spine } from "./vectors.js";

/** Reports by suite; what a host has no data for is missing. */
export type Results = Partial<Record<Suite, Report>>;

type Suite = "spine" | "sentencepiece" | "cases" | "samples" | "native" | "foreign" | "uses";

export async function runAll(host: Host): Promise<Results> {
  const load: Load = (bytes, name = "") => host.Tokenizer.load(bytes, { ...host.options, name });
  const files = new Files(host.base);
  const below = (folder: string) => (name: string) => files.get(`${folder}/${name}`);
  const results: Results = {};

  const spine = (await files.json("vectors/spine.json")) as Spine | undefined;
  if (spine) results.spine = await runVectors(load, spine, below("vectors/models"));

  const vectors = await files.lines("shared/vectors/semantics_vectors.jsonl");
  if (vectors) {
    const models = below("shared/vectors/models");
    results.sentencepiece = await runSentencePiece(load, vectors as SentencePieceVector[], models);
  }

  const cases = await files.lines("shared/cases/bug_cases.jsonl");
  if (cases) {
    results.cases = await runCases(load, cases as Case[], (name) =>
      files.get(name.startsWith("cases/") ? `shared/${name}` : `shared/data/models/${name}`),
    );
  }

  const samples = (await files.json("vectors/samples.json")) as Samples | undefined;
  if (samples) results.samples = await runSamples(load, samples, below("vectors/models"));

  const answers = (await files.json("native/native.json")) as NativeAnswer[] | undefined;
  if (answers) results.native = await runNative(load, answers, (name) => files.get(name));

  const foreign = (await files.json("native/foreign/foreign.json")) as ForeignAnswer[] | undefined;
  if (foreign) results.foreign = await runForeign(host, foreign, below("native/foreign"));

  results.uses = await runUses(host, "vectors/models/char_bytes.model");
  return results;
}

class Files {
  readonly #base: string;

  constructor(base: string) {
    this.#base = base;
  }

  async get(name: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const response = await fetch(`${this.#base}/${name}`);
    const bytes = new Uint8Array(await response.arrayBuffer());
    if (response.status === 404) return undefined;
    if (!response.ok) throw new Error(`${name}: the server answered ${response.status}`);
    return bytes;
  }

  async #text(name: string): Promise<string | undefined> {
    const bytes = await this.get(name);
    return bytes && new TextDecoder().decode(bytes);
  }

  async json(name: string): Promise<unknown> {
    const text = await this.#text(name);
    return text && JSON.parse(text);
  }

  async lines(name: string): Promise<unknown[] | undefined> {
    const lines = (await this.#text(name))?.split("\n").filter((line) => line !== "");
    return lines?.map((line) => JSON.parse(line) as unknown);
  }
}
