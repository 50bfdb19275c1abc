/**
 * An opened model in one instance of `isotok.wasm`: memory, sessions, texts in parts.
 *
 * Linear memory is laid out once, and the addresses stay:
 *
 *     [stack | data | heap_base: blob | added tokens | view | structs | session | text | ends |
 *      results | cache | …]
 *
 * Texts pass through the same window part by part, so memory does not grow with them. What
 * does grow is the session of a difficult text: it moves to the arena behind everything
 * else, and goes back afterwards. Sessions of open encoders and decoders are in the arena too,
 * and what else a call needs.
 */

import { disposedError } from "./dispose.js";
import type { TokenizerError } from "./errors.js";
import { type CacheInfo, type Info, readCacheInfo, readInfo } from "./info.js";
import * as abi from "./layout_gen.js";
import { CORE, Machine } from "./machine.js";
import { type Address, Arena, align, type Text } from "./memory.js";
import { TextReader } from "./text.js";

/** Bytes of text in memory at a time. */
const WINDOW = 1 << 18;
/**
 * An instance that has grown by more than this, and by more than so many blobs, is replaced
 * after the call. Replacing it copies the blob, so that must be little beside the call.
 */
const SPARE = 1 << 24;
const SPARE_BLOBS = 4;

/** Texts in one crossing of a batch. */
export const BATCH = 1 << 14;
/** Words for results: ids alone, or columns of spans, or bytes with a word for each. */
export const RESULT_WORDS = 5 << 16;

/** Offsets in the block of structs. */
const ERROR = 0;
const OPTIONS = 32;
const INPUT = 80;
const OUTPUT = 96;
const WORDS = OUTPUT + abi.SIZEOF_OUTPUT;
const STRUCTS_SIZE = 192;

/** Memory of one session: at home, or a block of the arena. */
export interface Session {
  pointer: Address;
  block: Address;
  size: number;
  /** A block with the special tokens of its text; 0: none. */
  allowed: Address;
}

/** Flags of the core's encode options, alone or with `allowed` there. */
export type Flags = number | { readonly flags: number; readonly allowed: Uint32Array };

export function withFlags(flags: Flags, more: number): Flags {
  return typeof flags === "number" ? flags | more : { ...flags, flags: flags.flags | more };
}

export function isSet(flags: Flags, flag: number): boolean {
  return ((typeof flags === "number" ? flags : flags.flags) & flag) !== 0;
}

/** What a sample depends on beside text and flags. */
export interface Draw {
  readonly alpha: number;
  readonly seed: bigint;
}

/** No bytes: nothing was left of the part of a text before. */
export const NO_TAIL = new Uint8Array();

/** Where things are, in the order of their addresses. */
interface Layout {
  readonly blob: Address;
  /** A blob of what added tokens change. */
  readonly added: Address;
  readonly view: Address;
  readonly error: Address;
  readonly options: Address;
  readonly input: Address;
  readonly output: Address;
  /** Words that calls fill. `grow` uses the first, so it does not outlive a step. */
  readonly first: Address;
  readonly second: Address;
  /** The session between calls. */
  readonly home: Address;
}

/** What follows the session, whose size depends on the model. */
interface Rooms {
  /** The window. */
  readonly text: Address;
  readonly ends: Address;
  readonly results: Address;
  /** Of tokens: zeros, then what the session leaves there. */
  readonly cache: Address;
  readonly end: Address;
}

