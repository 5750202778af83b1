"""Formats that the library chemfiles reads (.xtc, .tng, .mol2, .sdf, ...): the first frame.

chemfiles runs in a process of its own: some damaged files end the process that reads them.
"""

from __future__ import annotations

import subprocess
import sys
from functools import cached_property
from typing import TYPE_CHECKING, Any

from raytracer.errors import DataFileError, shown
from raytracer.files.access import OpenFile
from raytracer.files.npz import Archive
from raytracer.memory import require_room
from raytracer.scene.particles.loaded import LoadedSource, library
from raytracer.scene.particles.source import Box

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MEMORY = 8
"""Bytes of memory for each byte of the file while it is parsed."""

_PROCESS = "raytracer.scene.particles.chemfiles_process"


class Source(LoadedSource):
    """A file of one of the formats; `variant` is its name in chemfiles."""

    @property
    def frames(self) -> int | None:
        return int(self._answer["frames"])

    @property
    def box(self) -> Box | None:
        edges = self._answer["cell"]
        if not edges.any():
            return None
        a, b, c = (tuple(row) for row in edges.tolist())
        return Box((0.0, 0.0, 0.0), (a, b, c))

    @property
    def bonds(self) -> NDArray[np.int64] | None:
        import numpy as np

        pairs: NDArray[np.int64] = self._answer["bonds"].astype(np.int64).reshape(-1, 2)
        return pairs if len(pairs) else None

    def read(self) -> dict[str, NDArray[Any]]:
        columns = {"position": self._answer["position"]}
        for name in ("element", "name"):
            if (self._answer[name] != b"").any():
                columns[name] = self._answer[name]
        return columns

    @cached_property
    def _answer(self) -> dict[str, NDArray[Any]]:
        """The arrays of the other process."""
        from tempfile import TemporaryFile

        library("chemfiles", self.name, "md")
        require_room(self.name, MEMORY * self.file.size)
        descriptor = self.file.file.fileno()
        with TemporaryFile() as output:
            done = subprocess.run(
                [sys.executable, "-m", _PROCESS, self.file.name, self.variant],
                stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.PIPE, check=False,
                pass_fds=(descriptor,),
            )  # fmt: skip
            if done.returncode:
                lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
                why = f" ({shown(lines[-1], 160)})" if lines and done.returncode == 1 else ""
                raise DataFileError(
                    f"{self.name}: is damaged, or no {self.variant} file that chemfiles reads{why}"
                )
            output.seek(0)
            stream: Any = output
            answer = OpenFile(stream, self.file.path, self.name)
            with Archive(answer) as archive:
                return {name: archive.array(name) for name in archive.members}
