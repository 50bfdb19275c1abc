/** An import fetches, reads, compiles and instantiates nothing, whichever script it is of. */

import { expect, test } from "vitest";
import { entryScripts, importAlone } from "./entries.js";

/** Scripts that only run as a worker; nothing names them in package.json. */
const WORKERS = ["worker_main_node"];

test("the scripts are those that package.json leads to", () => {
  const known = ["edge", "edge_light", "index", "inline", "node"];
  expect(entryScripts()).toEqual([...known, "worker", "worker_main", "worker_node"]);
});

test.each([...entryScripts(), ...WORKERS])("%s does no work", async (name) => {
  expect((await importAlone(name)).touched).toEqual([]);
});

/** The same watching sees `load` at work. */
test.each([
  ["index", "fetch"],
  ["node", "readFile"],
  ["inline", "atob"],
  ["edge", "instantiate"],
  ["edge_light", "instantiate"],
])("%s: load is seen", async (name, call) => {
  const { touched, later } = await importAlone(name, true);
  expect(touched).toEqual([]);
  expect(later).toContain(call);
  expect(later).toContain("compile");
});