export class ModelInstance {
  readonly info: Info;
  readonly at: Layout & Rooms;
  /** Bytes of text in memory at a time. */
  readonly window: number;
  /** Decodes results; between calls it holds nothing. */
  readonly utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
  /** Sets of special tokens that calls were given, as the core takes them. */
  readonly sets = new Map<string, Uint32Array>();
  readonly #arena: Arena;
  /** Blocks of the arena for the call under way. */
  readonly #loans = new Set<Address>();
  readonly #blobSize: number;
  readonly #addedSize: number;
  readonly #cacheSize: number;
  readonly #sessionMin: number;
  readonly #sessionSize: number;
  #machine: Machine | undefined;
  #model: Address = 0;
  #session: Session;
  /** By the cache's sessions before this one. */
  #counted: CacheInfo | undefined;
  /** Bytes of the window that texts pass through: `window`, but for white space that is longer. */
  #room: number;
  /** Whether it was larger in this call. */
  #wasWide = false;
  /** Flags, limit and unit in the options struct. */
  #options: readonly number[] = [];
  /** Columns in the output struct, and how many elements they begin with. */
  #columns = 0;
  #held = 0;

  /**
   * Opens the blob that lies at the machine's heap base.
   *
   * @param added A blob of what added tokens change in it; without any, empty.
   */
  constructor(
    machine: Machine,
    blobSize: number,
    verify: number,
    cacheSize: number,
    added: Uint8Array = NO_TAIL,
  ) {
    const layout = layOut(machine, blobSize, added.length);
    const { memory } = machine;
    memory.reserve(layout.view);
    memory.write(layout.added, added);
    this.#machine = machine;
    this.#blobSize = blobSize;
    this.#addedSize = added.length;
    this.#model = open(machine, layout, blobSize, added.length, verify);
    this.info = readInfo(memory, layout.home);
    const info = (offset: number) => memory.word(layout.home + offset);
    this.#sessionMin = info(abi.INFO_SESSION_MIN);
    this.#sessionSize = info(abi.INFO_SESSION_SIZE);
    // A part of a text keeps up to max_key_bytes unconsumed: a window holds several.
    this.window = Math.max(WINDOW, 4 * info(abi.INFO_MAX_KEY_BYTES));
    this.#room = this.window;
    const text = align(layout.home + this.#sessionSize, 64);
    const ends = align(text + this.window, 64);
    const results = ends + 8 * BATCH;
    const cache = align(results + 4 * RESULT_WORDS, 64);
    this.at = { ...layout, text, ends, results, cache, end: cache + align(cacheSize, 64) };
    this.#cacheSize = cacheSize;
    this.#arena = new Arena(this.at.end);
    this.#session = this.#start(machine);
  }

  // -- the machine ----------------------------------------------------------------

  /** The instance, unless the tokenizer was disposed of. */
  get machine(): Machine {
    if (this.#machine !== undefined) return this.#machine;
    throw disposedError();
  }

  /** Bytes of linear memory; 0 once disposed. */
  get memorySize(): number {
    return this.#machine?.memory.size ?? 0;
  }

  /** Lets go of the instance and its memory. */
  dispose(): void {
    this.#machine = undefined;
  }

  get model(): Address {
    return this.#model;
  }

  /** A copy of the blob. */
  blob(): Uint8Array<ArrayBuffer> {
    return this.machine.memory.copy(this.at.blob, this.#blobSize);
  }

  error(status: number, subject: string, done = 0): TokenizerError {
    return this.machine.error(this.at.error, status, subject, done);
  }

  /** Makes room, and begins the session at home. */
  #start(machine: Machine): Session {
    machine.memory.reserve(this.at.end);
    machine.memory.setWindow(this.at.text);
    this.#options = [];
    this.#columns = 0;
    return this.#newSessionAtHome();
  }

  // -- sessions -------------------------------------------------------------------

  /** The session of calls that begin and end their text. */
  get session(): Session {
    return this.#session;
  }

  #newSession(block: Address, size: number): Session {
    const { machine, at } = this;
    const session = { pointer: 0, block, size, allowed: 0 };
    const status = machine.call(
      "isotok_session_init",
      this.#model,
      block,
      size,
      at.first,
      at.error,
    );
    if (status !== abi.OK) throw this.error(status, "session");
    session.pointer = machine.memory.word(at.first);
    return session;
  }

  /** The session of all calls but those of encoders and decoders: it has the cache. */
  #newSessionAtHome(): Session {
    const { machine, at } = this;
    const session = this.#newSession(at.home, this.#sessionSize);
    const status = machine.call(
      "isotok_session_cache",
      session.pointer,
      at.cache,
      this.#cacheSize,
      at.error,
    );
    if (status !== abi.OK) throw this.error(status, "session");
    return session;
  }

