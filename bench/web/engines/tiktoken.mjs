/** tiktoken: OpenAI's library in WebAssembly, the build without vocabularies. */

import { init, Tiktoken } from "tiktoken/lite/init";

export async function open(model, files) {
  await init((imports) => WebAssembly.instantiate(files.bytes("tiktoken.wasm"), imports));
  const { bpe_ranks, special_tokens, pat_str } = JSON.parse(
    new TextDecoder().decode(files.bytes(`${model}.ranks.json`)),
  );
  const tokenizer = new Tiktoken(bpe_ranks, special_tokens, pat_str);
  return (text) => tokenizer.encode_ordinary(text);
}
