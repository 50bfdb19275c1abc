/** Data files of the Python package as base64; scripts/build.mjs writes the script. */
/** `pretok_known.bin`, deflated: its size, and the data. */
export const pretokenizers: readonly [size: number, base64: string];
/** `normalizer_known.bin`, whose body is deflated. */
export const normalizers: readonly [size: number, base64: string];
