/** A session on a page: the driver calls `start` and `command`. */

import { Session } from "./session.mjs";

/** Linear memories of the instances of this page. */
const memories = new Set();

function note({ exports }) {
  for (const each of Object.values(exports)) {
    if (each instanceof WebAssembly.Memory) memories.add(new WeakRef(each));
  }
}

/** Sees all instances that are made. */
function watch() {
  const { instantiate, instantiateStreaming, Instance } = WebAssembly;
  const noting = (make) => async (...values) => {
    const made = await make.apply(WebAssembly, values);
    note(made.instance ?? made);
    return made;
  };
  WebAssembly.instantiate = noting(instantiate);
  WebAssembly.instantiateStreaming = noting(instantiateStreaming);
  WebAssembly.Instance = new Proxy(Instance, {
    construct(target, values) {
      const made = new target(...values);
      note(made);
      return made;
    },
  });
}

/** Bytes of script, and of linear memory, which the browser's measure leaves out. */
async function memory() {
  globalThis.gc?.();
  const { bytes } = await performance.measureUserAgentSpecificMemory();
  let linear = 0;
  for (const reference of memories) linear += reference.deref()?.buffer.byteLength ?? 0;
  return bytes + linear;
}

const data = (name) => new URL(`/data/${name}`, location.href).href;
/** Addresses of scripts that are in memory. */
const scripts = new Map();

async function prefetch(name) {
  const response = await fetch(new URL(`/page/engines/${name}.js`, location.href));
  scripts.set(name, URL.createObjectURL(await response.blob()));
}

async function read(name) {
  const response = await fetch(data(name));
  if (!response.ok) throw new Error(`${name}: ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

async function files(names) {
  const found = new Map();
  for (const name of names) found.set(name, await read(name));
  return { bytes: (name) => found.get(name), source: data };
}

const host = {
  read,
  engine: (name) => import(scripts.get(name)),
  prefetch,
  files,
  memory,
  warmUp: watch,
};

let session;

globalThis.start = (what) => {
  session = new Session(host, ...what);
};
globalThis.command = ({ command, ...rest }) => session[command](rest);
