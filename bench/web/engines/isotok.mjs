/** isotok as it is in web/dist, from a blob; build.mjs puts the browser's entry in its place. */

import { Tokenizer } from "../../../web/dist/node.js";

export async function open(model, files) {
  const tokenizer = await Tokenizer.load(files.source(`${model}.isotok`), {
    wasm: files.bytes("isotok.wasm"),
  });
  const options = { addSpecialTokens: false };
  return (text) => tokenizer.encode(text, options);
}
