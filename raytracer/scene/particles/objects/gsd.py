"""Frames of gsd (`gsd.hoomd.Frame`), and trajectories, of which only the needed chunks are read."""

import json
from collections.abc import Sequence
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.memory import require_room
from raytracer.scene.particles.array_source import (
    NO_BONDS,
    Bonds,
    Frame,
    LibraryFile,
    ObjectSource,
    library,
    texts,
)
from raytracer.scene.particles.cell import hoomd_box
from raytracer.scene.particles.source import moment_of

COLUMNS = ("position", "diameter", "mass", "charge", "velocity", "orientation", "body", "image",
           "moment_inertia", "angmom")  # fmt: skip

MEMORY = 256  # bytes of memory per particle of a frame; more than all quantities together
TYPE_BYTES = 64  # longest name of a type in bytes


class Source(ObjectSource):
    noun = "array"
    has_defaults = True
    """Whether the frame has gsd's defaults for data that a file lacks."""

    def read(self) -> Frame:
        particles, stated = self.value.particles, self.value.configuration
        box = None if stated.box is None else hoomd_box(stated.box)
        columns = self._columns(particles, int(particles.N))
        time = moment_of(stated.step, "steps")
        return Frame(columns, box, time, self._bonds_of, int(particles.N))

    def _bonds_of(self) -> Bonds:
        pairs, ids, names = (
            getattr(self.value.bonds, each) for each in ("group", "typeid", "types")
        )
        if pairs is None:
            return NO_BONDS
        pairs = np.asarray(pairs, np.int64).reshape(-1, 2)
        if ids is None or len(ids) != len(pairs):
            return pairs, {}
        types = np.asarray(ids, np.int64).reshape(-1)
        is_named = names and len(names) > int(types.max(initial=-1))
        return pairs, {"type": np.array(list(names), str)[types] if is_named else types}

    def _columns(self, particles: Any, count: int) -> dict[str, Any]:
        if particles.position is None:
            raise self.error("has no positions of particles")
        arrays = {name: getattr(particles, name, None) for name in COLUMNS}
        arrays = {name: np.asarray(each) for name, each in arrays.items() if each is not None}
        if self.has_defaults and np.all(arrays.get("diameter", 0.0) == 1.0):
            del arrays["diameter"]
        ids = particles.typeid
        if ids is None and particles.types is None and not self.has_defaults:
            return arrays
        types = np.zeros(count, np.uint32) if ids is None else np.asarray(ids)
        names = ["A"] if particles.types is None else list(particles.types)
        last = int(types.max(initial=0))
        if len(types) and last >= len(names):
            raise self.error("a particle has a type without a name")
        arrays["species"] = texts(names)[types]
        axes = axes_of(particles.type_shapes or [])
        if axes is not None and last < len(axes):
            arrays["shape"] = axes[types]
        return arrays


class FileSource(LibraryFile, Source):
    """A .gsd file, whose frames have the attributes of `gsd.hoomd.Frame` that it contains."""

    lacks_atoms = False
    has_defaults = False

    @cached_property
    def _layer(self) -> Any:
        return library("gsd.fl", self.name, "md").open(
            self.file.name, "r", application="raytracer", schema="hoomd", schema_version=(1, 4)
        )

    def opened(self, frame: int) -> tuple[Any, int]:
        frames = int(self._layer.nframes)
        if not frames:
            raise self.error("holds no frames")
        groups = {name: _Group(self._layer, name, frame)
                  for name in ("particles", "configuration", "bonds")}  # fmt: skip
        require_room(self.name, MEMORY * groups["particles"].N)
        return SimpleNamespace(**groups), frames


class _Group:
    """A group of a frame: its chunks as attributes, None if missing."""

    def __init__(self, layer: Any, name: str, frame: int) -> None:
        self._layer, self._name, self._frame = layer, name, frame

    def _stored(self, name: str, frame: int) -> NDArray[Any] | None:
        chunk = {"frame": frame, "name": f"{self._name}/{name}"}
        return self._layer.read_chunk(**chunk) if self._layer.chunk_exists(**chunk) else None

    def _chunk(self, name: str) -> Any:
        """Return a chunk; without it that of the first frame, if that has as many particles."""
        if (chunk := self._stored(name, self._frame)) is not None:
            return chunk
        if self._name != "configuration" and name != "types":
            now, first = (self._stored("N", each) for each in (self._frame, 0))
            if now is not None and (first is None or now[0] != first[0]):
                return None
        return self._stored(name, 0)

    def __getattr__(self, name: str) -> Any:
        value = self._chunk(name)
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


def axes_of(shapes: Sequence[Any]) -> NDArray[np.float64] | None:
    """Return the semi-axes of the shapes of types, (T, 3), or None without ellipsoids.

    Args:
        shapes: dictionaries as in `particles/type_shapes`: {"type": "Ellipsoid", "a": 1, ...}
    """
    axes, kinds = np.ones((len(shapes), 3)), set()
    try:
        for row, shape in enumerate(shapes):
            kinds.add(kind := shape.get("type"))
            if kind == "Ellipsoid":
                axes[row] = [float(shape.get(name, 1.0)) for name in "abc"]
            elif kind == "Sphere":
                axes[row] = 0.5 * float(shape.get("diameter", 2.0))
    except (AttributeError, TypeError, ValueError):
        return None  # other programs may store something else
    return axes if "Ellipsoid" in kinds else None
