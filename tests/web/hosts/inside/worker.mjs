/** Runs one task in a module worker. */

import { run } from "./browser.mjs";

self.onmessage = async ({ data }) => {
  try {
    self.postMessage({ found: await run(data) });
  } catch (error) {
    self.postMessage({ error: String(error?.stack ?? error) });
  }
};
