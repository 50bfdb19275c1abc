/** The reader of other libraries' files; scripts/build.mjs makes one script of src/foreign. */
export { readForeign } from "./foreign/read.js";
