/** Decoding as streams and async iterators, over a decoder here or in a worker. */

import type { Ids } from "./memory.js";

/** Token ids as they come: one, or some. */
export type IdChunk = number | bigint | Ids;
export type IdSource = AsyncIterable<IdChunk> | Iterable<IdChunk>;
export type DecoderStream = TransformStream<IdChunk, string>;

/** A decoder, or the proxy of one. */
interface AnyDecoder {
  push(ids: IdChunk): string | Promise<string>;
  flush(): string | Promise<string>;
  dispose(): void;
}

type Open = () => AnyDecoder | Promise<AnyDecoder>;

export function decodeTransform(open: Open): DecoderStream {
  let decoder: AnyDecoder | undefined;
  /** Enqueues what a step gives; a failed step is the last. */
  const step = async (
    controller: TransformStreamDefaultController<string>,
    run: (decoder: AnyDecoder) => string | Promise<string>,
  ) => {
    decoder ??= await open();
    try {
      const text = await run(decoder);
      if (text !== "") controller.enqueue(text);
    } catch (error) {
      decoder.dispose();
      throw error;
    }
  };
  const transformer: Transformer<IdChunk, string> & { cancel(): void } = {
    transform: (chunk, controller) => step(controller, (each) => each.push(chunk)),
    async flush(controller) {
      await step(controller, (each) => each.flush());
      decoder?.dispose();
    },
    // Not every engine calls it yet; there the decoder goes with the stream.
    cancel: () => decoder?.dispose(),
  };
  return new TransformStream(transformer);
}

export async function* decodeIterator(open: Open, source: IdSource): AsyncGenerator<string> {
  const decoder = await open(); // not before the first piece is asked for: perhaps nobody does
  try {
    for await (const chunk of source) {
      const text = await decoder.push(chunk);
      if (text !== "") yield text;
    }
    const text = await decoder.flush();
    if (text !== "") yield text;
  } finally {
    decoder.dispose();
  }
}
