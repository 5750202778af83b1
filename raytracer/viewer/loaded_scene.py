"""A scene made ready for a window: on its backend, with what framing and picking need."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import TEXT_LETTERS, DataFileError, shown
from raytracer.files.access import is_path
from raytracer.memory import Output
from raytracer.pipeline import NO_SPHERE, Job, Notice, prepare
from raytracer.scene.lighting import pack_lights
from raytracer.scene.pack import retake
from raytracer.viewer.collision import Colliders
from raytracer.viewer.edits import Edits
from raytracer.viewer.vectors import triple
from raytracer.viewer.view import View, space_of
from raytracer.warning import collected

if TYPE_CHECKING:
    from raytracer.backends.base import Device
    from raytracer.buffers import SceneBuffers
    from raytracer.files.output import OutputSet
    from raytracer.scene.scene import Scene


FINE = 5
"""Rays per pixel and axis that look for a sphere near a place: many are smaller than a pixel. Odd,
so that the middle one goes through the pixel's centre."""


@dataclass(frozen=True)
class Hit:
    """What a place in the picture shows: the number of a sphere, and the point, in scene units."""

    id: int
    point: tuple[float, float, float]


@dataclass(eq=False)
class LoadedScene:
    """One scene, its packed spheres, and the job that renders them.

    path: the file that it was loaded from; None for a scene made in Python.
    obstacles: what a camera must not end in; found while it is loaded, not in the window.
    """

    scene: Scene
    buffers: SceneBuffers
    job: Job
    path: Path | None
    colliders: Colliders
    closed: bool = False
    # what an earlier look was asked for, and the look: moving the camera changes little of it
    _dressed: tuple[Edits, tuple[int, int], SceneBuffers] | None = None

    @classmethod
    def load(
        cls,
        source: Scene | str | Path,
        overrides: dict[str, Any],
        backend: str | Device,
        threads: int = 0,
        notice: Notice | None = None,
        outputs: OutputSet | None = None,
    ) -> LoadedScene:
        """Load, pack, build and upload a scene; arguments as for `raytracer.pipeline.prepare`.

        Its warnings are in `job.warnings`.
        """
        with collected() as found:
            job = prepare(
                source,
                overrides,
                backend=backend,
                threads=threads,
                notice=notice,
                keep=True,
                memory_of=Output(window=True),
                outputs=outputs,
            )
        job.warnings = found
        assert job.kept is not None
        scene, buffers = job.kept
        scene = replace(scene, render=job.settings)
        path = Path(source) if is_path(source) else None
        return cls(scene, buffers, job, path, Colliders.of(buffers, scene.camera))

    @property
    def name(self) -> str:
        """What to call it."""
        return shown(self.path.name if self.path else self.scene.title or "scene")

    @property
    def stem(self) -> str:
        """What names of its pictures begin with; a title may hold what no file name can."""
        if self.path:
            return self.path.stem
        return re.sub(r"[^\w +-]", "_", self.scene.title)[:TEXT_LETTERS].strip() or "scene"

    @property
    def extent(self) -> float:
        """How far the spheres go, see `view.reach`."""
        return self.colliders.extent

    def buffers_for(self, view: View, size: tuple[int, int], edits: Edits) -> SceneBuffers:
        """The packed scene as it is seen now; its spheres are shared.

        size: of the picture in pixels.
        """
        if self._dressed is None or self._dressed[:2] != (edits, size):
            self._dressed = edits, size, self._dress(view, size, edits)
        known = self._dressed[2]
        changes: dict[str, Any] = {"camera": view.pose.pack(size[0] / size[1])}
        if edits.lights is None and self.scene.lights is None:
            changes["lights"] = pack_lights(self.scene, space_of(known), view.pose.axes)
        return replace(known, **changes)

    def _dress(self, view: View, size: tuple[int, int], edits: Edits) -> SceneBuffers:
        settings = self.job.settings.override(width=size[0], height=size[1])
        taken = retake(self.buffers, edits.applied_to(self.scene), settings, view.pose)
        return replace(taken, materials=edits.scale_shininess(self.buffers.materials))

    def job_for(self, seen_buffers: SceneBuffers, samples: int) -> Job:
        """A job that renders the scene as `look` has it, for a picture to be kept."""
        width, height = seen_buffers.view.size
        settings = self.job.settings.override(width=width, height=height, samples=samples)
        view = seen_buffers.view.with_samples(0, samples)
        scene = self.job.about["scene"] | {"digest": seen_buffers.digest()}
        about = self.job.about | {"scene": scene, "settings": vars(settings).copy()}
        return replace(self.job, settings=settings, view=view, about=about, timings={}, kept=None)

    def hit(self, seen_buffers: SceneBuffers, x: int, y: int, reach: int = 0) -> Hit | None:
        """What is shown nearest to a pixel's centre, or None; also of a closed stage.

        x, y: of the pixel, from the upper left. reach: how many pixels farther to look; of hits
            that are equally near in the picture, the one nearest to the camera counts. 0 looks
            through the pixel's centre alone.
        """
        if self.closed:
            return None
        fine = FINE if reach else 1
        size = np.array(seen_buffers.view.size) * fine
        first = np.maximum(np.array([x - reach, y - reach]) * fine, 0)
        last = np.minimum(np.array([x + reach + 1, y + reach + 1]) * fine, size)
        if (last <= first).any():
            return None
        x0, y0, x1, y1 = (int(side) for side in (*first, *last))
        view = seen_buffers.view.with_size(*map(int, size)).with_crop((x0, y0, x1, y1))
        hits = self.job.scene.first_hits(view)
        rows, columns = np.nonzero(hits["id"] != NO_SPHERE)
        if not len(rows):
            return None
        middle = np.array([x, y]) * fine + fine // 2 - first
        away = (columns - middle[0]) ** 2 + (rows - middle[1]) ** 2
        nearest_first = np.lexsort((hits["depth"][rows, columns], away))
        nearest = hits[rows[nearest_first[0]], columns[nearest_first[0]]]
        point = nearest["position"].astype(np.float64) * self.buffers.scale + self.buffers.center
        return Hit(int(nearest["id"]), triple(point))

    def sphere(self, prim_id: int) -> tuple[NDArray[np.float64], float]:
        """Centre and radius of a sphere in render space."""
        b = self.buffers
        center = np.array([b.x[prim_id], b.y[prim_id], b.z[prim_id]], np.float64)
        return center, float(b.radius[prim_id])

    def close(self) -> None:
        """Give back the device's memory."""
        self.closed = True
        with self.job.device.turn():  # freeing waits for the GPU
            self.job.scene.close()


def require_file(source: Scene | str | Path) -> Path:
    """The path of what is to be watched; raises DataFileError for what is no file."""
    if not is_path(source):
        raise DataFileError("watch: a scene made in Python has no file to watch: give its path")
    return Path(source)
