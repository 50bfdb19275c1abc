/** @huggingface/tokenizers, in JavaScript. */

import { Tokenizer } from "@huggingface/tokenizers";

export async function open(model, files) {
  const text = new TextDecoder().decode(files.bytes(`${model}.tokenizer.json`));
  const tokenizer = new Tokenizer(JSON.parse(text), {});
  return (text) => tokenizer.encode(text, { add_special_tokens: false }).ids;
}

/** Ids of XLM-R as its .model numbers them: <s>, <pad>, </s> and <unk> come first here. */
export function translate(model, ids) {
  if (model !== "xlmr") return ids;
  return ids.map((id) => (id > 3 ? id - 1 : id === 3 ? 0 : id));
}
