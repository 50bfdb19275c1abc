"""A local web server for the tests: pages, Pyodide and wheels from three folders."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

STRICT = "script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'"
TYPES = {
    ".mjs": "text/javascript",
    ".js": "text/javascript",
    ".wasm": "application/wasm",
    ".whl": "application/zip",
}


class Handler(SimpleHTTPRequestHandler):
    """Serves /name/… from the folder of that name; /strict/name/… with a security policy."""

    def __init__(self, *arguments: Any, folders: dict[str, Path]) -> None:
        self.folders = folders
        self.extensions_map = {**SimpleHTTPRequestHandler.extensions_map, **TYPES}
        super().__init__(*arguments)

    def translate_path(self, path: str) -> str:
        parts = path.partition("?")[0].removeprefix("/strict").strip("/").split("/")
        folder = self.folders.get(parts[0])
        if folder is None or ".." in parts:
            return "/nonexistent"
        return str(folder.joinpath(*parts[1:]))

    def end_headers(self) -> None:
        if self.path.startswith("/strict/"):
            self.send_header("Content-Security-Policy", STRICT)
        super().end_headers()

    def log_message(self, format: str, *arguments: Any) -> None:
        """Say nothing."""


@contextmanager
def serve(folders: dict[str, Path]) -> Iterator[str]:
    """Serve in a thread; gives the address without a slash at its end."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, folders=folders))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
