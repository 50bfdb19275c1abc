"""Work that several threads share."""

from __future__ import annotations

import threading
import time

import pytest
from isotok._crew import share


@pytest.mark.parametrize("threads", [1, 2, 3, 50])
def test_like_map(threads: int) -> None:
    """Results come in the order of the items, each done once."""
    calls: list[int] = []

    def work(a: int, b: int) -> int:
        calls.append(a)
        time.sleep(0.001 * (a % 3))
        return 10 * a + b

    assert share(threads, work, range(20), range(1, 21)) == [11 * a + 1 for a in range(20)]
    assert sorted(calls) == list(range(20))
    assert share(threads, work, []) == []


def test_as_many_threads_as_items() -> None:
    """The caller is one of them; afterwards the others are gone."""
    seen: set[int] = set()
    both = threading.Barrier(2, timeout=10)

    def work(_: int) -> None:
        seen.add(threading.get_ident())
        both.wait()

    before = threading.active_count()
    share(1000, work, range(2))
    assert len(seen) == 2
    assert threading.get_ident() in seen
    assert threading.active_count() == before


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_first_error(threads: int) -> None:
    """That of the first item; what was not begun is not done."""
    begun: list[int] = []

    def work(number: int) -> None:
        begun.append(number)
        time.sleep(0.02 if number == 3 else 0.001)  # item 5 fails first
        if number in (3, 5):
            raise ValueError(number)

    with pytest.raises(ValueError, match=r"^3$"):
        share(threads, work, range(1000))
    assert len(begun) < 100


def test_interrupt() -> None:
    """Ctrl-C in the calling thread ends the work of the others too."""
    caller = threading.get_ident()
    begun: list[int] = []

    def work(number: int) -> None:
        begun.append(number)
        time.sleep(0.001)
        if threading.get_ident() == caller and number > 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        share(3, work, range(10_000))
    assert len(begun) < 100
