"""Arrows along a vector that particles have: velocities, forces, dipoles, displacements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from raytracer.errors import SceneError, counted, shown, suggestion
from raytracer.scene.glyphs.shared import (
    Made,
    by_values,
    chosen,
    colors_of,
    follows,
    placed,
    product,
    radii_of,
    require_capsules,
    with_column,
)
from raytracer.scene.glyphs.vectors import vectors_of
from raytracer.scene.inferred import inferred_range
from raytracer.scene.scene import CapsuleSet
from raytracer.scene.solids import ConeSet
from raytracer.scene.spacing import mean_spacing
from raytracer.warning import warn

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from raytracer.scene.glyphs.settings import Arrows
    from raytracer.scene.scene import Scene, SphereSet

NEIGHBOURS = 2.0
"""Length of the longest arrow, in mean distances of the particles that have arrows."""

MOST_EXTENT = 0.2
"""Its greatest length, as a part of the diagonal of the box around these particles."""

OUT_OF_SPHERE = 3.0
"""Its smallest length, in median radii of the particles: less would be hidden in them."""

SLENDER = 28.0
"""Length of the longest arrow in radii of its shaft."""

HEAD_RADIUS, HEAD_LENGTH = 2.4, 6.5
"""Of the head, in radii of the shaft."""

HEAD_SHARE = 0.55
"""Part of an arrow that its head takes at most: shorter arrows are thinner."""

LEAST_DIGITS = 64.0
"""Length of the shortest arrow, in units of the last binary digit of its coordinates: with less,
its head has no length."""

SHORTEST = 1e-3
"""Arrows shorter than this part of the longest one are left out."""

COLOR = "#e0a020"
"""Colour of arrows at particles of one colour."""

LENGTH = "length"
"""Name of the length of the vectors in colours."""


class _Field:
    """The vectors of a set.

    Args:
        spheres: those that have arrows.
        vectors: float64 (N, 3), in the set's own units.
        lengths: of the vectors, (N,).
    """

    def __init__(self, spheres: SphereSet, vectors: NDArray[np.float64]) -> None:
        self.lengths = np.sqrt(np.square(vectors).sum(axis=1))
        self.spheres = with_column(spheres, LENGTH, self.lengths)
        self.vectors = vectors
        self.points = placed(spheres)


def arrows_of(scene: Scene, said: Arrows) -> Made:
    """Return the arrows of a scene.

    Args:
        scene: its sets that have the vectors get arrows.
        said: what they look like.

    Raises:
        SceneError: no set has the vectors, or an expression is wrong.
    """
    fields = _fields(scene, said)
    longest = max((float(f.lengths.max()) for f in fields if len(f.lengths)), default=0.0)
    _, longest = inferred_range("arrows.vector", lambda: (0.0, longest))
    if not longest > 0.0:
        warn("arrows: all vectors are zero, so there are no arrows")
        return Made([], [])
    _, size = inferred_range("arrows.scale", lambda: (0.0, _longest(fields)))
    scale = said.scale or size / longest
    radius = said.radius or scale * longest / SLENDER
    scales = []
    if follows(said.color):
        colored, scale_of = by_values([f.spheres for f in fields], said.color, "arrows")  # type: ignore[arg-type]
        scales = [scale_of]
        for each, spheres in zip(fields, colored, strict=True):
            each.spheres = spheres
    made = []
    for each in fields:
        long_enough = np.flatnonzero(each.lengths > SHORTEST * longest)
        require_capsules(2 * len(long_enough), "arrows")
        if len(long_enough):
            made += _shapes(each, long_enough, scale, radius, said)
    return Made(made, scales)


def _fields(scene: Scene, said: Arrows) -> list[_Field]:
    """Return the vectors of all sets that have them."""
    found, known = [], []
    for spheres in scene.spheres:
        if not spheres.count:
            continue
        vectors = vectors_of(spheres.columns, said.vector)
        if vectors is None:
            known += list(spheres.columns)
            continue
        finite: NDArray[np.bool_] = np.isfinite(vectors.sum(axis=1))
        rows = chosen(spheres.columns, said.select, said.every, spheres.count, "arrows")
        rows = rows[finite[rows]]
        linear = spheres.transform.linear() / spheres.transform.scale
        found.append(_Field(spheres.taken(rows), product(vectors[rows], linear)))
    if not found:
        name = said.vector if isinstance(said.vector, str) else ",".join(said.vector)
        raise SceneError(
            f"arrows.vector: there is no column '{shown(str(name))}'; "
            f"{suggestion(str(name), known)}"
        )
    return found


def _longest(fields: list[_Field]) -> float:
    """Return how long the longest arrow is, scene units."""
    points = np.concatenate([f.points for f in fields])
    radii = np.concatenate([radii_of(f.spheres) for f in fields])
    if not len(points):
        return 1.0
    diagonal = float(np.sqrt(np.square(np.ptp(points, axis=0)).sum()))
    spaced = NEIGHBOURS * mean_spacing(points) if diagonal > 0.0 else 0.0
    return max(min(spaced, MOST_EXTENT * diagonal), OUT_OF_SPHERE * float(np.median(radii)))


def _shapes(
    field: _Field, rows: NDArray[np.int64], scale: float, radius: float, said: Arrows
) -> list[CapsuleSet]:
    """Return the arrows of a set."""
    steps = field.vectors[rows] * scale
    back = {"tail": 0.0, "center": 0.5, "tip": 1.0}[said.anchor]
    tails = field.points[rows] - back * steps
    tips = tails + steps
    there = scale * field.lengths[rows] >= least_length(tails)
    if not there.all():
        lost = counted(int((~there).sum()), "arrow")
        warn(f"arrows: {lost} left out, too short beside their coordinates")
        rows, tails, tips = rows[there], tails[there], tips[there]
    if not len(rows):
        return []
    looks = _colors(field.spheres, rows, said)
    return arrow_shapes(tails, tips, radius, material=said.material, **looks)


def least_length(tails: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the lengths of arrows, (N,), below which the digits of coordinates do not show them.

    Args:
        tails: where they begin, (N, 3).
    """
    least: NDArray[np.float64] = LEAST_DIGITS * np.spacing(np.abs(tails).max(axis=1, initial=0.0))
    return least


def arrow_shapes(
    tails: NDArray[np.float64], tips: NDArray[np.float64], radius: float, **looks: Any
) -> list[CapsuleSet]:
    """Return arrows: shafts and heads.

    Args:
        tails, tips: scene units, float64 (N, 3).
        radius: of the shafts; arrows shorter than about two heads are thinner.
        **looks: as for `CapsuleSet`.
    """
    steps = tips - tails
    lengths = np.sqrt(np.square(steps).sum(axis=1))
    thin = np.minimum(radius, lengths * (HEAD_SHARE / HEAD_LENGTH))
    necks = tips - steps * (HEAD_LENGTH * thin / lengths)[:, None]
    heads = ConeSet(necks, tips, HEAD_RADIUS * thin, 0.0, **looks)
    return [CapsuleSet(tails, necks, thin, **looks), heads]


def _colors(spheres: SphereSet, rows: NDArray[np.int64], said: Arrows) -> dict[str, Any]:
    """Return the colours of arrows, as arguments of `CapsuleSet`."""
    if said.color is not None and not follows(said.color):
        return {"color": said.color}
    is_plain = spheres.color_id is None and len(spheres.color) == 1
    if is_plain and not follows(said.color):
        return {"color": COLOR}
    return colors_of(spheres, rows)
