"""The camera of a window and how it is moved: arithmetic in float64, in render space.

It turns about a pivot in front of it like a turntable: the scene's up stays up, no roll comes in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import acos, atan, cos, degrees, exp, pi, radians, sqrt, tan
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from raytracer.scene import fit
from raytracer.scene.arrays import blocks
from raytracer.scene.looks import Camera
from raytracer.scene.placing import Space
from raytracer.scene.pose import Pose, aimed
from raytracer.scene.pose import pose as pose_of
from raytracer.viewer.vectors import Vector, cross, rotation, triple

if TYPE_CHECKING:
    from raytracer.buffers import SceneBuffers

POLE = 1e-3
"""Radians that an orbit stays away from looking straight along `up`."""

NARROWEST, WIDEST = tan(radians(0.5) / 2.0), tan(radians(150.0) / 2.0)
"""Tangents of half the vertical fields of view between which one zooms."""

FARTHEST = 64.0
"""Render space has its spheres within about 1; what lies beyond this may be cut off."""

NEAREST = 1e-6
"""Smallest distance of eye and pivot in render space: float32 has no finer place near 1."""

REMOTEST = 2.0**20
"""Largest one, and half height of an orthographic picture: all spheres are a dot then."""

GIANT = fit.GIANT

WHOLE = 1.0
"""Half the height of a picture in render space that shows about as much as most spheres take."""

SPHERE_SHARE = 0.3
"""Part of the picture's height that a sphere takes after `to_sphere`."""


@dataclass(frozen=True, eq=False)
class View:
    """A camera with the point that it turns about.

    stand: where it is. pivot: the point, anywhere in the picture. up: unit, what stays up.
    framed: whether it still shows all spheres as a fitted camera does, and so follows the shape of
        the window.
    cut: whether an orthographic camera stands among the spheres, to show a section.
    pulled: factor of the eye's distance to the pivot while a sphere is where turning leads it.
    everything: whether the scene's camera frames spheres that are far from all others too.
    """

    pose: Pose
    pivot: Vector
    up: Vector
    framed: bool = False
    cut: bool = False
    pulled: float = 1.0
    everything: bool = False

    @property
    def distance(self) -> float:
        """How far along the view the pivot is."""
        ahead = float((self.pivot - self.pose.eye) @ self.pose.axes.forward)
        return max(ahead, NEAREST)

    @property
    def orthographic(self) -> bool:
        """Whether it is orthographic."""
        return self.pose.kind == "orthographic"

    @property
    def half_height(self) -> float:
        """Half of the height that the picture has at the pivot."""
        return self.pose.half if self.orthographic else self.pose.half * self.distance


def first(camera: Camera | None, buffers: SceneBuffers, aspect: float) -> View:
    """The view of a scene's camera; see `pose` for the arguments."""
    camera = camera or Camera()
    camera = aimed(camera, spheres_of(buffers), space_of(buffers))
    pose = pose_of(camera, spheres_of(buffers), space_of(buffers), aspect)
    up = np.asarray(camera.up, np.float64)
    up = up / np.linalg.norm(up)
    if camera.fit or camera.position is None:
        return View(pose, np.zeros(3), up, framed=True, everything=camera.fit == "all")
    distance = float(np.linalg.norm(camera.backward())) / buffers.scale
    pivot = pose.eye + pose.axes.forward * distance
    inside = bool(np.linalg.norm(pose.eye) < reach(buffers))
    return View(pose, pivot, up, cut=inside and pose.kind == "orthographic")


def spheres_of(buffers: SceneBuffers) -> fit.Spheres:
    """The arrays that framing needs."""
    return buffers.x, buffers.y, buffers.z, buffers.radius


def space_of(buffers: SceneBuffers) -> Space:
    """Render space."""
    x, y, z = (float(v) for v in buffers.center)
    return Space((x, y, z), buffers.scale)


def reach(buffers: SceneBuffers) -> float:
    """How far the spheres go from the middle of render space, at most `FARTHEST`."""
    if buffers.count == 0:
        return 1.0
    low, high = bounds(spheres_of(buffers), np.empty(0, np.intp))
    corner = np.maximum(-low, high)
    return min(float(np.linalg.norm(corner)), FARTHEST)


def bounds(spheres: fit.Spheres, skipped: NDArray[np.intp]) -> tuple[Vector, Vector]:
    """Corners of the box around spheres, block by block; of a unit ball if there are none.

    skipped: numbers of spheres that are left out, ascending.
    """
    *axes, radius = spheres
    if len(radius) == len(skipped):
        return np.full(3, -1.0 / sqrt(3.0)), np.full(3, 1.0 / sqrt(3.0))
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for rows in blocks(len(radius)):
        r = radius[rows]
        if len(hidden := fit.within(skipped, rows)):
            r = r.copy()
            r[hidden] = -np.inf
        low = np.minimum(low, [(axis[rows] - r).min() for axis in axes])
        high = np.maximum(high, [(axis[rows] + r).max() for axis in axes])
    return low, high


