"""Arrows along vectors of particles: velocities, forces, dipoles, displacements."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from raytracer.errors import SceneError, counted, shown, suggestion
from raytracer.scene.glyphs import shared
from raytracer.scene.glyphs.settings import Arrows
from raytracer.scene.glyphs.shared import Doubles, Glyphs, Rows
from raytracer.scene.glyphs.vectors import vectors_of
from raytracer.scene.inferred import inferred
from raytracer.scene.packing.render_space import affine_rows
from raytracer.scene.scene import Scene
from raytracer.scene.solids import CapsuleSet, ConeSet
from raytracer.scene.spacing import mean_spacing
from raytracer.scene.sphere_set import SphereSet
from raytracer.warning import warn

NEIGHBOURS = 2.0  # length of the longest arrow, in mean distances of the particles with arrows
MAX_EXTENT = 0.2  # limit of that length, relative to the diagonal of the box around these particles
MIN_RADII = 3.0  # lower limit of that length, in median radii, which would hide shorter arrows
SLENDER = 28.0  # length of the longest arrow in radii of its shaft
HEAD_RADIUS, HEAD_LENGTH = 2.4, 6.5  # radius and length of the head, in radii of the shaft
HEAD_SHARE = 0.55  # largest fraction of an arrow that its head takes: shorter arrows are thinner

MIN_DIGITS = 64.0
"""Length of the shortest arrow, in units of the last binary digit of its coordinates: the head of a
shorter arrow would have no length."""

MIN_SHARE = 1e-3  # arrows shorter than this fraction of the longest one are left out
COLOR = "#e0a020"  # colour of arrows if all particles have one colour


class _Field(NamedTuple):
    """Vectors of a set, (N, 3) in its units; the column `length` of `spheres` has `lengths`."""

    spheres: SphereSet
    vectors: Doubles
    lengths: Doubles


def arrows_of(scene: Scene, arrows: Arrows) -> Glyphs:
    """Return the arrows of a scene's sets that have the vectors."""
    fields = _fields(scene, arrows)
    longest = max((float(f.lengths.max()) for f in fields if len(f.lengths)), default=0.0)
    _, longest = inferred().range("arrows.vector", lambda: (0.0, longest))
    if not longest > 0.0:
        warn("arrows: all vectors are zero, so there are no arrows")
        return Glyphs([])
    _, size = inferred().range("arrows.scale", lambda: (0.0, _longest(fields)))
    scale = arrows.scale or size / longest
    radius = arrows.radius or scale * longest / SLENDER
    sets = [field.spheres for field in fields]
    usual = [partial(_usual_colors, spheres) for spheres in sets]
    colors_of_sets, scales = shared.row_colors_of(sets, arrows.color, "arrows", usual)
    solids = []
    for field, row_colors in zip(fields, colors_of_sets, strict=True):
        rows = np.flatnonzero(field.lengths > MIN_SHARE * longest)
        shared.require_capsules(2 * len(rows), "arrows")
        rows, tails, tips = _placed_arrows(field, rows, scale, arrows)
        if len(rows):
            solids += arrow_shapes(
                tails, tips, radius, material=arrows.material, **row_colors(rows)
            )
    return Glyphs(solids, scales)


def _fields(scene: Scene, arrows: Arrows) -> list[_Field]:
    fields, known = [], []
    for spheres in scene.spheres:
        if not spheres.count:
            continue
        vectors = vectors_of(spheres.columns, arrows.vector, "arrows.vector")
        if vectors is None:
            known += list(spheres.columns)
            continue
        rows = shared.chosen(spheres.columns, arrows.select, arrows.every, "arrows")
        rows = rows[np.isfinite(vectors.sum(axis=1))[rows]]
        linear = spheres.transform.linear() / spheres.transform.scale
        vectors = affine_rows(vectors[rows], linear)
        lengths = shared.lengths_of(vectors)
        fields.append(
            _Field(shared.with_column(spheres.taken(rows), "length", lengths), vectors, lengths)
        )
    if not fields:
        name = arrows.vector if isinstance(arrows.vector, str) else ",".join(arrows.vector)
        raise SceneError(
            f"arrows.vector: there is no column '{shown(str(name))}'; "
            f"{suggestion(str(name), known)}"
        )
    return fields


def _longest(fields: list[_Field]) -> float:
    points = np.concatenate([shared.placed(f.spheres) for f in fields])
    radii = np.concatenate([shared.radii_of(f.spheres) for f in fields])
    if not len(points):
        return 1.0
    diagonal = float(np.sqrt(np.square(np.ptp(points, axis=0)).sum()))
    spaced = NEIGHBOURS * mean_spacing(points) if diagonal > 0.0 else 0.0
    return max(min(spaced, MAX_EXTENT * diagonal), MIN_RADII * float(np.median(radii)))


def _placed_arrows(
    field: _Field, rows: Rows, scale: float, arrows: Arrows
) -> tuple[Rows, Doubles, Doubles]:
    """Return the rows of arrows that coordinates can resolve, with tails and tips, (M, 3) each."""
    steps = field.vectors[rows] * scale
    back = {"tail": 0.0, "center": 0.5, "tip": 1.0}[arrows.anchor]
    tails = shared.placed(field.spheres)[rows] - back * steps
    tips = tails + steps
    shows = scale * field.lengths[rows] >= least_length(tails)
    if not shows.all():
        lost = counted(int((~shows).sum()), "arrow")
        warn(f"arrows: {lost} left out: too short for the precision of their coordinates")
    return rows[shows], tails[shows], tips[shows]


def least_length(tails: Doubles) -> Doubles:
    """Return the shortest lengths, (N,), that the precision of tails resolves."""
    return np.asarray(MIN_DIGITS * np.spacing(np.abs(tails).max(axis=1, initial=0.0)))


def arrow_shapes(tails: Doubles, tips: Doubles, radius: float, **looks: Any) -> list[CapsuleSet]:
    """Make arrows (N, 3) in scene units: shafts and heads; short ones are thinner."""
    steps = tips - tails
    lengths = shared.lengths_of(steps)
    thin = np.minimum(radius, lengths * (HEAD_SHARE / HEAD_LENGTH))
    necks = tips - steps * (HEAD_LENGTH * thin / lengths)[:, None]
    heads = ConeSet(necks, tips, HEAD_RADIUS * thin, 0.0, **looks)
    return [CapsuleSet(tails, necks, thin, **looks), heads]


def _usual_colors(spheres: SphereSet, rows: Rows) -> dict[str, Any]:
    is_plain = spheres.color_id is None and len(spheres.color) == 1
    return {"color": COLOR} if is_plain else shared.colors_of(spheres, rows)
