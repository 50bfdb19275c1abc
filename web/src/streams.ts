/** Encoding and decoding as streams and async iterators, here or in a worker. */

import { argumentError } from "./errors.js";
import type { Ids, Text } from "./memory.js";
import { isUint8Array } from "./tags.js";

/** Token ids as they come: one, or some. */
export type IdChunk = number | bigint | Ids;
export type IdSource = AsyncIterable<IdChunk> | Iterable<IdChunk>;
export type DecoderStream = TransformStream<IdChunk, string>;

/** A text in chunks, cut anywhere. */
export type TextSource = AsyncIterable<Text> | Iterable<Text>;
export type EncoderStream = TransformStream<Text, Uint32Array<ArrayBuffer>>;

/** An encoder or a decoder, or the proxy of one. */
interface Coder<In, Out> {
  push(chunk: In): Out | Promise<Out>;
  flush(): Out | Promise<Out>;
  dispose(): void;
}

type Open<In, Out> = () => Coder<In, Out> | Promise<Coder<In, Out>>;

/** Ids or text. */
interface Result {
  readonly length: number;
}

export function transformStream<In, Out extends Result>(
  open: Open<In, Out>,
): TransformStream<In, Out> {
  let coder: Coder<In, Out> | undefined;
  /** Enqueues what a step gives; a failed step is the last. */
  const step = async (
    controller: TransformStreamDefaultController<Out>,
    run: (coder: Coder<In, Out>) => Out | Promise<Out>,
  ) => {
    coder ??= await open();
    try {
      const found = await run(coder);
      if (found.length > 0) controller.enqueue(found);
    } catch (error) {
      coder.dispose();
      throw error;
    }
  };
  const transformer: Transformer<In, Out> & { cancel(): void } = {
    transform: (chunk, controller) => step(controller, (each) => each.push(chunk)),
    async flush(controller) {
      await step(controller, (each) => each.flush());
      coder?.dispose();
    },
    // Not every engine calls it yet; there the coder goes with the stream.
    cancel: () => coder?.dispose(),
  };
  return new TransformStream(transformer);
}

export async function* iterate<In, Out extends Result>(
  open: Open<In, Out>,
  source: AsyncIterable<In> | Iterable<In>,
): AsyncGenerator<Out, void, unknown> {
  const coder = await open(); // not before the first result is asked for: perhaps nobody does
  try {
    for await (const chunk of source) {
      const found = await coder.push(chunk);
      if (found.length > 0) yield found;
    }
    const found = await coder.flush();
    if (found.length > 0) yield found;
  } finally {
    coder.dispose();
  }
}

export function checkChunks(chunks: TextSource): TextSource {
  if (typeof chunks !== "string" && !isUint8Array(chunks)) return chunks;
  throw argumentError("chunks must be an iterable of texts; for one text use encode()");
}
