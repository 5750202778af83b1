"""A camera fitted once, to several frames and all its later directions.

A camera fitted to one frame sees all that is within the cone (or the box) behind its eye. A camera
of the same direction that sees the eyes of several such cameras therefore sees all their spheres.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from math import atan, degrees, hypot, radians, tan
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from raytracer.model import extent
from raytracer.model.camera import Camera
from raytracer.model.scene import Scene
from raytracer.model.simulation_box import to_triple
from raytracer.packing import framing
from raytracer.packing.framing import FULL, Room, Surroundings
from raytracer.packing.pack import bounding_spheres, choose_render_space, to_render_space
from raytracer.packing.pose import aim_camera, fit_camera

Point = NDArray[np.float64]


class FittedView(NamedTuple):
    eye: Point  # (3,)
    half: float  # half the height of the picture of an orthographic camera
    middle: Point  # centre of the frame's spheres, (3,)


def fit(
    scenes: Iterable[tuple[Scene, Point | None, Surroundings]],
    camera: Camera,
    directions: Callable[[Camera], Sequence[Point]],
    aspect: float,
) -> Camera:
    """Return a camera that sees the spheres of all scenes, from all directions.

    scenes: the frames, each with the point that the camera follows, or None, and what its picture
    shows beside spheres. camera: of the scene; one that is not fitted keeps its position.
    directions: returns those from the spheres to the eye, its own first, then those along its path.
    """
    fitted: list[list[FittedView]] = []
    ways: Sequence[Point] = ()
    pivot: Point | None = None
    start, room = camera, FULL
    for scene, point, around in scenes:
        sets = bounding_spheres(scene)
        space = choose_render_space(sets)
        spheres = to_render_space(sets, space)
        if not ways:
            start = aim_camera(camera, spheres, space)
            if not start.fit:
                return _apply_zoom(start)
            ways = directions(start)
            fitted = [[] for _ in ways]
            pivot = point
            if point is None and start.look_at is not None and start.position is None:
                pivot = np.array(start.look_at, np.float64)
        center = np.asarray(space.center, np.float64)
        middle = extent.find_center(spheres) * space.scale + center if sets else center
        if len(ways) > 1 or pivot is not None:  # the centre stays in the middle of the picture
            around = replace(around, room=_symmetric_room(around.room))
        room = Room(*map(max, room, around.room))
        moved = np.zeros(3) if point is None or pivot is None else point - pivot
        for each, way in zip(fitted, ways, strict=True):
            turned = replace(start, position=None, look_at=None, direction=to_triple(way), zoom=1.0)
            stand = fit_camera(turned, spheres, space, aspect, around)[0]
            eye = stand.eye * space.scale + center - moved
            each.append(FittedView(eye, stand.half * space.scale, middle - moved))
    if len(ways) == 1 and pivot is None:
        return _apply_zoom(_fit_one_direction(fitted[0], start, ways[0], aspect, room))
    if pivot is None:
        pivot = np.mean([each.middle for frames in fitted for each in frames], axis=0)
    return _apply_zoom(
        _fit_all_directions(fitted, start, ways, aspect, pivot, _symmetric_room(room))
    )


def _symmetric_room(room: Room) -> Room:
    """Return margins that keep the centre in the middle of the picture."""
    across, above = max(room.left, room.right), max(room.bottom, room.top)
    return Room(across, across, above, above)


def _apply_zoom(camera: Camera) -> Camera:
    """Convert the zoom of a camera to a smaller field of view or height."""
    if camera.zoom == 1.0:
        return camera
    if camera.height is not None:
        return replace(camera, height=camera.height / camera.zoom, zoom=1.0)
    angle = 2.0 * degrees(atan(tan(radians(camera.vertical_fov) / 2.0) / camera.zoom))
    return replace(camera, vertical_fov=angle, zoom=1.0)


def _fit_one_direction(
    fitted: list[FittedView], camera: Camera, direction: Point, aspect: float, room: Room
) -> Camera:
    """Return the camera of one direction that sees all eyes, with margins."""
    axes = framing.view_basis(direction, np.array(camera.upward, np.float64))
    middle = np.mean([each.middle for each in fitted], axis=0)
    eyes = np.array([each.eye for each in fitted])
    across, above, along = eyes @ axes.right, eyes @ axes.up, eyes @ -axes.forward
    if camera.type == "orthographic":
        halves = np.array([each.half for each in fitted])
        x, wide = _interval(across, halves * aspect, room.left, room.right)
        y, high = _interval(above, halves, room.bottom, room.top)
        half = max(high, wide / aspect)
        x, y = x - half * aspect * (room.left - room.right), y - half * (room.bottom - room.top)
        eye = x * axes.right + y * axes.up
        eye = eye - along.max() * axes.forward
        return _camera(camera, eye, _ahead(eye, middle, axes), half)
    tangent = tan(radians(camera.vertical_fov) / 2.0)
    x, depth_x = _apex(across, along, tangent * aspect, room.left, room.right)
    y, depth_y = _apex(above, along, tangent, room.bottom, room.top)
    eye = x * axes.right + y * axes.up - max(depth_x, depth_y) * axes.forward
    return _camera(camera, eye, _ahead(eye, middle, axes), 0.0)


def _interval(
    middles: NDArray[np.float64], halves: NDArray[np.float64], low: float, high: float
) -> tuple[float, float]:
    """Return the middle of what pictures show without margins, and half the picture."""
    end = (middles + halves * (1.0 - 2.0 * high)).max()
    begin = (middles - halves * (1.0 - 2.0 * low)).min()
    return (end + begin) / 2.0, (end - begin) / 2.0 / (1.0 - low - high)


def _apex(
    side: NDArray[np.float64], along: NDArray[np.float64], tangent: float, low: float, high: float
) -> Point:
    """Return position and depth of the apex of the narrowest wedge around points."""
    right = (side + along * (tangent * (1.0 - 2.0 * high))).max()
    left = (side - along * (tangent * (1.0 - 2.0 * low))).min()
    depth = (right - left) / 2.0 / (tangent * (1.0 - low - high))
    return np.array([(right + left) / 2.0 - depth * tangent * (low - high), depth])


def _fit_all_directions(
    fitted: list[list[FittedView]],
    camera: Camera,
    directions: Sequence[Point],
    aspect: float,
    pivot: Point,
    room: Room,
) -> Camera:
    """Return the camera that looks at a point and sees all spheres from all directions."""
    tangent = tan(radians(camera.vertical_fov) / 2.0)
    distance = half = 0.0
    for frames, direction in zip(fitted, directions, strict=True):
        axes = framing.view_basis(direction, np.array(camera.upward, np.float64))
        for each in frames:
            way = each.eye - pivot
            x, y, along = abs(way @ axes.right), abs(way @ axes.up), float(way @ -axes.forward)
            x, y = x / (1.0 - 2.0 * room.right), y / (1.0 - 2.0 * room.top)
            if camera.type == "orthographic":
                half = max(half, float(y) + each.half, float(x) / aspect + each.half)
                distance = max(distance, along)
            else:
                distance = max(distance, along + max(float(x) / aspect, float(y)) / tangent)
    back = directions[0] / hypot(*directions[0])
    return _camera(camera, pivot + back * distance, pivot, half)


def _ahead(eye: Point, middle: Point, axes: framing.Basis) -> Point:
    """Return the point on the axis of a view at the depth of the spheres' centre."""
    depth = float((middle - eye) @ axes.forward)
    return eye + axes.forward * max(depth, 1e-3 * hypot(*(middle - eye)) or 1.0)


def _camera(camera: Camera, eye: Point, target: Point, half: float) -> Camera:
    height = 2.0 * half if camera.type == "orthographic" else None
    return replace(
        camera, position=to_triple(eye), look_at=to_triple(target), height=height, fit=False,
        direction=None,
    )  # fmt: skip
