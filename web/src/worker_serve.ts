/** The worker's side: tokenizers and decoders by number, and calls on them. */

import type { Decoder } from "./decode.js";
import type { ModelSource } from "./load/bytes.js";
import type { LoadOptions } from "./load/open.js";
import type { Tokenizer } from "./tokenizer.js";
import {
  type Loaded,
  type Port,
  type Reply,
  type Request,
  sendableError,
  transferable,
} from "./worker_messages.js";

type Load = (source: ModelSource, options: LoadOptions) => Promise<Tokenizer>;
type Methods = Record<string, (...values: unknown[]) => unknown>;

/** Answers the requests that come through a port. */
export function serve(port: Port, load: Load): void {
  const targets = new Map<number, Tokenizer | Decoder>();
  let next = 1;

  const keep = (target: Tokenizer | Decoder): number => {
    targets.set(next, target);
    return next++;
  };

  const run = async ({ target, method, values }: Request): Promise<unknown> => {
    if (method === "load") {
      const tokenizer = await load(...(values as [ModelSource, LoadOptions]));
      return { target: keep(tokenizer), info: tokenizer.info } satisfies Loaded;
    }
    const object = targets.get(target);
    if (object === undefined) return undefined; // disposed of before
    if (method === "decoder") return keep((object as Tokenizer).decoder());
    if (method === "dispose") targets.delete(target);
    return ((object as unknown as Methods)[method] as Methods[string]).apply(object, [...values]);
  };

  const answer = async (request: Request) => {
    let reply: Reply;
    try {
      reply = { id: request.id, result: await run(request) };
    } catch (error) {
      reply = { id: request.id, error: sendableError(error) };
    }
    port.send(reply, transferable(reply.result));
  };
  port.listen(
    (request: Request) => void answer(request),
    () => {},
  );
}
