"""Camera collision: from inside a sphere, that sphere would fill the picture.

Giants, such as a ground ball, are solid: the camera never enters them. It enters other spheres only
by moving, never by turning or fitting.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf, radians

import numpy as np
from numpy.typing import NDArray

from raytracer.buffers import SceneBuffers, Spheres
from raytracer.memory import OBSTACLES
from raytracer.scene.camera import Camera
from raytracer.scene.extent import GIANT_RADIUS, giants, within
from raytracer.viewer import view as moves
from raytracer.viewer.view import Vector, View

MAX_COLLIDERS = OBSTACLES  # the largest spheres; a scan takes less than a millisecond
BLOCK = MAX_COLLIDERS  # spheres per block in the search for the largest, which bounds the memory

CLEARANCE = 0.02
"""Least height above a giant, relative to the distance to the pivot, or to the unit of render space
if that is less. Along the surface, the ground then fills half the picture."""

ROUNDING = 1e-6  # least height above a giant, relative to its radius: the precision of float32
STEP, TOLERANCE = radians(2.0), radians(0.01)  # of the search for a free direction

EXTRA_ANGLES = tuple(radians(degrees) for degrees in (0.0, 2.0, 5.0, 10.0, 20.0, 40.0, 60.0))
"""Further angles away from a giant to try, because fitting moves the camera again."""

MIN_PULL = 0.2  # least factor of the distance to the pivot by which a camera is pulled in
MAX_STEPS = 64  # most spheres to leave one after another in the search for a free position


@dataclass(frozen=True, eq=False)
class Colliders:
    """The spheres that a camera collides with, in render space."""

    giants: Vector  # centres, float64 (G, 3), without those around the scene's camera
    giant_radii: Vector  # float64 (G,)
    # X, y, z and radius of the largest others, float32 (M,) each.
    others: tuple[NDArray[np.float32], ...]
    low: Vector  # lower corner of the box around all spheres except giants, float64 (3,)
    high: Vector  # upper corner
    extent: float  # `view.bounding_radius`: around the origin, of all spheres
    inner: float  # the same without giants

    @classmethod
    def of(cls, buffers: SceneBuffers, camera: Camera | None = None) -> Colliders:
        spheres = buffers.balls
        large = giants(buffers.placed)
        x, y, z, radius = (array[large].astype(np.float64) for array in spheres)
        centers = np.stack([x, y, z], axis=1)
        outside = np.full(len(radius), True)
        if camera is not None and camera.position is not None and not camera.fit:
            eye = moves.space_of(buffers).point(camera.position)
            outside = np.linalg.norm(centers - eye, axis=1) >= radius
        low, high = moves.bounds(spheres, large)
        corner = np.maximum(np.abs(low), np.abs(high))
        return cls(
            centers[outside], radius[outside], _largest(spheres, large), low, high,
            moves.bounding_radius(buffers), min(float(np.linalg.norm(corner)), moves.MAX_REACH),
        )  # fmt: skip

    @property
    def middle(self) -> Vector:
        """Centre of the other spheres; few are farther than one unit from the origin."""
        return np.asarray((np.clip(self.low, -1.0, 1.0) + np.clip(self.high, -1.0, 1.0)) / 2.0)

    # Giants

    def is_giant(self, radius: float) -> bool:
        """Return whether a sphere of this radius is a giant, even around the scene's camera."""
        others = self.others[3]  # all are this large, or none
        return radius > GIANT_RADIUS and len(others) > 0 and bool(others[0] <= GIANT_RADIUS)

    def gap(self, eye: Vector) -> float:
        """Return the height above the nearest giant; negative inside one."""
        if not len(self.giants):
            return inf
        return float((np.linalg.norm(self.giants - eye, axis=1) - self.giant_radii).min())

    def is_clear(self, view: View) -> bool:
        """Return whether the camera keeps its clearance from every giant."""
        if view.is_section or not len(self.giants):
            return True
        away = np.linalg.norm(self.giants - view.pose.eye, axis=1)
        return bool((away >= self._min_distances(_clearance(view))).all())

    def sees(self, view: View, point: Vector) -> bool:
        """Return whether the camera is clear of giants, and none hides a point from it."""
        if not self.is_clear(view):
            return False
        step = point - view.pose.eye
        offset = view.pose.eye - self.giants
        along = np.clip(-(offset @ step) / max(float(step @ step), 1e-30), 0.0, 1.0)
        nearest = np.linalg.norm(offset + along[:, None] * step, axis=1)
        buried = np.linalg.norm(self.giants - point, axis=1) < self.giant_radii
        return bool((buried | (nearest >= self.giant_radii)).all())

    def unclipped(self, view: View) -> View:
        """Move an orthographic camera back until no sphere is clipped, or only giants are."""
        there = moves.unclipped(view, self.extent)
        if not view.orthographic or view.is_section or not len(self.giants):
            return there
        free, _ = self._first_contact(there.pose.eye, view.pivot, self.giant_radii)
        if self.is_clear(there) and free >= 1.0:
            return there
        need = float(np.linalg.norm(view.pivot)) + self.inner
        return moves.at_distance(view, need)

    def turned(self, view: View, before: View) -> View:
        """Resolve the collisions of a turn.

        At a giant the turn ends at the surface, or where the giant would hide the pivot. If another
        sphere is in the way, the camera is pulled in towards the pivot (`View.pull`), unless it was
        in that sphere before.
        """
        there = self.unclipped(view)
        if not self.is_clear(there):
            there = self._raised(there, lambda seen: self.sees(seen, seen.pivot))
        return self._pulled(there, before.pose.eye)

    def moved(self, view: View, before: View) -> View:
        """Resolve the collisions of a movement: the camera slides along a giant.

        A camera that moves towards its pivot or away from it stops there, and the pivot stays.
        """
        there = self.unclipped(view)
        if view.orthographic:
            return there if self.is_clear(there) else self._pushed_out(there)
        if not len(self.giants) or view.is_section:
            return there
        start, goal = before.pose.eye, there.pose.eye
        min_distances = self._min_distances(min(_clearance(there), max(self.gap(start), 0.0)))
        if np.array_equal(view.pivot, before.pivot):
            part, _ = self._first_contact(start, goal, min_distances)
            eye = start + part * (goal - start)
            there = replace(there, pose=replace(there.pose, eye=eye))
            return there if self.gap(eye) > 0.0 else self._pushed_out(there)
        return _with_eye(there, self._slide(start, goal, min_distances))

    def fitted(self, view: View, fit: Callable[[View], View]) -> View:
        """Fit spheres into the picture, from a direction where no giant hides them."""

        def good(seen: View) -> bool:
            return self.sees(seen, self.middle)

        there = self.unclipped(fit(view))
        if good(there):
            return there
        raised = self._raised(moves.with_pivot(there, self.middle), good)
        up = 1.0 if raised.pose.axes.forward @ view.up < view.pose.axes.forward @ view.up else -1.0
        for angle in EXTRA_ANGLES:
            there = self.unclipped(fit(moves.orbit(raised, 0.0, up * angle)))
            if good(there):
                return there
        return self._pushed_out(raised)

    def _min_distances(self, clearance: float) -> Vector:
        return self.giant_radii + np.maximum(clearance, ROUNDING * self.giant_radii)

    def _raised(self, view: View, good: Callable[[View], bool]) -> View:
        """Turn a view up or down about the pivot by the smallest angle that makes it good."""

        def at(angle: float) -> View:
            return self.unclipped(moves.orbit(view, 0.0, angle))

        for count in range(1, int(np.pi / STEP) + 2):
            for sign in (1.0, -1.0):
                if not good(at(sign * count * STEP)):
                    continue
                low, high = (count - 1) * STEP, count * STEP
                while high - low > TOLERANCE:
                    middle = (low + high) / 2.0
                    low, high = (low, middle) if good(at(sign * middle)) else (middle, high)
                return at(sign * high)
        return self._pushed_out(view)

    def _pushed_out(self, view: View) -> View:
        """Move eye and pivot straight out of the giants."""
        eye, min_distances = view.pose.eye, self._min_distances(_clearance(view)) * (1.0 + 1e-12)
        for _ in range(MAX_STEPS):
            offset = eye - self.giants
            away = np.linalg.norm(offset, axis=1)
            deepest = int(np.argmin(away - min_distances))
            if away[deepest] >= min_distances[deepest]:
                break
            outward = offset[deepest] / away[deepest] if away[deepest] else view.up
            eye = self.giants[deepest] + outward * min_distances[deepest] * (1.0 + 1e-12)
        return _with_eye(view, eye)

    def _slide(self, start: Vector, goal: Vector, min_distances: Vector) -> Vector:
        """Return the end of a movement from start to goal along the surfaces of giants."""
        for _ in range(4):
            part, index = self._first_contact(start, goal, min_distances)
            if part >= 1.0:
                return goal
            start, left = start + part * (goal - start), (1.0 - part) * (goal - start)
            outward = start - self.giants[index]
            outward = outward / np.linalg.norm(outward)
            goal = start + left - (left @ outward) * outward
            offset = goal - self.giants[index]
            length = float(np.linalg.norm(offset))
            goal = self.giants[index] + offset * (
                max(length, min_distances[index] * (1 + 1e-12)) / length
            )
        return start

    def _first_contact(
        self, start: Vector, goal: Vector, min_distances: Vector
    ) -> tuple[float, int]:
        """Return the fraction of the way to the first giant, and its index; 1 without one."""
        step, offset = goal - start, start - self.giants
        a, b = float(step @ step), offset @ step
        c = np.einsum("ij,ij->i", offset, offset) - min_distances**2
        inward = (b < 0.0) & (b * b > a * c)
        if not a or not inward.any():
            return 1.0, 0
        part = np.full(len(b), inf)
        root = np.sqrt(b[inward] ** 2 - a * c[inward])
        part[inward] = np.maximum((-b[inward] - root) / a, 0.0)
        first = int(np.argmin(part))
        return min(float(part[first]), 1.0), first

    # Other spheres

    def inside(self, place: Vector) -> NDArray[np.intp]:
        """Return indices of the other spheres that contain a point."""
        if (place < self.low).any() or (place > self.high).any():
            return np.empty(0, np.intp)
        x, y, z, radius = self.others
        px, py, pz = place.astype(np.float32)
        away = np.square(x - px)
        away += np.square(y - py)
        away += np.square(z - pz)
        return np.flatnonzero(away < np.square(radius))

    def _pulled(self, view: View, before: Vector) -> View:
        """Move the eye out of the other spheres, along its line to the pivot."""
        if view.orthographic:
            return view
        entered = self.inside(before)
        ray = view.pose.eye - view.pivot

        def crossed(part: float) -> tuple[float, float] | None:
            """Return where that line enters and leaves the spheres around a point on it."""
            hit = np.setdiff1d(self.inside(view.pivot + part * ray), entered)
            if not len(hit):
                return None
            x, y, z, radius = (array[hit].astype(np.float64) for array in self.others)
            offset = view.pivot - np.stack([x, y, z], axis=1)
            a, b = float(ray @ ray), offset @ ray
            c = np.einsum("ij,ij->i", offset, offset) - radius**2
            root = np.sqrt(np.maximum(b * b - a * c, 0.0))
            return float(((-b - root) / a).min()), float(((-b + root) / a).max())

        part = 1.0
        for _ in range(MAX_STEPS):
            if (span := crossed(part)) is None:
                return view if part == 1.0 else moves.with_pull(view, part)
            part = min(span[0], part) * (1.0 - 1e-3)
            if part < MIN_PULL:
                break
        part = 1.0
        for _ in range(MAX_STEPS):
            if (span := crossed(part)) is None:
                return moves.with_pull(view, part)
            part = max(span[1], part) * (1.0 + 1e-3)
        return view


