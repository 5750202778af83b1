"""Picked spheres: clicks, descriptions, rings and measurements."""

from __future__ import annotations

from dataclasses import replace
from math import atan2, degrees, pi, sqrt

import numpy as np

from raytracer.scene.describe import describe
from raytracer.scene.extent import GIANT_RADIUS
from raytracer.scene.scene import Scene
from raytracer.viewer.actions import action
from raytracer.viewer.content import ids_of
from raytracer.viewer.loaded_scene import Hit, LoadedScene
from raytracer.viewer.messages import Pick, Picked
from raytracer.viewer.orbit_camera import Vector, View, project
from raytracer.viewer.state import ViewerState

PICK_RADIUS = 4  # pixels at 96 dots per inch by which a click may miss a sphere
MAX_PICKS = 4  # most picks: four define a dihedral angle
MIN_RING = 7.0  # radius in pixels of the ring around smaller spheres
CORNERS = 72  # of a ring: its error is below a pixel for a sphere as large as the window

Corners = list[tuple[float, float]]


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

    def task() -> None:
        shown, seen = scene, buffers
        if scene.closed and (current := viewer.worker.current) is not None:  # it was replaced
            shown, seen = current.loaded_scene, current.buffers
        viewer.loader.request("pick", _picked, shown, shown.hit(seen, x, y, reach), go, add)

    viewer.worker.run_task(task)


def _picked(loaded_scene: LoadedScene, hit: Hit | None, go: bool, add: bool) -> Picked:
    """Look up a sphere; reading to its row of a large file may take long."""
    if hit is None:
        return Picked(loaded_scene, None, go, add)
    number = loaded_scene.number_of(hit.id)
    lines = replace(describe(loaded_scene.scene, hit.id), id=number).lines()
    return Picked(loaded_scene, Pick(number, lines, hit.point), go, add)


def follow_picks(viewer: ViewerState, old: LoadedScene) -> None:
    """Follow the picked particles to the scene that is shown now, by the ids of its file.

    Lost ones are dropped, and the latest is described again.
    """
    before, scene = viewer.picks, viewer.loaded_scene
    numbers = [_number_in(scene.all_particles, old.all_particles, each.number) for each in before]
    pairs = zip(before, numbers, strict=True)
    viewer.picks = [replace(pick, number=n) for pick, n in pairs if n is not None]
    if before and numbers[-1] is None:
        if scene.content is old.content:
            viewer.notify(f"{scene.name} was reloaded; sphere {before[-1].number:,} is gone")
    elif (pick := viewer.picked) is not None and (prim_id := scene.id_of(pick.number)) is not None:
        viewer.loader.request("pick", _picked, scene, Hit(prim_id, pick.point), False, True)


def _number_in(scene: Scene, before: Scene, number: int) -> int | None:
    """Return the number in a frame of a particle of another one; None if it is gone."""
    if scene is not before:
        ids, others = ids_of(before), ids_of(scene)
        if ids is not None and others is not None and number < len(ids):
            number = next(iter(np.flatnonzero(others == ids[number]).tolist()), scene.count)
    return number if number < scene.count else None


def giant_picked(viewer: ViewerState) -> bool:
    """Return whether the picked sphere is a giant, such as a ball that serves as the ground."""
    return viewer.picked is not None and sphere_of(viewer, viewer.picked)[1] > GIANT_RADIUS


def sphere_of(viewer: ViewerState, pick: Pick) -> tuple[Vector, float]:
    """Return centre, float64 (3,), and radius of a shown pick in render space."""
    prim_id = viewer.loaded_scene.id_of(pick.number)
    assert prim_id is not None
    return viewer.loaded_scene.sphere(prim_id)


def picked_spheres(viewer: ViewerState) -> list[Pick]:
    """Return the picks that are shown and spheres."""
    loaded = viewer.loaded_scene
    ids = [loaded.id_of(each.number) for each in viewer.picks]
    pairs = zip(viewer.picks, ids, strict=True)
    return [pick for pick, n in pairs if n is not None and n < loaded.scene.count]


