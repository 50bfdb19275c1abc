/** Fields in one buffer: what the model compiler takes instead of a model file. */

import * as abi from "../layout_gen.js";

export type Values = Uint8Array | Uint16Array | Uint32Array | Float32Array | Float64Array;

/** Number and elements. */
export type Field = readonly [number: number, values: Values];

const MAGIC = "ISTF\0\0\0\0";

export function scalar(value: number): Uint32Array {
  return Uint32Array.of(value);
}

/** Joins fields; arrays are little-endian, as every engine of today is. */
export function packFields(fields: readonly Field[]): Uint8Array<ArrayBuffer> {
  let size = MAGIC.length;
  for (const [, values] of fields) size += 8 + padded(values.byteLength);
  const out = new Uint8Array(size);
  const view = new DataView(out.buffer);
  out.set(toUtf8(MAGIC));
  let at = MAGIC.length;
  for (const [number, values] of fields) {
    view.setUint32(at, number, true);
    view.setUint32(at + 4, values.length, true);
    out.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength), at + 8);
    at += 8 + padded(values.byteLength);
  }
  return out;
}

function padded(size: number): number {
  return (size + 7) & ~7;
}

const encoder = new TextEncoder();

export function toUtf8(text: string): Uint8Array {
  return encoder.encode(text);
}

/** A byte for each character, which are below U+0100. */
export function toBytes(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

const NOTHING = new Uint8Array();

/** Pieces by id; an id that stands for nothing is UNUSED and has no text. */
export class Pieces {
  readonly texts: Uint8Array[];
  readonly types: Uint8Array;

  constructor(size: number) {
    this.texts = new Array<Uint8Array>(size).fill(NOTHING);
    this.types = new Uint8Array(size).fill(abi.UNUSED);
  }

  /** Texts end to end, and their sizes. */
  textFields(): Field[] {
    let size = 0;
    for (const text of this.texts) size += text.length;
    const all = new Uint8Array(size);
    const sizes = new Uint16Array(this.texts.length);
    let at = 0;
    for (const [i, text] of this.texts.entries()) {
      all.set(text, at);
      sizes[i] = text.length;
      at += text.length;
    }
    return [
      [abi.FIELD_PIECE_TEXT, all],
      [abi.FIELD_PIECE_SIZES, sizes],
    ];
  }
}
