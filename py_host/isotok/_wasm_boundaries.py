"""Where a normalized text may be cut, in an instance of `isotok.wasm`; see `isotok._wasm`."""

from __future__ import annotations

from array import array
from collections.abc import Iterator

from isotok import _layout_gen as abi
from isotok._wasm import CONSUMED, COUNT, ERROR, RESULT_WORDS, ModelInstance


def _character_start(data: bytes, position: int) -> int:
    """`position`, or up to three bytes before it, where a character begins."""
    for start in range(position, max(position - 4, 0), -1):
        if start == len(data) or data[start] & 0xC0 != 0x80:
            return start
    return position


class CuttingInstance(ModelInstance):
    """One opened model in one machine, that finds boundaries too."""

    def boundary_steps(self, data: bytes) -> Iterator[array[int]]:
        """Find the ends of the chunks of a normalized text, window by window.

        A cut depends on the two characters at it, so the last character of a window is the
        first of the next.
        """
        begin = 0
        while begin < len(data):
            end = _character_start(data, min(begin + self.window, len(data)))
            found = self._window_boundaries(data[begin:end], begin)
            if end < len(data):
                found.pop()  # only the window ends there
            yield found
            if end == len(data):
                return
            begin = _character_start(data, end - 1)

    def _window_boundaries(self, part: bytes, begin: int) -> array[int]:
        at = self._write_bytes(part)
        self._pack("<2I", self._structs + CONSUMED, 0, 0)
        self._reset_error()
        ends = array("I")
        status = abi.NEED_OUTPUT
        while status == abi.NEED_OUTPUT:
            status = self.machine.function("isotok_boundaries")(
                self._model,
                at,
                len(part),
                self._structs + CONSUMED,
                self._results,
                RESULT_WORDS,
                self._structs + COUNT,
                self._structs + ERROR,
            )
            if status < 0:
                word = (self._structs + ERROR + abi.ERROR_OFFSET) // 4
                self.machine.words[word] += begin
                raise self.error(status, "text")
            ends.frombytes(self.results(self._word(COUNT)).cast("B"))
        return array("I", map(begin.__add__, ends)) if begin else ends
