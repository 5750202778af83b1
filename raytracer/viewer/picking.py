"""Picked spheres: clicks, descriptions and measurements."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import acos, atan2, degrees

import numpy as np

from raytracer.scene.describe import describe
from raytracer.scene.extent import GIANT_RADIUS
from raytracer.viewer import view
from raytracer.viewer.actions import action
from raytracer.viewer.content import center_of, ids_of
from raytracer.viewer.loaded_scene import Hit, LoadedScene
from raytracer.viewer.messages import Message, Picked
from raytracer.viewer.state import ViewerState
from raytracer.viewer.view import Vector

PICK_RADIUS = 4  # pixels at 96 dots per inch by which a click may miss a sphere
MAX_PICKS = 4  # most picks: four define a dihedral angle


@action()
def pick(
    viewer: ViewerState, x: int, y: int, go: bool = False, add: bool = False,
    reach: int = PICK_RADIUS,
) -> None:  # fmt: skip
    """Pick the sphere at a pixel, or the nearest one; the result is a message.

    go: centre it too. add: keep earlier picks. reach: pixels by which the click may miss.
    """
    width, height = viewer.size
    if not (0 <= x < width and 0 <= y < height):
        return
    scene, buffers = viewer.loaded_scene, viewer.buffers

    def task() -> Callable[[], Message]:
        shown, seen = scene, buffers
        if scene.closed and (current := viewer.worker.current) is not None:  # it was replaced
            shown, seen = current.loaded_scene, current.buffers
        return partial(_picked, shown, shown.hit(seen, x, y, reach), go, add)

    viewer.worker.run_task(task)


def _picked(loaded_scene: LoadedScene, hit: Hit | None, go: bool, add: bool) -> Picked:
    """Look up a sphere; reading to its row of a large file may take long."""
    if hit is None:
        return Picked(loaded_scene, None, go, add=add)
    return Picked(loaded_scene, describe(loaded_scene.scene, hit.id), go, hit.point, add)


def keep_pick(viewer: ViewerState, number: int, lines: list[str], add: bool) -> None:
    """Store a pick with its lines, and keep earlier ones if `add`."""
    others = {n: each for n, each in viewer.picks.items() if n != number} if add else {}
    viewer.picks = dict(list((others | {number: lines}).items())[-MAX_PICKS:])


def pick_again(viewer: ViewerState, old: LoadedScene) -> None:
    """Pick the sphere of the same number in a new scene."""
    before, viewer.picked = viewer.picked, None
    scene, point = viewer.loaded_scene, viewer.hit_point
    if before is None:
        return
    there = number_in(old.number_of(before.id), old, scene)
    number = None if there is None else scene.id_of(there)
    if number is None:
        if scene.content is old.content:
            viewer.notify(f"{scene.name} was reloaded; sphere {before.id:,} is gone")
        return

    def look_up() -> Picked:
        return Picked(scene, describe(scene.scene, number), point=point, add=True)

    viewer.worker.run_task(lambda: look_up)


def follow_picks(viewer: ViewerState, old: LoadedScene, new: LoadedScene) -> None:
    """Follow the picked particles to another scene; lost ones are dropped."""
    if viewer.picks and old.all_particles is not new.all_particles:
        numbers = {number_in(n, old, new): lines for n, lines in viewer.picks.items()}
        viewer.picks = {n: lines for n, lines in numbers.items() if n is not None}


def number_in(number: int, old: LoadedScene, new: LoadedScene) -> int | None:
    """Return the number of a particle in another scene, by its id; None if it is gone."""
    before, after = old.all_particles, new.all_particles
    if before is after:
        return number
    ids, others = ids_of(before), ids_of(after)
    if ids is None or others is None:
        return number if number < after.count else None
    rows = np.flatnonzero(others == ids[number])
    return int(rows[0]) if len(rows) else None


def picked_lines(viewer: ViewerState) -> list[str]:
    """Return the description of the picked particle; its number counts hidden ones."""
    if viewer.picked is None:
        return []
    number = viewer.loaded_scene.number_of(viewer.picked.id)
    return viewer.picks.get(number) or viewer.picked.lines()


def giant_picked(viewer: ViewerState) -> bool:
    """Return whether the picked sphere is a giant, such as a ball that serves as the ground."""
    sphere = viewer.picked
    return sphere is not None and viewer.loaded_scene.sphere(sphere.id)[1] > GIANT_RADIUS


def hit_place(viewer: ViewerState) -> Vector:
    """Return the clicked point of the picked sphere, or its nearest one, (3,), render space."""
    assert viewer.picked is not None
    center, radius = viewer.loaded_scene.sphere(viewer.picked.id)
    toward = viewer.view.pose.eye
    if viewer.hit_point is not None:
        toward = view.space_of(viewer.loaded_scene.buffers).point(viewer.hit_point)
    offset = toward - center
    return np.asarray(center + offset * (radius / max(float(np.linalg.norm(offset)), 1e-30)))


def pick_ids(viewer: ViewerState) -> list[int]:
    ids = (viewer.loaded_scene.id_of(number) for number in viewer.picks)
    return [each for each in ids if each is not None]


def measures(viewer: ViewerState) -> list[str]:
    """Return distance, angle and dihedral angle of two, three and four picks as text."""
    scene = viewer.loaded_scene.scene
    points = [center_of(scene, each) for each in pick_ids(viewer)]
    lines = []
    if len(points) > 1:
        lines.append(f"distance {float(np.linalg.norm(points[-1] - points[-2])):.6g}")
    if len(points) > 2:
        lines.append(f"angle {angle(*points[-3:]):.2f}°")
    if len(points) > 3:
        lines.append(f"dihedral {dihedral(*points[-4:]):.2f}°")
    return lines


def angle(one: Vector, middle: Vector, other: Vector) -> float:
    """Return the angle at a middle point in degrees; 0 if two points coincide."""
    first, second = one - middle, other - middle
    size = float(np.linalg.norm(first) * np.linalg.norm(second))
    if not size:
        return 0.0
    return degrees(acos(min(max(float(first @ second) / size, -1.0), 1.0)))


def dihedral(a: Vector, b: Vector, c: Vector, d: Vector) -> float:
    """Return the angle between the planes of a, b, c and of b, c, d, in -180..180 degrees."""
    axis = c - b
    left, right = np.cross(b - a, axis), np.cross(axis, d - c)
    across = float(np.linalg.norm(axis)) * float((b - a) @ right)
    return degrees(atan2(across, float(left @ right)))
