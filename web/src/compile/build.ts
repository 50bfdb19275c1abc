/** The model compiler, `isotok-build.wasm`: a model file goes in, a blob comes out. */

import { argumentError } from "../errors.js";
import type { Compat } from "../info.js";
import * as abi from "../layout_gen.js";
import type { PeekedBytes } from "../load/bytes.js";
import { type Kind, Machine } from "../machine.js";
import { type Address, align } from "../memory.js";

/**
 * What the compiler writes: what the core opens, what is small to send, or the files of
 * SentencePiece and of SentencePiece Lite.
 */
export type Form = "blob" | "packed" | "model" | "spm.fb";

const FORMS: Readonly<Record<Form, number>> = {
  blob: abi.FORM_BLOB,
  packed: abi.FORM_PACKED,
  model: abi.FORM_SENTENCEPIECE,
  "spm.fb": abi.FORM_SPM_FB,
};
const NOTHING = new Uint8Array();

const COMPILER: Kind = {
  nameFunction: "isotok_build_name",
  text: (machine, kind, number) =>
    kind === abi.NAME_WHAT
      ? machine.memory.readName(machine.call("isotok_build_name", kind, number) >>> 0)
      : statusText(number),
};

export function statusText(status: number): string {
  return abi.STATUS_TEXTS[status] ?? abi.OPENING_STATUS_TEXTS[status] ?? "";
}

export function checkCompat(compat: unknown): void {
  if (compat === undefined || compat === "0.2.1") return;
  throw argumentError(`compat: ${String(compat)} is unknown; use "0.2.1", or leave it out`);
}

export function isForm(form: string): form is Form {
  return Object.hasOwn(FORMS, form);
}

const SIZE_OUT = abi.SIZEOF_ERROR;
const POINTER = SIZE_OUT + 4;
const STRUCTS_SIZE = 64;

/**
 * Compiles a model in an instance of its own, where its bytes go as they arrive.
 *
 * @returns A view of that instance's memory, which nobody writes to any more.
 */
export async function build(
  module: WebAssembly.Module,
  bytes: PeekedBytes,
  form: Form,
  compat?: Compat,
): Promise<Uint8Array> {
  const machine = await Machine.create(module, COMPILER);
  const structs = machine.heapBase;
  const size = await bytes.into(machine.memory, structs + STRUCTS_SIZE);
  const kind = abi.SOURCE_AUTO | (compat === undefined ? 0 : abi.SOURCE_0_2_1);
  return new Job(machine, structs, size, kind, NOTHING).run(FORMS[form]);
}

/** Makes the blob of what added tokens (`addedSource`) change in one. */
export async function buildAdded(
  module: WebAssembly.Module,
  blob: Uint8Array,
  added: Uint8Array,
): Promise<Uint8Array> {
  const machine = await Machine.create(module, COMPILER);
  const structs = machine.heapBase;
  machine.memory.reserve(structs + STRUCTS_SIZE + blob.length);
  machine.memory.write(structs + STRUCTS_SIZE, blob);
  const job = new Job(machine, structs, blob.length, abi.SOURCE_PACKED, added);
  return job.run(abi.FORM_ADDED);
}

/** One build: [structs | source | arena | output] from heap_base on. */
class Job {
  readonly #machine: Machine;
  readonly #structs: Address;
  readonly #source: Address;
  readonly #sourceSize: number;
  readonly #kind: number;
  /** What `isotok_build_added` takes; none if empty. */
  readonly #added: Uint8Array;
  readonly #arena: Address;

  constructor(
    machine: Machine,
    structs: Address,
    sourceSize: number,
    kind: number,
    added: Uint8Array,
  ) {
    this.#machine = machine;
    this.#structs = structs;
    this.#source = structs + STRUCTS_SIZE;
    this.#sourceSize = sourceSize;
    this.#kind = kind;
    this.#added = added;
    this.#arena = align(this.#addedAt + added.length, 64);
  }

  get #addedAt(): Address {
    return align(this.#source + this.#sourceSize, 64);
  }

  run(form: number): Uint8Array {
    const { memory } = this.#machine;
    let arenaSize = align(6 * this.#sourceSize + (1 << 20), 64);
    for (;;) {
      memory.reserve(this.#arena + arenaSize);
      let status = this.#read(arenaSize);
      let built: Uint8Array | undefined;
      if (status === abi.OK) [status, built] = this.#write(form, arenaSize);
      if (built !== undefined) return built;
      if (status !== abi.NEED_SCRATCH) throw this.#machine.error(this.#structs, status, "source");
      const need = memory.long(this.#structs + abi.ERROR_NEED);
      arenaSize = align(Math.max(need, 2 * arenaSize), 64);
    }
  }

  /** Calls with a fresh error struct as the last argument. */
  #call(name: string, ...values: number[]): number {
    this.#machine.memory.setWord(this.#structs + abi.ERROR_SIZE, abi.SIZEOF_ERROR);
    return this.#machine.call(name, ...values, this.#structs);
  }

  #pointer(): Address {
    return this.#machine.memory.word(this.#structs + POINTER);
  }

  #read(arenaSize: number): number {
    const status = this.#call("isotok_build_init", this.#arena, arenaSize, this.#structs + POINTER);
    if (status !== abi.OK) return status;
    const read = this.#call(
      "isotok_build_source",
      this.#pointer(),
      this.#kind,
      this.#source,
      this.#sourceSize,
    );
    const { length } = this.#added;
    if (read !== abi.OK || length === 0) return read;
    this.#machine.memory.write(this.#addedAt, this.#added);
    return this.#call("isotok_build_added", this.#pointer(), this.#addedAt, length);
  }

  #write(form: number, arenaSize: number): [status: number, built?: Uint8Array] {
    const { memory } = this.#machine;
    const at = this.#arena + arenaSize;
    const sizeOut = this.#structs + SIZE_OUT;
    let capacity = 4 * this.#sourceSize + 65536;
    for (;;) {
      memory.reserve(at + capacity);
      const pointer = this.#pointer();
      const status = this.#call("isotok_build_finish", pointer, form, at, capacity, sizeOut);
      const size = memory.word(sizeOut);
      if (status === abi.OK) return [status, memory.view(at, size)];
      if (status !== abi.NEED_OUTPUT) return [status];
      capacity = size;
    }
  }
}
