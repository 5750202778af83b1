"""Surface of the ribbon of a chain: a cross-section swept along a smooth curve.

The curve passes through the guide atoms as an interpolating natural cubic spline, which has a
continuous curvature, so that helices are round. Strands follow the mean of their neighbouring guide
atoms, without the pleat. The flat side turns with the peptide planes (Carson and Bugg 1986, J. Mol.
Graph. 4, 121-122), measured as an angle from a frame that is transported along the curve without
rotation about it, and interpolated between residues. A ribbon looks the same after half a turn, so
that this angle has no flips.
"""

from typing import NamedTuple

import numpy as np

from raytracer.appearance.glyphs.shared import Doubles, Rows
from raytracer.model.mesh_geometry import unit_vectors

COIL, HELIX, STRAND, NUCLEIC = range(4)  # structure of a residue

SECTIONS = np.array([(0.24, 0.24, 0.24), (1.3, 0.22, 0.22), (1.15, 0.22, 0.08), (0.45, 0.45, 0.45)])
"""Cross-sections by structure, in angstrom: half width, half thickness, radius of the corners."""

HEAD = 1.9  # half width of the head of an arrow at its base, in angstrom
HEAD_LENGTH = 1.5  # of the head, in residues
BLEND = 0.25  # residues before and after the border of two structures in which sections change

SUPPORT = 24  # guide atoms on each side that reach a point; the weight of the next is below 1e-13
SMALLEST = 1e-9  # side of a triangle relative to the longest, below which its ends are one point
STEEP = 0.1  # part of a normal across the side of a ribbon, below which the side has folded over
POLE = np.sqrt(3.0) - 2.0  # of the recursive filter that makes a cubic B-spline interpolate


class RibbonSurface(NamedTuple):
    """Triangles of a ribbon, anticlockwise seen from outside, with unit normals outwards, and their
    places along the chain in residues from 0."""

    vertices: Doubles
    normals: Doubles
    triangles: Rows
    places: Doubles


def make_ribbon_surface(
    guides: Doubles,
    sides: Doubles,
    structure: Rows,
    *,
    steps: int = 12, corner: int = 5, unit: float = 1.0, width: float = 1.0,
) -> RibbonSurface:  # fmt: skip
    """Return the ribbon of a chain without a break: guide atoms and directions of the width, of any
    sign, (N, 3), `steps` cross-sections per residue (even), `corner` edges of a quarter of one,
    length of an angstrom, and factor on the cross-sections."""
    centers = guides
    for _ in range(2):
        means = centers.copy()
        means[1:-1] = 0.25 * (centers[:-2] + 2.0 * centers[1:-1] + centers[2:])
        centers = np.where((structure == STRAND)[:, None], means, centers)
    heads = _find_heads(structure)
    # ascending, with two cross-sections at the bases of heads
    places = np.arange((len(guides) - 1) * steps + 1) / steps
    places = np.sort(np.concatenate([places, [start for start, _ in heads]]))
    controls = find_spline_controls(centers)
    points = evaluate_spline(controls, places)
    tangents = _unit_tangents(evaluate_spline(controls, places, slope=True))
    first = _transport_normals(tangents)
    across, flat = _section_axes(first, tangents, sides, structure, places)
    half, thick, fillet = (unit * width * _profile(structure, heads, places)).T
    turns = np.concatenate([np.linspace(q, q + 1, corner + 1) for q in range(4)]) * np.pi / 2.0
    signs = np.repeat([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]], corner + 1, axis=0)
    wide = signs[:, 0] * (half - fillet)[:, None] + fillet[:, None] * np.cos(turns)
    high = signs[:, 1] * (thick - fillet)[:, None] + fillet[:, None] * np.sin(turns)
    rings = points[:, None] + wide[..., None] * across[:, None] + high[..., None] * flat[:, None]
    normals = np.cos(turns)[:, None] * across[:, None] + np.sin(turns)[:, None] * flat[:, None]
    return _sweep_surface(points, tangents, rings, normals, places)


