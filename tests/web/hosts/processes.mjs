/** Node, Deno and Bun: each runs process.mjs, and finds the package as it does. */

import { spawn } from "node:child_process";
import { join } from "node:path";
import { HERE, SITE } from "./prepare.mjs";

const BIN = join(HERE, "node_modules/.bin");

/** Milliseconds after which a host is thought to hang. */
export const PATIENCE = 600_000;

/** Runs a program to its end; gives its output. */
function output(command, values, environment = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, values, {
      cwd: SITE,
      env: { ...process.env, ...environment },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: PATIENCE,
    });
    let out = "";
    let errors = "";
    child.stdout.on("data", (chunk) => (out += chunk));
    child.stderr.on("data", (chunk) => (errors += chunk));
    child.on("error", reject);
    child.on("close", (code, signal) => {
      if (code === 0) resolve(out.trim());
      else
        reject(
          new Error(`${command} ended with ${signal ?? code}: ${(errors + out).slice(-2000)}`),
        );
    });
  });
}

function host(name, command, flags, versionOf, environment = {}) {
  return {
    name,
    entry: "node.js",
    async run(base) {
      const version = versionOf(await output(command, ["--version"], environment));
      const out = await output(command, [...flags, "process.mjs", base], environment);
      return { version, ...JSON.parse(out.split("\n").at(-1)) };
    },
  };
}

const DENO = [
  "run",
  "--quiet",
  "--allow-net=127.0.0.1",
  "--allow-read=.",
  "--node-modules-dir=manual",
];

export const PROCESSES = [
  host("Node", process.execPath, [], (text) => text.slice(1)),
  host("Deno", join(BIN, "deno"), DENO, (text) => /deno (\S+)/.exec(text)[1], {
    DENO_DIR: join(SITE, "../deno"),
    DENO_NO_UPDATE_CHECK: "1",
  }),
  host("Bun", join(BIN, "bun"), ["run"], (text) => text),
];
