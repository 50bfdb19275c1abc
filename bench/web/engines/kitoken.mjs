/** kitoken in WebAssembly, the build that it makes for pages: in Node it runs as well. */

import init, { Kitoken } from "kitoken/web";

export async function open(model, files) {
  await init({ module_or_path: files.bytes("kitoken.wasm") });
  const tokenizer = Kitoken.from_sentencepiece(files.bytes(`${model}.model`));
  return (text) => tokenizer.encode(text);
}