def orbit(view: View, right: float, up: float) -> View:
    """Turn the camera about its pivot, at the distance that it has if nothing is in the way.

    right, up: radians that the eye moves to its right and up.
    """
    view = pulled(view, 1.0)
    forward = view.pose.axes.forward
    angle = acos(min(max(float(forward @ view.up), -1.0), 1.0))  # 0: looks straight up
    turn = min(max(angle + up, min(angle, POLE)), max(angle, pi - POLE)) - angle
    axes = view.pose.axes
    matrix = rotation(view.up, right) @ rotation(axes.right, -turn)
    turned = fit.Basis(matrix @ axes.right, matrix @ axes.up, matrix @ forward)
    return _turned(view, _level(turned, view.up))


def along(view: View, axis: Sequence[float]) -> View:
    """Look along a direction of the scene at the same pivot.

    axis: unit, towards which the camera looks. Where `up` is parallel to it, what is away from the
    viewer in a view from the front is up.
    """
    view = pulled(view, 1.0)
    backward = -np.asarray(axis, np.float64)
    up = view.up
    if not _levels(backward, up):
        across = np.eye(3)[0 if abs(up[0]) < 0.9 else 1]
        up = np.cross(up, across) * float(np.sign(backward @ up))
    return _turned(view, fit.basis(backward, up))


def pan(view: View, right: float, up: float) -> View:
    """Move camera and pivot sideways, in heights of the picture."""
    axes, height = view.pose.axes, 2.0 * view.half_height
    return _moved(view, (right * axes.right + up * axes.up) * height)


def fly(view: View, forward: float) -> View:
    """Move camera and pivot along the view, in heights of the picture.

    Of an orthographic picture only the section of a `cut` shows such a move; others are enlarged.
    """
    if view.orthographic and not view.cut:
        return dolly(view, exp(-forward))
    return _moved(view, 2.0 * view.half_height * forward * view.pose.axes.forward)


def dolly(view: View, factor: float) -> View:
    """Bring the camera nearer to its pivot (factor below 1) or away from it.

    An orthographic picture becomes smaller or larger instead.
    """
    if view.orthographic:
        half = _scaled(view.pose.half, factor, NEAREST, REMOTEST)
        return replace(view, pose=replace(view.pose, half=half), framed=False)
    factor = _scaled(view.distance, factor, NEAREST, REMOTEST) / view.distance
    eye = view.pivot + (view.pose.eye - view.pivot) * factor
    return replace(view, pose=replace(view.pose, eye=eye), framed=False, pulled=1.0)


def pulled(view: View, factor: float) -> View:
    """Bring the eye nearer to the pivot because of something in its way; 1 undoes that."""
    if factor == view.pulled:
        return view
    eye = view.pivot + (view.pose.eye - view.pivot) * (factor / view.pulled)
    return replace(view, pose=replace(view.pose, eye=eye), pulled=factor)


def about(view: View, pivot: Vector) -> View:
    """The same view with another pivot, anywhere in front of it."""
    return replace(view, pivot=pivot, framed=False, pulled=1.0)


def zoom(view: View, factor: float) -> View:
    """Widen the field of view (factor above 1) or narrow it, from the same place."""
    if view.orthographic:
        return dolly(view, factor)
    half = _scaled(view.pose.half, factor, NARROWEST, WIDEST)
    return replace(view, pose=replace(view.pose, half=half), framed=False)


def toggle(view: View, extent: float, fov: float = Camera.vertical_fov) -> View:
    """Change between perspective and orthographic; what is at the pivot keeps its size.

    extent: see `reach`. fov: vertical, in degrees, of a perspective that is new.
    """
    if view.orthographic:
        half = tan(radians(fov) / 2.0)
        distance = max(view.pose.half / half, NEAREST)
        eye = view.pose.eye + view.pose.axes.forward * (view.distance - distance)
        return View(Pose("perspective", eye, view.pose.axes, half), view.pivot, view.up)
    pose = Pose("orthographic", view.pose.eye, view.pose.axes, view.half_height)
    return clear(replace(view, pose=pose, framed=False, cut=False, pulled=1.0), extent)


def clear(view: View, extent: float) -> View:
    """Move an orthographic camera back until nothing is behind it; the picture stays the same."""
    need = float(np.linalg.norm(view.pivot)) + extent
    if not view.orthographic or view.cut or view.distance >= need:
        return view
    return at_distance(view, need)


def at_distance(view: View, distance: float) -> View:
    """At another distance from the pivot along the view; an orthographic picture stays the same."""
    eye = view.pose.eye - view.pose.axes.forward * (distance - view.distance)
    return replace(view, pose=replace(view.pose, eye=eye))


