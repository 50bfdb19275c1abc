/** @agnai/sentencepiece-js: SentencePiece in WebAssembly. It reads its model from a file. */

import fs from "node:fs";
import { SentencePieceProcessor } from "@agnai/sentencepiece-js";

export async function open(model, files) {
  const name = `${model}.model`;
  const { readFileSync } = fs;
  fs.readFileSync = (path, ...rest) =>
    path === name ? files.bytes(name) : readFileSync(path, ...rest);
  const processor = new SentencePieceProcessor();
  await processor.load(name);
  fs.readFileSync = readFileSync;
  return (text) => processor.encodeIds(text);
}
