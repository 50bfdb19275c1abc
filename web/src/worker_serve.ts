/** The worker's side: tokenizers, encoders and decoders by number, and calls on them. */

import type { Decoder } from "./decode.js";
import type { Encoder } from "./encoder.js";
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

/** Methods whose result stays here. */
const OPENERS: readonly string[] = ["encoder", "decoder"];

type Target = Tokenizer | Encoder | Decoder;

/** Answers the requests that come through a port. */
export function serve(port: Port, load: Load): void {
  const targets = new Map<number, Target>();
  let next = 1;

  const keep = (target: Target): number => {
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
    if (method === "dispose") targets.delete(target);
    const call = (object as unknown as Methods)[method] as Methods[string];
    const result = call.apply(object, [...values]);
    return OPENERS.includes(method) ? keep(result as Encoder | Decoder) : result;
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