def to_all(view: View, buffers: SceneBuffers, aspect: float, whole: bool = True) -> View:
    """Show every sphere, from the same side.

    whole: False leaves giants out; such a view is not `framed` as a fitted camera is.
    """
    axes, half = view.pose.axes, view.pose.half
    spheres = spheres_of(buffers)
    skipped = None if whole else fit.giants(buffers.radius)
    if view.orthographic:
        eye, half, _ = fit.orthographic(spheres, axes, aspect, view.everything, skipped)
    else:
        eye, _ = fit.perspective(spheres, axes, half, aspect, view.everything, skipped)
    pose = Pose(view.pose.kind, eye, axes, half)
    whole = skipped is None or len(skipped) == 0
    return View(pose, np.zeros(3), view.up, framed=whole, everything=view.everything)


def to_sphere(view: View, center: Vector, radius: float) -> View:
    """Put a sphere into the middle of the picture; it becomes the pivot."""
    half = radius / SPHERE_SHARE
    if view.orthographic:
        pose = replace(view.pose, half=half)
        distance = view.distance
    else:
        pose, distance = view.pose, max(half / view.pose.half, 1.5 * radius)
    eye = center - pose.axes.forward * distance
    return View(replace(pose, eye=eye), center, view.up)


def to_point(view: View, point: Vector) -> View:
    """Put a point of a giant into the middle of the picture; it becomes the pivot.

    The picture then shows half of what it showed there, and no more than most spheres take.
    """
    pose = view.pose
    ahead = max(float((point - pose.eye) @ pose.axes.forward), NEAREST)
    half = min(0.5 * pose.half * (1.0 if view.orthographic else ahead), WHOLE)
    if view.orthographic:
        pose, distance = replace(pose, half=half), view.distance
    else:
        distance = max(half / pose.half, NEAREST)
    eye = point - pose.axes.forward * distance
    return View(replace(pose, eye=eye), point, view.up)


def camera_of(view: View, buffers: SceneBuffers) -> Camera:
    """The view as a camera for a scene, in scene units."""
    scale, center = buffers.scale, buffers.center
    axes = view.pose.axes
    level = abs(float(axes.right @ view.up)) < 1e-6 and abs(float(axes.forward @ view.up)) < 0.999
    size: dict[str, Any] = {"vertical_fov": degrees(2.0 * atan(view.pose.half))}
    if view.orthographic:
        size = {"height": 2.0 * view.pose.half * scale}
    return Camera(
        position=triple(view.pose.eye * scale + center),
        look_at=triple((view.pose.eye + axes.forward * view.distance) * scale + center),
        up=triple(view.up if level else axes.up),
        type=view.pose.kind,
        **size,
    )


def carried(view: View, old: SceneBuffers, new: SceneBuffers) -> View:
    """The same view in the render space of another scene."""
    ratio = old.scale / new.scale
    eye, pivot = (
        (place * old.scale + old.center - new.center) / new.scale
        for place in (view.pose.eye, view.pivot)
    )
    half = view.pose.half * ratio if view.orthographic else view.pose.half
    pose = replace(view.pose, eye=eye, half=half)
    return replace(view, pose=pose, pivot=pivot)


def project(view: View, points: Vector, aspect: float) -> tuple[Vector, NDArray[np.bool_]]:
    """Where points lie in the picture.

    points: float64 (N, 3), render space.
    Returns x to the right and y up in -1..1, (N, 2), and which points are in front of the camera.
    """
    axes, offset = view.pose.axes, points - view.pose.eye
    depth = offset @ axes.forward
    size = np.full_like(depth, view.pose.half) if view.orthographic else depth * view.pose.half
    ahead = depth > 0.0
    size = np.where(ahead, size, 1.0)
    x = offset @ axes.right / (size * aspect)
    return np.stack([x, offset @ axes.up / size], axis=1), ahead


def _turned(view: View, axes: fit.Basis) -> View:
    """With other axes, and the pivot at the same place in the picture."""
    old, offset = view.pose.axes, view.pose.eye - view.pivot
    eye = view.pivot + (
        (offset @ old.right) * axes.right
        + (offset @ old.up) * axes.up
        + (offset @ old.forward) * axes.forward
    )
    return replace(view, pose=replace(view.pose, eye=eye, axes=axes), framed=False)


def _moved(view: View, step: Vector) -> View:
    pose = replace(view.pose, eye=view.pose.eye + step)
    return replace(view, pose=pose, pivot=view.pivot + step, framed=False, pulled=1.0)


def _level(axes: fit.Basis, up: Vector) -> fit.Basis:
    """The same view without the roll of rounding, unless it looks along `up`."""
    if not _levels(axes.forward, up):
        return axes
    forward = axes.forward / sqrt(float(axes.forward @ axes.forward))
    right = cross(forward, up)
    right /= sqrt(float(right @ right))
    return fit.Basis(right, cross(right, forward), forward)


def _scaled(value: float, factor: float, low: float, high: float) -> float:
    """A value times a factor between bounds; a scene's own value may be beyond them."""
    return min(max(value * factor, min(value, low)), max(value, high))


def _levels(forward: Vector, up: Vector) -> bool:
    """Whether `up` says how to hold the camera: it does not look along it."""
    return abs(float(forward @ up)) <= cos(0.5 * POLE)
