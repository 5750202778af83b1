"""Frames of gsd (`gsd.hoomd.Frame`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import DataFileError
from raytracer.scene.particles.cell import hoomd_box
from raytracer.scene.particles.loaded import texts
from raytracer.scene.particles.objects.source import Entry, ObjectSource, entries_of
from raytracer.scene.particles.source import Box, Moment, moment_of

COLUMNS = ("position", "diameter", "mass", "charge", "velocity", "orientation", "body", "image",
           "moment_inertia", "angmom")  # fmt: skip


class Source(ObjectSource):
    noun = "array"
    has_defaults = True
    """Whether the frame has gsd's defaults for data that a file lacks."""

    @property
    def count(self) -> int | None:
        return int(self.value.particles.N)

    @property
    def box(self) -> Box | None:
        sizes = self.value.configuration.box
        return None if sizes is None else hoomd_box(sizes)

    @property
    def time(self) -> Moment | None:
        return moment_of(self.value.configuration.step, "steps")

    @property
    def bonds(self) -> NDArray[np.int64] | None:
        group = self.value.bonds.group
        return None if group is None else np.asarray(group, np.int64).reshape(-1, 2)

    @property
    def bond_columns(self) -> dict[str, NDArray[Any]]:
        pairs, ids = self.bonds, self.value.bonds.typeid
        if pairs is None or ids is None or len(ids) != len(pairs):
            return {}
        names = self.value.bonds.types
        types = np.asarray(ids, np.int64).reshape(-1)
        known = names is not None and len(names) > int(types.max(initial=-1))
        return {"type": np.array(list(names), str)[types] if known and names else types}

    def entries(self) -> Mapping[str, Entry]:
        particles, count = self.value.particles, int(self.value.particles.N)
        if particles.position is None:
            raise DataFileError(f"{self.name}: has no positions of particles")
        arrays = {name: getattr(particles, name, None) for name in COLUMNS}
        arrays = {name: np.asarray(each) for name, each in arrays.items() if each is not None}
        if self.has_defaults and np.all(arrays.get("diameter", 0.0) == 1.0):
            del arrays["diameter"]
        ids = particles.typeid
        if ids is None and particles.types is None and not self.has_defaults:
            return entries_of(arrays, count)
        types = np.zeros(count, np.uint32) if ids is None else np.asarray(ids)
        names = ["A"] if particles.types is None else list(particles.types)
        last = int(types.max(initial=0))
        if len(types) and last >= len(names):
            raise DataFileError(f"{self.name}: a particle has a type without a name")
        arrays["species"] = texts(names)[types]
        axes = axes_of(particles.type_shapes or [])
        if axes is not None and last < len(axes):
            arrays["shape"] = axes[types]
        return entries_of(arrays, count)


def axes_of(shapes: Sequence[Any]) -> NDArray[np.float64] | None:
    """Return the semi-axes of the shapes of types, (T, 3), or None without ellipsoids.

    Args:
        shapes: dictionaries as in `particles/type_shapes`: {"type": "Ellipsoid", "a": 1, ...}
    """
    axes = np.ones((len(shapes), 3))
    has_ellipsoids = False
    try:
        for row, shape in enumerate(shapes):
            if not isinstance(shape, dict):
                continue
            if shape.get("type") == "Ellipsoid":
                axes[row] = [float(shape.get(name, 1.0)) for name in "abc"]
                has_ellipsoids = True
            elif shape.get("type") == "Sphere":
                axes[row] = 0.5 * float(shape.get("diameter", 2.0))
    except (TypeError, ValueError):
        return None  # other programs may store something else
    return axes if has_ellipsoids else None
