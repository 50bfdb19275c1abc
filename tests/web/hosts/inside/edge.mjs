/**
 * workerd and miniflare: a worker that answers a request with its results.
 *
 * Bundled with the condition "workerd"; the modules stay imports, as wrangler leaves them.
 */

import { Tokenizer } from "isotok";
import * as foreign from "isotok/foreign";
import buildWasm from "isotok/isotok-build.wasm";
import { runAll } from "./runner.mjs";

export default {
  async fetch(request) {
    const base = new URL(request.url).searchParams.get("base");
    try {
      return Response.json(await runAll({ Tokenizer, options: { buildWasm, foreign }, base }));
    } catch (error) {
      return new Response(String(error?.stack ?? error), { status: 500 });
    }
  },
};
