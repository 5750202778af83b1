"""What a camera must not end in: from inside of a sphere, that sphere is the whole picture.

Giants, such as the ball that a scene stands on, keep every camera out. Other spheres may be entered
by whoever moves into them, but not by turning or by framing something.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import inf, pi, radians, sqrt, tan
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from raytracer.memory import OBSTACLES
from raytracer.scene.fit import giants, within
from raytracer.scene.looks import Camera
from raytracer.viewer import view as moves

if TYPE_CHECKING:
    from raytracer.buffers import SceneBuffers
    from raytracer.scene.fit import Spheres
    from raytracer.viewer.vectors import Vector
    from raytracer.viewer.view import View

MOST = OBSTACLES
"""Spheres that are looked at, the largest ones: a scan of these takes less than a millisecond."""

PIECE = MOST
"""Spheres of which the largest are found at a time: it bounds the memory."""

CLEARANCE = 0.02
"""Height above a giant, as part of the distance to the pivot or of render space's unit if that is
less. Looking along the surface, the ground takes half of the picture there."""

ROUNDING = 1e-6
"""Least height above a giant, as part of its radius: float32 has no finer places there."""

STEP, FINEST = radians(2.0), radians(0.01)
"""Steps of the search for a free direction, and of its refinement."""

FURTHER = tuple(radians(degrees) for degrees in (0.0, 2.0, 5.0, 10.0, 20.0, 40.0, 60.0))
"""How much farther from a giant a framed view is tried: framing moves the camera again."""

NEAREST_PART = 0.2
"""Part of the distance to the pivot to which a camera is pulled in at most."""

TRIES = 64
"""Spheres that are passed one after another in the search for a free place."""


@dataclass(frozen=True, eq=False)
class Colliders:
    """Spheres in render space.

    giants, giant_radii: float64 (G, 3) and (G,); without those that the scene's own camera is in.
    others: x, y, z and radius of the largest others, float32 (M,) each.
    low, high: corners of the box around all spheres but giants, float64 (3,).
    extent: how far the spheres go, see `view.reach`. inner: the same without giants.
    """

    giants: Vector
    giant_radii: Vector
    others: tuple[NDArray[np.float32], ...]
    low: Vector
    high: Vector
    extent: float
    inner: float

    @classmethod
    def of(cls, buffers: SceneBuffers, camera: Camera | None = None) -> Colliders:
        """Those of a scene. camera: its own."""
        spheres = moves.spheres_of(buffers)
        large = giants(buffers.radius)
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
            moves.reach(buffers), min(float(np.linalg.norm(corner)), moves.FARTHEST),
        )  # fmt: skip

    @property
    def middle(self) -> Vector:
        """Of all spheres but giants; few are farther than a unit from render space's middle."""
        return np.asarray((np.clip(self.low, -1.0, 1.0) + np.clip(self.high, -1.0, 1.0)) / 2.0)

    # Giants

    def is_giant(self, radius: float) -> bool:
        """Whether a sphere of that radius is one, also if the scene's camera is in it."""
        others = self.others[3]  # either none of these is so large, or all are
        return radius > moves.GIANT and len(others) > 0 and bool(others[0] <= moves.GIANT)

    def gap(self, eye: Vector) -> float:
        """Height above the nearest giant; negative inside of one."""
        if not len(self.giants):
            return inf
        return float((np.linalg.norm(self.giants - eye, axis=1) - self.giant_radii).min())

    def is_clear(self, view: View) -> bool:
        """Whether the camera keeps its clearance from every giant."""
        if view.cut or not len(self.giants):
            return True
        away = np.linalg.norm(self.giants - view.pose.eye, axis=1)
        return bool((away >= self._kept(_clearance(view))).all())

    def sees_others(self, view: View) -> bool:
        """Whether no giant hides the middle of the other spheres from the camera."""
        step = self.middle - view.pose.eye
        offset = view.pose.eye - self.giants
        along = np.clip(-(offset @ step) / max(float(step @ step), 1e-30), 0.0, 1.0)
        nearest = np.linalg.norm(offset + along[:, None] * step, axis=1)
        buried = np.linalg.norm(self.giants - self.middle, axis=1) < self.giant_radii
        return bool((buried | (nearest >= self.giant_radii)).all())

    def uncut(self, view: View) -> View:
        """An orthographic camera moved along its view, so that nothing is cut off.

        Where a giant is in the way, it has the other spheres alone in front of it.
        """
        there = moves.clear(view, self.extent)
        if not view.orthographic or view.cut or not len(self.giants):
            return there
        free, _ = self._entry(there.pose.eye, view.pivot, self.giant_radii)
        if self.is_clear(there) and free >= 1.0:
            return there
        need = float(np.linalg.norm(view.pivot)) + self.inner
        return moves.at_distance(view, need)

    def turned(self, view: View, before: View) -> View:
        """A view that was turned, with its camera out of every sphere.

        At a giant the turn ends at the surface. From another sphere the camera is pulled in towards
        the pivot (`View.pulled`), unless it was in that one before.
        """
        there = self.uncut(view)
        if not self.is_clear(there):
            there = self._raised(there, self.is_clear)
        return self._pulled(there, before.pose.eye)

    def moved(self, view: View, before: View) -> View:
        """A view whose camera was moved; it slides along a giant instead of entering it.

        A camera that was moved to or from its pivot stops there, and the pivot stays.
        """
        there = self.uncut(view)
        if view.orthographic:
            return there if self.is_clear(there) else self._lifted(there)
        if not len(self.giants) or view.cut:
            return there
        start, goal = before.pose.eye, there.pose.eye
        kept = self._kept(min(_clearance(there), max(self.gap(start), 0.0)))
        if np.array_equal(view.pivot, before.pivot):
            part, _ = self._entry(start, goal, kept)
            eye = start + part * (goal - start)
            there = replace(there, pose=replace(there.pose, eye=eye))
            return there if self.gap(eye) > 0.0 else self._lifted(there)
        return _carried(there, self._slide(start, goal, kept))

    def fitted(self, view: View, fit: Callable[[View], View]) -> View:
        """A view that frames spheres, from where no giant hides them.

        fit: frames them from the side of the view that it is given.
        """

        def good(seen: View) -> bool:
            return self.is_clear(seen) and self.sees_others(seen)

        there = self.uncut(fit(view))
        if good(there):
            return there
        raised = self._raised(moves.about(there, self.middle), good)
        for candidate in _candidates(view, raised):
            there = self.uncut(fit(candidate))
            if good(there):
                return there
        return self._lifted(raised)

    def _kept(self, clearance: float) -> Vector:
        """Distances from the giants' centres that a camera keeps."""
        return self.giant_radii + np.maximum(clearance, ROUNDING * self.giant_radii)

    def _raised(self, view: View, good: Callable[[View], bool]) -> View:
        """Turned up or down about the pivot, by the least angle with which the view is good."""

        def at(angle: float) -> View:
            return self.uncut(moves.orbit(view, 0.0, angle))

        for count in range(1, int(np.pi / STEP) + 2):
            for sign in (1.0, -1.0):
                if not good(at(sign * count * STEP)):
                    continue
                low, high = (count - 1) * STEP, count * STEP
                while high - low > FINEST:
                    middle = (low + high) / 2.0
                    low, high = (low, middle) if good(at(sign * middle)) else (middle, high)
                return at(sign * high)
        return self._lifted(view)

    def _lifted(self, view: View) -> View:
        """Eye and pivot moved straight out of the giants."""
        eye, kept = view.pose.eye, self._kept(_clearance(view)) * (1.0 + 1e-12)
        for _ in range(TRIES):
            offset = eye - self.giants
            away = np.linalg.norm(offset, axis=1)
            deepest = int(np.argmin(away - kept))
            if away[deepest] >= kept[deepest]:
                break
            outward = offset[deepest] / away[deepest] if away[deepest] else view.up
            eye = self.giants[deepest] + outward * kept[deepest] * (1.0 + 1e-12)
        return _carried(view, eye)

    def _slide(self, start: Vector, goal: Vector, kept: Vector) -> Vector:
        """Where a point comes that goes from start towards goal along the giants' surfaces."""
        for _ in range(4):
            part, index = self._entry(start, goal, kept)
            if part >= 1.0:
                return goal
            start, left = start + part * (goal - start), (1.0 - part) * (goal - start)
            outward = start - self.giants[index]
            outward = outward / np.linalg.norm(outward)
            goal = start + left - (left @ outward) * outward
            offset = goal - self.giants[index]
            length = float(np.linalg.norm(offset))
            goal = self.giants[index] + offset * (max(length, kept[index] * (1 + 1e-12)) / length)
        return start

    def _entry(self, start: Vector, goal: Vector, kept: Vector) -> tuple[float, int]:
        """Part of the way at which it first comes too near to a giant, and to which; else 1."""
        step, offset = goal - start, start - self.giants
        a, b = float(step @ step), offset @ step
        c = np.einsum("ij,ij->i", offset, offset) - kept**2
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
        """Which of the others a place is in."""
        if (place < self.low).any() or (place > self.high).any():
            return np.empty(0, np.intp)
        x, y, z, radius = self.others
        px, py, pz = place.astype(np.float32)
        away = np.square(x - px)
        away += np.square(y - py)
        away += np.square(z - pz)
        return np.flatnonzero(away < np.square(radius))

    def _pulled(self, view: View, before: Vector) -> View:
        """With the eye out of the others, on its line to the pivot."""
        if view.orthographic:
            return view
        known = self.inside(before)
        reach = view.pose.eye - view.pivot

        def crossed(part: float) -> tuple[float, float] | None:
            """Where that line enters and leaves the spheres around a place on it."""
            hit = np.setdiff1d(self.inside(view.pivot + part * reach), known)
            if not len(hit):
                return None
            x, y, z, radius = (array[hit].astype(np.float64) for array in self.others)
            offset = view.pivot - np.stack([x, y, z], axis=1)
            a, b = float(reach @ reach), offset @ reach
            c = np.einsum("ij,ij->i", offset, offset) - radius**2
            root = np.sqrt(np.maximum(b * b - a * c, 0.0))
            return float(((-b - root) / a).min()), float(((-b + root) / a).max())

        part = 1.0
        for _ in range(TRIES):
            if (span := crossed(part)) is None:
                return view if part == 1.0 else moves.pulled(view, part)
            part = min(span[0], part) * (1.0 - 1e-3)
            if part < NEAREST_PART:
                break
        part = 1.0
        for _ in range(TRIES):
            if (span := crossed(part)) is None:
                return moves.pulled(view, part)
            part = max(span[1], part) * (1.0 + 1e-3)
        return view


