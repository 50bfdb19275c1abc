/** The driver of the compiler; scripts/build.mjs makes one script of src/compile. */
export { addTokens, compileModel, describe, openOther } from "./compile/compile.js";
