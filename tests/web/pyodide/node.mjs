/**
 * A test of Pyodide in Node.
 *
 *     node node.mjs TASK     a JSON object; see session.mjs and test_pyodide.py
 *
 * The last line of the output is the result as JSON.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { loadPyodide } from "pyodide";
import { run } from "./session.mjs";

const task = JSON.parse(process.argv[2]);

const host = {
  loadPyodide,
  // Other packages come from the cache folder; nothing is fetched from elsewhere.
  options: { lockFileURL: join(task.dist, "pyodide-lock.json"), packageCacheDir: task.dist },
  locate: (name) => join(task.dist, name),
  async read(name) {
    return new Uint8Array(readFileSync(join(task.dist, name)));
  },
};

const report = await run(host, task);
console.log(JSON.stringify({ host: `Node ${process.versions.node}`, ...report }));
process.exit(0);
