/** In place of node:fs on pages: engines whose package reads a file give it the bytes. */
module.exports = { readFileSync() {} };
