"""Crews of workers, and the one way in which calls are given to them.

A crew is an executor whose workers may end and join at any time: a call whose worker ended is made
again on another one. Local workers need nothing but Python; those of a cluster are Dask's.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from typing import Any, TypeVar

from raytracer.farm.shared import Shared

Result = TypeVar("Result")

AHEAD = 4  # calls for each worker that are given out before their results are used


class Crew(ABC):
    """Workers; also a context manager, which ends what it began.

    backend: by which name a worker opens its device.
    """

    backend: str

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of workers now, at least 1."""

    @abstractmethod
    def share(self, shared: Shared) -> Any:
        """Send a value to the workers, once to each that needs it.

        Returns:
            What stands for it among the arguments of `submit`.

        Raises:
            UserError: it cannot be sent.
        """

    @abstractmethod
    def submit(self, call: Callable[..., Result], *arguments: Any) -> Future[Result]:
        """Make a call on a worker. It may be made again if its worker ends."""

    @abstractmethod
    def close(self) -> None:
        """Give up calls that are not finished, and end local workers."""

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def in_order(
    crew: Crew, call: Callable[..., Result], arguments: Iterable[tuple[Any, ...]]
) -> Iterator[Result]:
    """Make calls on a crew, and yield their results in the order of the calls.

    A few more calls than there are workers are given out at a time, so that no worker waits, a
    worker that joins has something to do, and results that nobody has used yet stay few.

    Args:
        crew: the workers.
        call: a function of a module.
        arguments: of each call.

    Raises:
        RaytracerError: what a call raised; the others are given up.
    """
    waiting: deque[Future[Result]] = deque()
    try:
        for each in arguments:
            waiting.append(crew.submit(call, *each))
            while len(waiting) > AHEAD * crew.size:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()
