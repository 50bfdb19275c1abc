/**
 * Imports one script of the package and prints, as JSON, what that did and what it exports.
 *
 *     node import_alone.mjs SCRIPT [load]
 *
 * With `load` it opens a model too: what was found idle at import is then at work, or the
 * watching would prove nothing.
 */

import fs from "node:fs/promises";
import { register, syncBuiltinESMExports } from "node:module";
import { isMainThread, Worker } from "node:worker_threads";

const [script, load] = process.argv.slice(2);

// As on edge runtimes: an import of a module gives it, compiled by the platform.
const hooks = `export const load = (url, context, next) => /\\.wasm(\\?module)?$/.test(url)
  ? { format: "module", source: "export default {}", shortCircuit: true }
  : next(url, context);`;

if (isMainThread && script.endsWith("worker_main_node.js")) {
  // It refuses to run elsewhere.
  new Worker(new URL(import.meta.url), { argv: [script] });
} else {
  register(`data:text/javascript,${encodeURIComponent(hooks)}`);
  globalThis.addEventListener ??= () => {}; // of the scope of a worker, for its script
  const touched = watchEverything();
  const found = await import(script);
  const atImport = [...touched];
  if (load) await useTokenizer(found.Tokenizer);
  console.log(JSON.stringify({ touched: atImport, later: touched, exports: namesOf(found) }));
  process.exit();
}

/** Replaces what starts work by something that only takes note of it. */
function watchEverything() {
  const touched = [];
  const watch = (object, names) => {
    for (const name of names) {
      if (object[name] === undefined) continue;
      object[name] = new Proxy(object[name], {
        apply: () => void touched.push(name),
        construct: () => {
          touched.push(name);
          return {};
        },
      });
    }
  };
  const wasm = ["compile", "compileStreaming", "instantiate", "instantiateStreaming"];
  watch(WebAssembly, [...wasm, "validate", "Module", "Instance", "Memory"]);
  watch(globalThis, ["fetch", "atob", "setTimeout", "setInterval", "queueMicrotask"]);
  watch(globalThis, ["TextEncoder", "TextDecoder", "FinalizationRegistry", "Worker"]);
  watch(fs, ["open", "readFile"]);
  syncBuiltinESMExports();
  return touched;
}

async function useTokenizer(Tokenizer) {
  const model = new Uint8Array(64);
  model.set(new Uint8Array(Buffer.from("ISTK"))); // a blob, from afar
  await Tokenizer.load(model).catch(() => {});
  await Tokenizer.load(model, { wasm: new Uint8Array(8) }).catch(() => {});
}

/** What is exported; of classes also the members, those of the class itself among them. */
function namesOf(found) {
  const names = {};
  for (const [name, value] of Object.entries(found)) {
    const isClass = typeof value === "function" && value.prototype !== undefined;
    names[name] = isClass ? [...members(value), ...members(value.prototype)] : [];
  }
  return names;
}

function members(object) {
  const own = ["length", "name", "prototype", "constructor"];
  const names = [];
  for (let at = object; !isBuiltin(at); at = Object.getPrototypeOf(at)) {
    for (const key of Reflect.ownKeys(at)) {
      if (own.includes(key)) continue;
      if (key === Symbol.dispose) names.push("[Symbol.dispose]");
      else names.push(typeof key === "symbol" ? `[${key.description}]` : key);
    }
  }
  return [...new Set(names)].sort();
}

function isBuiltin(object) {
  return [Object.prototype, Function.prototype, Error.prototype, Error].includes(object);
}
