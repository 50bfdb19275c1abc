/** Adds to vitest's report what `./build.sh test` reads: reasons of skips, and counts. */

export default class CountsReporter {
  onTestRunEnd(modules) {
    const counts = { passed: 0, failed: 0, skipped: 0 };
    for (const module of modules) {
      if (!module.ok() && module.children.size === 0) counts.failed++; // it was not loaded
      for (const test of module.children.allTests()) {
        const { state, note } = test.result();
        counts[state]++;
        if (state === "skipped") console.log(`skipped ${test.name.replaceAll(":", "")}: ${note}`);
      }
    }
    const { passed, failed, skipped } = counts;
    console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
  }
}
