/** All that hosts run, as one script: build/web/runner.mjs. */

export { type Case, runCases } from "./cases.js";
export type { GetFile, Load, Report } from "./report.js";
export {
  runSentencePiece,
  runVectors,
  type SentencePieceVector,
  type Spine,
} from "./vectors.js";
