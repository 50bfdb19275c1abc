/** One instance of a wasm module of ours: its memory and its functions. */

import { coreError, type ErrorDetails, reasonOf, TokenizerError } from "./errors.js";
import * as abi from "./layout_gen.js";
import { type Address, align, Memory } from "./memory.js";

/** Exports are functions of int32; pointers come back signed. */
type Exports = Readonly<Record<string, (...values: number[]) => number>>;

/** One of our two modules. */
export interface Kind {
  /** An export that the other one has not. */
  readonly nameFunction: string;
  /** The text for a status or a cause. */
  text(machine: Machine, kind: number, number: number): string;
}

/** isotok.wasm, which holds no texts; those of models that cannot be opened are elsewhere. */
export const CORE: Kind = {
  nameFunction: "isotok_name",
  text: (_, kind, number) =>
    (kind === abi.NAME_WHAT ? abi.WHAT_TEXTS : abi.STATUS_TEXTS)[number] ?? "",
};

export class Machine {
  readonly module: WebAssembly.Module;
  readonly memory: Memory;
  readonly #exports: Exports;
  readonly #kind: Kind;
  #trap = "";

  constructor(module: WebAssembly.Module, kind: Kind, instance = instantiate(module)) {
    const { exports } = instance;
    if (!(exports["memory"] instanceof WebAssembly.Memory && kind.nameFunction in exports))
      throw notOurs();
    this.module = module;
    this.memory = new Memory(exports["memory"]);
    this.#exports = exports as unknown as Exports;
    this.#kind = kind;
    this.#checkAbi();
  }

  /** Instantiates without blocking. */
  static async create(module: WebAssembly.Module, kind: Kind): Promise<Machine> {
    try {
      return new Machine(module, kind, await WebAssembly.instantiate(module, {}));
    } catch (error) {
      throw error instanceof TokenizerError ? error : instanceError(error);
    }
  }

  #checkAbi(): void {
    if (!("isotok_abi" in this.#exports)) return;
    const version = this.call("isotok_abi") >>> 16;
    if (version === abi.ABI_MAJOR) return;
    throw new TokenizerError(
      "E_ABI",
      `wasm: interface version ${version} is not ${abi.ABI_MAJOR}; ` +
        "take isotok.wasm from the same version of the package as the script",
      { status: abi.E_ABI },
    );
  }

  /** First address behind the module's own stack and data, 64-aligned. */
  get heapBase(): Address {
    return align(this.call("isotok_heap_base") >>> 0, 64);
  }

  /** False after a trap: memory may be torn, and no call is made any more. */
  get alive(): boolean {
    return this.#trap === "";
  }

  /** Calls an export. A trap ends this instance. */
  call(name: string, ...values: number[]): number {
    if (this.#trap !== "") throw trapError(this.#trap);
    try {
      return (this.#exports[name] as (...values: number[]) => number)(...values);
    } catch (error) {
      this.#trap = reasonOf(error);
      throw trapError(this.#trap, error);
    }
  }

  /** Error for the `isotok_error` at `at`; `done`: elements of earlier parts. */
  error(at: Address, status: number, subject: string, done = 0): TokenizerError {
    const { memory } = this;
    const details: ErrorDetails = {
      status,
      what: memory.word(at + abi.ERROR_WHAT),
      index: memory.word(at + abi.ERROR_INDEX) + done,
      offset: memory.long(at + abi.ERROR_OFFSET),
      need: memory.long(at + abi.ERROR_NEED),
    };
    const textOf = (kind: number, number: number) => this.#kind.text(this, kind, number);
    const statusText = textOf(abi.NAME_STATUS, status);
    return coreError(details, statusText, textOf(abi.NAME_WHAT, details.what), subject);
  }
}

function instantiate(module: WebAssembly.Module): WebAssembly.Instance {
  try {
    return new WebAssembly.Instance(module, {});
  } catch (error) {
    throw instanceError(error);
  }
}

function instanceError(error: unknown): TokenizerError {
  if (error instanceof WebAssembly.LinkError) return notOurs(error);
  return new TokenizerError(
    "E_TOO_LARGE",
    `wasm: no memory for another instance (${reasonOf(error)}); dispose of other tokenizers`,
    { status: abi.E_TOO_LARGE },
    { cause: error },
  );
}

function notOurs(cause?: unknown): TokenizerError {
  return new TokenizerError(
    "SOURCE",
    "wasm: the module is not isotok's; give isotok.wasm as wasm, isotok-build.wasm as buildWasm",
    {},
    { cause },
  );
}

function trapError(reason: string, cause?: unknown): TokenizerError {
  return new TokenizerError(
    "TRAP",
    `wasm: the core stopped with a trap (${reason}), so this tokenizer cannot be used any ` +
      "more; load the model again. Please report the model and the text",
    {},
    { cause },
  );
}
