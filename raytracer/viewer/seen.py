"""What is seen: the scene, the camera, what was changed of both, and having that rendered."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

from raytracer.errors import SceneError
from raytracer.film.tone_settings import ToneSettings
from raytracer.scene.looks import Camera
from raytracer.viewer import edits, view
from raytracer.viewer.orders import Order

if TYPE_CHECKING:
    from raytracer.scene.describe import SphereInfo
    from raytracer.viewer.stage import Stage
    from raytracer.viewer.view import View
    from raytracer.viewer.worker import Worker

NOTICE = 4.0
"""Seconds that a message stays."""


class Seen:
    """What the controls change; each change is ordered from the render thread.

    stage: the scene. size: of the picture in pixels. tone: exposure and curve to begin with.
    """

    def __init__(
        self, stage: Stage, worker: Worker, size: tuple[int, int], tone: ToneSettings | None = None
    ) -> None:
        self.stage = stage
        self.worker = worker
        self.size = size
        self.tone = self._first_tone = tone or ToneSettings()
        self.samples = stage.job.settings.samples
        self.edits = edits.Edits()
        self.picked: SphereInfo | None = None
        self.hit_point: tuple[float, float, float] | None = None  # of `picked`, scene units
        self.turning = False
        self._notice = "", 0.0
        self.view = self._scene_view()
        self._fov = (stage.scene.camera or Camera()).vertical_fov  # of the last perspective
        self._look: Any = None  # what was ordered last
        self._ordered = self.view, self.edits
        self.order()
        self._say_of_scene()

    @property
    def aspect(self) -> float:
        """Width of the picture by its height."""
        return self.size[0] / self.size[1]

    def order(self) -> None:
        """Have rendered what is seen now.

        What cannot be packed is undone with a notice. Raises SceneError where nothing was before.
        """
        try:
            self._look = self.stage.look(self.view, self.size, self.edits)
        except SceneError as error:
            if self._look is None:
                raise
            self.view, self.edits = self._ordered
            self.notify(str(error))
            return
        self._ordered = self.view, self.edits
        self._send()

    def _send(self) -> None:
        self.worker.show(Order(self.stage, self._look, self.tone, self.samples))

    def resize(self, width: int, height: int) -> None:
        """Follow the window; a picture of all spheres goes on showing all."""
        if (width, height) == self.size or width < 1 or height < 1:
            return
        self.size = width, height
        if self.view.framed:
            self.view = view.to_all(self.view, self.stage.buffers, self.aspect)
        self.order()

    def _scene_view(self) -> View:
        return view.first(self.stage.scene.camera, self.stage.buffers, self.aspect)

    def _change(self, new: View) -> None:
        """Show another view, which is out of the way of the spheres."""
        self.view = new
        self.order()

    def _edit(self, changed: edits.Edits) -> None:
        self.edits = changed
        self.order()

    def _retone(self, **changes: Any) -> None:
        """Develop the same film otherwise."""
        self.tone = replace(self.tone, **changes)
        self._send()

    @property
    def camera(self) -> Camera:
        """The camera as a scene has it."""
        return view.camera_of(self.view, self.stage.buffers)

    def notify(self, text: str) -> None:
        """Show a message for a while."""
        self._notice = text, perf_counter() + NOTICE

    @property
    def notice(self) -> str:
        """The message of the moment."""
        return self._notice[0] if self.notice_left else ""

    @property
    def notice_left(self) -> float:
        """Seconds that it stays."""
        return max(self._notice[1] - perf_counter(), 0.0)

    def _say_of_scene(self) -> None:
        """Show the warnings of a scene that was loaded, or that it has no spheres."""
        found = self.stage.job.warnings
        if found:
            more = f" (and {len(found) - 1} more in the terminal)" if len(found) > 1 else ""
            self.notify(found[0] + more)
        if not self.stage.buffers.count:
            self.notify(f"{self.stage.name} has no spheres")
