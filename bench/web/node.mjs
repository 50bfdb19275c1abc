/**
 * A session in Node, on lines of JSON:
 *
 *     node [--expose-gc] node.mjs FOLDER ENGINE MODEL SOURCE
 *
 * Each line of the input is a command with its arguments, each line of the output its result.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Session } from "./session.mjs";

const [folder, engine, model, source] = process.argv.slice(2);
const read = (name) => new Uint8Array(readFileSync(join(folder, name)));

/** Resident bytes when what is not used any more is gone. */
async function memory() {
  for (let i = 0; i < 3; i++) {
    globalThis.gc();
    await new Promise((resolve) => setTimeout(resolve, 100)); // compilers finish meanwhile
  }
  return process.memoryUsage.rss();
}

/** A module with one function, which counts down from its argument. */
const COUNT_DOWN =
  "AGFzbQEAAAABBgFgAX8BfwMCAQAHBQEBZgAACh4BHAEBfwNAIAFBA2wgAGohASAAQQFrIgANAAsgAQs=";

/** Makes Node read in its compilers of WebAssembly, as the first hot program of anyone does. */
async function warmUp() {
  const { instance } = await WebAssembly.instantiate(Buffer.from(COUNT_DOWN, "base64"));
  for (let i = 0; i < 50; i++) instance.exports.f(1_000_000);
}

const host = {
  read,
  engine: (name) => import(`./engines/${name}.mjs`),
  prefetch: () => {},
  files: () => ({ bytes: read, source: (name) => join(folder, name) }),
  memory,
  warmUp,
};

const session = new Session(host, engine, model, source);
for await (const line of createInterface({ input: process.stdin })) {
  const { command, ...rest } = JSON.parse(line);
  console.log(JSON.stringify(await session[command](rest)));
}
process.exit(0); // some engines keep Node alive
