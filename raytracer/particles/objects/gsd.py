"""Frames of gsd (`gsd.hoomd.Frame`), and trajectories, of which only the needed chunks are read."""

import json
from collections.abc import Mapping
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.config.errors import quote
from raytracer.model.particle_source import parse_time
from raytracer.particles.array_source import (
    NO_BONDS,
    Bonds,
    FrameContent,
    LibraryFile,
    ObjectSource,
    encode_texts,
    import_library,
)
from raytracer.particles.cell import box_from_hoomd
from raytracer.system.memory import require_room

COLUMNS = ("position", "diameter", "mass", "charge", "velocity", "orientation", "body", "image",
           "moment_inertia", "angmom")  # fmt: skip

MEMORY = 256  # bytes of memory per particle of a frame; more than all quantities together
OF_TYPES = ("types", "type_shapes")  # chunks with a row for each type
DEFAULT_TYPES = ["A"]  # of frames that state none
DEFAULT_BOX = (1.0, 1.0, 1.0, 0.0, 0.0, 0.0)  # of frames that state none
DRAWN = ("Sphere", "Ellipsoid")  # shapes that are drawn
TYPE_BYTES = 64  # longest name of a type in bytes


class Source(ObjectSource):
    noun = "array"

    def read(self) -> FrameContent:
        particles, stated = self.value.particles, self.value.configuration
        is_default = stated.box is None or np.array_equal(stated.box, DEFAULT_BOX)
        box = None if is_default else box_from_hoomd(stated.box)
        columns = self._columns(particles, int(particles.N))
        time = parse_time(stated.step, "steps")
        return FrameContent(columns, box, time, self._read_bonds, int(particles.N))

    def _read_bonds(self) -> Bonds:
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
        if np.all(arrays.get("diameter", 0.0) == 1.0):  # gsd's for files without diameters
            del arrays["diameter"]
        ids, names = particles.typeid, particles.types
        types = np.zeros(count, np.uint32) if ids is None else np.asarray(ids)
        names = DEFAULT_TYPES if names is None else list(names)
        if len(types) and int(types.max()) >= len(names):
            raise self.error("a particle has a type without a name")
        if names != DEFAULT_TYPES:
            arrays["species"] = encode_texts(names)[types]
        shapes = list(particles.type_shapes or [])
        shapes += [{}] * (len(names) - len(shapes))
        if len(types) and any(shapes):
            self._add_shapes(arrays, types, names, shapes)
        return arrays

    def _add_shapes(
        self, arrays: dict[str, Any], types: NDArray[Any], names: list[str], shapes: list[Any]
    ) -> None:
        """Add semi-axes of ellipsoids, or diameters of spheres, to the arrays of particles; say
        which other shapes are drawn as spheres. types: (N,); names, shapes: of T types."""
        used = np.unique(types).tolist()
        axes = np.full((len(shapes), 3), np.nan)
        try:
            kinds = [find_shape_kind(shape) for shape in shapes]
            for row in used:
                axes[row] = semi_axes(shapes[row])
            is_right = np.isnan(axes).all(axis=1) | (axes > 0.0).all(axis=1)
            if not (is_right.all() and np.isfinite(axes[~np.isnan(axes)]).all()):
                raise ValueError
        except (AttributeError, TypeError, ValueError):  # of another program
            self.note("particles/type_shapes is not as gsd defines it: spheres are drawn", "radius")
            return
        if others := [row for row in used if kinds[row] not in ("", *DRAWN)]:
            listed = ", ".join(f"'{quote(names[row])}' ({quote(kinds[row])})" for row in others[:8])
            self.note(
                f"shapes other than spheres and ellipsoids are drawn as spheres: those of types "
                f"{listed}; --radius sets their radius"
            )
        if np.isnan(axes[used]).all():
            return
        known = 0.5 * np.asarray(arrays.get("diameter", np.ones(len(types))), np.float64)
        rows = axes[types]
        rows = np.where(np.isnan(rows), known[:, None], rows)
        if "Ellipsoid" not in (kinds[row] for row in used):
            arrays["diameter"] = 2.0 * rows[:, 0]
            return
        arrays["shape"] = rows
        arrays.setdefault("orientation", np.tile([1.0, 0.0, 0.0, 0.0], (len(types), 1)))


class FileSource(LibraryFile, Source):
    """A .gsd file, whose frames have the attributes of `gsd.hoomd.Frame` that it contains."""

    lacks_atoms = False

    @cached_property
    def _layer(self) -> Any:
        return import_library("gsd.fl", self.name, "md").open(
            self.file.name, "r", application="raytracer", schema="hoomd", schema_version=(1, 4)
        )

    def open_frame(self, frame: int) -> tuple[Any, int]:
        frames = int(self._layer.nframes)
        if not frames:
            raise self.error("holds no frames")
        groups = {name: _FrameGroup(self._layer, name, frame)
                  for name in ("particles", "configuration", "bonds")}  # fmt: skip
        require_room(self.name, MEMORY * groups["particles"].N)
        return SimpleNamespace(**groups), frames


class _FrameGroup:
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
        if self._name != "configuration" and name not in OF_TYPES:
            now, first = (self._stored("N", each) for each in (self._frame, 0))
            if now is not None and (first is None or now[0] != first[0]):
                return None
        return self._stored(name, 0)

    def __getattr__(self, name: str) -> Any:
        value = self._chunk(name)
        if name in ("N", "step"):
            value = 0 if value is None or not len(value) else int(value[0])
        elif value is not None and name in OF_TYPES:
            words = [bytes(row.astype("u1")).split(b"\0")[0] for row in value]
            value = _parse_shapes(words) if name == "type_shapes" else [
                word.decode("utf-8", "replace")[:TYPE_BYTES] for word in words
            ]  # fmt: skip
        setattr(self, name, value)
        return value


def _parse_shapes(words: list[bytes]) -> list[Any]:
    """Return the shapes of types; texts of what is no JSON."""
    try:
        return [json.loads(word) if word else {} for word in words]
    except ValueError:
        return [word.decode("utf-8", "replace") for word in words]


def find_shape_kind(shape: Mapping[str, Any]) -> str:
    """Return the kind of a shape as in `particles/type_shapes`, {"type": "Ellipsoid", "a": 1, ...};
    "" if it states none."""
    kind = str(shape.get("type", ""))
    is_rounded = kind == "ConvexPolyhedron" and float(shape.get("rounding_radius", 0.0)) > 0.0
    return "spheropolyhedron" if is_rounded else kind


def semi_axes(shape: Mapping[str, Any]) -> list[float]:
    """Return the semi-axes of a shape, NaN for others than spheres and ellipsoids."""
    if shape.get("type") == "Ellipsoid":
        return [float(shape.get(name, 1.0)) for name in "abc"]
    if shape.get("type") == "Sphere":
        return [0.5 * float(shape.get("diameter", 1.0))] * 3
    return [np.nan] * 3
