/**
 * Node, Deno and Bun: a program that prints its results as its last line.
 *
 *     node process.mjs BASE
 */

import { Tokenizer } from "isotok";
import { TokenizerWorker } from "isotok/worker";
import { runAll } from "./runner.mjs";

const [base] = process.argv.slice(2);
const results = await runAll({ Tokenizer, TokenizerWorker, base });
console.log(JSON.stringify({ entry: import.meta.resolve("isotok"), results }));
process.exit(0);
