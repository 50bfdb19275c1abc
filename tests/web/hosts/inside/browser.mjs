/** A page or a worker: `entry` and `worker` are what package.json names for browsers. */

import { runAll } from "./runner.mjs";

export async function run({ base, entry, worker }) {
  const { Tokenizer } = await import(entry);
  const { TokenizerWorker } = await import(worker);
  const results = await runAll({ Tokenizer, TokenizerWorker, base });
  return { entry, results };
}
