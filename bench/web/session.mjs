/**
 * One engine with one model, told what to do: the same in Node and on a page.
 *
 * The host says how files are read, how engines are imported and how much memory there is.
 * Times are in milliseconds.
 */

/** What engines read, for a model named *, whose source is ?. */
const NEEDS = {
  isotok: ["*.isotok", "isotok.wasm"],
  packed: ["*.packed", "isotok.wasm", "isotok-build.wasm"],
  source: ["?", "isotok.wasm", "isotok-build.wasm"],
  kitoken: ["?", "kitoken.wasm"],
  huggingface: ["*.tokenizer.json"],
  "web-tokenizers": ["?"],
  tiktoken: ["*.ranks.json", "tiktoken.wasm"],
  agnai: ["?"],
  sctg: ["?"],
};
/** Engines with vocabularies of their own, each in a script for one model. */
const FOR_MODELS = ["gpt-tokenizer", "ai-tokenizer", "js-tiktoken"];

const LETTERS = "abcdefghijklmnopqrstuvwxyz";

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
  #needs;
  #script;
  #model;
  #source;
  #engine;
  #encode;
  #letter = 0;

  constructor(host, engine, model, source) {
    this.#host = host;
    const names = NEEDS[engine] ?? [];
    this.#needs = names.map((name) => name.replace("*", model).replace("?", source));
    this.#script = FOR_MODELS.includes(engine) ? `${engine}.${model}` : engine;
    this.#model = model;
    this.#source = source;
  }

  /** Imports the engine, opens the model, encodes a word; all it reads is in memory before. */
  async load() {
    await this.#host.prefetch(this.#script);
    const read = new Map();
    for (const name of this.#needs) read.set(name, await this.#host.read(name));
    const bytes = (name) => read.get(name);
    const start = performance.now();
    await this.#open({ bytes, source: bytes });
    return { ms: performance.now() - start };
  }

  async #open(files) {
    this.#engine = await this.#host.engine(this.#script);
    this.#encode = await this.#engine.open(this.#model, files, this.#source);
    this.#encode("hello");
  }

  async #texts(file) {
    return JSON.parse(new TextDecoder().decode(await this.#host.read(file)));
  }

  /** Encodes the texts of a file. */
  async encode({ file }) {
    const texts = await this.#texts(file);
    const start = performance.now();
    const found = encodeAll(this.#encode, texts);
    const ms = performance.now() - start;
    const translate = this.#engine.translate ?? ((_model, ids) => ids);
    return { ms, ids: await digest(found.map((each) => translate(this.#model, each))) };
  }

  /** The least time for the texts of a file, again and again while `ms` last. */
  async repeat({ file, ms }) {
    const texts = await this.#texts(file);
    let least = Number.POSITIVE_INFINITY;
    let now = performance.now();
    const end = now + ms;
    do {
      const start = now;
      encodeAll(this.#encode, texts);
      now = performance.now();
      least = Math.min(least, now - start);
    } while (now < end);
    return { ms: least };
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

  /**
   * The least time for one letter, so many times, in each of some sizes in turns. Each round
   * takes another letter: who remembers words must not remember these.
   */
  async growth({ sizes, rounds }) {
    const least = sizes.map(() => Number.POSITIVE_INFINITY);
    for (let round = 0; round < rounds; round++) {
      const letter = LETTERS[this.#letter++ % LETTERS.length];
      const texts = sizes.map((size) => letter.repeat(size));
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
    await this.#host.prefetch(this.#script);
    const files = await this.#host.files(this.#needs);
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
