"""Sources that read a file as a whole: for small formats, and those that a library parses."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import DataFileError
from raytracer.scene.particles.columns import ColumnSource
from raytracer.scene.particles.source import Column, kind_of

is_isolated = False
"""Whether this is a process of `isolated`, which alone imports libraries that read files."""


class LoadedSource(ColumnSource):
    """A source whose columns are all read at once, when the first of them is needed."""

    @abstractmethod
    def read(self) -> dict[str, NDArray[Any]]:
        """Return all columns of the first frame, each (N, ...); texts as bytes."""

    @cached_property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """The columns of the first frame."""
        return self.read()

    @property
    def columns(self) -> Mapping[str, Column]:
        return {
            name: Column(kind_of(array.dtype), array.shape[1:])
            for name, array in self.arrays.items()
        }

    @property
    def count(self) -> int | None:
        return len(next(iter(self.arrays.values()), ()))

    def load(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        return {name: self.arrays[name] for name in names}


def library(module: str, source: str, extra: str) -> Any:
    """Import a library that reads a format, in a process of `isolated`; extra: that installs it.

    Raises:
        DataFileError: it is not installed.
    """
    if not is_isolated:
        raise RuntimeError(f"{module} reads files in a process of its own: registry.LIBRARIES")
    try:
        return import_module(module)
    except ImportError:
        name = module.partition(".")[0]
        raise DataFileError(
            f"{source}: needs {name} to be read: pip install 'raytracer[{extra}]'"
        ) from None


def texts(words: Sequence[str]) -> NDArray[Any]:
    """Return texts as an array of bytes, (N,)."""
    encoded = [word.encode("utf-8", "replace") for word in words]
    return np.array(encoded, f"S{max(map(len, encoded), default=1) or 1}")
