/** A server on this machine that gives the hosts their scripts, models and texts. */

import { createReadStream, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { createGunzip } from "node:zlib";
import { DATA, ROOT, SITE } from "./prepare.mjs";

/** The policy that web/README.md says is enough. */
const STRICT = "script-src 'self' 'wasm-unsafe-eval'";

const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".json": "application/json",
  ".mjs": "text/javascript",
  ".wasm": "application/wasm",
};

/** Folders by the first part of an address; all else is in the folder of this run. */
const FOLDERS = {
  vectors: join(ROOT, "tests/vectors"),
  shared: join(DATA, ".."),
};

function pathOf(address) {
  const parts = decodeURIComponent(address).split("/").filter(Boolean);
  if (parts.includes("..")) return undefined;
  const folder = FOLDERS[parts[0]];
  return folder === undefined ? join(SITE, ...parts) : join(folder, ...parts.slice(1));
}

function sizeOf(path) {
  const found = path && statSync(path, { throwIfNoEntry: false });
  return found?.isFile() ? found.size : undefined;
}

function answer(request, response) {
  let { pathname } = new URL(request.url, "http://127.0.0.1");
  if (pathname.startsWith("/strict/")) {
    pathname = pathname.slice("/strict".length);
    response.setHeader("content-security-policy", STRICT);
  }
  const path = pathOf(pathname);
  const size = sizeOf(path);
  if (size === undefined && sizeOf(`${path}.gz`) === undefined) {
    response.writeHead(404).end();
    return;
  }
  if (size === undefined) {
    // models of the data folder are packed; their users unpack them
    createReadStream(`${path}.gz`).pipe(createGunzip()).pipe(response);
    return;
  }
  response.setHeader("content-type", TYPES[extname(path)] ?? "application/octet-stream");
  response.setHeader("content-length", size);
  createReadStream(path).pipe(response);
}

/** Starts it; gives its address, and a function that ends it. */
export async function serve() {
  const server = createServer(answer);
  // Hosts compute for seconds and then use a connection again, just when it might be closed.
  server.keepAliveTimeout = 0;
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { base: `http://127.0.0.1:${server.address().port}`, close };
}
