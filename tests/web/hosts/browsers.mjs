/** Chromium and Firefox: on a page, in a module worker, on a page with a security policy. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { entryOf, ROOT } from "./prepare.mjs";
import { PATIENCE } from "./processes.mjs";

const BROWSERS = {
  Chromium: {
    browser: "chrome",
    path: process.env["ISOTOK_CHROMIUM"] ?? "/usr/bin/chromium",
    args: JSON.parse(readFileSync(join(ROOT, "tests/support/chromium_flags.json"), "utf8")),
  },
  Firefox: {
    browser: "firefox",
    path: process.env["ISOTOK_FIREFOX"] ?? "/usr/bin/firefox-esr",
    args: [],
  },
};

const PLACES = {
  page: { folder: "", run: "runOnPage" },
  worker: { folder: "", run: "runInWorker" },
  "CSP page": { folder: "/strict", run: "runOnPage" },
};

async function launch({ browser, path, args }) {
  if (!existsSync(path)) throw new Error(`${path} is not there; run ./build.sh build hosts`);
  const { default: puppeteer } = await import("puppeteer-core");
  return puppeteer.launch({
    browser,
    executablePath: path,
    args,
    headless: true,
    timeout: 120_000,
    protocolTimeout: PATIENCE,
  });
}

async function runAt(browser, base, { folder, run }) {
  const page = await browser.newPage();
  await page.goto(`${base}${folder}/page.html`);
  await page.waitForFunction("globalThis.mayEvaluate !== undefined");
  const mayEvaluate = await page.evaluate("mayEvaluate");
  if (mayEvaluate !== (folder === "")) throw new Error("the security policy does not hold");
  // From here on: the question before is an error in Firefox.
  const problems = [];
  page.on("pageerror", (error) => problems.push(String(error)));
  const task = {
    base: base + folder,
    entry: folder + entryOf("isotok", "browser"),
    worker: folder + entryOf("isotok/worker", "browser"),
  };
  const found = await page.evaluate(`${run}(${JSON.stringify(task)})`);
  await page.close();
  if (problems.length > 0) throw new Error(`errors on the page: ${problems.join("; ")}`);
  return found;
}

function host(name, place) {
  return {
    name: `${name}, ${place}`,
    entry: "index.js",
    async run(base) {
      const browser = await launch(BROWSERS[name]);
      try {
        const version = /[\d.]+/.exec(await browser.version())[0];
        return { version, ...(await runAt(browser, base, PLACES[place])) };
      } finally {
        await browser.close();
      }
    },
  };
}

export const BROWSER_HOSTS = Object.keys(BROWSERS).flatMap((name) =>
  Object.keys(PLACES).map((place) => host(name, place)),
);
