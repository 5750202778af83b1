"""Trajectories of HOOMD-blue (.gsd), by the library gsd; only the needed chunks are read."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cached_property
from types import SimpleNamespace
from typing import Any

from numpy.typing import NDArray

from raytracer.errors import DataFileError
from raytracer.memory import require_room
from raytracer.scene.particles.loaded import library
from raytracer.scene.particles.objects import gsd
from raytracer.scene.particles.objects.source import Entry, LibraryFile

MEMORY = 256  # bytes of memory per particle of a frame; more than all quantities together
TYPE_BYTES = 64  # longest name of a type in bytes


class Source(LibraryFile, gsd.Source):
    """A .gsd file, whose frames have the attributes of `gsd.hoomd.Frame` that it contains."""

    has_atoms = True
    has_defaults = False

    @cached_property
    def _layer(self) -> Any:
        layer = library("gsd.fl", self.name, "md")
        try:
            return layer.open(self.file.name, "r", application="raytracer", schema="hoomd",
                              schema_version=(1, 4))  # fmt: skip
        except (OSError, RuntimeError) as problem:
            raise DataFileError(
                f"{self.name}: is damaged, or not a .gsd file ({problem})"
            ) from None

    def opened(self, frame: int) -> tuple[Any, int]:
        frames = int(self._layer.nframes)
        if not frames:
            raise DataFileError(f"{self.name}: holds no frames")
        groups = {name: _Group(self._chunk, name, frame)
                  for name in ("particles", "configuration", "bonds")}  # fmt: skip
        return SimpleNamespace(**groups), frames

    def entries(self) -> Mapping[str, Entry]:
        require_room(self.name, MEMORY * (self.count or 0))
        return super().entries()

    def forget(self) -> None:
        layer = self._layer
        super().forget()
        self._layer = layer

    def _chunk(self, name: str, frame: int) -> NDArray[Any] | None:
        if not self._layer.chunk_exists(frame=frame, name=name):
            # Chunks missing in a frame are those of the first, if it has as many particles.
            if not self._layer.chunk_exists(frame=0, name=name) or not self._as_first(name, frame):
                return None
            frame = 0
        chunk: NDArray[Any] = self._layer.read_chunk(frame=frame, name=name)
        return chunk

    def _as_first(self, name: str, frame: int) -> bool:
        """Whether an array missing in a frame is that of the first."""
        group = name.partition("/")[0]
        count = f"{group}/N"
        if group == "configuration" or name.endswith("/types"):
            return True
        if not self._layer.chunk_exists(frame=frame, name=count):
            return True
        if not self._layer.chunk_exists(frame=0, name=count):
            return False
        now, first = (self._layer.read_chunk(frame=each, name=count) for each in (frame, 0))
        return bool(now[0] == first[0])


class _Group:
    """A group of a frame: its chunks as attributes, None if missing."""

    def __init__(
        self, chunk: Callable[[str, int], NDArray[Any] | None], name: str, frame: int
    ) -> None:
        self._chunk, self._name, self._frame = chunk, name, frame

    def __getattr__(self, name: str) -> Any:
        value: Any = self._chunk(f"{self._name}/{name}", self._frame)
        if name in ("N", "step"):
            value = 0 if value is None or not len(value) else int(value[0])
        elif value is not None and name in ("types", "type_shapes"):
            words = [bytes(row.astype("u1")).split(b"\0")[0] for row in value]
            value = _shapes(words) if name == "type_shapes" else [
                word.decode("utf-8", "replace")[:TYPE_BYTES] for word in words
            ]  # fmt: skip
        setattr(self, name, value)
        return value


def _shapes(words: list[bytes]) -> list[Any]:
    """Return the shapes of types, [] if another program wrote something else."""
    try:
        return [json.loads(word) if word else {} for word in words]
    except ValueError:
        return []
