/** The reader of other libraries' files; scripts/build.mjs makes one script of src/foreign. */
export {
  addedTokens,
  addTokens,
  compileModel,
  describe,
  openOther,
  readForeign,
  wrongIds,
} from "./foreign/read.js";
