"""Coordination polyhedra: convex hulls of the neighbours of atoms, with edges."""

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from raytracer.appearance.bonds import (
    TOLERANCE,
    BondPairs,
    find_close_pairs,
    find_element_radii,
    find_types,
    match_pair,
    parse_pair,
)
from raytracer.appearance.glyphs import shared
from raytracer.appearance.glyphs.settings import Polyhedra
from raytracer.appearance.glyphs.shared import Doubles, GlyphSet, Rows, pick_colors, pick_rgb
from raytracer.config.errors import SceneError
from raytracer.config.warning import warn
from raytracer.model.colors import parse_color
from raytracer.model.mesh import Mesh
from raytracer.model.scene import Scene
from raytracer.model.solids import CapsuleSet, EllipsoidSet
from raytracer.model.sphere_set import SphereSet

EDGE = 1.0 / 80.0  # radius of the edges, in mean distances of the neighbours
DARKER = 0.6  # factor on the colours of faces for those of edges
FLAT = 1e-3  # least volume of a polyhedron, in cubes of the mean distance from its middle
JITTER = 1e-6  # largest displacement along an axis, in the same distances
MIN_ANGLE = 2.0  # degrees between faces, below which there is no edge between them

MAX_NEIGHBORS = 24  # of which all triples are tried as faces
BLOCK = 1 << 22  # distances from planes that are computed at a time


class Hulls(NamedTuple):
    """Convex hulls of several groups of points: triangles, anticlockwise seen from outside, and
    edges between faces, each once, with the group of each."""

    triangles: Rows
    group: Rows
    edges: Rows
    edge_group: Rows


class _Neighbors(NamedTuple):
    """Central atoms with four neighbours or more, (P,), where the neighbours of each begin, and the
    end, (P + 1,), and these, (M,), with their positions, (M, 3)."""

    centers: Rows
    first: Rows
    pairs: BondPairs
    points: Doubles


def make_polyhedra(scene: Scene, polyhedra: Polyhedra) -> GlyphSet:
    """Return the polyhedra of the sets that have the types of the settings."""
    wanted: Any = polyhedra.pairs
    sets = [each for each in scene.spheres if each.count and each.labels is not None]
    if not sets:
        raise SceneError("polyhedra: no particles of the scene have types or elements")
    known = {name: None for each in sets if each.labels for name in find_types(each.labels)}
    if not wanted:
        raise SceneError(
            "polyhedra.pairs: is missing; name the types of the central atom and of its neighbours "
            f"such as 'Ti-O'; the types are {', '.join(list(known)[:8])}"
        )
    pairs: list[tuple[str, str, float | None]] = [
        (*parse_pair(pair, known, "polyhedra.pairs"), longest) for pair, longest in wanted.items()
    ]
    solids = [solid for spheres in sets for solid in _solids(spheres, pairs, polyhedra)]
    if not solids:
        warn(
            f"polyhedra: no atom has four neighbours that span a volume ({', '.join(wanted)}): "
            "give a longer distance, such as Ti-O=2.5"
        )
    return GlyphSet(solids)


def _solids(
    spheres: SphereSet, pairs: list[tuple[str, str, float | None]], settings: Polyhedra
) -> list[Any]:
    found = _group_neighbors(spheres, pairs)
    centers, first, points = found.centers, found.first, found.points
    hulls = convex_hulls(points, first)
    if not len(hulls.triangles):
        return []
    used, triangles = np.unique(hulls.triangles, return_inverse=True)
    color = pick_rgb(
        shared.with_color(spheres, settings.color) if settings.color else spheres, centers
    )
    looks: dict[str, Any] = {"material": settings.material, "transform": spheres.transform}
    faces = Mesh(
        points[used], triangles.reshape(-1, 3), colors=color[hulls.group], smooth=False,
        opacity=settings.opacity, color_space=spheres.color_space, **looks,
    )  # fmt: skip
    radius = settings.edges
    if radius is None:
        lengths = np.linalg.norm(found.pairs.spans(spheres), axis=1)
        radius = EDGE * float(lengths.mean()) * spheres.transform.scale
    outside = _neighbors_outside(spheres, found, settings)
    if not radius:
        return [faces, *outside]
    shared.require_capsules(len(hulls.edges), "polyhedra")
    dark: Any = DARKER * color[hulls.edge_group]
    if settings.edge_color is not None:
        dark = np.array([parse_color(settings.edge_color)])
    starts, ends = points[hulls.edges[:, 0]], points[hulls.edges[:, 1]]
    rods = CapsuleSet(
        starts, ends, radius / spheres.transform.scale, dark if len(dark) > 1 else dark[0],
        color_space=spheres.color_space, **looks,
    )  # fmt: skip
    return [faces, rods, *outside]


def _neighbors_outside(
    spheres: SphereSet, found: _Neighbors, settings: Polyhedra
) -> list[EllipsoidSet]:
    """Return the neighbours across periodic borders, which no set has, as balls."""
    share = 1.0 if settings.particles is None else settings.particles
    rows = found.pairs.rows
    _, once = np.unique(rows[:, 1:], axis=0, return_index=True)
    once = once[rows[once, 2:].any(axis=1)]
    if not len(once) or share == 0.0:
        return []
    atoms = rows[once, 1]
    radii = np.broadcast_to(np.asarray(spheres.radius, np.float64), (spheres.count,))[atoms]
    opacity = 1.0 if spheres.opacity is None else spheres.opacity
    return [
        EllipsoidSet(
            found.points[once], np.repeat(radii[:, None], 3, axis=1), material=spheres.material,
            transform=spheres.transform, **pick_colors(spheres, atoms),
            opacity=share * (opacity if isinstance(opacity, float) else opacity[atoms]),
        )
    ]  # fmt: skip


