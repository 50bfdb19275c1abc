/** js-tiktoken, in JavaScript, with a vocabulary of its own. */

import { Tiktoken } from "js-tiktoken/lite";
import ranks from "js-tiktoken/ranks/o200k_base";

export async function open() {
  const tokenizer = new Tiktoken(ranks);
  return (text) => tokenizer.encode(text, [], []);
}
