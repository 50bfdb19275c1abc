/**
 * Runs vectors and cases on every host of the npm package, and prints a table.
 *
 *     node run.mjs [PART-OF-A-NAME …]     e.g. workerd "Firefox, page"
 *
 * Each host is asked for seven reports; each is one test. A report fails if anything in it
 * differs, or if the host compared less than Node did. The last line counts them. Rows of
 * Pyodide are those that ./build.sh test pyodide has left.
 */

import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { BROWSER_HOSTS } from "./browsers.mjs";
import { edgeHosts } from "./edges.mjs";
import { prepare, removeSites } from "./prepare.mjs";
import { PROCESSES } from "./processes.mjs";
import { pyodideRows } from "./pyodide.mjs";
import { serve } from "./server.mjs";
import { Table } from "./table.mjs";

const { positionals } = parseArgs({ allowPositionals: true });
const wanted = ({ name }) =>
  positionals.length === 0 || name === "Node" || positionals.some((part) => name.includes(part));

const MISSING = new Set(["ENOENT", "ERR_MODULE_NOT_FOUND", "MODULE_NOT_FOUND"]);

/** Runs one host; that it cannot be started is a failure of all its reports. */
async function runHost(host, base) {
  const begin = performance.now();
  let found;
  try {
    found = await host.run(base);
    const entry = found.entry.split("/").at(-1);
    if (entry !== host.entry) throw new Error(`it took the entry point ${entry}`);
  } catch (error) {
    const help = MISSING.has(error.code) ? "; install it: ./build.sh build hosts" : "";
    found = { error: `${error.message}${help}` };
  }
  const seconds = (performance.now() - begin) / 1000;
  console.log(`${host.name}: ${seconds.toFixed(1)} s`);
  return { ...found, host: host.name, entry: host.entry, seconds };
}

/** Runs all, a few at a time; the results are in the order of the hosts. */
async function runHosts(hosts, base) {
  const rows = [];
  const queue = hosts.entries();
  const work = async () => {
    for (const [index, host] of queue) rows[index] = await runHost(host, base);
  };
  await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, work));
  return rows;
}

const entries = await prepare();
const server = await serve();
const hosts = [...PROCESSES, ...BROWSER_HOSTS, ...edgeHosts(entries)];
const table = new Table();
for (const row of await runHosts(hosts.filter(wanted), server.base)) table.add(row);
for (const row of pyodideRows()) table.addOther(row);
server.close();
removeSites();
const { passed, failed, skipped } = table.print();
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
process.exit(failed > 0 ? 1 : 0);
