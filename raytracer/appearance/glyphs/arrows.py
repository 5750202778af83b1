"""Arrows along vectors of particles: velocities, forces, dipoles, displacements."""

from typing import Any

import numpy as np

from raytracer.appearance.glyphs import shared
from raytracer.appearance.glyphs.settings import ANCHORS, Arrows
from raytracer.appearance.glyphs.shared import Doubles, GlyphSet
from raytracer.appearance.glyphs.vectors import read_vectors
from raytracer.config.errors import SceneError, quote, suggest
from raytracer.config.inferred import current_defaults
from raytracer.config.warning import warn
from raytracer.model.render_space import transform_rows
from raytracer.model.scene import Scene
from raytracer.model.solids import CapsuleSet, ConeSet
from raytracer.model.spacing import mean_spacing
from raytracer.model.sphere_set import SphereSet

NEIGHBOURS = 2.0  # length of the longest arrow, in mean distances of the particles with arrows
MAX_EXTENT = 0.2  # limit of that length, relative to the diagonal of the box around these particles
MIN_RADII = 3.0  # lower limit of that length, in median radii, which would hide shorter arrows
SLENDER = 28.0  # length of the longest arrow in radii of its shaft
HEAD_RADIUS, HEAD_LENGTH = 2.4, 6.5  # radius and length of the head, in radii of the shaft
HEAD_SHARE = 0.55  # largest fraction of an arrow that its head takes: shorter arrows are thinner

MIN_SHARE = 1e-3  # arrows shorter than this fraction of the longest one are left out
COLOR = "#e0a020"  # colour of arrows if all particles have one colour


def make_arrows(scene: Scene, arrows: Arrows) -> GlyphSet:
    """Return the arrows of a scene's sets that have the vectors."""
    made = [_arrow_vectors(spheres, arrows) for spheres in scene.spheres if spheres.count]
    fields = [each for each in made if each is not None]
    if not fields:
        name = arrows.vector if isinstance(arrows.vector, str) else ",".join(arrows.vector)
        known = [name for spheres in scene.spheres for name in spheres.columns]
        raise SceneError(
            f"arrows.vector: there is no column '{quote(name)}'; {suggest(name, known)}"
        )
    lengths = [np.linalg.norm(vectors, axis=1) for _, vectors in fields]
    longest = max(float(each.max(initial=0.0)) for each in lengths)
    _, longest = current_defaults().range("arrows.vector", lambda: (0.0, longest))
    if not longest > 0.0:
        warn("arrows: all vectors are zero, so there are no arrows")
        return GlyphSet([])
    sets, scales = shared.color_sets([each for each, _ in fields], arrows.color, "arrows", COLOR)
    _, size = current_defaults().range("arrows.scale", lambda: (0.0, _longest_arrow(sets)))
    scale = arrows.scale or size / longest
    radius = arrows.radius or scale * longest / SLENDER
    solids = []
    for (_, vectors), length, spheres in zip(fields, lengths, sets, strict=True):
        rows = np.flatnonzero(length > MIN_SHARE * longest)
        shared.require_capsules(2 * len(rows), "arrows")
        steps = vectors[rows] * scale
        tails = shared.to_scene_units(spheres)[rows] - ANCHORS[arrows.anchor] * steps
        if len(rows):
            colors = shared.pick_colors(spheres, rows)
            solids += arrow_shapes(tails, tails + steps, radius, material=arrows.material, **colors)
    return GlyphSet(solids, scales)


def _arrow_vectors(spheres: SphereSet, arrows: Arrows) -> tuple[SphereSet, Doubles] | None:
    """Return the particles with arrows, with the column `length`, and their vectors, (N, 3), in
    units of the set; None without the columns."""
    vectors = read_vectors(spheres.columns, arrows.vector, "arrows.vector")
    if vectors is None:
        return None
    rows = shared.select_every(spheres.columns, arrows.select, arrows.every, "arrows")
    rows = rows[np.isfinite(vectors.sum(axis=1))[rows]]
    vectors = transform_rows(vectors[rows], spheres.transform.linear() / spheres.transform.scale)
    lengths = np.linalg.norm(vectors, axis=1)
    return shared.add_column(spheres.taken(rows), "length", lengths), vectors


def _longest_arrow(sets: list[SphereSet]) -> float:
    """Return the length of the longest arrow that suits the particles with arrows."""
    points = np.concatenate([shared.to_scene_units(each) for each in sets])
    if not len(points):
        return 1.0
    diagonal = float(np.sqrt(np.square(np.ptp(points, axis=0)).sum()))
    spaced = NEIGHBOURS * mean_spacing(points) if diagonal > 0.0 else 0.0
    radii = np.concatenate([shared.broadcast_radii(each) for each in sets])
    return max(min(spaced, MAX_EXTENT * diagonal), MIN_RADII * float(np.median(radii)))


def arrow_shapes(tails: Doubles, tips: Doubles, radius: float, **looks: Any) -> list[CapsuleSet]:
    """Make arrows (N, 3) in scene units: shafts and heads; short ones are thinner."""
    steps = tips - tails
    lengths = np.linalg.norm(steps, axis=1)
    thin = np.minimum(radius, lengths * (HEAD_SHARE / HEAD_LENGTH))
    necks = tips - steps * (HEAD_LENGTH * thin / lengths)[:, None]
    if not ((lengths > 0.0) & (necks != tips).any(axis=1)).all():
        raise SceneError(
            "arrows: some are shorter than float64 resolves so far from the origin: give a larger "
            "scale, or move the scene to the origin"
        )
    heads = ConeSet(necks, tips, HEAD_RADIUS * thin, 0.0, **looks)
    return [CapsuleSet(tails, necks, thin, **looks), heads]
