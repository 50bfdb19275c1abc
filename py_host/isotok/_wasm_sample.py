"""N-best lists in an instance of `isotok.wasm`; see `isotok._wasm`."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from isotok import _layout_gen as abi
from isotok._wasm import COUNT, ERROR, OPTIONS, OUTPUT, RESULT_WORDS
from isotok._wasm_boundaries import CuttingInstance

WORK: Final = 1 << 18
"""Bytes of work space that a search begins with."""


class SamplingInstance(CuttingInstance):
    """One opened model in one machine, that lists the n best segmentations too."""

    def nbest(
        self, data: bytes, flags: int, n: int, alpha: float, seed: int
    ) -> tuple[list[list[int]], list[float]]:
        """Ids and score of each of the `n` best segmentations."""
        self._write_options(flags, 0, 0, alpha, seed)
        self._options = None
        text = self._write_bytes(data)
        ends = self._take(8 * n)
        ids, capacity = self._results, RESULT_WORDS
        work, work_size = self._take(WORK), WORK
        status = abi.NEED_OUTPUT
        while status != abi.OK:
            self._pack("<7I", self._structs + OUTPUT, ids, 0, 0, 0, 0, capacity, 0)
            status = self.machine.function("isotok_nbest")(
                self._session,
                self._structs + OPTIONS,
                text,
                len(data),
                n,
                work,
                work_size,
                self._structs + OUTPUT,
                ends,
                ends + 4 * n,
                self._structs + COUNT,
                self._structs + ERROR,
            )
            if status < 0:
                raise self.error(status, "text")
            what, need = self._need()
            if status == abi.NEED_OUTPUT:
                ids, capacity = self._take(4 * need), need
            elif status == abi.NEED_SCRATCH and what == abi.WHAT_NBEST_MEMORY:
                work, work_size = self._take(need), need
            elif status == abi.NEED_SCRATCH:
                self._move_session()
        return self._paths(ids, ends, ends + 4 * n)

    def _need(self) -> tuple[int, int]:
        """Return what was too small, and what it needs; the status said that."""
        _, _, what, _, _, need = self._unpack(abi.ERROR_FORMAT, self._structs + ERROR)
        return what, need

    def _paths(self, ids: int, ends: int, scores: int) -> tuple[list[list[int]], list[float]]:
        count = self._word(COUNT)
        words = self.machine.words
        bounds = [0, *words[ends // 4 : ends // 4 + count].tolist()]
        numbers = words[ids // 4 : ids // 4 + bounds[-1]].tolist()
        found = self._unpack(f"<{count}f", scores)
        return [numbers[a:b] for a, b in pairwise(bounds)], list(found)
