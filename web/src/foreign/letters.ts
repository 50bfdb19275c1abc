/** Byte-level vocabularies: letters that stand for bytes. */

import { toUtf8 } from "./fields.js";

const LETTERS = 0x144;
const NONE = -1;

/** Byte of each letter: printable ones stand for themselves, others are numbered on. */
const BYTE_OF = letters();

function letters(): Int16Array {
  const bytes = new Int16Array(LETTERS).fill(NONE);
  let next = 256;
  for (let byte = 0; byte < 256; byte++) {
    const isPlain = (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad);
    bytes[isPlain ? byte : next++] = byte;
  }
  return bytes;
}

function byteOf(code: number): number {
  return code < LETTERS ? (BYTE_OF[code] as number) : NONE;
}

/** Whether the text consists of such letters; only then can a text give it. */
export function isSpelled(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    if (byteOf(text.charCodeAt(i)) === NONE) return false;
  }
  return text !== "";
}

/** The letters, by byte. */
export function lettersOfBytes(): string[] {
  const letters: string[] = [];
  for (const [code, byte] of BYTE_OF.entries()) {
    if (byte !== NONE) letters[byte] = String.fromCharCode(code);
  }
  return letters;
}

/** What decoding gives: the bytes, or the text itself if one letter stands for none. */
export function bytesOf(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) {
    const byte = byteOf(text.charCodeAt(i));
    if (byte === NONE) return toUtf8(text);
    bytes[i] = byte;
  }
  return bytes;
}
