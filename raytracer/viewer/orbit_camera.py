"""The camera of a window and its movements, in float64 and render space.

It orbits about a pivot in front of it like a turntable: the scene's up stays up, without roll.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import acos, atan, cos, degrees, exp, pi, radians, sin, tan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.model.camera import Camera
from raytracer.model.extent import Subject, bounding_ball, find_center, find_giants
from raytracer.model.render_space import Space
from raytracer.model.simulation_box import to_triple
from raytracer.packing import framing
from raytracer.packing.buffers import SceneBuffers
from raytracer.packing.pose import Pose, aim_camera, fit_camera, pose_at_origin

Vector = NDArray[np.float64]

POLE = 1e-3  # least angle between the view of an orbit and `up`, in radians

MIN_HALF, MAX_HALF = tan(radians(0.5) / 2.0), tan(radians(150.0) / 2.0)
"""Tangents of half the least and largest vertical field of view of a zoom."""

MAX_REACH = 64.0  # distance from which spheres may be clipped; most are within about 1
MIN_DISTANCE = 1e-6  # of eye and pivot in render space: the precision of float32 near 1
MAX_DISTANCE = 2.0**20  # and half height of an orthographic picture: all spheres are then a dot
STEP = radians(5.0)  # between the directions of a search for a free one
MIN_HEIGHT = 1e-6  # of a camera above a giant, relative to its radius: the precision of float32
MAX_FOLDS = 50.0  # most e-foldings of distance or field of view per movement

WHOLE = 1.0  # half height, in render space, of a picture that shows most spheres
SPHERE_SHARE = 0.3  # fraction of the picture's height that a sphere covers after `center_sphere`


@dataclass(frozen=True, eq=False)
class OrbitCamera:
    """A camera with the point that it orbits."""

    pose: Pose  # eye, axes and size of the camera
    pivot: Vector  # the point, anywhere in the picture, float64 (3,)
    up: Vector  # unit vector that stays up, float64 (3,)
    # Whether it shows all spheres, and is refitted when the window is resized.
    fits_all: bool = False
    fit: bool | str | None = True  # which spheres fitting includes; see `Camera.fit`

    @property
    def distance(self) -> float:
        """Distance of the pivot along the view."""
        ahead = float((self.pivot - self.pose.eye) @ self.pose.axes.forward)
        return max(ahead, MIN_DISTANCE)

    @property
    def orthographic(self) -> bool:
        return self.pose.kind == "orthographic"

    @property
    def half_height(self) -> float:
        """Half the height of the picture at the pivot."""
        return self.pose.half if self.orthographic else self.pose.half * self.distance


def make_initial_view(
    camera: Camera | None,
    buffers: SceneBuffers,
    aspect: float,
    around: framing.Surroundings = framing.NOTHING,
) -> OrbitCamera:
    """Return the view of a scene's camera, None for the default one, in a picture of this aspect.

    around: what a fitted camera shows beside the spheres.
    """
    camera = camera or Camera()
    space = buffers.space
    camera = aim_camera(camera, buffers.balls, space)
    up = np.asarray(camera.upward, np.float64)
    up = up / np.linalg.norm(up)
    is_fitted = camera.fit or camera.position is None
    target = camera.look_at if camera.position is None else None
    if is_fitted and target is None and camera.zoom == 1.0:
        pose = pose_at_origin(camera, space)
        view = OrbitCamera(pose, np.zeros(3), up, fit=camera.fit)
        return fit_all(view, buffers, aspect, around=around)
    pose = fit_camera(camera, buffers.balls, space, aspect, around)[0]
    if is_fitted:
        pivot = space.point(target) if target else find_center(buffers.balls)
        return OrbitCamera(pose, pivot, up, fit=camera.fit)
    distance = float(np.linalg.norm(camera.backward())) / buffers.space.scale
    return OrbitCamera(pose, pose.eye + pose.axes.forward * distance, up)


def orbit(view: OrbitCamera, right: float, up: float) -> OrbitCamera:
    """Orbit about the pivot, in radians."""
    forward = view.pose.axes.forward
    angle = acos(min(max(float(forward @ view.up), -1.0), 1.0))  # 0: straight up
    turn = min(max(angle + up, min(angle, POLE)), max(angle, pi - POLE)) - angle
    matrix = make_rotation(view.up, right) @ make_rotation(view.pose.axes.right, -turn)
    axes = framing.Basis(*(np.array(view.pose.axes) @ matrix.T))
    if _is_roll_defined(axes.forward, view.up):  # remove the roll of rounding errors
        axes = framing.view_basis(-axes.forward, view.up)
    return _with_axes(view, axes)


def look_along(view: OrbitCamera, axis: Sequence[float]) -> OrbitCamera:
    """Look along a direction of the scene, at the same pivot.

    If `up` is parallel to it, the direction away from the viewer of a front view is up.
    """
    backward = -np.asarray(axis, np.float64)
    up = view.up
    if not _is_roll_defined(backward, up):
        across = np.eye(3)[0 if abs(up[0]) < 0.9 else 1]
        up = np.cross(up, across) * float(np.sign(backward @ up))
    return _with_axes(view, framing.view_basis(backward, up))


def pan(view: OrbitCamera, right: float, up: float) -> OrbitCamera:
    """Move camera and pivot sideways, in heights of the picture."""
    axes, height = view.pose.axes, 2.0 * view.half_height
    step = (right * axes.right + up * axes.up) * height
    pose = replace(view.pose, eye=view.pose.eye + step)
    return replace(view, pose=pose, pivot=view.pivot + step, fits_all=False)


def limited_exp(amount: float) -> float:
    """Return e to the power of a movement's e-foldings, within limits."""
    return exp(min(max(amount, -MAX_FOLDS), MAX_FOLDS))