def _group_neighbors(spheres: SphereSet, pairs: list[tuple[str, str, float | None]]) -> _Neighbors:
    labels = spheres.labels
    assert labels is not None
    kinds = len(labels.names)
    reaches, directed = np.zeros((kinds, kinds)), np.zeros((kinds, kinds), np.bool_)
    radii = find_element_radii(spheres, "covalent")
    largest = np.zeros(kinds)
    np.maximum.at(largest, labels.ids, radii)
    for *ends, longest in pairs:
        here = match_pair(labels, ends)
        sums = TOLERANCE * (largest[:, None] + largest) if longest is None else longest
        reaches = np.where(here | here.T, np.maximum(reaches, sums), reaches)
        directed |= here
    one = find_close_pairs(spheres, labels.ids, reaches, "polyhedra.pairs")
    rows = np.concatenate([one, np.column_stack([one[:, [1, 0]], -one[:, 2:]])])
    rows = rows[directed[labels.ids[rows[:, 0]], labels.ids[rows[:, 1]]]]
    rows = rows[np.argsort(rows[:, 0], kind="stable")]
    centers, counts = np.unique(rows[:, 0], return_counts=True)
    if len(counts) and counts.max() > MAX_NEIGHBORS:
        atom = int(centers[np.argmax(counts)])
        raise SceneError(
            f"polyhedra.pairs: atom {atom} has {counts.max()} neighbours, more than "
            f"{MAX_NEIGHBORS}: give a shorter distance, such as Ti-O=2.5"
        )
    many = counts >= 4
    found = BondPairs(rows[np.repeat(many, counts)], {})
    points = np.asarray(spheres.centers, np.float64)[found.rows[:, 0]] + found.spans(spheres)
    return _Neighbors(centers[many], np.append(0, np.cumsum(counts[many])), found, points)


def convex_hulls(points: Doubles, first: Rows) -> Hulls:
    """Return the convex hulls of groups of points, (M, 3), which begin at `first`, (P + 1,):
    triangles with all other points on one side. Points are displaced a little, so that no four are
    in a plane and every hull is closed; groups in one plane make none."""
    counts = np.diff(first)
    parts: list[Hulls] = []
    for count in np.unique(counts).tolist():
        triples = np.array(list(combinations(range(count), 3)))
        groups = np.flatnonzero(counts == count)
        most = max(BLOCK // (len(triples) * count), 1)
        for part in np.split(groups, np.arange(most, len(groups), most)):
            rows = first[part][:, None] + np.arange(count)
            parts.append(_hulls_of_count(points, rows, triples, part))
    none = np.zeros((0, 3), np.int64)
    parts = parts or [Hulls(none, none[:, 0], none[:, :2], none[:, 0])]
    return Hulls(*(np.concatenate(each) for each in zip(*parts, strict=True)))


def _hulls_of_count(points: Doubles, rows: Rows, triples: Rows, group: Rows) -> Hulls:
    """Return the hulls of groups with equally many points, `rows` (P, N)."""
    places = points[rows] - points[rows].mean(axis=1, keepdims=True)
    size = np.sqrt(np.square(places).sum(axis=2)).mean(axis=1)
    moves = np.random.default_rng(0).uniform(-JITTER, JITTER, places.shape[1:])
    moved = places + size[:, None, None] * moves
    normal, level = _planes(moved[:, triples])
    heights = np.einsum("pnk,pck->pcn", moved, normal) - level[..., None]
    np.put_along_axis(heights, triples[None], 0.0, axis=2)  # of the corners themselves
    above, below = (heights <= 0.0).all(axis=2), (heights >= 0.0).all(axis=2)
    which, triple = np.nonzero(above | below)
    local = triples[triple]
    local = np.where(above[which, triple][:, None], local, local[:, ::-1])
    corners = places[which[:, None], local]
    normal, level = _planes(corners)
    volume = np.bincount(which, level, minlength=len(rows)) / 6.0
    solid = (volume > FLAT * size**3)[which]
    which, local, normal = which[solid], local[solid], normal[solid]
    triangles = rows[which[:, None], local]
    edges, edge_of = _edges(triangles, normal)
    return Hulls(triangles, group[which], edges, group[which[edge_of]])


def _planes(corners: Doubles) -> tuple[Doubles, Doubles]:
    """Return normals of triangles (..., 3, 3), of twice their area, and the planes' levels."""
    first, second, third = (corners[..., index, :] for index in range(3))
    normal = np.cross(second - first, third - first)
    return normal, (normal * first).sum(axis=-1)


def _edges(triangles: Rows, normals: Doubles) -> tuple[Rows, Rows]:
    """Return the edges where triangles meet at an angle, (E, 2), and a triangle of each, (E,)."""
    ends = np.concatenate([triangles[:, [i, (i + 1) % 3]] for i in range(3)])
    triangle = np.tile(np.arange(len(triangles)), 3)
    order = np.lexsort((ends.max(axis=1), ends.min(axis=1)))  # the two of an edge in sequence
    ends, triangle = ends[order], triangle[order]
    one, other = (normals[triangle[start::2]] for start in (0, 1))
    lengths = np.sqrt(np.square(one).sum(axis=1) * np.square(other).sum(axis=1))
    is_edge = (one * other).sum(axis=1) < np.cos(np.radians(MIN_ANGLE)) * lengths
    return ends[::2][is_edge], triangle[::2][is_edge]
