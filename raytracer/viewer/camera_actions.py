"""What moves the camera; every method is a control's.

See `obstacles` for what happens where a sphere is in the way.
"""

from __future__ import annotations

from math import exp, hypot
from typing import TYPE_CHECKING

import numpy as np

from raytracer.viewer import edits, view
from raytracer.viewer.seen import Seen

if TYPE_CHECKING:
    from raytracer.viewer.vectors import Vector
    from raytracer.viewer.view import View

TURNTABLE = 0.5
"""Radians per second of the turntable: a turn takes 12.6 seconds."""

IN_THE_WAY = 0.05
"""Sine of the angle between the axis that was asked for and the view from which it is said."""


class CameraActions(Seen):
    """Moves the camera of what is seen."""

    def orbit(self, right: float, up: float) -> None:
        """Turn about the pivot, in radians."""
        self._turn(view.orbit(self.view, right, up))

    def pan(self, right: float, up: float) -> None:
        """Move sideways, in heights of the picture."""
        self._move(view.pan(self.view, right, up))

    def fly(self, forward: float) -> None:
        """Move along the view, in heights of the picture."""
        self._move(view.fly(self.view, forward))

    def dolly(self, amount: float) -> None:
        """Go away from the pivot by a factor of e to the `amount`."""
        self._move(view.dolly(self.view, exp(amount)))

    def zoom(self, amount: float) -> None:
        """Widen the field of view by a factor of e to the `amount`."""
        self._move(view.zoom(self.view, exp(amount)))
        if not self.view.flat:
            self.notify(f"field of view {self.camera.vertical_fov:.3g}°")

    def toggle_projection(self) -> None:
        """Between perspective and orthographic."""
        if not self.view.flat:
            self._fov = self.camera.vertical_fov
        self._turn(view.toggle(self.view, self.stage.extent, self._fov))
        self.notify(self.view.stand.kind)

    def along(self, x: float, y: float, z: float) -> None:
        """Look along an axis of the scene."""
        self._turn(view.along(self.view, (x, y, z)))
        if hypot(*np.cross(self.view.stand.axes.forward, (x, y, z))) > IN_THE_WAY:
            self.notify("a large sphere is in the way: look along the opposite axis")

    def fit_all(self) -> None:
        """Show every sphere but giants, as a ground ball is one."""

        def fit(seen: View) -> View:
            return view.to_all(seen, self.stage.buffers, self.aspect, whole=False)

        self._change(self.stage.obstacles.fitted(self.view, fit))

    def fit_giants(self) -> None:
        """Show every sphere."""
        self._change(view.to_all(self.view, self.stage.buffers, self.aspect))

    def fit_picked(self) -> None:
        """Put the picked sphere into the middle; of a giant, the point that was hit."""
        if self.picked is None:
            self.notify("click a sphere first")
            return
        if self.giant_picked:
            self._turn(view.to_point(self.view, self.hit_place()))
        else:
            self._turn(view.to_sphere(self.view, *self.stage.sphere(self.picked.id)))

    @property
    def giant_picked(self) -> bool:
        """Whether the picked sphere is a giant."""
        if self.picked is None:
            return False
        return self.stage.obstacles.is_giant(self.stage.sphere(self.picked.id)[1])

    def hit_place(self) -> Vector:
        """The place on the picked sphere that was clicked, or else its nearest to the eye.

        float64 (3,), render space.
        """
        assert self.picked is not None
        center, radius = self.stage.sphere(self.picked.id)
        toward = self.view.stand.eye
        if self.hit_point is not None:
            toward = view.space_of(self.stage.buffers).point(self.hit_point)
        offset = toward - center
        return np.asarray(center + offset * (radius / max(float(np.linalg.norm(offset)), 1e-30)))

    def _turn(self, new: View) -> None:
        self._change(self.stage.obstacles.turned(new, self.view))

    def _move(self, new: View) -> None:
        self._change(self.stage.obstacles.moved(new, self.view))

    def reset(self) -> None:
        """Everything as in the scene."""
        self.edits, self.tone, self.turning = edits.Edits(), self._first_tone, False
        self.view = self._scene_view()
        self.order()
        self.notify("as in the scene")

    def toggle_turntable(self) -> None:
        """Start or stop turning."""
        self.turning = not self.turning

    def tick(self, seconds: float) -> None:
        """Let the turntable turn."""
        if self.turning:
            self.orbit(TURNTABLE * seconds, 0.0)
