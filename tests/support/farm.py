"""Calls that workers make in tests: a worker imports them by name."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

from raytracer.errors import DataFileError
from raytracer.farm.shared import Shared, opened


def dies() -> None:
    """End the worker."""
    os.kill(os.getpid(), signal.SIGKILL)


def dies_once(mark: Path, value: int) -> int:
    """End the worker at the first call, and return the value at the second."""
    if not mark.exists():
        mark.touch()
        dies()
    return value


def listed(value: int) -> list[int]:
    """Return a value in a list."""
    return [value]


def fails(sentence: str) -> None:
    """Raise."""
    raise DataFileError(sentence)


def sleeps(seconds: float) -> None:
    """Take time."""
    time.sleep(seconds)


class Adder:
    """A sum, which lives as long as what it was made of."""

    def __init__(self, value: dict[str, Any]) -> None:
        self.total = 0
        (Path(value["folder"]) / f"{os.getpid()}").touch()

    def close(self) -> None:
        """Nothing is held."""


def adds(shared: Shared, value: int) -> int:
    """Add to the sum of the shared value."""
    with opened(shared, Adder) as adder:
        adder.total += value
        total: int = adder.total
    return total
