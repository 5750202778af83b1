"""Picked spheres: clicks, descriptions, rings and measurements."""

from math import atan2, degrees, pi, sqrt

import numpy as np

from raytracer.appearance.describe import find_position
from raytracer.model.extent import GIANT_RADIUS
from raytracer.viewer.actions import action
from raytracer.viewer.messages import Pick, PickReport
from raytracer.viewer.orbit_camera import OrbitCamera, Vector, project_points
from raytracer.viewer.session import Session

PICK_RADIUS = 4  # pixels at 96 dots per inch by which a click may miss a sphere
MIN_RING = 7.0  # radius in pixels of the ring around smaller spheres
CORNERS = 72  # of a ring: its error is below a pixel for a sphere as large as the window

Corners = list[tuple[float, float]]


@action()
def pick(
    session: Session, x: int, y: int, go: bool = False, add: bool = False,
    reach: int = PICK_RADIUS,
) -> None:  # fmt: skip
    """Pick the sphere at a pixel, or the nearest one; the result is a message.

    go: centre it too. add: keep earlier picks. reach: pixels by which the click may miss.
    """
    width, height = session.size
    if not (0 <= x < width and 0 <= y < height):
        return
    scene, view = session.loaded_scene, session.requested

    def task() -> None:
        shown, seen = scene, view
        if scene.closed and (current := session.worker.current) is not None:  # it was replaced
            shown, seen = current.loaded_scene, current.job.view
        session.loader.request(
            "pick", PickReport.of, shown, shown.find_hit(seen, x, y, reach), go, add
        )

    session.worker.run_task(task)


def is_giant_picked(session: Session) -> bool:
    """Return whether the picked sphere is a giant, such as a ball that serves as the ground."""
    return session.picked is not None and find_sphere(session, session.picked)[1] > GIANT_RADIUS


def find_sphere(session: Session, pick: Pick) -> tuple[Vector, float]:
    """Return centre, float64 (3,), and radius of a shown pick in render space."""
    prim_id = session.loaded_scene.find_id(pick.number)
    assert prim_id is not None
    return session.loaded_scene.find_sphere(prim_id)


def list_picked_spheres(session: Session) -> list[Pick]:
    """Return the picks that are shown and spheres."""
    loaded = session.loaded_scene
    ids = [loaded.find_id(each.number) for each in session.picks]
    pairs = zip(session.picks, ids, strict=True)
    return [pick for pick, n in pairs if n is not None and n < loaded.scene.count]


def find_center(session: Session, pick: Pick) -> Vector:
    """Return the centre of a shown sphere, scene units, float64 (3,)."""
    prim_id = session.loaded_scene.find_id(pick.number) or 0
    for spheres in session.loaded_scene.scene.spheres:
        if prim_id < spheres.count:
            return np.array(find_position(spheres, prim_id))
        prim_id -= spheres.count
    raise IndexError(pick.number)


def find_hit_point(session: Session) -> Vector:
    """Return the place on the picked sphere that was clicked, (3,), render space."""
    assert session.picked is not None
    center, radius = find_sphere(session, session.picked)
    offset = session.space.point(session.picked.point) - center
    return np.asarray(center + offset * (radius / max(float(np.linalg.norm(offset)), 1e-30)))


def trace_outline(
    view: OrbitCamera, center: Vector, radius: float, window: tuple[int, int]
) -> Corners:
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
    points, ahead = project_points(view, points, window[0] / window[1])
    corners = ((points + 1.0) * 0.5 * np.array(window)).tolist()
    return [(x, y) for x, y in corners] if ahead.all() else []


def trace_rings(session: Session, size: tuple[int, int]) -> list[Corners]:
    """Return the outlines of the picked spheres as corners in pixels from the lower left. For a
    giant, it is a ring around the point that was hit."""
    outlines = []
    for pick in list_picked_spheres(session):
        center, radius = find_sphere(session, pick)
        if pick is session.picked and is_giant_picked(session):
            center, radius = find_hit_point(session), 0.0
        depth = float((center - session.view.pose.eye) @ session.view.pose.axes.forward)
        high = session.view.pose.half * (1.0 if session.view.orthographic else max(depth, 0.0))
        least = MIN_RING * 2.0 * high / size[1]
        outlines.append(trace_outline(session.view, center, max(radius, least), size))
    return [each for each in outlines if each]


def format_measures(session: Session) -> list[str]:
    """Return distance, angle and dihedral angle of two, three and four picks as text."""
    points = [find_center(session, each) for each in list_picked_spheres(session)]
    lines = []
    if len(points) > 1:
        lines.append(f"distance {float(np.linalg.norm(points[-1] - points[-2])):.6g}")
    steps = np.diff(points, axis=0)
    if len(points) > 2:
        first, second = -steps[-2], steps[-1]
        sine = np.linalg.norm(np.cross(first, second))
        lines.append(f"angle {degrees(atan2(sine, first @ second)):.2f}°")
    if len(points) > 3:  # between the planes of the first and of the last three
        before, axis, after = steps[-3:]
        left, right = np.cross(before, axis), np.cross(axis, after)
        across = np.linalg.norm(axis) * (before @ right)
        lines.append(f"dihedral {degrees(atan2(across, left @ right)):.2f}°")
    return lines
