"""Reading of bytes that lie in one piece in a file: straight into arrays, on several threads."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from raytracer.resources import thread_count

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PIECE = 1 << 21
"""Bytes that a thread reads at a time: a huge page, so that two threads never wait for one."""

ALONE = 1 << 22
"""Most bytes that are read without further threads: starting one takes some 50 us."""

MOST_THREADS = 4
"""Most threads: with more, memory is the limit for files in the page cache."""


class Stretch(NamedTuple):
    """Bytes of a file and where they go.

    Args:
        offset: in the file.
        target: uint8 (size,), contiguous.
    """

    offset: int
    target: NDArray[np.uint8]


def read_stretches(descriptor: int, stretches: Iterable[Stretch]) -> bool:
    """Fill arrays with bytes of a file.

    Args:
        descriptor: of the file, open for reading; its position stays.
        stretches: what is read.

    Returns:
        Whether the file had all bytes.

    Raises:
        OSError: the file cannot be read.
    """
    pieces = [
        Stretch(offset + start, target[start : start + PIECE])
        for offset, target in stretches
        for start in range(0, len(target), PIECE)
    ]
    size = sum(len(each.target) for each in pieces)
    left = iter(pieces)
    short: list[int] = []
    failed: list[OSError] = []

    def work() -> None:
        try:
            short.extend(each.offset for each in left if not _fill(descriptor, *each))
        except OSError as error:
            failed.append(error)

    count = min(thread_count(), MOST_THREADS, len(pieces)) if size > ALONE else 1
    if count > 1:
        from threading import Thread

        others = [Thread(target=work, daemon=True) for _ in range(count - 1)]
        for thread in others:
            thread.start()
        work()
        for thread in others:
            thread.join()
    else:
        work()
    if failed:
        raise failed[0]
    return not short


def _fill(descriptor: int, offset: int, target: NDArray[np.uint8]) -> bool:
    """Fill an array with bytes from a place on; gives whether there were enough."""
    done = 0
    while done < len(target):
        count = os.preadv(descriptor, [memoryview(target)[done:]], offset + done)  # type: ignore[arg-type]
        if count == 0:
            return False
        done += count
    return True
