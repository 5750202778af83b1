"""Defaults of particles that come without a scene: what is inferred from their data."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.scene.arrays import Where, check_centers
from raytracer.scene.background import Background
from raytracer.scene.camera import Camera
from raytracer.scene.extent import spread
from raytracer.scene.inferred import inferred
from raytracer.scene.particles.labels import element_symbols
from raytracer.scene.particles.source import BY_LABEL, Box, Particles
from raytracer.scene.spacing import default_radius
from raytracer.scene.up_axis import is_flat, up_of_particles
from raytracer.settings import RenderSettings

ELEVATION = 35.0
"""Angle of the view above the horizon, in degrees: about that of an isometric view, which shows the
three faces of a cube equally."""

VERTICAL_FOV = 30.0  # in degrees; a wider one stretches the near corner of a box

ATOM = 1.2
"""Radius of an atom, in covalent radii. Metallic radii are 1.1 to 1.2 of these: at 1.2 the faces of
a metal close, without black gaps, and atoms of a molecule overlap, so that each molecule in a box
of water is seen as one body."""

WITHIN = 0.5  # least share of the particles in a box that is shown
GAP = 1.25
"""Widest gap between the particles of a filled box along an edge, in edges of the cube that each
has for itself. In a crystal of one atom in each cell it is one."""


def defaults_of(data: Particles) -> dict[str, Any]:
    """Return render settings, background, camera and annotations of particles without a scene.

    The simulation box is shown if particles fill it, in an animation in the first frame: a molecule
    alone in a large box would be small.
    """
    made: dict[str, Any] = {
        "render": RenderSettings.of_particles(),
        "background": Background.of_particles(),
        "camera": Camera(
            up=up_of_particles(data), fit="bulk", vertical_fov=VERTICAL_FOV, elevation=ELEVATION
        ),
    }
    box, centers = data.box, data.centers
    if box is None or not isinstance(centers, np.ndarray):  # an array of a GPU is not read
        return made
    if inferred().truth("box", lambda: is_filled(box, centers)):
        from raytracer.scene.annotations import PLAIN_BOX, Annotations

        made["annotations"] = Annotations(box=PLAIN_BOX)
    return made


def set_radii(data: Particles) -> None:
    """Widen atoms whose radius is that of their element, and set the radius of points without one,
    such as those of a scan, so that surfaces close.

    Points with labels or in a simulation box are particles, as are those of two dimensions: they
    touch.
    """
    if data.labels is not None and data.radius is not None and data.names.get("radius") == BY_LABEL:
        if all(element_symbols(data.labels)):
            data.radius = data.radius * ATOM
        return
    stated = data.radius, data.labels, data.box
    if any(each is not None for each in stated) or not isinstance(data.centers, np.ndarray):
        return
    centers = check_centers(data.centers, Where(data.source, data.names))
    data.radius = np.array(default_radius(centers, closed=not is_flat(centers)))


def is_filled(box: Box, centers: NDArray[np.floating[Any]]) -> bool:
    """Return whether particles (N, 3) fill a box: most are within it, and none of its edges has a
    gap."""
    edges = np.array(box.edges, np.float64)
    with np.errstate(over="ignore"):
        lengths = np.linalg.norm(edges, axis=1)
        volume = abs(float(np.linalg.det(edges)))
    if not (len(centers) and isfinite(volume) and volume > 1e-9 * float(lengths.prod()) > 0.0):
        return False
    sample = centers[spread(len(centers))].astype(np.float64)
    places = (sample - np.array(box.origin, np.float64)) @ np.linalg.inv(edges)
    inside = ((places >= 0.0) & (places <= 1.0)).all(axis=1)
    if not np.count_nonzero(inside) >= WITHIN * len(places):
        return False
    widest = GAP * (volume / len(centers)) ** (1.0 / 3.0)
    return all(
        _gap(axis[inside], periodic) * length <= widest
        for axis, periodic, length in zip(places.T, box.periodic, lengths, strict=True)
    )


def _gap(places: NDArray[np.float64], periodic: bool) -> float:
    """Return the widest gap between places from 0 to 1, or to the ends unless they are periodic."""
    ordered = np.sort(places)
    inner = float(np.diff(ordered).max(initial=0.0))
    below, above = float(ordered[0]), 1.0 - float(ordered[-1])
    return max(inner, below + above) if periodic else max(inner, below, above)
