"""A local web server for the tests: pages, Pyodide and wheels from three folders."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

from support.browser import FolderHandler, serving

STRICT = "script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'"


class Handler(FolderHandler):
    """Serves /name/… from the folder of that name; /strict/name/… with a security policy."""

    def translate_path(self, path: str) -> str:
        return super().translate_path(path.removeprefix("/strict"))

    def end_headers(self) -> None:
        if self.path.startswith("/strict/"):
            self.send_header("Content-Security-Policy", STRICT)
        super().end_headers()


def serve(folders: dict[str, Path]) -> AbstractContextManager[str]:
    """Serve in a thread; gives the address without a slash at its end."""
    return serving(partial(Handler, folders=folders))
