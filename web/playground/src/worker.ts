/** The worker: opens models and analyses the text, so that the page never waits. */

import { Tokenizer, TokenizerError } from "isotok";
import { Analysis } from "./analysis.js";
import { compare } from "./compare.js";
import type {
  Analysed,
  Calls,
  Groups,
  ModelKey,
  Opened,
  Options,
  Reply,
  Request,
  SentError,
  Side,
} from "./protocol.js";
import { countText } from "./text.js";

const models = new Map<ModelKey, Tokenizer>();
let text = "";
let sides: (Analysis | undefined)[] = [];

type Handlers = {
  [Name in keyof Calls]: (
    ...values: Parameters<Calls[Name]>
  ) => ReturnType<Calls[Name]> | Promise<ReturnType<Calls[Name]>>;
};

const handlers: Handlers = {
  async open(model: ModelKey, source: Blob | string): Promise<Opened> {
    const begin = performance.now();
    const tokenizer = await Tokenizer.load(source);
    models.set(model, tokenizer);
    return { info: tokenizer.info, milliseconds: performance.now() - begin };
  },

  close(model: ModelKey): void {
    models.get(model)?.dispose();
    models.delete(model);
  },

  setText(newText: string): void {
    text = newText;
  },

  analyse(keys: readonly ModelKey[], options: Options, groups: number): Analysed {
    sides = []; // first, so that the memory of the last is free
    const errors: (SentError | undefined)[] = [];
    for (const [i, key] of keys.entries()) {
      try {
        sides[i] = new Analysis(openedModel(key), text, options);
      } catch (error) {
        sides[i] = undefined;
        errors[i] = sendable(error);
      }
    }
    const [a, b] = sides;
    if (a !== undefined && b !== undefined) compare(a, b);
    const results = sides.map(
      (side, i): Side =>
        side === undefined ? { error: errors[i] as SentError } : side.result(groups),
    );
    return { counts: countText(text), sides: results };
  },

  more(side: number, groups: number): Groups {
    return analysed(side).next(groups);
  },

  ids(side: number): Uint32Array {
    return analysed(side).ids;
  },
};

function openedModel(key: ModelKey): Tokenizer {
  const model = models.get(key);
  if (model === undefined) throw new Error("the model is not open; choose it again");
  return model;
}

function analysed(side: number): Analysis {
  const analysis = sides[side];
  if (analysis === undefined) throw new Error("there is nothing to show; change the text");
  return analysis;
}

function sendable(error: unknown): SentError {
  if (error instanceof TokenizerError) {
    const { code, message, status, what, index, offset } = error;
    return { code, message, status, what, index, offset };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { code: undefined, message, status: 0, what: 0, index: 0, offset: 0 };
}

async function answer({ number, name, values }: Request): Promise<Reply> {
  try {
    const handler = handlers[name] as (...values: readonly unknown[]) => unknown;
    return { number, result: await handler(...values) };
  } catch (error) {
    return { number, error: sendable(error) };
  }
}

// One after the other: a text must not change while its model is being opened.
let last: Promise<unknown> = Promise.resolve();

addEventListener("message", ({ data }: MessageEvent<Request>) => {
  last = last.then(async () => postMessage(await answer(data)));
});
