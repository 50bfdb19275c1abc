/** @agnai/web-tokenizers: Hugging Face's tokenizers in WebAssembly. */

import { Tokenizer } from "@agnai/web-tokenizers";

export async function open(_model, files, source) {
  const tokenizer = await Tokenizer.fromJSON(files.bytes(source));
  return (text) => tokenizer.encode(text);
}
