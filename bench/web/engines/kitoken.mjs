/** kitoken in WebAssembly, the build that it makes for pages: in Node it runs as well. */

import init, { Kitoken } from "kitoken/web";

export async function open(_model, files, source) {
  await init({ module_or_path: files.bytes("kitoken.wasm") });
  const tokenizer = opened(files.bytes(source), source);
  return (text) => tokenizer.encode(text);
}

function opened(bytes, source) {
  if (source.endsWith(".tiktoken")) return Kitoken.from_tiktoken(bytes);
  if (source.endsWith(".json")) return Kitoken.from_tokenizers(bytes);
  return Kitoken.from_sentencepiece(bytes);
}
