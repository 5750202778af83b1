"""What moves the camera; every method is a control's."""

from __future__ import annotations

from math import exp

from raytracer.viewer import edits, view
from raytracer.viewer.seen import Seen

TURNTABLE = 0.5
"""Radians a second of the turntable: a turn takes 12.6 seconds."""


class CameraActions(Seen):
    """Moves the camera of what is seen."""

    def orbit(self, right: float, up: float) -> None:
        """Turn about the pivot, in radians."""
        self._change(view.orbit(self.view, right, up))

    def pan(self, right: float, up: float) -> None:
        """Move sideways, in heights of the picture."""
        self._change(view.pan(self.view, right, up))

    def fly(self, forward: float) -> None:
        """Move along the view, in heights of the picture."""
        self._change(view.fly(self.view, forward))

    def dolly(self, amount: float) -> None:
        """Go away from the pivot by a factor of e to the `amount`."""
        self._change(view.dolly(self.view, exp(amount)))

    def zoom(self, amount: float) -> None:
        """Widen the field of view by a factor of e to the `amount`."""
        self._change(view.zoom(self.view, exp(amount)))
        if not self.view.flat:
            self.notify(f"field of view {self.camera.vertical_fov:.3g}°")

    def toggle_projection(self) -> None:
        """Between perspective and orthographic."""
        if not self.view.flat:
            self._fov = self.camera.vertical_fov
        self._change(view.toggle(self.view, self.stage.extent, self._fov))
        self.notify(self.view.stand.kind)

    def along(self, x: float, y: float, z: float) -> None:
        """Look along an axis of the scene."""
        self._change(view.along(self.view, (x, y, z)))

    def fit_all(self) -> None:
        """Show every sphere but giants, as a ground ball is one."""
        self._change(view.to_all(self.view, self.stage.buffers, self.aspect, giants=False))

    def fit_giants(self) -> None:
        """Show every sphere."""
        self._change(view.to_all(self.view, self.stage.buffers, self.aspect))

    def fit_picked(self) -> None:
        """Put the picked sphere into the middle."""
        if self.picked is None:
            self.notify("click a sphere first")
            return
        self._change(view.to_sphere(self.view, *self.stage.sphere(self.picked.id)))

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