def dolly(view: OrbitCamera, factor: float) -> OrbitCamera:
    """Multiply the distance to the pivot, or scale an orthographic picture."""
    if view.orthographic:
        half = _scale_within(view.pose.half, factor, MIN_DISTANCE, MAX_DISTANCE)
        return replace(view, pose=replace(view.pose, half=half), fits_all=False)
    factor = _scale_within(view.distance, factor, MIN_DISTANCE, MAX_DISTANCE) / view.distance
    eye = view.pivot + (view.pose.eye - view.pivot) * factor
    return replace(view, pose=replace(view.pose, eye=eye), fits_all=False)


def zoom(view: OrbitCamera, factor: float) -> OrbitCamera:
    """Multiply the tangent of half the field of view; the eye stays."""
    if view.orthographic:
        return dolly(view, factor)
    half = _scale_within(view.pose.half, factor, MIN_HALF, MAX_HALF)
    return replace(view, pose=replace(view.pose, half=half), fits_all=False)


def toggle_projection(view: OrbitCamera, fov: float = Camera.vertical_fov) -> OrbitCamera:
    """Switch between perspective and orthographic; the size at the pivot stays."""
    if view.orthographic:
        half = tan(radians(fov) / 2.0)
        distance = max(view.pose.half / half, MIN_DISTANCE)
        eye = view.pose.eye + view.pose.axes.forward * (view.distance - distance)
        pose = replace(view.pose, kind="perspective", eye=eye, half=half, outliers=None)
        return OrbitCamera(pose, view.pivot, view.up)
    pose = replace(view.pose, kind="orthographic", half=view.half_height, outliers=None)
    return replace(view, pose=pose, fits_all=False)


def move_back(view: OrbitCamera, extent: float) -> OrbitCamera:
    """Move an orthographic camera back until nothing is behind it; the picture does not change."""
    need = float(np.linalg.norm(view.pivot)) + extent
    if not view.orthographic or view.distance >= need:
        return view
    eye = view.pose.eye - view.pose.axes.forward * (need - view.distance)
    return replace(view, pose=replace(view.pose, eye=eye))


