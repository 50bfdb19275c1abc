/** isotok from the packed form, which is compiled to a blob first. */

import { Tokenizer } from "../../../web/dist/node.js";

export async function open(model, files) {
  const tokenizer = await Tokenizer.load(files.source(`${model}.packed`), {
    wasm: files.bytes("isotok.wasm"),
    buildWasm: files.bytes("isotok-build.wasm"),
  });
  return (text) => tokenizer.encode(text);
}
