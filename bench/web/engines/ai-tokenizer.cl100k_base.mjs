/** ai-tokenizer, in JavaScript, with a vocabulary of its own. */

import { Tokenizer } from "ai-tokenizer";
import * as encoding from "ai-tokenizer/encoding/cl100k_base";

export async function open() {
  const tokenizer = new Tokenizer(encoding);
  // "all" looks for none of them: its fastest way
  return (text) => tokenizer.encode(text, "all");
}
