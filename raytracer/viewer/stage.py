"""A scene made ready for a window: on its backend, with what framing and picking need."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import DataFileError
from raytracer.job import NO_SPHERE, Job
from raytracer.pipeline import Notice, prepare
from raytracer.scene.lighting import pack_lights
from raytracer.scene.pack import retake
from raytracer.viewer.edits import Edits
from raytracer.viewer.view import View, reach, space_of

if TYPE_CHECKING:
    from raytracer.backends.base import Backend
    from raytracer.buffers import SceneBuffers
    from raytracer.output import OutputSet
    from raytracer.scene.scene import Scene

POINT_FILTER = 0  # Frame.filter


@dataclass(eq=False)
class Stage:
    """One scene, its packed spheres, and the job that renders them.

    path: the file that it was loaded from; None for a scene made in Python.
    extent: how far the spheres go, see `view.reach`; found while it is loaded, not in the window.
    """

    scene: Scene
    buffers: SceneBuffers
    job: Job
    path: Path | None
    extent: float
    closed: bool = False
    # what an earlier look was asked for, and the look: moving the camera changes little of it
    _dressed: tuple[Edits, tuple[int, int], SceneBuffers] | None = None

    @classmethod
    def load(
        cls,
        source: Scene | str | Path,
        overrides: dict[str, Any],
        backend: str | Backend,
        threads: int = 0,
        notice: Notice | None = None,
        outputs: OutputSet | None = None,
    ) -> Stage:
        """Load, pack, build and upload a scene; arguments as for `raytracer.pipeline.prepare`."""
        job = prepare(
            source,
            overrides,
            backend=backend,
            threads=threads,
            notice=notice,
            keep=True,
            outputs=outputs,
        )
        assert job.kept is not None
        scene, buffers = job.kept
        path = Path(source) if isinstance(source, (str, Path)) else None
        return cls(scene, buffers, job, path, reach(buffers))

    @property
    def name(self) -> str:
        """What to call it."""
        return self.path.name if self.path else self.scene.title or "scene"

    def look(self, view: View, size: tuple[int, int], edits: Edits) -> SceneBuffers:
        """The packed scene as it is seen now; its spheres are shared.

        size: of the picture in pixels.
        """
        if self._dressed is None or self._dressed[:2] != (edits, size):
            self._dressed = edits, size, self._dress(view, size, edits)
        known = self._dressed[2]
        changes: dict[str, Any] = {"camera": view.stand.pack(size[0] / size[1])}
        if edits.lights is None and self.scene.lights is None:
            changes["lights"] = pack_lights(self.scene, space_of(known), view.stand.axes)
        return replace(known, **changes)

    def _dress(self, view: View, size: tuple[int, int], edits: Edits) -> SceneBuffers:
        settings = self.job.settings.override(width=size[0], height=size[1])
        taken = retake(self.buffers, edits.dress(self.scene), settings, view.stand)
        return replace(taken, materials=edits.polish(self.buffers.materials))

    def job_for(self, look: SceneBuffers, samples: int) -> Job:
        """A job that renders the scene as `look` has it, for a picture to be kept."""
        width, height = int(look.frame["width"][0]), int(look.frame["height"][0])
        settings = self.job.settings.override(width=width, height=height, samples=samples)
        frame = look.frame.copy()
        frame["sample_count"] = samples
        scene = self.job.about["scene"] | {"digest": look.digest()}
        about = self.job.about | {"scene": scene, "settings": vars(settings).copy()}
        return replace(self.job, settings=settings, frame=frame, about=about, timings={}, kept=None)

    def hit(self, look: SceneBuffers, x: int, y: int) -> int | None:
        """The number of the sphere that a pixel's centre shows, or None; also of a closed stage.

        x, y: of the pixel, from the upper left. Changes what the resident renders next.
        """
        if self.closed:
            return None
        frame = look.frame.copy()
        frame["x0"], frame["y0"], frame["x1"], frame["y1"] = x, y, x + 1, y + 1
        frame["filter"] = POINT_FILTER
        frame["sample_begin"], frame["sample_count"] = 0, 1
        self.job.resident.look(look)
        found = self.job.backend.first_hits(self.job.resident, frame)
        prim_id = int(found["id"][0, 0])
        return None if prim_id == NO_SPHERE else prim_id

    def sphere(self, prim_id: int) -> tuple[NDArray[np.float64], float]:
        """Centre and radius of a sphere in render space."""
        b = self.buffers
        center = np.array([b.x[prim_id], b.y[prim_id], b.z[prim_id]], np.float64)
        return center, float(b.radius[prim_id])

    def close(self) -> None:
        """Give back the backend's memory."""
        self.closed = True
        with self.job.backend.turn():  # freeing waits for the GPU
            self.job.resident.close()


def require_file(source: Scene | str | Path) -> Path:
    """The path of what is to be watched; raises DataFileError for what is no file."""
    if not isinstance(source, (str, Path)):
        raise DataFileError("watch: a scene made in Python has no file to watch: give its path")
    return Path(source)
