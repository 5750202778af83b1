"""Sources that read a whole file: for small formats, and those that a library parses."""

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from importlib import import_module
from typing import IO, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import DataFileError
from raytracer.memory import require_room
from raytracer.scene.particles.array_source import ArraySource

is_isolated = False  # whether this is a worker of `isolated`, which may import libraries


class LoadedSource(ArraySource):
    """A source that reads all columns when the first is needed.

    Attributes:
        memory: bytes per byte of the file while it is parsed.
    """

    memory: ClassVar[int] = 1
    of_frame = ("arrays", *ArraySource.of_frame)

    def require_memory(self) -> None:
        """Raise MemoryNeedError if the file is too large to be parsed."""
        require_room(self.name, self.memory * self.file.size)

    def stream(self) -> IO[bytes]:
        """Return the file at its start. Raises MemoryNeedError."""
        self.require_memory()
        self.file.file.seek(0)
        return self.file.file

    def content(self) -> bytes:
        """Return all bytes of the file. Raises MemoryNeedError."""
        return self.stream().read(self.file.size)

    @abstractmethod
    def read(self) -> dict[str, NDArray[Any]]:
        """Return all columns of the first frame, each (N, ...); texts as bytes."""

    @cached_property
    def arrays(self) -> dict[str, NDArray[Any]]:
        return self.read()

    @property
    def stored(self) -> dict[str, NDArray[Any]]:
        return self.arrays

    def values(self, name: str, frame: int | None) -> NDArray[Any]:
        return self.arrays[name] if frame is None else self.arrays[name][frame]


def library(module: str, source: str, extra: str) -> Any:
    """Import a library that reads a format, in a worker of `isolated`; `extra` installs it. Raises
    DataFileError: it is not installed."""
    if not is_isolated:
        raise RuntimeError(f"{module} is only for worker processes: see registry.LIBRARIES")
    try:
        return import_module(module)
    except ImportError:
        name = module.partition(".")[0]
        raise DataFileError(
            f"{source}: reading it needs {name}: pip install 'raytracer[{extra}]'"
        ) from None


def texts(words: Sequence[str]) -> NDArray[Any]:
    encoded = [word.encode("utf-8", "replace") for word in words]
    return np.array(encoded, f"S{max(map(len, encoded), default=1) or 1}")
