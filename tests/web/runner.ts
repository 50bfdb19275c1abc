/** All that hosts run, as one script: build/web/runner.mjs. */

export { type Case, runCases } from "./cases.js";
export { type Results, runAll } from "./host.js";
export { type NativeAnswer, runNative } from "./native.js";
export type { GetFile, Load, Report } from "./report.js";
export { runSamples, type Samples } from "./samples.js";
export { type Host, runUses } from "./uses.js";
export {
  runSentencePiece,
  runVectors,
  type SentencePieceVector,
  type Spine,
} from "./vectors.js";
