/**
 * Vercel's edge-runtime: a script that answers a request with its results.
 *
 * Bundled with the condition "edge-light"; imports with `?module` become global variables
 * that the host sets, as Next.js does it.
 */

import { Tokenizer } from "isotok";
import * as foreign from "isotok/foreign";
import buildWasm from "isotok/isotok-build.wasm?module";
import { runAll } from "./runner.mjs";

async function answer(request) {
  const base = new URL(request.url).searchParams.get("base");
  try {
    return Response.json(await runAll({ Tokenizer, options: { buildWasm, foreign }, base }));
  } catch (error) {
    return new Response(String(error?.stack ?? error), { status: 500 });
  }
}

addEventListener("fetch", (event) => event.respondWith(answer(event.request)));
