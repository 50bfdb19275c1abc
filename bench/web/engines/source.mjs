/** isotok from a tokenizer.json or a rank file as it is, which is compiled to a blob first. */

import * as foreign from "../../../web/dist/isotok-foreign.js";
import { Tokenizer } from "../../../web/dist/node.js";

export async function open(_model, files, source) {
  const tokenizer = await Tokenizer.load(files.bytes(source), {
    name: source,
    wasm: files.bytes("isotok.wasm"),
    buildWasm: files.bytes("isotok-build.wasm"),
    foreign,
  });
  const options = { addSpecialTokens: false };
  return (text) => tokenizer.encode(text, options);
}
