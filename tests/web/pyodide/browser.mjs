/** The host of session.mjs on a page and in a worker. */

import { loadPyodide } from "/pyodide/pyodide.mjs";
import { run } from "./session.mjs";

const dist = new URL("/dist/", import.meta.url).href;

const host = {
  loadPyodide,
  options: {
    indexURL: new URL("/pyodide/", import.meta.url).href,
    lockFileURL: `${dist}pyodide-lock.json`,
    packageBaseUrl: dist,
  },
  locate: (name) => dist + name,
  async read(name) {
    const response = await fetch(dist + name);
    if (!response.ok) throw new Error(`${name}: ${response.status}`);
    return new Uint8Array(await response.arrayBuffer());
  },
};

export async function runHere(task) {
  return { host: navigator.userAgent.match(/Chrome\/[0-9.]+/)?.[0], ...(await run(host, task)) };
}
