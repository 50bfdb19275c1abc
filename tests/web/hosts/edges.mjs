/** workerd, miniflare and edge-runtime: a server each, of which we ask for its results. */

import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { compiledModules, HERE, SITE } from "./prepare.mjs";
import { PATIENCE } from "./processes.mjs";

const EDGE = join(SITE, "edge");
const MODULES = ["isotok.wasm", "isotok-build.wasm"];
const require = createRequire(import.meta.url);
const versionOf = (name) => require(`${name}/package.json`).version;

/** The newest date that a workerd knows is the one in its version. */
function newestDate(version) {
  return version.replace(/^\d+\.(\d{4})(\d{2})(\d{2})\..*/, "$1-$2-$3");
}

function results(status, text) {
  if (status !== 200) throw new Error(text.slice(0, 2000));
  return JSON.parse(text);
}

/** As fetch, with more patience. */
function ask(url) {
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(PATIENCE);
    const request = get(url, { signal }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk) => (text += chunk));
      response.on("error", reject);
      response.on("end", () => resolve([response.statusCode, text]));
    });
    request.on("error", reject);
  }).then(([status, text]) => results(status, text));
}

// -- workerd --------------------------------------------------------------------------

/** A date from before FinalizationRegistry came; miniflare below has a new one. */
const OLD_DATE = "2024-01-01";

const config = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
    (name = "local", network = (allow = ["private", "local"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [
    (name = "edge.js", esModule = embed "edge.js"),
${MODULES.map((name) => `    (name = "${name}", wasm = embed "${name}"),`).join("\n")}
  ],
  compatibilityDate = "${OLD_DATE}",
  globalOutbound = "local",
);
`;

/** Starts workerd; gives its port, and a function that ends it. */
async function startWorkerd() {
  writeFileSync(join(EDGE, "config.capnp"), config);
  const values = ["serve", "config.capnp", "--control-fd=3"];
  const child = spawn(join(HERE, "node_modules/.bin/workerd"), values, {
    cwd: EDGE,
    stdio: ["ignore", "inherit", "pipe", "pipe"],
  });
  let errors = "";
  child.stderr.on("data", (chunk) => (errors += chunk));
  const ended = new Promise((_, reject) => {
    child.on("error", reject);
    child.on("close", (code) => reject(new Error(`workerd ended with ${code}: ${errors}`)));
  });
  ended.catch(() => {});
  const port = (async () => {
    for await (const line of createInterface(child.stdio[3])) {
      const { event, port } = JSON.parse(line);
      if (event === "listen") return port;
    }
    return ended;
  })();
  return { port: await Promise.race([port, ended]), ended, stop: () => child.kill() };
}

const workerd = {
  name: "workerd",
  async run(base) {
    const { port, ended, stop } = await startWorkerd();
    try {
      const found = await Promise.race([ask(`http://127.0.0.1:${port}/?base=${base}`), ended]);
      return { version: versionOf("workerd"), results: found };
    } finally {
      stop();
    }
  },
};

// -- miniflare ------------------------------------------------------------------------

const miniflare = {
  name: "miniflare",
  async run(base) {
    const { Miniflare } = await import("miniflare");
    const miniflare = new Miniflare({
      modulesRoot: EDGE,
      modules: [
        { type: "ESModule", path: join(EDGE, "edge.js") },
        ...MODULES.map((name) => ({ type: "CompiledWasm", path: join(EDGE, name) })),
      ],
      compatibilityDate: newestDate(require("miniflare/package.json").dependencies.workerd),
    });
    try {
      const url = await miniflare.ready;
      return { version: versionOf("miniflare"), results: await ask(`${url}?base=${base}`) };
    } finally {
      await miniflare.dispose();
    }
  },
};

// -- edge-runtime ---------------------------------------------------------------------

const edgeRuntime = {
  name: "edge-runtime",
  async run(base) {
    const { EdgeRuntime } = await import("edge-runtime");
    const modules = await compiledModules();
    const runtime = new EdgeRuntime({
      // What Vercel forbids; the emulator would allow it.
      codeGeneration: { strings: false, wasm: false },
      extend: (context) => Object.assign(context, modules),
      initialCode: readFileSync(join(SITE, "edge_light/script.js"), "utf8"),
    });
    const response = await runtime.dispatchFetch(`http://127.0.0.1/?base=${base}`);
    const found = results(response.status, await response.text());
    return { version: versionOf("edge-runtime"), results: found };
  },
};

/** `entries`: which entry points the bundles have. */
export function edgeHosts(entries) {
  const withEntry = (host, wanted, found) => ({
    ...host,
    entry: wanted,
    run: async (base) => ({ entry: found, ...(await host.run(base)) }),
  });
  return [
    withEntry(workerd, "edge.js", entries.edge),
    withEntry(miniflare, "edge.js", entries.edge),
    withEntry(edgeRuntime, "edge_light.js", entries.edgeLight),
  ];
}
