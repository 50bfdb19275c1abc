/** Data files of the Python package ; scripts/build.mjs writes the script. */
/** `pretok_known.bin`, deflated: its size, and the data. */
export const pretokenizers: readonly [size: number, base64: string];
/** `normalizer_known.bin`, whose body is deflated. */
export const normalizers: readonly [size: number, base64: string];
export interface Encoding {
  /** The encoding whose pattern it has. */
  readonly pattern: string;
  readonly special: Readonly<Record<string, number>>;
  /** The first number, and the one behind the last. */
  readonly reserved?: readonly [number, number];
}
/** `tiktoken_encodings.json`: the encodings of tiktoken by name. */
export const encodings: Readonly<Record<string, Encoding>>;
