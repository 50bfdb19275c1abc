/** gpt-tokenizer, in JavaScript, with a vocabulary of its own. */

import { encode } from "gpt-tokenizer/encoding/cl100k_base";

export async function open() {
  const options = { disallowedSpecial: new Set() };
  return (text) => encode(text, options);
}
