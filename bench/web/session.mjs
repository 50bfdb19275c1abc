/**
 * One engine with one model, told what to do: the same in Node and on a page.
 *
 * The host says how files are read, how engines are imported and how much memory there is.
 * Times are in milliseconds.
 */

/** What engines read, for a model named *. */
const NEEDS = {
  isotok: ["*.isotok", "isotok.wasm"],
  packed: ["*.packed", "isotok.wasm", "isotok-build.wasm"],
  kitoken: ["*.model", "kitoken.wasm"],
  huggingface: ["*.tokenizer.json"],
  agnai: ["*.model"],
  sctg: ["*.model"],
};

/** Encodes in calls of one text each, like a program that has them one by one. */
function encodeAll(encode, texts) {
  const found = [];
  for (const text of texts) found.push(encode(text));
  return found;
}

async function digest(found) {
  const ids = new Uint32Array(found.reduce((count, each) => count + each.length, 0));
  let at = 0;
  for (const each of found) {
    ids.set(each, at);
    at += each.length;
  }
  const hash = await crypto.subtle.digest("SHA-256", ids);
  return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export class Session {
  #host;
  #name;
  #model;
  #engine;
  #encode;

  constructor(host, engine, model) {
    this.#host = host;
    this.#name = engine;
    this.#model = model;
  }

  /** Imports the engine, opens the model, encodes a word; all it reads is in memory before. */
  async load() {
    await this.#host.prefetch(this.#name);
    const read = new Map();
    for (const name of this.#needs()) read.set(name, await this.#host.read(name));
    const bytes = (name) => read.get(name);
    const start = performance.now();
    await this.#open({ bytes, source: bytes });
    return { ms: performance.now() - start };
  }

  #needs() {
    return NEEDS[this.#name].map((name) => name.replace("*", this.#model));
  }

  async #open(files) {
    this.#engine = await this.#host.engine(this.#name);
    this.#encode = await this.#engine.open(this.#model, files);
    this.#encode("hello");
  }

  async #texts(file) {
    return JSON.parse(new TextDecoder().decode(await this.#host.read(file)));
  }

  /** Encodes the texts of a file; `again` times more for the least time of a repeat. */
  async encode({ file, again = 0 }) {
    const texts = await this.#texts(file);
    const time = () => {
      const start = performance.now();
      const found = encodeAll(this.#encode, texts);
      return { found, ms: performance.now() - start };
    };
    const { found, ms } = time();
    const repeats = Array.from({ length: again }, () => time().ms);
    const translate = this.#engine.translate ?? ((_model, ids) => ids);
    const ids = await digest(found.map((each) => translate(this.#model, each)));
    return { ms, repeat: again > 0 ? Math.min(...repeats) : null, ids };
  }

  /** Encodes the texts of a file again and again, so that compilers have done what they will. */
  async warmUp({ file, ms }) {
    const texts = await this.#texts(file);
    const start = performance.now();
    while (performance.now() - start < ms) {
      encodeAll(this.#encode, texts);
      await new Promise((resolve) => setTimeout(resolve)); // code is replaced between calls
    }
    return {};
  }

  /** The least time for one letter, so many times, in each of some sizes in turns. */
  async growth({ sizes, rounds, letter = "a" }) {
    const texts = sizes.map((size) => letter.repeat(size));
    const least = sizes.map(() => Number.POSITIVE_INFINITY);
    for (let round = 0; round < rounds; round++) {
      for (const [i, text] of texts.entries()) {
        const start = performance.now();
        this.#encode(text);
        least[i] = Math.min(least[i], performance.now() - start);
      }
    }
    return { ms: least };
  }

  /**
   * Bytes of memory above the start: with the model open, and after a long text; and what
   * the start has above that of a host that has run nothing.
   */
  async memory({ file }) {
    await this.#host.prefetch(this.#name);
    const files = await this.#host.files(this.#needs());
    const bare = await this.#host.memory();
    await this.#host.warmUp();
    const start = await this.#host.memory();
    await this.#open(files);
    const open = await this.#host.memory();
    encodeAll(this.#encode, await this.#texts(file));
    const used = await this.#host.memory();
    return { host: start - bare, open: open - start, used: used - start };
  }
}
