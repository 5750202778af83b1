"""Defaults of particles that come without a scene: what is inferred from their data."""

from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.config.inferred import current_defaults
from raytracer.model.arrays import ErrorContext, check_centers
from raytracer.model.background import Background
from raytracer.model.camera import Camera
from raytracer.model.extent import sample_rows
from raytracer.model.particle_labels import find_element_symbols
from raytracer.model.particle_source import BY_LABEL, Box, Particles
from raytracer.model.settings import RenderSettings
from raytracer.model.spacing import default_radius
from raytracer.model.views import AXES, VIEW_UP, Vector, find_data_up

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

ENDS = 0.005  # share of the particles at each end of an axis that are not looked at: strays
LAYER = 1.0 / 32.0  # thickness of a floor, relative to the extent
FLOOR = 2.0  # particles in a floor, relative to an even distribution; a heap has three
STEEPER = 2.0  # how much more of a floor y must have than z, since files with z up are usual


def particle_defaults(data: Particles) -> dict[str, Any]:
    """Return render settings, background, camera and annotations of particles without a scene.

    The simulation box is shown if particles fill it, in an animation in the first frame: a molecule
    alone in a large box would be small.
    """
    made: dict[str, Any] = {
        "render": RenderSettings.of_particles(),
        "background": Background.of_particles(),
        "camera": Camera(
            up=find_particles_up(data), fit="bulk", vertical_fov=VERTICAL_FOV, elevation=ELEVATION
        ),
    }
    box, centers = data.box, data.centers
    if box is None or not isinstance(centers, np.ndarray):  # an array of a GPU is not read
        return made
    if current_defaults().truth("box", lambda: is_filled(box, centers), len(centers) > 0):
        from raytracer.model.annotations import PLAIN_BOX, Annotations

        made["annotations"] = Annotations(box=PLAIN_BOX)
    return made


def set_radii(data: Particles) -> None:
    """Widen atoms whose radius is that of their element, and set the radius of points without one,
    such as those of a scan, so that surfaces close.

    Points with labels or in a simulation box are particles, as are those of two dimensions: they
    touch.
    """
    if data.labels is not None and data.radius is not None and data.names.get("radius") == BY_LABEL:
        if all(find_element_symbols(data.labels)):
            data.radius = data.radius * ATOM
        return
    stated = data.radius, data.labels, data.box
    if any(each is not None for each in stated) or not isinstance(data.centers, np.ndarray):
        return
    centers = check_centers(data.centers, ErrorContext(data.source, data.names))
    data.radius = np.array(default_radius(len(centers), lambda: centers, not is_flat(centers)))


def is_filled(box: Box, centers: NDArray[np.floating[Any]]) -> bool:
    """Return whether particles (N, 3) fill a box: most are within it, and none of its edges has a
    gap."""
    edges = np.array(box.edges, np.float64)
    with np.errstate(over="ignore"):
        lengths = np.linalg.norm(edges, axis=1)
        volume = abs(float(np.linalg.det(edges)))
    if not (len(centers) and isfinite(volume) and volume > 1e-9 * float(lengths.prod()) > 0.0):
        return False
    sample = centers[sample_rows(len(centers))].astype(np.float64)
    places = (sample - np.array(box.origin, np.float64)) @ np.linalg.inv(edges)
    inside = ((places >= 0.0) & (places <= 1.0)).all(axis=1)
    if not np.count_nonzero(inside) >= WITHIN * len(places):
        return False
    widest = GAP * (volume / len(centers)) ** (1.0 / 3.0)
    return all(
        _widest_gap(axis[inside], periodic) * length <= widest
        for axis, periodic, length in zip(places.T, box.periodic, lengths, strict=True)
    )


def _widest_gap(places: NDArray[np.float64], periodic: bool) -> float:
    """Return the widest gap between places from 0 to 1, or to the ends unless they are periodic."""
    ordered = np.sort(places)
    inner = float(np.diff(ordered).max(initial=0.0))
    below, above = float(ordered[0]), 1.0 - float(ordered[-1])
    return max(inner, below + above) if periodic else max(inner, below, above)


def find_particles_up(data: Particles) -> Vector | None:
    """Return the up direction of particles; None is that of a camera without one.

    It is that of the box or of gravity (`find_data_up`). Of other files, those with elements, such
    as molecules, and those of two dimensions have none. In the rest it is z, as in most programs of
    particles, unless they lie on a floor across y.
    """
    up = find_data_up(data.box, data.gravity)
    if up is not None:
        return up
    if data.labels is not None and all(find_element_symbols(data.labels)):
        return None
    centers: Any = data.centers
    if not isinstance(centers, np.ndarray):
        return VIEW_UP  # an array of a GPU is not read for this
    if is_flat(centers):
        return None
    return AXES["y"] if is_floor_across_y(centers) else VIEW_UP


def is_flat(centers: NDArray[Any]) -> bool:
    """Return whether all particles have the same z, as in two dimensions; centers: (N, 3)."""
    return len(centers) > 0 and float(np.ptp(centers[:, 2])) == 0.0


def is_floor_across_y(centers: NDArray[Any]) -> bool:
    """Return whether particles lie on a floor across y, and less so across z; centers: (N, 3)."""
    sample = centers[sample_rows(len(centers))].astype(np.float64)
    if len(sample) < 1.0 / ENDS:
        return False
    across_y, across_z = (_count_lowest_layer(sample[:, axis]) for axis in (1, 2))
    return across_y > FLOOR and across_y > STEEPER * across_z


def _count_lowest_layer(heights: NDArray[np.float64]) -> float:
    """Return how many particles are in the lowest layer, relative to an even distribution, or to
    the highest layer if that has more."""
    low, high = np.quantile(heights, [ENDS, 1.0 - ENDS])
    layer = (high - low) * LAYER
    bottom, top = (
        float(np.count_nonzero(w)) for w in (heights < low + layer, heights > high - layer)
    )
    return bottom / max(len(heights) * LAYER, top)
