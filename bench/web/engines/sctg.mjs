/** @sctg/sentencepiece-js: SentencePiece in WebAssembly. */

import { SentencePieceProcessor } from "@sctg/sentencepiece-js";

export async function open(model, files) {
  const processor = new SentencePieceProcessor();
  await processor._loadModel(files.bytes(`${model}.model`)); // load() reads it from a file
  return (text) => processor.encodeIds(text);
}
