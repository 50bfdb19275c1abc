/** What has been disposed of, and `using` where the engine has it. */

import { TokenizerError } from "./errors.js";

export function disposedError(): TokenizerError {
  return new TokenizerError(
    "DISPOSED",
    "the tokenizer, encoder or decoder is disposed; load the model again",
  );
}

/** Lets `using` call `dispose`. */
export function makeDisposable(prototype: { dispose(): void }): void {
  const symbol: symbol | undefined = Symbol.dispose; // engines without it are still about
  if (symbol === undefined) return;
  Object.defineProperty(prototype, symbol, {
    configurable: true,
    value(this: { dispose(): void }) {
      this.dispose();
    },
  });
}
