import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** The tests are beside the others of the project; they run on what is in dist/. */
export default defineConfig({
  root: path("../tests/web"),
  cacheDir: path("node_modules/.vite"),
  resolve: {
    alias: [
      { find: /^isotok$/, replacement: path("dist/node.js") },
      { find: /^isotok\/(inline|edge|worker)$/, replacement: path("dist/$1.js") },
      { find: /^vitest$/, replacement: path("node_modules/vitest/dist/index.js") },
    ],
  },
  server: { fs: { allow: [path("..")] } },
  test: {
    include: ["*.test.ts"],
    pool: "forks",
    maxWorkers: 2,
    reporters: ["default"],
  },
});
