/** Runs one task in a module worker. */

import { runHere } from "./browser.mjs";

self.onmessage = async ({ data }) => {
  try {
    self.postMessage({ report: await runHere(data) });
  } catch (error) {
    self.postMessage({ error: String(error?.stack ?? error) });
  }
};
