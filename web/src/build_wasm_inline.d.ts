/** `isotok-build.wasm` as base64; scripts/build.mjs writes the script. */
declare const base64: string;
export default base64;
