/** A model's bytes as they arrive, whatever they come from. */

import { reasonOf, TokenizerError } from "../errors.js";
import type { Address, Memory } from "../memory.js";
import { isArrayBuffer, isUint8Array } from "../tags.js";

/** A size that is announced is room made in advance, if it is not beyond belief. */
const LARGEST_HINT = 2 ** 31;

/** What the file of a model can be loaded from. */
export type ModelSource =
  | string
  | URL
  | Response
  | ReadableStream<Uint8Array>
  | ArrayBuffer
  | ArrayBufferView
  | Blob;

/** Bytes in chunks. A chunk may change when the next one is asked for. */
export interface Bytes {
  /** For messages. */
  readonly name: string;
  /** Their size, if it is known; only a hint. */
  readonly size: number;
  readonly chunks: AsyncIterator<Uint8Array> | Iterator<Uint8Array>;
}

/** Turns a source into bytes; `open` gets strings and URLs. */
export async function bytesOf(
  source: ModelSource | Promise<ModelSource>,
  open: (name: string | URL) => Promise<Bytes>,
): Promise<Bytes> {
  const found = await source;
  if (typeof found === "string" || found instanceof URL) return open(found);
  if (isArrayBuffer(found)) return oneChunk(new Uint8Array(found));
  if (ArrayBuffer.isView(found)) {
    return oneChunk(new Uint8Array(found.buffer, found.byteOffset, found.byteLength));
  }
  if (typeof Response !== "undefined" && found instanceof Response) return responseBytes(found);
  if (typeof Blob !== "undefined" && found instanceof Blob) {
    const name = "name" in found ? String(found.name) : "model";
    return { name, size: found.size, chunks: streamChunks(found.stream(), name) };
  }
  if (typeof found === "object" && found !== null && "getReader" in found) {
    return { name: "model", size: 0, chunks: streamChunks(found, "model") };
  }
  throw new TokenizerError(
    "SOURCE",
    "model: give a URL, a Response, a stream, a Blob or File, an ArrayBuffer or bytes",
  );
}

function oneChunk(bytes: Uint8Array): Bytes {
  return { name: "model", size: bytes.length, chunks: [bytes].values() };
}

/** Fetches a model. */
export async function fetchBytes(url: string | URL): Promise<Bytes> {
  let response: Response;
  try {
    response = await fetch(url);
  } catch (error) {
    throw sourceError(String(url), `cannot be fetched (${reasonOf(error)})`, error);
  }
  return responseBytes(response, String(url));
}

function responseBytes(response: Response, name = response.url || "model"): Bytes {
  if (!response.ok) {
    throw sourceError(name, `the server answered ${response.status} ${response.statusText}`);
  }
  if (response.body === null) throw sourceError(name, "the response has no body");
  // Of a compressed transfer this is less than the size: a hint all the same.
  const size = Number(response.headers.get("content-length") ?? 0) || 0;
  return { name, size, chunks: streamChunks(response.body, name) };
}

async function* streamChunks(
  stream: ReadableStream<Uint8Array>,
  name: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = lock(stream, name);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      if (!isUint8Array(value)) throw new TypeError("a chunk is no Uint8Array");
      yield value;
    }
  } catch (error) {
    throw sourceError(name, `reading stopped (${reasonOf(error)})`, error);
  } finally {
    reader.cancel().catch(() => {}); // after an error here: nobody reads on
  }
}

function lock(stream: ReadableStream<Uint8Array>, name: string) {
  try {
    return stream.getReader();
  } catch (error) {
    throw sourceError(name, `the body was used before (${reasonOf(error)})`, error);
  }
}

export function sourceError(name: string, what: string, cause?: unknown): TokenizerError {
  const message = `${name}: ${what}; check the address and that the file is complete`;
  return new TokenizerError("SOURCE", message, {}, { cause });
}

/** Bytes whose beginning has been looked at. */
export class PeekedBytes {
  readonly name: string;
  readonly size: number;
  readonly head: Uint8Array;
  readonly #first: readonly Uint8Array[];
  readonly #rest: Bytes["chunks"];

  private constructor(bytes: Bytes, first: readonly Uint8Array[], head: Uint8Array) {
    this.name = bytes.name;
    this.size = bytes.size;
    this.head = head;
    this.#first = first;
    this.#rest = bytes.chunks;
  }

  /** Reads at least `size` bytes, if there are so many. */
  static async peek(bytes: Bytes, size: number): Promise<PeekedBytes> {
    const first: Uint8Array[] = [];
    const head = new Uint8Array(size);
    let have = 0;
    while (have < size) {
      const { done, value } = await bytes.chunks.next();
      if (done) break;
      first.push(have + value.length < size ? value.slice() : value);
      head.set(value.subarray(0, size - have), have);
      have = Math.min(size, have + value.length);
    }
    return new PeekedBytes(bytes, first, head.subarray(0, have));
  }

  /** All bytes, the beginning included. */
  async *chunks(): AsyncGenerator<Uint8Array> {
    yield* this.#first;
    for (;;) {
      const { done, value } = await this.#rest.next();
      if (done) return;
      yield value;
    }
  }

  /** The same, not looked at. */
  rest(): Bytes {
    return { name: this.name, size: this.size, chunks: this.chunks() };
  }

  /** Lets go of what is not read. */
  cancel(): void {
    void this.#rest.return?.();
  }

  /** Writes all bytes to linear memory from `at` on, which grows; returns their number. */
  async into(memory: Memory, at: Address): Promise<number> {
    let size = 0;
    if (this.size < LARGEST_HINT) memory.reserve(at + this.size);
    for await (const chunk of this.chunks()) {
      const need = at + size + chunk.length;
      // By large steps: it is the number of them that costs.
      if (need > memory.size) memory.reserve(Math.max(need, at + size + size / 4));
      memory.write(at + size, chunk);
      size += chunk.length;
    }
    return size;
  }
}
