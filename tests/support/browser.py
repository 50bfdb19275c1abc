"""What tests and measurements in a browser share: a server on this machine, and flags."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

CHROMIUM_FLAGS: list[str] = json.loads(
    Path(__file__).with_name("chromium_flags.json").read_text("utf-8")
)
TYPES = {
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".svg": "image/svg+xml",
    ".wasm": "application/wasm",
    ".whl": "application/zip",
}


class Handler(SimpleHTTPRequestHandler):
    """Serves files with the types that browsers insist on, and says nothing."""

    extensions_map: ClassVar = {**SimpleHTTPRequestHandler.extensions_map, **TYPES}

    def log_message(self, format: str, *arguments: Any) -> None:
        """Say nothing."""


class FolderHandler(Handler):
    """Serves /NAME/… from the folder of that name."""

    def __init__(self, *arguments: Any, folders: dict[str, Path]) -> None:
        self.folders = folders
        super().__init__(*arguments)

    def translate_path(self, path: str) -> str:
        parts = path.partition("?")[0].strip("/").split("/")
        folder = self.folders.get(parts[0])
        if folder is None or ".." in parts:
            return "/nonexistent"
        return str(folder.joinpath(*parts[1:]))


@contextmanager
def serving(handler: Callable[..., SimpleHTTPRequestHandler]) -> Iterator[str]:
    """Serve in a thread; gives the address without a slash at its end."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
