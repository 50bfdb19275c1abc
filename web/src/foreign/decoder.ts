/** The member `decoder` as flags of the blob. */

import * as abi from "../layout_gen.js";
import { flat, get, isObject, type Json, maybe, member } from "./checked.js";
import { shorten, unsupported } from "./errors.js";
import { type Field, toUtf8 } from "./fields.js";
import { checkSuffix, findDelimiter, type Text } from "./piece_decoders.js";

/** A prefix that no piece has. */
const NEVER = Uint8Array.of(0xff);
const MOST = 0xffffffff;
const PIECEWISE = abi.DECODE_SUFFIX | abi.DECODE_CTC;

interface Found {
  flags: number;
  argument: number;
  prefix: Uint8Array;
  fused: boolean;
  /** All tokens. */
  readonly texts: () => readonly Text[];
}

type Read = (found: Found, part: Json, path: string, isFirst: boolean) => void;

/** Fields of a decoder; `unkSpecial`: the unknown token is among the special ones. */
export function decoderFields(
  decoder: Json | undefined,
  byteLevel: boolean,
  unkSpecial: boolean,
  texts: () => readonly Text[],
): Field[] {
  const steps = flat(decoder, "decoder", "decoders");
  if (byteLevel) {
    if (steps.length === 1 && steps[0]?.kind === "ByteLevel") return [];
    const kinds = steps.map(({ kind }) => kind);
    const shown = shorten(kinds.length > 0 ? kinds : null);
    throw unsupported("decoder", `${shown} of a model of ByteLevel`);
  }
  const found: Found = {
    flags: unkSpecial ? abi.DECODE_UNK_SPECIAL : 0,
    argument: 0,
    prefix: new Uint8Array(),
    fused: false,
    texts,
  };
  if (decoder === undefined) {
    found.flags |= abi.DECODE_WORDS; // the tokens, with spaces between them
    found.prefix = NEVER;
  }
  for (const [i, { path, kind, part }] of steps.entries()) {
    const read = Object.hasOwn(DECODERS, kind) ? DECODERS[kind] : undefined;
    if (read === undefined) throw unsupported(path, `the decoder ${kind}`);
    read(found, part, path, i === 0);
  }
  return [
    [abi.FIELD_DECODER, Uint32Array.of(found.flags, found.argument)],
    [abi.FIELD_DECODER_PREFIX, found.prefix],
  ];
}

const replace: Read = (found, part, path, isFirst) => {
  const pattern = get(part, "pattern");
  const isKnown = isObject(pattern) && pattern["String"] === "▁" && get(part, "content") === " ";
  if (!isFirst || !isKnown) {
    throw unsupported(path, "Replace of anything but ▁ by a space, first of all");
  }
  found.flags |= abi.DECODE_SPACES;
};

const byteFallback: Read = (found, _, path) => {
  if (found.fused || found.flags & PIECEWISE) {
    throw unsupported(path, "ByteFallback behind other decoders than Replace");
  }
  found.flags |= abi.DECODE_RUNS;
};

const fuse: Read = (found) => {
  found.fused = true;
};

const strip: Read = (found, part, path) => {
  const content = member(part, "content", "string", path);
  const start = member(part, "start", "integer", path);
  const stop = member(part, "stop", "integer", path);
  if (!found.fused || found.flags & abi.DECODE_CTC || content !== " " || stop !== 0 || start < 0) {
    throw unsupported(path, "Strip of anything but spaces in front, behind Fuse");
  }
  found.flags |= abi.DECODE_STRIP;
  found.argument = Math.min(start, MOST);
};

const metaspace: Read = (found, part, path, isFirst) => {
  if (!isFirst || (maybe(part, "replacement", "string", path) ?? "▁") !== "▁") {
    throw unsupported(path, "Metaspace with another symbol than ▁, or behind other decoders");
  }
  const scheme = maybe(part, "prepend_scheme", "string", path) ?? "always";
  const isPrefixed = maybe(part, "add_prefix_space", "boolean", path) ?? true;
  found.flags |= abi.DECODE_SPACES;
  if (scheme !== "never" && isPrefixed) found.flags |= abi.DECODE_FIRST;
};

const wordPiece: Read = (found, part, path, isFirst) => {
  if (!isFirst) throw unsupported(path, "WordPiece behind other decoders");
  found.flags |= abi.DECODE_WORDS;
  if (maybe(part, "cleanup", "boolean", path) ?? true) found.flags |= abi.DECODE_CLEANUP;
  found.prefix = toUtf8(maybe(part, "prefix", "string", path) ?? "##");
};

const bpe: Read = (found, part, path, isFirst) => {
  const suffix = member(part, "suffix", "string", path);
  if (!isFirst) throw unsupported(path, "BPEDecoder behind other decoders");
  checkSuffix(suffix, found.texts(), path);
  found.flags |= abi.DECODE_SUFFIX;
  found.prefix = toUtf8(suffix);
};

const ctc: Read = (found, part, path, isFirst) => {
  const pad = member(part, "pad_token", "string", path);
  const delimiter = member(part, "word_delimiter_token", "string", path);
  const cleanup = member(part, "cleanup", "boolean", path);
  if (!isFirst) throw unsupported(path, "CTC behind other decoders");
  found.argument = findDelimiter({ pad, delimiter, cleanup }, found.texts(), path);
  found.flags |= abi.DECODE_CTC;
  found.prefix = toUtf8(pad);
};

const DECODERS: Readonly<Record<string, Read>> = {
  Replace: replace,
  ByteFallback: byteFallback,
  Fuse: fuse,
  Strip: strip,
  Metaspace: metaspace,
  WordPiece: wordPiece,
  BPEDecoder: bpe,
  CTC: ctc,
};
