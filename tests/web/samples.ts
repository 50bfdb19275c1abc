/** What a seed draws (samples.json), on any host. */

import type { Tokenizer } from "isotok";
import {
  check,
  fromHex,
  type GetFile,
  type Load,
  Models,
  newReport,
  type Report,
  same,
  skip,
} from "./report.js";

export interface Sample {
  model: string;
  /** As hex. */
  text: string;
  method: "ffbs" | "gumbel" | "dropout" | "nbest";
  alpha: number;
  /** Of "nbest": one of how many. */
  paths?: number;
  /** 64 bits. */
  seed: string;
  ids: number[];
}

export interface Samples {
  samples: Sample[];
}

/** A tokenizer, or the proxy of one in a worker. */
type Sampler = {
  [name in "sample" | "sampleNbest"]: (
    ...values: Parameters<Tokenizer[name]>
  ) => Uint32Array | Promise<Uint32Array>;
};

/** Draws as a row says. */
export function drawn(tokenizer: Sampler, row: Sample): Uint32Array | Promise<Uint32Array> {
  const { method, alpha } = row;
  const text = fromHex(row.text);
  const seed = BigInt(row.seed);
  if (method === "nbest") return tokenizer.sampleNbest(text, row.paths ?? 0, { alpha, seed });
  if (method === "dropout") return tokenizer.sample(text, { dropout: alpha, seed });
  return tokenizer.sample(text, { alpha, method, seed });
}

/** Runs samples.json. `getModel` gets names like `lattices/cuts.model`. */
export async function runSamples(load: Load, all: Samples, getModel: GetFile): Promise<Report> {
  const report = newReport();
  const models = new Models(load, getModel);
  for (const row of all.samples) {
    const tokenizer = await models.open(`${row.model}.model`);
    if (tokenizer === undefined) {
      skip(report, `${row.model}.model is not here`);
      continue;
    }
    await check(report, `${row.model}, ${row.method} ${row.alpha}, seed ${row.seed}`, async () => {
      same("ids", await drawn(tokenizer, row), row.ids);
    });
  }
  models.close();
  return report;
}
