/** The table hosts × what was compared, and what makes a host fail. */

const SUITES = {
  spine: "spine vectors",
  sentencepiece: "SentencePiece vectors",
  cases: "cases",
  samples: "samples",
  native: "native answers",
  foreign: "tokenizer.json",
  uses: "uses",
};
const NO_DATA = "the data is not here; set ISOTOK_DATA to the data folder";

const sum = (counts) => Object.values(counts).reduce((total, each) => total + each, 0);

/** What of a report has to be alike on all hosts; ways to use them differ. */
function coverage(suite, { passed, failed, notApplicable }) {
  const compared = passed + failed.length;
  if (suite === "uses") return `${compared + sum(notApplicable)}`;
  return `${compared}, not applicable ${JSON.stringify(Object.entries(notApplicable).sort())}`;
}

function shown({ passed, notApplicable }) {
  const left = sum(notApplicable);
  return left > 0 ? `${passed} (${left} n/a)` : `${passed}`;
}

export class Table {
  #rows = [];
  #hosts = 0;
  #others = new Set();
  #counts = { passed: 0, failed: 0, skipped: 0 };
  #problems = [];
  #skips = [];
  /** Coverage of the first host, by suite. */
  #first = {};
  /** Hosts and count of what does not apply, by suite and reason. */
  #notes = new Map();

  /** Adds a host, and counts its reports. */
  add(row) {
    this.#hosts++;
    if (row.error !== undefined) this.#problems.push(`${row.host}: ${row.error}`);
    this.#show(row, (suite) => this.#judge(row, suite));
  }

  /** Adds a host whose reports were counted elsewhere. */
  addOther(row) {
    this.#others.add(row.host);
    this.#show(row, (suite) => {
      const report = row.results[suite];
      return report === undefined ? "" : shown(report);
    });
  }

  #show(row, cellOf) {
    const cells = Object.keys(SUITES).map(cellOf);
    const seconds = row.seconds?.toFixed(0) ?? "";
    this.#rows.push([row.host, row.version ?? "not run", row.entry, ...cells, seconds]);
    for (const [suite, report] of Object.entries(row.results ?? {})) {
      for (const [reason, count] of Object.entries(report.notApplicable)) {
        const key = `${SUITES[suite]}: ${count}: ${reason}`;
        this.#notes.set(key, [...(this.#notes.get(key) ?? []), row.host]);
      }
    }
  }

  /** Counts one report; returns the cell that shows it. */
  #judge({ host, error, results }, suite) {
    if (error !== undefined) return this.#fail("not run");
    const report = results[suite];
    if (report === undefined) {
      this.#counts.skipped++;
      this.#skips.push(`skipped ${host} ${SUITES[suite]}: ${NO_DATA}`);
      return "no data";
    }
    for (const failure of report.failed) this.#problems.push(`${host}: ${suite}: ${failure}`);
    if (report.failed.length > 0) return this.#fail(`${report.failed.length} DIFFER`);
    const found = coverage(suite, report);
    this.#first[suite] ??= found;
    if (report.passed === 0 || found !== this.#first[suite]) {
      const wanted = this.#first[suite];
      this.#problems.push(`${host}: ${suite}: compared ${found}; the first host ${wanted}`);
      return this.#fail(`${shown(report)}, not all`);
    }
    this.#counts.passed++;
    return shown(report);
  }

  #fail(cell) {
    this.#counts.failed++;
    return cell;
  }

  #where(hosts) {
    const others = hosts.filter((name) => this.#others.has(name)).length;
    if (others === 0 && hosts.length === this.#hosts) return "npm package";
    return others === hosts.length && others === this.#others.size ? "Pyodide" : hosts.join("; ");
  }

  /** Prints everything; returns the counts. */
  print() {
    const head = ["host", "version", "entry", ...Object.values(SUITES), "s"];
    const lines = [head, head.map(() => "---"), ...this.#rows];
    const widths = head.map((_, i) => Math.max(...lines.map((cells) => cells[i].length)));
    for (const cells of lines) {
      console.log(`| ${cells.map((cell, i) => cell.padEnd(widths[i])).join(" | ")} |`);
    }
    for (const [what, hosts] of this.#notes) {
      console.log(`| n/a ${what} [${this.#where(hosts)}]`);
    }
    console.log("| Pyodide: tests of the Python package; for spine.json, one takes a whole model");
    for (const line of this.#skips) console.log(line);
    for (const problem of this.#problems) console.log(`FAILED ${problem}`);
    return this.#counts;
  }
}