def _clearance(view: View) -> float:
    return CLEARANCE * min(view.distance, 1.0)


def _candidates(view: View, raised: View) -> Iterator[View]:
    """Views from which framing may succeed where it did not from the one that was asked for.

    raised: that one, turned up or down until it did. First this and a little farther, for framing
    moves the camera again; then all around, the nearest directions first, and where the field of
    view is narrow, and the camera far away, with that of a scene.
    """
    up = 1.0 if raised.pose.axes.forward @ view.up < view.pose.axes.forward @ view.up else -1.0
    yield from (moves.orbit(raised, 0.0, up * angle) for angle in FURTHER)
    is_clear = [view.pose]
    if not view.orthographic and view.pose.half < USUAL:
        is_clear.append(replace(view.pose, half=USUAL))
    around = sorted(DIRECTIONS, key=lambda axis: -float(axis @ view.pose.axes.forward))
    for pose in is_clear:
        yield from (moves.along(replace(view, pose=pose), axis) for axis in around)


def _directions(count: int) -> Vector:
    """Unit vectors spread evenly, float64 (count, 3): a Fibonacci lattice."""
    index = np.arange(count) + 0.5
    z, angle = 1.0 - 2.0 * index / count, index * pi * (1.0 + sqrt(5.0))
    across = np.sqrt(1.0 - z * z)
    return np.stack([across * np.cos(angle), across * np.sin(angle), z], axis=1)