def fit_all(
    view: OrbitCamera,
    buffers: SceneBuffers,
    aspect: float,
    whole: bool = True,
    around: framing.Surroundings = framing.NOTHING,
) -> OrbitCamera:
    """Fit the ball around all spheres from the same direction; the pivot is its centre.

    The spheres stay in the picture while the camera turns.
    """
    skipped = None if whole else find_giants(buffers.placed)
    ball = bounding_ball(Subject(buffers.balls, view.fit, skipped, around.points(buffers.space)))
    eye, half, _ = framing.fit_subject(
        view.pose.kind, Subject(ball), view.pose.axes, view.pose.half, aspect, around.room
    )
    pose = replace(view.pose, eye=eye, half=half, outliers=None)
    pivot = np.concatenate(ball[:3]).astype(np.float64)
    whole = skipped is None or len(skipped) == 0
    return OrbitCamera(pose, pivot, view.up, fits_all=whole, fit=view.fit)


def center_sphere(view: OrbitCamera, center: Vector, radius: float) -> OrbitCamera:
    """Centre a sphere; its centre becomes the pivot."""
    return _center_at(view, center, radius / SPHERE_SHARE, 1.5 * radius)


def center_point(view: OrbitCamera, point: Vector) -> OrbitCamera:
    """Centre a point of a giant, which becomes the pivot.

    The picture then shows half of its former height there, at most the extent of most spheres.
    """
    ahead = max(float((point - view.pose.eye) @ view.pose.axes.forward), MIN_DISTANCE)
    half = min(0.5 * view.pose.half * (1.0 if view.orthographic else ahead), WHOLE)
    return _center_at(view, point, half, MIN_DISTANCE)


def _center_at(view: OrbitCamera, point: Vector, half: float, least: float) -> OrbitCamera:
    """Put a point into the middle of a picture with half a height there, from a least distance."""
    pose, distance = view.pose, view.distance
    if view.orthographic:
        pose = replace(pose, half=half)
    else:
        distance = max(half / pose.half, least)
    eye = point - pose.axes.forward * distance
    return OrbitCamera(replace(pose, eye=eye), point, view.up)


def make_camera(view: OrbitCamera, buffers: SceneBuffers) -> Camera:
    """Return the view as a camera in scene units."""
    center, scale = buffers.space
    axes = view.pose.axes
    level = abs(float(axes.right @ view.up)) < 1e-6 and abs(float(axes.forward @ view.up)) < 0.999
    size: dict[str, Any] = {"vertical_fov": degrees(2.0 * atan(view.pose.half))}
    if view.orthographic:
        size = {"height": 2.0 * view.pose.half * scale}
    elif view.pose.aperture:
        focus = np.zeros(3) if view.pose.focus is None else view.pose.focus
        size |= {"aperture": view.pose.aperture, "focus": to_triple(focus * scale + center)}
    return Camera(
        position=to_triple(view.pose.eye * scale + center),
        look_at=to_triple((view.pose.eye + axes.forward * view.distance) * scale + center),
        up=to_triple(view.up if level else axes.up),
        type=view.pose.kind,
        **size,
    )


def change_space(view: OrbitCamera, old: Space, new: Space) -> OrbitCamera:
    """Return the same view in the render space of another scene."""

    def carried(place: Vector) -> Vector:
        moved: Vector = (place * old.scale + np.subtract(old.center, new.center)) / new.scale
        return moved

    focus = None if view.pose.focus is None else carried(view.pose.focus)
    half = view.pose.half * old.scale / new.scale if view.orthographic else view.pose.half
    pose = replace(view.pose, eye=carried(view.pose.eye), half=half, focus=focus)
    return replace(view, pose=pose, pivot=carried(view.pivot))


def project_points(
    view: OrbitCamera, points: Vector, aspect: float
) -> tuple[Vector, NDArray[np.bool_]]:
    """Project points, float64 (N, 3), render space, to the picture.

    Returns x to the right and y up in -1..1, float64 (N, 2), and whether each point is in front of
    the camera, bool (N,).
    """
    axes, offset = view.pose.axes, points - view.pose.eye
    depth = offset @ axes.forward
    size = np.full_like(depth, view.pose.half) if view.orthographic else depth * view.pose.half
    ahead = depth > 0.0
    size = np.where(ahead, size, 1.0)
    x = offset @ axes.right / (size * aspect)
    return np.stack([x, offset @ axes.up / size], axis=1), ahead