def find_spline_controls(points: Doubles) -> Doubles:
    """Return the control points of the natural cubic B-spline through points, (N, 3), with one more
    at each end (Unser 1999, IEEE Signal Process. Mag. 16(6), 22-38)."""
    reach = np.abs(np.arange(-SUPPORT, SUPPORT + 1))
    weights = np.sqrt(3.0) * POLE**reach
    longer = np.pad(points, ((SUPPORT + 1, SUPPORT + 1), (0, 0)), "reflect", reflect_type="odd")
    return np.stack([np.convolve(axis, weights, "valid") for axis in longer.T], axis=1)


def evaluate_spline(controls: Doubles, places: Doubles, slope: bool = False) -> Doubles:
    """Return points of a uniform cubic B-spline at places 0 to N - 1, (M,), or its derivative, (M,
    K), from controls (N + 2, K)."""
    first = np.clip(places.astype(np.int64), 0, len(controls) - 4)
    t = places - first
    if slope:
        weights = (
            -0.5 * (1.0 - t) ** 2, 1.5 * t * t - 2.0 * t, 0.5 + t - 1.5 * t * t, 0.5 * t * t,
        )  # fmt: skip
    else:
        weights = (
            (1.0 - t) ** 3 / 6.0, 2.0 / 3.0 - t * t + 0.5 * t**3,
            1.0 / 6.0 + 0.5 * (t + t * t - t**3), t**3 / 6.0,
        )  # fmt: skip
    parts = [w[:, None] * controls[first + index] for index, w in enumerate(weights)]
    return np.asarray(np.sum(parts, axis=0))


def _find_heads(structure: Rows) -> list[tuple[float, float]]:
    """Return where the heads of arrows start and end, in residues."""
    is_strand = np.concatenate([[False], structure == STRAND, [False]])
    starts = np.flatnonzero(~is_strand[:-1] & is_strand[1:])
    ends = np.flatnonzero(is_strand[:-1] & ~is_strand[1:]) - 1
    tips = np.minimum(ends + 0.5, len(structure) - 1.0)
    bases = np.maximum(tips - HEAD_LENGTH, starts)
    return [(a, b) for a, b in zip(bases.tolist(), tips.tolist(), strict=True) if b > a]


def _profile(structure: Rows, heads: list[tuple[float, float]], places: Doubles) -> Doubles:
    """Return the cross-sections, (M, 3): half width, half thickness, radius of the corners."""
    sections = SECTIONS[structure]
    border = np.clip(np.floor(places).astype(np.int64), 0, len(structure) - 2)
    share = np.clip((places - border - 0.5) / (2.0 * BLEND) + 0.5, 0.0, 1.0)
    share = (share * share * (3.0 - 2.0 * share))[:, None]
    profile: Doubles = (1.0 - share) * sections[border] + share * sections[border + 1]
    for start, tip in heads:
        inside = np.flatnonzero((places >= start) & (places <= tip))
        if places[inside[1]] == start:  # the first of two sections is the end of the shaft
            inside = inside[1:]
        rest = (tip - places[inside]) / (tip - start)
        end = SECTIONS[COIL, 0]
        profile[inside, 0] = end + (HEAD - end) * rest
        profile[inside, 1:] = SECTIONS[STRAND, 1:]
        profile[(places > tip) & (places < tip + BLEND)] = SECTIONS[COIL]
    return profile


def _unit_tangents(slopes: Doubles) -> Doubles:
    """Return unit tangents; where the curve stops, such as at atoms in one place, that before."""
    lengths = np.sqrt(np.square(slopes).sum(axis=1))
    moves = lengths > SMALLEST * lengths.max(initial=0.0)
    if not moves.any():
        return np.tile([0.0, 0.0, 1.0], (len(slopes), 1))
    before = np.maximum.accumulate(np.where(moves, np.arange(len(slopes)), int(np.argmax(moves))))
    return unit_vectors(slopes[before])


