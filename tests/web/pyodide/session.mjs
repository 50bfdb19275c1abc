/**
 * The steps of a test in Pyodide: the same in Node, on a page and in a worker.
 *
 * `host` brings what differs: `loadPyodide`, its options, and `locate(name)` and
 * `read(name)` for files of the folder that prepare.py has filled.
 */

const STRICT = {
  messageCallback() {},
  errorCallback(message) {
    throw new Error(message);
  },
};

/**
 * Starts Pyodide and installs isotok: from a file, by its name in the lock file, or by
 * micropip from an address or an index.
 */
export async function start(host, { way, wheel, url, index, micropip = [], env = {} }) {
  const begin = performance.now();
  const py = await host.loadPyodide({ ...host.options, env: { HOME: "/home/pyodide", ...env } });
  const loaded = performance.now();
  if (way === "file") await py.loadPackage(host.locate(wheel), STRICT);
  else if (way === "name") await py.loadPackage("isotok", STRICT);
  else {
    // Not by name: the lock file has the digest of Pyodide's own build of the wheel.
    await py.loadPackage(micropip.map(host.locate), STRICT);
    const { install } = py.pyimport("micropip");
    if (way === "micropip") await install(url);
    else if (way === "index") await install.callKwargs("isotok", { index_urls: index });
    else throw new Error(`unknown way to install: ${way}`);
  }
  const installed = performance.now();
  return { py, seconds: { pyodide: (loaded - begin) / 1000, isotok: (installed - loaded) / 1000 } };
}

/** Runs a Python file of ours, which leaves a function `main`: JSON in, JSON out. */
export async function call(py, source, argument) {
  const scope = py.toPy({ __name__: "inside" });
  await py.runPythonAsync(source, { globals: scope });
  const result = scope.get("main")(JSON.stringify(argument));
  return JSON.parse(result);
}

/** One test: `task.python` is the file to run, `task.argument` what it gets. */
export async function run(host, task) {
  const { py, seconds } = await start(host, task);
  if (task.files) {
    await py.loadPackage((task.wheels ?? []).map(host.locate), STRICT);
    py.unpackArchive(await host.read(task.files), "zip", { extractDir: "/" });
  }
  const source = new TextDecoder().decode(await host.read(task.python));
  return { seconds, version: py.version, result: await call(py, source, task.argument) };
}