  /** What the cache has done. */
  cacheInfo(): CacheInfo {
    const { machine, at } = this;
    machine.memory.setWord(at.results, abi.SIZEOF_CACHE_INFO);
    machine.call("isotok_session_cache_info", this.#session.pointer, at.results);
    return readCacheInfo(machine.memory, at.results, this.#counted);
  }

  /**
   * A session that stays until it is released, for a text that calls of others interrupt.
   *
   * @param small Of the least size: it will not have much to do.
   */
  openSession(small: boolean): Session {
    const size = small ? this.#sessionMin : this.#sessionSize;
    return this.#newSession(this.#arena.take(this.machine.memory, size), size);
  }

  release(session: Session): void {
    this.#arena.give(session.block);
    if (session.allowed !== 0) this.#arena.give(session.allowed);
    this.#shrink();
  }

  /** Memory until the call settles, or is given for other such memory. */
  loan(size: number, instead = 0): Address {
    this.#giveBack(instead);
    const block = this.#arena.take(this.machine.memory, size);
    this.#loans.add(block);
    return block;
  }

  #giveBack(block: Address): void {
    if (this.#loans.delete(block)) this.#arena.give(block);
  }

  /** After NEED_SCRATCH: gives a session at least twice its memory. */
  grow(session: Session): void {
    const { machine, at } = this;
    const need = machine.memory.long(at.error + abi.ERROR_NEED);
    const size = Math.max(need, 2 * session.size);
    const block = this.#arena.take(machine.memory, size);
    const status = machine.call(
      "isotok_session_move",
      session.pointer,
      block,
      size,
      at.first,
      at.error,
    );
    this.#arena.give(session.block);
    session.block = block;
    session.size = size;
    if (status !== abi.OK) throw this.error(status, "session");
    session.pointer = machine.memory.word(at.first);
  }

  /** After a call: brings the session home, and memory back to normal size. */
  settle(): void {
    const isHome = this.#session.block === this.at.home;
    const isUsual = isHome && this.#loans.size === 0 && !this.#wasWide;
    if (isUsual || !this.#machine?.alive) return;
    this.#wasWide = false;
    for (const block of this.#loans) this.#giveBack(block);
    if (!isHome) {
      this.#counted = this.cacheInfo();
      this.#arena.give(this.#session.block);
      this.#session = this.#newSessionAtHome();
    }
    this.#shrink();
  }

  /** Replaces an instance that has grown: linear memory never becomes smaller. */
  #shrink(): void {
    const { at } = this;
    const old = this.#machine;
    const spare = Math.max(SPARE, SPARE_BLOBS * this.#blobSize);
    if (!old?.alive || !this.#arena.isEmpty || old.memory.size <= at.end + spare) return;
    const counted = this.cacheInfo();
    try {
      const machine = new Machine(old.module, CORE);
      machine.memory.reserve(at.end);
      machine.memory.adopt(at.blob, old.memory, at.blob, at.view - at.blob);
      // the old one verified it
      open(machine, at, this.#blobSize, this.#addedSize, abi.VERIFY_TRUSTED);
      this.#machine = machine;
    } catch {
      return; // there is no room for two: go on with the large one
    }
    this.#counted = counted;
    this.#session = this.#start(this.machine);
  }

  // -- texts in parts -------------------------------------------------------------

  /** Begins a text with the options that were written. */
  begin(name: string, session = this.#session): void {
    const { at } = this;
    const status = this.machine.call(name, session.pointer, at.options, at.error);
    if (status !== abi.OK) throw this.error(status, "text");
  }

  writeOptions(
    flags: Flags,
    limit: number,
    unit: number,
    draw?: Draw,
    session = this.#session,
  ): void {
    const [oldFlags, oldLimit, oldUnit] = this.#options;
    if (flags === oldFlags && limit === oldLimit && unit === oldUnit) return;
    const { memory } = this.machine;
    const [number, allowed] =
      typeof flags === "number" ? [flags] : ([flags.flags, flags.allowed] as const);
    const at = this.at.options;
    memory.setWord(at + abi.ENCODE_OPTIONS_SIZE, abi.SIZEOF_ENCODE_OPTIONS);
    memory.setWord(at + abi.ENCODE_OPTIONS_FLAGS, number);
    memory.setLong(at + abi.ENCODE_OPTIONS_LIMIT, limit);
    memory.setWord(at + abi.ENCODE_OPTIONS_OFFSET_UNIT, unit);
    memory.setWord(at + abi.ENCODE_OPTIONS_ALLOWED_COUNT, allowed?.length ?? 0);
    memory.setWord(at + abi.ENCODE_OPTIONS_ALLOWED, allowed ? this.#lend(allowed, session) : 0);
    if (draw === undefined) {
      memory.setLong(at + abi.ENCODE_OPTIONS_SEED, 0);
      memory.setLong(at + abi.ENCODE_OPTIONS_ALPHA, 0);
      this.#options = allowed ? [] : [number, limit, unit];
    } else {
      memory.setBits(at + abi.ENCODE_OPTIONS_SEED, draw.seed);
      memory.setDouble(at + abi.ENCODE_OPTIONS_ALPHA, draw.alpha);
      this.#options = [];
    }
  }

  /** Writes words to memory that stays as long as the session's text. */
  #lend(words: Uint32Array, session: Session): Address {
    const { memory } = this.machine;
    const isHome = session === this.#session;
    const size = Math.max(4 * words.length, 4);
    const block = isHome ? this.loan(size) : this.#arena.take(memory, size);
    if (!isHome) session.allowed = block;
    memory.writeIds(block, words, 0, words.length);
    return block;
  }

  /**
   * Divides the results into columns of words: ids, begin, end and so on.
   *
   * @param held Elements at the beginning of each that stay.
   */
  writeOutput(columns: number, held = 0): void {
    if (columns === this.#columns && held === this.#held) return;
    const { memory } = this.machine;
    const at = this.at.output;
    for (let i = 0; i < 5; i++) {
      const column = i < columns ? this.column(i, columns) + 4 * held : 0;
      memory.setWord(at + abi.OUTPUT_IDS + 4 * i, column);
    }
    memory.setWord(at + abi.OUTPUT_CAPACITY, Math.floor(RESULT_WORDS / columns) - held);
    this.#columns = columns;
    this.#held = held;
  }

  /** Has ids alone written to other memory than the results. */
  writeTarget(ids: Address, capacity: number): void {
    this.writeOutput(1);
    const { memory } = this.machine;
    memory.setWord(this.at.output + abi.OUTPUT_IDS, ids);
    memory.setWord(this.at.output + abi.OUTPUT_CAPACITY, capacity);
    this.#columns = 0;
  }

  /** Where a column of the results begins. */
  column(index: number, columns: number): Address {
    return this.at.results + 4 * Math.floor(RESULT_WORDS / columns) * index;
  }

  /** Passes a text through the window; `drain` learns of each step's output, and its status. */
  run(text: Text, step: () => number, drain: (status: number) => void): void {
    this.runPart(this.#session, NO_TAIL, text, true, step, drain);
  }

  /**
   * Passes the next part of a text through the window.
   *
   * @param tail What the call for the part before returned.
   * @returns Bytes at the end that the core has not consumed.
   */
  runPart(
    session: Session,
    tail: Uint8Array,
    text: Text,
    last: boolean,
    step: () => number,
    drain: (status: number) => void,
  ): Uint8Array<ArrayBuffer> {
    const { memory } = this.machine;
    const reader = new TextReader(text);
    const { input } = this.at;
    let kept = tail.length;
    let status: number;
    this.#widen(2 * kept, 0);
    if (kept > 0) memory.writeWindow(0, tail);
    try {
      for (;;) {
        kept += reader.fill(memory, kept, this.#room - kept);
        const isLast = last && reader.done;
        memory.setWord(input + abi.INPUT_TEXT, memory.window);
        memory.setWord(input + abi.INPUT_SIZE, kept);
        memory.setWord(input + abi.INPUT_CONSUMED, 0);
        memory.setWord(input + abi.INPUT_PART, isLast ? abi.PART_LAST : 0);
        do {
          status = step();
          if (status < 0) throw this.error(status, "text");
          drain(status);
          if (status === abi.NEED_SCRATCH) this.grow(session);
        } while (status === abi.NEED_OUTPUT || status === abi.NEED_SCRATCH);
        if (isLast || status === abi.AT_LIMIT) return NO_TAIL;
        const consumed = memory.word(input + abi.INPUT_CONSUMED);
        const rest = memory.window + consumed;
        kept -= consumed;
        if (reader.done) return memory.copy(rest, kept);
        memory.move(memory.window, rest, kept);
        // White space of any length, in front of a token that may take it along.
        if (consumed === 0) this.#widen(2 * this.#room, kept);
      }
    } finally {
      this.#narrow();
    }
  }

  /** Has a window of at least `room` bytes, with the first `kept` of that before. */
  #widen(room: number, kept: number): void {
    if (room <= this.#room) return;
    const { memory } = this.machine;
    const before = memory.window;
    const block = this.#arena.take(memory, room);
    memory.move(block, before, kept);
    this.#narrow();
    memory.setWindow(block);
    this.#room = room;
    this.#wasWide = true;
  }

  /** Has the window of the layout again. */
  #narrow(): void {
    const { memory } = this.machine;
    if (memory.window === this.at.text) return;
    this.#arena.give(memory.window);
    memory.setWindow(this.at.text);
    this.#room = this.window;
  }
}

/** Gives back the memory of streams that were forgotten, where the engine can tell. */
export function sessionRegistry(model: ModelInstance): FinalizationRegistry<Session> | undefined {
  if (typeof FinalizationRegistry === "undefined") return undefined;
  return new FinalizationRegistry((session) => model.release(session));
}

/** Addresses that the size of the blob decides. */
function layOut(machine: Machine, blobSize: number, addedSize: number): Layout {
  const blob = machine.heapBase;
  const added = align(blob + blobSize, 64);
  const view = align(added + addedSize, 64);
  const structs = align(view + machine.call("isotok_model_size"), 64);
  return {
    blob,
    added,
    view,
    error: structs + ERROR,
    options: structs + OPTIONS,
    input: structs + INPUT,
    output: structs + OUTPUT,
    first: structs + WORDS,
    second: structs + WORDS + 4,
    home: structs + STRUCTS_SIZE,
  };
}

function openBlob(machine: Machine, at: Layout, blob: Address, size: number, verify: number): void {
  machine.memory.setWord(at.error + abi.ERROR_SIZE, abi.SIZEOF_ERROR);
  const status = machine.call(
    "isotok_model_open",
    blob,
    size,
    verify,
    at.view,
    at.error - at.view,
    at.first,
    at.error,
  );
  if (status !== abi.OK) throw machine.error(at.error, status, "model");
}

/** Opens the blob, and reads `isotok_info` to where the session will be. */
function open(
  machine: Machine,
  at: Layout,
  blobSize: number,
  addedSize: number,
  verify: number,
): Address {
  const { memory } = machine;
  memory.reserve(at.home + abi.SIZEOF_INFO);
  openBlob(machine, at, at.blob, blobSize, verify);
  if (addedSize > 0) openBlob(machine, at, at.added, addedSize, verify | abi.VERIFY_ADDED);
  const model = memory.word(at.first);
  memory.setWord(at.home, abi.SIZEOF_INFO);
  machine.call("isotok_model_info", model, at.home);
  return model;
}