def _with_axes(view: OrbitCamera, axes: framing.Basis) -> OrbitCamera:
    """Replace the axes; the pivot keeps its position in the picture."""
    offset = np.array(view.pose.axes) @ (view.pose.eye - view.pivot)
    eye = view.pivot + offset @ np.array(axes)
    return replace(view, pose=replace(view.pose, eye=eye, axes=axes))


def _scale_within(value: float, factor: float, low: float, high: float) -> float:
    """Multiply within bounds; an initial value beyond them stays possible."""
    return min(max(value * factor, min(value, low)), max(value, high))


def _is_roll_defined(forward: Vector, up: Vector) -> bool:
    """Return whether `up` defines the roll: the view is not along it."""
    return abs(float(forward @ up)) <= cos(0.5 * POLE)


def make_rotation(axis: Vector, angle: float) -> NDArray[np.float64]:
    """Return the rotation matrix (3, 3) about a unit axis, in radians (Rodrigues' formula)."""
    c, (x, y, z) = cos(angle), (axis * sin(angle)).tolist()
    turn = np.array(((c, -z, y), (z, c, -x), (-y, x, c)))
    return turn + (1.0 - c) * np.outer(axis, axis)


@dataclass(frozen=True, eq=False)
class LargeSpheres:
    """The giants of a packed scene, in render space, without those around the scene's camera.

    A giant is a sphere such as a ball that serves as the ground. The camera stays outside of them;
    it may enter other spheres.
    """

    centers: Vector  # float64 (G, 3)
    radii: Vector  # float64 (G,)
    extent: float  # radius around the origin that contains all other spheres

    @classmethod
    def of(cls, buffers: SceneBuffers, camera: Camera | None) -> "LargeSpheres":
        large = find_giants(buffers.placed)
        x, y, z, radius = (array[large].astype(np.float64) for array in buffers.balls)
        extent = 1.0
        if buffers.count:
            low, high = Subject(buffers.balls, "all", large).box()
            extent = min(float(np.linalg.norm(np.maximum(-low, high))), MAX_REACH)
        found = cls(np.stack([x, y, z], axis=1), radius, extent)
        if camera is None or camera.position is None or camera.fit:
            return found
        outside = ~found._find_around(buffers.space.point(camera.position))
        return replace(found, centers=found.centers[outside], radii=radius[outside])

    def keep_outside(self, view: OrbitCamera, before: OrbitCamera) -> OrbitCamera:
        """Return a view, or the previous one if the camera would enter a giant; in a giant it may
        move. An orthographic camera moves back until it clips no other spheres."""
        there = move_back(view, self.extent)
        return there if self._is_outside(there) or not self._is_outside(before) else before

    def fit_unhidden(
        self, view: OrbitCamera, fit: Callable[[OrbitCamera], OrbitCamera]
    ) -> OrbitCamera:
        """Fit spheres into the picture, from the nearest direction in which no giant hides them."""
        for number in range(int(2.0 * pi / STEP)):
            angle = STEP * ((number + 1) // 2) * (-1.0 if number % 2 else 1.0)
            there = move_back(fit(orbit(view, 0.0, angle)), self.extent)
            if (
                self._is_outside(there)
                and not self._find_between(there.pose.eye, there.pivot).any()
            ):
                return there
        return view

    def _is_outside(self, view: OrbitCamera) -> bool:
        return not self._find_around(view.pose.eye).any()

    def _find_around(self, eye: Vector) -> NDArray[np.bool_]:
        """Return which giants contain a point, bool (G,)."""
        away = np.linalg.norm(self.centers - eye, axis=1)
        return np.asarray(away < self.radii * (1.0 + MIN_HEIGHT))

    def _find_between(self, eye: Vector, point: Vector) -> NDArray[np.bool_]:
        """Return which giants are between two points outside of them, bool (G,)."""
        step, offset = point - eye, eye - self.centers
        along = np.clip(-(offset @ step) / max(float(step @ step), 1e-30), 0.0, 1.0)
        nearest = np.linalg.norm(offset + along[:, None] * step, axis=1)
        return np.asarray((nearest < self.radii) & ~self._find_around(point))
