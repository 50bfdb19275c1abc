/**
 * Links that hold the text and the settings in the part after `#`, which browsers do not
 * send to any server.
 *
 * The text is UTF-8, or UTF-16 if it has lone surrogates, compressed where that is shorter,
 * in base64url: `t=8.…`, `t=16.…`, or with a `z` before the point.
 */

export interface Shared {
  readonly text: string;
  /** Names of models; undefined for the second if there is none. */
  readonly models: readonly [string, string | undefined];
  readonly bos: boolean;
  readonly eos: boolean;
  readonly spaces: boolean;
  readonly view: View;
}

export type View = "text" | "table";

/** Longer links are cut off by some browsers and many messengers. */
export const MAX_LINK = 64_000;
/** A short link could hold a very long text, made to fill the memory. */
const MAX_TEXT_BYTES = 32_000_000;

/** The part of the address after `#`. */
export async function writeFragment(shared: Shared): Promise<string> {
  const fields = new URLSearchParams({ v: "1", m: shared.models[0] });
  if (shared.models[1] !== undefined) fields.set("m2", shared.models[1]);
  if (shared.bos) fields.set("bos", "1");
  if (shared.eos) fields.set("eos", "1");
  if (!shared.spaces) fields.set("spaces", "0");
  if (shared.view !== "text") fields.set("view", shared.view);
  fields.set("t", await packText(shared.text));
  const fragment = fields.toString();
  if (fragment.length <= MAX_LINK) return fragment;
  throw new Error(
    `The text is too long for a link: it would have ${fragment.length.toLocaleString("en")} ` +
      `characters, and links are safe up to ${MAX_LINK.toLocaleString("en")}. Share a shorter text.`,
  );
}

/** Reads it; undefined if there is none. */
export async function readFragment(fragment: string): Promise<Shared | undefined> {
  if (fragment === "") return undefined;
  const fields = new URLSearchParams(fragment);
  if (fields.get("v") !== "1") throw new Error("it was made by another version of this page");
  return {
    text: await unpackText(fields.get("t") ?? "8."),
    models: [fields.get("m") ?? "", fields.get("m2") ?? undefined],
    bos: fields.get("bos") === "1",
    eos: fields.get("eos") === "1",
    spaces: fields.get("spaces") !== "0",
    view: fields.get("view") === "table" ? "table" : "text",
  };
}

async function packText(text: string): Promise<string> {
  const isWellFormed = !/\p{Surrogate}/u.test(text);
  const bytes = isWellFormed ? new TextEncoder().encode(text) : utf16Bytes(text);
  const packed = await pass(bytes, new CompressionStream("deflate-raw"), Infinity);
  const name = isWellFormed ? "8" : "16";
  return packed.length < bytes.length ? `${name}z.${base64(packed)}` : `${name}.${base64(bytes)}`;
}

async function unpackText(packed: string): Promise<string> {
  const [, name, compressed, encoded] = /^(8|16)(z?)\.([\w-]*)$/.exec(packed) ?? [];
  if (encoded === undefined) throw new Error("its text is damaged");
  let bytes = fromBase64(encoded);
  if (compressed) bytes = await pass(bytes, new DecompressionStream("deflate-raw"), MAX_TEXT_BYTES);
  if (name === "16") return textOfUtf16(bytes);
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

/** Bytes through a stream; no more than `limit` of them come out. */
async function pass(
  bytes: Uint8Array<ArrayBuffer>,
  through: CompressionStream | DecompressionStream,
  limit: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  const reader = new Blob([bytes]).stream().pipeThrough(through).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > limit) {
      void reader.cancel();
      throw new Error("its text is longer than this page takes from a link");
    }
    chunks.push(value);
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

function utf16Bytes(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new DataView(new ArrayBuffer(2 * text.length));
  for (let i = 0; i < text.length; i++) bytes.setUint16(2 * i, text.charCodeAt(i), true);
  return new Uint8Array(bytes.buffer);
}

function textOfUtf16(bytes: Uint8Array<ArrayBuffer>): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength & ~1);
  let text = "";
  for (let i = 0; i < view.byteLength; i += 2) text += String.fromCharCode(view.getUint16(i, true));
  return text;
}

function base64(bytes: Uint8Array): string {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function fromBase64(encoded: string): Uint8Array<ArrayBuffer> {
  const binary = atob(encoded.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}
