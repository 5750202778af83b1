"""Crews: executors whose workers may join and leave at any time.

A call whose worker ends is repeated on another one. Local workers need only Python; those of a
cluster need Dask.
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
    """Workers; also a context manager, which closes the crew.

    backend: name of the device that each worker opens.
    """

    backend: str

    @property
    @abstractmethod
    def size(self) -> int:
        """Current number of workers, at least 1."""

    @abstractmethod
    def share(self, shared: Shared) -> Any:
        """Send a value to the workers, once to each that needs it.

        Returns:
            A placeholder for the value among the arguments of `submit`.
        Raises:
            UserError: it cannot be sent.
        """

    @abstractmethod
    def submit(self, call: Callable[..., Result], *arguments: Any) -> Future[Result]:
        """Make a call on a worker; it is repeated if the worker ends."""

    @abstractmethod
    def close(self) -> None:
        """Cancel unfinished calls and end local workers."""

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def in_order(
    crew: Crew, call: Callable[..., Result], arguments: Iterable[tuple[Any, ...]]
) -> Iterator[Result]:
    """Make calls on a crew, and yield their results in order.

    Somewhat more calls than workers are in flight, so that no worker waits, a worker that joins
    gets work, and few results pile up.

    Args:
        crew: the workers.
        call: a function of a module.
        arguments: of each call.
    Raises:
        RaytracerError: a call raised it; the others are cancelled.
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
