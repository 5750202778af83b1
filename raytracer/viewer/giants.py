"""Giants, such as a ball that serves as the ground: the camera stays outside of them.

It may enter other spheres.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import pi, radians

import numpy as np
from numpy.typing import NDArray

from raytracer.buffers import SceneBuffers
from raytracer.scene.camera import Camera
from raytracer.scene.extent import giants
from raytracer.viewer import orbit_camera as moves
from raytracer.viewer.orbit_camera import Vector, View

STEP = radians(5.0)  # between the directions of a search for a free one
MIN_HEIGHT = 1e-6  # of a camera above a giant, relative to its radius: the precision of float32


@dataclass(frozen=True, eq=False)
class Giants:
    """The giants of a packed scene, in render space, without those around the scene's camera."""

    centers: Vector  # float64 (G, 3)
    radii: Vector  # float64 (G,)
    extent: float  # radius around the origin that contains all other spheres

    @classmethod
    def of(cls, buffers: SceneBuffers, camera: Camera | None) -> Giants:
        large = giants(buffers.placed)
        x, y, z, radius = (array[large].astype(np.float64) for array in buffers.balls)
        found = cls(np.stack([x, y, z], axis=1), radius, moves.bounding_radius(buffers, large))
        if camera is None or camera.position is None or camera.fit:
            return found
        outside = ~found._around(buffers.space.point(camera.position))
        return replace(found, centers=found.centers[outside], radii=radius[outside])

    def kept_out(self, view: View, before: View) -> View:
        """Return a view, or the previous one if the camera would enter a giant.

        An orthographic camera is moved back until it clips nothing but giants.
        """
        there = moves.unclipped(view, self.extent)
        return there if self._is_outside(there) or not self._is_outside(before) else before

    def fitted(self, view: View, fit: Callable[[View], View]) -> View:
        """Fit spheres into the picture, from the nearest direction in which no giant hides them."""
        for number in range(int(2.0 * pi / STEP)):
            angle = STEP * ((number + 1) // 2) * (-1.0 if number % 2 else 1.0)
            there = moves.unclipped(fit(moves.orbit(view, 0.0, angle)), self.extent)
            if self._is_outside(there) and not self._between(there.pose.eye, there.pivot).any():
                return there
        return view

    def _is_outside(self, view: View) -> bool:
        return not self._around(view.pose.eye).any()

    def _around(self, eye: Vector) -> NDArray[np.bool_]:
        """Return which giants contain a point, bool (G,)."""
        away = np.linalg.norm(self.centers - eye, axis=1)
        return np.asarray(away < self.radii * (1.0 + MIN_HEIGHT))

    def _between(self, eye: Vector, point: Vector) -> NDArray[np.bool_]:
        """Return which giants are between two points outside of them, bool (G,)."""
        step, offset = point - eye, eye - self.centers
        along = np.clip(-(offset @ step) / max(float(step @ step), 1e-30), 0.0, 1.0)
        nearest = np.linalg.norm(offset + along[:, None] * step, axis=1)
        return np.asarray((nearest < self.radii) & ~self._around(point))
