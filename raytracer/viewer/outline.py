"""Outlines of spheres in a picture, and the rings around picked spheres."""

from math import pi, sqrt

import numpy as np

from raytracer.viewer.orbit_camera import Vector, View, project
from raytracer.viewer.picking import giant_picked, hit_place, picked_spheres
from raytracer.viewer.state import ViewerState

MIN_RING = 7.0  # radius in pixels of the ring around smaller spheres
CORNERS = 72  # of the polygon: its error is below a pixel for a sphere as large as the window


def outline(
    view: View, center: Vector, radius: float, window: tuple[int, int]
) -> list[tuple[float, float]]:
    """Return the corners of an outline in pixels from the lower left; [] if it is not in front.

    Tangent rays touch a sphere in a circle: from a distance d, the circle is nearer than the centre
    by r^2/d and has the radius r sqrt(1 - r^2/d^2).

    center: of the sphere, float64 (3,), render space.
    """
    axes = view.pose.axes
    if view.orthographic:
        middle, across, rim = center, (axes.right, axes.up), radius
    else:
        offset = center - view.pose.eye
        distance = float(np.linalg.norm(offset))
        if offset @ axes.forward <= radius:
            return []  # the eye is inside, or not all is in front
        toward = offset / distance
        right = np.cross(toward, axes.up)
        right /= np.linalg.norm(right)
        middle = center - toward * (radius * radius / distance)
        across = right, np.cross(right, toward)
        rim = radius * sqrt(1.0 - (radius / distance) ** 2)
    angle = np.linspace(0.0, 2.0 * pi, CORNERS, endpoint=False)[:, None]
    points = middle + rim * (np.cos(angle) * across[0] + np.sin(angle) * across[1])
    points, ahead = project(view, points, window[0] / window[1])
    if not ahead.all():
        return []
    points = (points + 1.0) * 0.5 * np.array(window)
    return [(float(x), float(y)) for x, y in points]


def rings(viewer: ViewerState, size: tuple[int, int]) -> list[list[tuple[float, float]]]:
    """Return the outlines of the picked spheres as corners in pixels from the lower left.

    For a giant, it is a ring around the point that was hit.
    """
    outlines = []
    for pick in picked_spheres(viewer):
        center, radius = viewer.loaded_scene.sphere(pick.id)
        if pick is viewer.picked and giant_picked(viewer):
            center, radius = hit_place(viewer), 0.0
        depth = float((center - viewer.view.pose.eye) @ viewer.view.pose.axes.forward)
        high = viewer.view.pose.half * (1.0 if viewer.view.orthographic else max(depth, 0.0))
        least = MIN_RING * 2.0 * high / size[1]
        corners = outline(viewer.view, center, max(radius, least), size)
        if len(corners) > 2:
            outlines.append(corners)
    return outlines