def center_of(viewer: ViewerState, pick: Pick) -> Vector:
    """Return the centre of a shown sphere, scene units, float64 (3,)."""
    prim_id = viewer.loaded_scene.id_of(pick.number) or 0
    for spheres in viewer.loaded_scene.scene.spheres:
        if prim_id < spheres.count:
            center = np.asarray(spheres.centers[prim_id], np.float64)
            moved: Vector = spheres.transform.linear() @ center
            return moved + np.asarray(spheres.transform.translate, np.float64)
        prim_id -= spheres.count
    raise IndexError(pick.number)


def hit_place(viewer: ViewerState) -> Vector:
    """Return the place on the picked sphere that was clicked, (3,), render space."""
    assert viewer.picked is not None
    center, radius = sphere_of(viewer, viewer.picked)
    offset = viewer.space.point(viewer.picked.point) - center
    return np.asarray(center + offset * (radius / max(float(np.linalg.norm(offset)), 1e-30)))


def outline(view: View, center: Vector, radius: float, window: tuple[int, int]) -> Corners:
    """Return the corners of an outline in pixels from the lower left; [] if it is not in front.

    Tangent rays touch a sphere in a circle: from a distance d, the circle is nearer than the centre
    by r^2/d and has the radius r sqrt(1 - r^2/d^2).

    center: of the sphere, float64 (3,), render space.
    """
    axes, middle = view.pose.axes, center
    right, up, rim = axes.right, axes.up, radius
    if not view.orthographic:
        offset = center - view.pose.eye
        distance = float(np.linalg.norm(offset))
        if offset @ axes.forward <= radius:
            return []  # the eye is inside, or not all is in front
        toward = offset / distance
        right = np.cross(toward, axes.up)
        right /= np.linalg.norm(right)
        up = np.cross(right, toward)
        middle = center - toward * (radius * radius / distance)
        rim = radius * sqrt(1.0 - (radius / distance) ** 2)
    angle = np.linspace(0.0, 2.0 * pi, CORNERS, endpoint=False)[:, None]
    points = middle + rim * (np.cos(angle) * right + np.sin(angle) * up)
    points, ahead = project(view, points, window[0] / window[1])
    corners = ((points + 1.0) * 0.5 * np.array(window)).tolist()
    return [(x, y) for x, y in corners] if ahead.all() else []


def rings(viewer: ViewerState, size: tuple[int, int]) -> list[Corners]:
    """Return the outlines of the picked spheres as corners in pixels from the lower left.

    For a giant, it is a ring around the point that was hit.
    """
    outlines = []
    for pick in picked_spheres(viewer):
        center, radius = sphere_of(viewer, pick)
        if pick is viewer.picked and giant_picked(viewer):
            center, radius = hit_place(viewer), 0.0
        depth = float((center - viewer.view.pose.eye) @ viewer.view.pose.axes.forward)
        high = viewer.view.pose.half * (1.0 if viewer.view.orthographic else max(depth, 0.0))
        least = MIN_RING * 2.0 * high / size[1]
        outlines.append(outline(viewer.view, center, max(radius, least), size))
    return [each for each in outlines if each]


def measures(viewer: ViewerState) -> list[str]:
    """Return distance, angle and dihedral angle of two, three and four picks as text."""
    points = [center_of(viewer, each) for each in picked_spheres(viewer)]
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
    return degrees(atan2(np.linalg.norm(np.cross(first, second)), first @ second))


def dihedral(a: Vector, b: Vector, c: Vector, d: Vector) -> float:
    """Return the angle between the planes of a, b, c and of b, c, d, in -180..180 degrees."""
    axis = c - b
    left, right = np.cross(b - a, axis), np.cross(axis, d - c)
    across = float(np.linalg.norm(axis)) * float((b - a) @ right)
    return degrees(atan2(across, float(left @ right)))
