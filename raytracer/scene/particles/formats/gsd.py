"""Trajectories of HOOMD-blue (.gsd). Read by the library gsd."""

from __future__ import annotations

import json
from functools import cached_property
from typing import TYPE_CHECKING, Any

from raytracer.errors import DataFileError
from raytracer.memory import require_room
from raytracer.scene.particles.cell import hoomd_box
from raytracer.scene.particles.loaded import LoadedSource, library, texts
from raytracer.scene.particles.source import Box, Moment, moment_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

COLUMNS = ("diameter", "mass", "charge", "velocity", "orientation", "body", "image",
           "moment_inertia", "angmom")  # fmt: skip
"""Quantities of particles besides position and type; those that the file has are columns."""

MEMORY = 256
"""Bytes of memory for each particle of a frame; all quantities together have fewer."""

TYPE_BYTES = 64
"""Bytes of the name of a type."""


class Source(LoadedSource):
    """A .gsd file."""

    @cached_property
    def _file(self) -> Any:
        layer = library("gsd.fl", self.name, "md")
        try:
            return layer.open(self.file.name, "r", application="raytracer", schema="hoomd",
                              schema_version=(1, 4))  # fmt: skip
        except (OSError, RuntimeError) as problem:
            raise DataFileError(f"{self.name}: is no .gsd file, or damaged ({problem})") from None

    @property
    def frames(self) -> int | None:
        return int(self._file.nframes)

    @property
    def box(self) -> Box | None:
        found = self._chunk("configuration/box")
        if found is None or found.shape != (6,):
            return None
        return hoomd_box(found)

    @property
    def time(self) -> Moment | None:
        found = self._chunk("configuration/step")
        return moment_of(0 if found is None else found[0], "steps")

    @property
    def bonds(self) -> NDArray[np.int64] | None:
        import numpy as np

        found = self._chunk("bonds/group")
        return None if found is None else found.astype(np.int64).reshape(-1, 2)

    @property
    def bond_columns(self) -> dict[str, NDArray[Any]]:
        pairs, ids = self.bonds, self._chunk("bonds/typeid")
        if pairs is None or ids is None or len(ids) != len(pairs):
            return {}
        types, names = ids.astype("i8").reshape(-1), self._chunk("bonds/types")
        if names is None or names.ndim != 2 or len(names) <= int(types.max(initial=-1)):
            return {"type": types}
        import numpy as np

        words = [
            bytes(row.astype("u1")).split(b"\0")[0].decode("utf-8", "replace") for row in names
        ]
        return {"type": np.array(words)[types]}

    def read(self) -> dict[str, NDArray[Any]]:
        if not self._file.nframes:
            raise DataFileError(f"{self.name}: holds no frames")
        count = self._chunk("particles/N")
        require_room(self.name, MEMORY * (int(count[0]) if count is not None and len(count) else 0))
        position = self._chunk("particles/position")
        if position is None or position.ndim != 2 or position.shape[1] != 3:
            raise DataFileError(f"{self.name}: frame {self.frame} has no positions of particles")
        columns: dict[str, NDArray[Any]] = {"position": position}
        for name in COLUMNS:
            values = self._chunk(f"particles/{name}")
            if values is not None and len(values) == len(position):
                columns[name] = values
        import numpy as np

        types = self._chunk("particles/typeid")
        if types is None and self._chunk("particles/types") is not None:
            types = np.zeros(len(position), np.uint32)  # gsd leaves out what is 0 everywhere
        if types is not None and types.shape == position.shape[:1]:
            columns["species"] = self._type_names(types)
        axes = self._axes_of_types()
        if types is not None and axes is not None and int(types.max(initial=0)) < len(axes):
            columns["shape"] = axes[types]
        return columns

    def _axes_of_types(self) -> NDArray[Any] | None:
        """Return the semi-axes of the shapes of types, (T, 3), or None if none is an ellipsoid."""
        from raytracer.scene.particles.objects.gsd import axes_of

        stored = self._chunk("particles/type_shapes")
        if stored is None:
            return None
        rows = [bytes(row).rstrip(b"\0") for row in stored]
        try:
            return axes_of([json.loads(row) if row else {} for row in rows])
        except (ValueError, TypeError):
            return None  # other programs may keep something else there

    def _type_names(self, types: NDArray[Any]) -> NDArray[Any]:
        """Return the name of each particle's type."""
        stored = self._chunk("particles/types")
        names = ["A"] if stored is None else [bytes(row).rstrip(b"\0").decode("utf-8", "replace")
                                              for row in stored]  # fmt: skip
        if len(types) and int(types.max()) >= len(names):
            raise DataFileError(f"{self.name}: a particle has a type that has no name")
        labels: NDArray[Any] = texts([name[:TYPE_BYTES] for name in names])[types]
        return labels

    def _chunk(self, name: str) -> NDArray[Any] | None:
        """Return an array of the frame, or None if the file has none of this name."""
        if not self._file.nframes:
            return None
        frame = self.frame
        if not self._file.chunk_exists(frame=frame, name=name):
            # What a frame leaves out is as in the first one, if it has as many particles.
            frame = 0
            if not self._file.chunk_exists(frame=0, name=name) or not self._as_first(name):
                return None
        found: NDArray[Any] = self._file.read_chunk(frame=frame, name=name)
        return found

    def _as_first(self, name: str) -> bool:
        """Whether an array of the first frame holds for this one, which leaves it out."""
        group = name.partition("/")[0]
        if not self.frame or group == "configuration" or name.endswith("/types"):
            return True
        count = f"{group}/N"
        if not self._file.chunk_exists(frame=self.frame, name=count):
            return True
        if not self._file.chunk_exists(frame=0, name=count):
            return False
        now, first = (self._file.read_chunk(frame=each, name=count) for each in (self.frame, 0))
        return bool(now[0] == first[0])
