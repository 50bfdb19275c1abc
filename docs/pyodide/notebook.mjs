/**
 * Runs the cells of notebook.html in Pyodide.
 *
 * Pyodide comes from the folder pyodide/ beside the page (the npm package of that name, as
 * it is), the wheel from beside the page too. Other places: ?pyodide=FOLDER/&wheel=FILE.
 */

const place = new URLSearchParams(location.search);
const wheel = document.querySelector("meta[name=isotok-wheel]").content;
const pyodideFolder = new URL(place.get("pyodide") ?? "pyodide/", location.href).href;
const wheelAddress = new URL(place.get("wheel") ?? wheel, location.href).href;

const cells = [...document.querySelectorAll(".cell")];
const status = document.getElementById("status");
const runAll = document.getElementById("run-all");
const fileInput = document.getElementById("file");

/** Python, started once; cells run one after another. */
let python;
let scope;
let last = Promise.resolve();

async function start() {
  const { loadPyodide } = await import(`${pyodideFolder}pyodide.mjs`);
  python = await loadPyodide({ indexURL: pyodideFolder });
  await python.loadPackage(wheelAddress, {
    messageCallback() {},
    errorCallback(message) {
      throw new Error(message);
    },
  });
  scope = python.toPy({ __name__: "__main__" });
  python.FS.mkdirTree("models");
}

/** Runs a cell: what it prints and the value of its last line, as in any notebook. */
async function runCell(cell) {
  const output = cell.querySelector("pre");
  const lines = [];
  python.setStdout({ batched: (line) => lines.push(line) });
  cell.classList.add("running");
  cell.classList.remove("error");
  try {
    const value = await python.runPythonAsync(cell.querySelector("textarea").value, {
      globals: scope,
    });
    if (value !== undefined) lines.push(shown(value));
  } catch (error) {
    lines.push(error.message.trimEnd());
    cell.classList.add("error");
  }
  cell.classList.remove("running");
  output.textContent = lines.join("\n");
}

function shown(value) {
  const builtins = python.pyimport("builtins");
  const text = builtins.repr(value);
  builtins.destroy();
  value?.destroy?.();
  return text;
}

function queue(cell) {
  last = last.then(() => runCell(cell));
  return last;
}

async function runEvery() {
  runAll.disabled = true;
  status.textContent = "runs …";
  for (const cell of cells) await queue(cell);
  const failed = cells.filter((cell) => cell.classList.contains("error")).length;
  status.textContent = failed ? `${failed} cells failed` : `all ${cells.length} cells ran`;
  runAll.disabled = false;
}

async function takeFile() {
  const [file] = fileInput.files;
  if (file === undefined) return;
  const data = new Uint8Array(await file.arrayBuffer());
  for (const name of python.FS.readdir("models")) {
    if (!name.startsWith(".")) python.FS.unlink(`models/${name}`);
  }
  python.FS.writeFile(`models/${file.name}`, data);
  await queue(fileInput.closest("p").nextElementSibling);
  status.textContent = `${file.name} is opened`;
}

for (const cell of cells) {
  const button = document.createElement("button");
  button.textContent = "Run";
  button.disabled = true;
  button.addEventListener("click", () => queue(cell));
  cell.prepend(button);
  cell.querySelector("textarea").addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !event.shiftKey || python === undefined) return;
    event.preventDefault();
    queue(cell);
  });
}
runAll.addEventListener("click", runEvery);
fileInput.addEventListener("change", takeFile);

try {
  await start();
  for (const element of [runAll, fileInput, ...document.querySelectorAll(".cell button")]) {
    element.disabled = false;
  }
  status.textContent = "ready; shift and enter runs a cell";
} catch (error) {
  status.textContent = `Python did not start: ${error.message}`;
}
