"""Work that is shared by the calling thread and a few more, for the time of a call."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any


def share(threads: int, work: Callable[..., Any], *columns: Iterable[Any]) -> list[Any]:
    """Do what `map` does in so many threads, this one among them.

    Each takes the next item when it is done with one. No pool: starting threads and handing
    out every item would take as long as a few texts.

    Parameters
    ----------
    threads : int
        At least 1.
    work : callable
    columns : iterables
        Arguments, as for `map`.

    Returns
    -------
    list
        Results in the order of the items.

    Raises
    ------
    BaseException
        Of the first item, in their order, whose work failed; later ones are not begun.
    """
    items = list(zip(*columns, strict=False))
    results: list[Any] = [None] * len(items)
    errors: dict[int, BaseException] = {}
    numbers, lock = iter(range(len(items))), threading.Lock()

    def loop() -> None:
        while not errors:
            with lock:
                number = next(numbers, None)
            if number is None:
                return
            try:
                results[number] = work(*items[number])
            except BaseException as error:  # raised again by the thread that called
                errors[number] = error

    helpers = [threading.Thread(target=loop) for _ in range(min(threads, len(items)) - 1)]
    started: list[threading.Thread] = []
    try:
        for helper in helpers:
            helper.start()
            started.append(helper)
        loop()
    except BaseException as error:  # an interrupt between two items
        errors.setdefault(-1, error)
    for helper in started:
        helper.join()
    if errors:
        raise errors[min(errors)]
    return results
