"""Projects points of a scene to pixels, along the camera rays of the kernels."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from raytracer.model.render_space import Space
from raytracer.packing.view import View
from raytracer.system.layout import enum_value


@dataclass(frozen=True, eq=False)
class Projection:
    """The camera of a view; vectors are float64 (3,), in render space."""

    origin: NDArray[np.float64]  # eye, or the middle of the plane that rays start from
    right: NDArray[np.float64]  # half the width of the picture; in perspective at distance 1
    up: NDArray[np.float64]  # half the height
    forward: NDArray[np.float64]  # unit vector of the view
    perspective: bool  # whether rays start at the eye
    width: int  # of the whole picture in pixels
    height: int
    space: Space

    @classmethod
    def of(cls, view: View, space: Space) -> Self:
        camera = view.camera[0]
        origin, right, up, forward = (
            np.asarray(camera[name], np.float64) for name in ("origin", "right", "up", "forward")
        )
        perspective = int(camera["kind"]) == enum_value("CameraKind", "perspective")
        return cls(origin, right, up, forward, perspective, *view.size, space)

    def depth(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the distances of points (N, 3) along the view, (N,), render space."""
        return (points - self.origin) @ self.forward

    def pixels(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return pixels x, y (N, 2) of points in render space in front of the camera."""
        offset = points - self.origin
        u = offset @ self.right / (self.right @ self.right)
        v = offset @ self.up / (self.up @ self.up)
        if self.perspective:
            depth = self.depth(points)
            u, v = u / depth, v / depth
        return np.stack([(u + 1.0) * self.width / 2.0, (1.0 - v) * self.height / 2.0], axis=-1)

    def directions(self, vectors: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the components of vectors (N, 3): picture's x, its y (up), towards the viewer."""
        right, up = (axis / np.linalg.norm(axis) for axis in (self.right, self.up))
        return np.stack([vectors @ right, vectors @ up, -(vectors @ self.forward)], axis=-1)

    def pixels_per_unit(self, depth: float) -> float:
        """Return how many pixels long a scene unit across the view is at a depth, render space."""
        half = float(np.linalg.norm(self.right)) * (depth if self.perspective else 1.0)
        return self.width / (2.0 * half * self.space.scale)