def _transport_normals(tangents: Doubles) -> Doubles:
    """Return unit vectors across a curve that do not turn about it, (M, 3): products, made by
    doubling, of the smallest rotations from each tangent to the next."""
    before, after = tangents[:-1], tangents[1:]
    axis = np.cross(before, after)
    skew = np.zeros((len(tangents), 3, 3))
    skew[1:, [2, 0, 1], [1, 2, 0]] = axis
    skew[1:, [1, 2, 0], [2, 0, 1]] = -axis
    cosine = np.concatenate([[1.0], (before * after).sum(axis=1)])
    turns = np.eye(3) + skew + skew @ skew / np.maximum(1.0 + cosine, 1e-9)[:, None, None]
    step = 1  # of the turns whose products are known
    while step < len(turns):
        turns[step:] = turns[step:] @ turns[:-step]
        step *= 2
    start = np.cross(tangents[0], np.eye(3)[np.argmin(np.abs(tangents[0]))])
    first = turns @ start
    return unit_vectors(first - (first * tangents).sum(axis=-1, keepdims=True) * tangents)


def _section_axes(
    first: Doubles, tangents: Doubles, sides: Doubles, structure: Rows, places: Doubles
) -> tuple[Doubles, Doubles]:
    """Return the directions of width and thickness of each cross-section, (M, 3) each."""
    second = np.cross(tangents, first)
    at = np.searchsorted(places, np.arange(len(sides)))
    angles = np.arctan2((sides * second[at]).sum(axis=1), (sides * first[at]).sum(axis=1))
    known = np.flatnonzero((structure == HELIX) | (structure == STRAND))
    steady = np.unwrap(angles[known], period=np.pi)
    numbers = np.arange(len(sides))
    angles = np.interp(numbers, known, steady) if len(known) else np.zeros(len(sides))
    controls = np.pad(angles, 1, "reflect", reflect_type="odd")[:, None]
    angle = evaluate_spline(controls, places)
    across = np.cos(angle) * first + np.sin(angle) * second
    return across, np.cross(tangents, across)


def _sweep_surface(
    points: Doubles, tangents: Doubles, rings: Doubles, normals: Doubles, places: Doubles
) -> RibbonSurface:
    """Return the surface through rings and its ends; two sections at one place begin a strip. Two
    triangles join each pair of neighbours in rows, without those that are empty because two corners
    are at one point."""
    width, doubled = rings.shape[1], np.flatnonzero(places[1:] == places[:-1]) + 1
    rows: list[tuple[Doubles, Doubles, int, bool]] = []
    """Corners, normals, section, and whether a row continues the one before."""
    for strip in np.split(np.arange(len(places)), doubled):
        start, end = int(strip[0]), int(strip[-1])
        before = points[[0] * width] if start == 0 else rings[start - 1]
        rows.append((before, -tangents[start], start, False))
        rows.append((rings[start], -tangents[start], start, True))
        along = unit_vectors(np.gradient(rings[strip], axis=0)) if len(strip) > 1 else 0.0
        tilted = normals[strip] - (normals[strip] * along).sum(axis=-1, keepdims=True) * along
        steep = np.square(tilted).sum(axis=-1, keepdims=True) < STEEP**2
        tilted = unit_vectors(np.where(steep, normals[strip], tilted))
        rows += [
            (rings[row], normal, row, row > start)
            for row, normal in zip(strip.tolist(), tilted, strict=True)
        ]
        if end == len(points) - 1:
            rows.append((rings[end], tangents[end], end, False))
            rows.append((points[[end] * width], tangents[end], end, True))
    vertices = np.concatenate([row for row, *_ in rows])
    facing = np.concatenate([np.broadcast_to(normal, (width, 3)) for _, normal, *_ in rows])
    last = np.flatnonzero([continues for *_, continues in rows])
    at = places[[section for *_, section, _ in rows]]
    here = np.arange(width)
    beside = np.roll(here, -1)
    low, high = ((last - 1) * width)[:, None], (last * width)[:, None]
    quads = np.stack([low + here, low + beside, high + beside, high + here], axis=-1)
    triangles = quads[..., [[0, 1, 2], [0, 2, 3]]].reshape(-1, 3)
    middles = np.repeat(0.5 * (at[last - 1] + at[last]), 2 * width)
    corners = vertices[triangles]
    sides = np.square(corners - np.roll(corners, 1, axis=1)).sum(axis=2)
    kept = sides.min(axis=1) > SMALLEST**2 * sides.max(initial=0.0)
    used, triangles = np.unique(triangles[kept], return_inverse=True)
    return RibbonSurface(vertices[used], facing[used], triangles.reshape(-1, 3), middles[kept])
