/** The examples of web/README.md and of docs/ do what they say. */

import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Tokenizer } from "isotok";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fixture, ROOT } from "./data.js";

const PAGES = ["web/README.md", "docs/streaming.md"];
const examples = PAGES.flatMap((name) => {
  const page = readFileSync(join(ROOT, name), "utf8");
  const found = [...page.matchAll(/^```js\n([\s\S]*?)^```$/gm)];
  if (found.length === 0) throw new Error(`${name} has no examples`);
  return found.map(([, code]) => code as string);
});
const run = promisify(execFile);

/** A tokenizer.json. */
const token = (id: number, content: string) => {
  const flags = { lstrip: false, rstrip: false, single_word: false, normalized: false };
  return { id, content, special: true, ...flags };
};
const special = (id: string) => ({ SpecialToken: { id, type_id: 0 } });
const [A, B] = ["A", "B"].map((id) => ({ Sequence: { id, type_id: 0 } }));
const WORDS = {
  added_tokens: [token(0, "<s>"), token(1, "</s>")],
  pre_tokenizer: { type: "WhitespaceSplit" },
  post_processor: {
    type: "TemplateProcessing",
    single: [special("<s>"), A, special("</s>")],
    pair: [special("<s>"), A, B, special("</s>")],
    special_tokens: { "<s>": { ids: [0] }, "</s>": { ids: [1] } },
  },
  model: {
    type: "WordLevel",
    vocab: { "<s>": 0, "</s>": 1, "<unk>": 2, hello: 3, world: 4 },
    unk_token: "<unk>",
  },
};
let folder: string;

/** A folder as a user has it: the package installed, and two models. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "isotok-readme-"));
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(join(ROOT, "web"), join(folder, "node_modules/isotok"));
  writeFileSync(join(folder, "tokenizer.model"), fixture("toy_bytes.model"));
  writeFileSync(join(folder, "tokenizer.json"), JSON.stringify(WORDS));
  writeFileSync(join(folder, "model.isotok"), await Tokenizer.compile(fixture("toy_bytes.model")));
});

afterAll(() => rmSync(folder, { recursive: true }));

/** What comments behind `console.log` say; several results of a loop stand in one. */
function expectedOutput(code: string): string[] {
  return [...code.matchAll(/console\.log\(.*\);(?: \/\/ (.*))?$/gm)].map(([line, text]) => {
    if (text === undefined) throw new Error(`no output beside: ${line}`);
    return text;
  });
}

describe("examples of README.md and docs/", () => {
  test("there are some", () => expect(examples.length).toBeGreaterThan(9));

  test.each(
    examples.map((code, i) => [i, code.split("\n").find((l) => l.startsWith("con")), code]),
  )(
    "%i: %s",
    async (i, _, code) => {
      const path = join(folder, `example${i}.mjs`);
      writeFileSync(path, code as string);
      const { stdout } = await run(process.execPath, [path], { cwd: folder });
      // Where the output of a loop stands in one line, lines are words.
      const words = (text: string) => text.split(/\s+/).filter((word) => word !== "");
      const expected = expectedOutput(code as string);
      expect(expected.length).toBeGreaterThan(0);
      expect(words(stdout)).toEqual(words(expected.join("\n")));
    },
    30_000,
  );
});