def _clearance(view: View) -> float:
    return CLEARANCE * min(view.distance, 1.0)


def _with_eye(view: View, eye: Vector) -> View:
    step = eye - view.pose.eye
    return replace(view, pose=replace(view.pose, eye=eye), pivot=view.pivot + step)


def _largest(spheres: Spheres, skipped: NDArray[np.intp]) -> tuple[NDArray[np.float32], ...]:
    """Return the largest spheres, at most `MAX_COLLIDERS`, block by block."""
    radius = spheres[3]
    if len(radius) <= MAX_COLLIDERS and not len(skipped):
        return tuple(spheres)
    largest = np.empty(0, np.intp)
    for start in range(0, len(radius), BLOCK):
        rows = slice(start, min(start + BLOCK, len(radius)))
        is_taken = np.ones(rows.stop - start, bool)
        is_taken[within(skipped, rows)] = False
        if len(largest) == MAX_COLLIDERS:
            is_taken &= radius[rows] > radius[largest].min()
        largest = np.concatenate([largest, np.flatnonzero(is_taken) + start])
        if len(largest) > MAX_COLLIDERS:
            largest = largest[
                np.argpartition(radius[largest], len(largest) - MAX_COLLIDERS)[-MAX_COLLIDERS:]
            ]
    return tuple(array[largest] for array in spheres)