DIRECTIONS = _directions(32)
"""From which framing is tried where it does not succeed otherwise."""

USUAL = tan(radians(Camera.vertical_fov) / 2.0)
"""Tangent of half the field of view that scenes have."""


def _carried(view: View, eye: Vector) -> View:
    """With the eye elsewhere, and the pivot carried along."""
    step = eye - view.pose.eye
    return replace(view, pose=replace(view.pose, eye=eye), pivot=view.pivot + step)


def _largest(spheres: Spheres, skipped: NDArray[np.intp]) -> tuple[NDArray[np.float32], ...]:
    """At most `MOST` of the spheres, found in pieces.

    skipped: numbers of spheres that are left out, ascending.
    """
    radius = spheres[3]
    if len(radius) <= MOST and not len(skipped):
        return spheres
    found = np.empty(0, np.intp)
    for start in range(0, len(radius), PIECE):
        rows = slice(start, min(start + PIECE, len(radius)))
        taken = np.ones(rows.stop - start, bool)
        taken[within(skipped, rows)] = False
        if len(found) == MOST:
            taken &= radius[rows] > radius[found].min()
        found = np.concatenate([found, np.flatnonzero(taken) + start])
        if len(found) > MOST:
            found = found[np.argpartition(radius[found], len(found) - MOST)[-MOST:]]
    return tuple(array[found] for array in spheres)
