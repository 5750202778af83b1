"""Bonds between particles, from the file or by distance, as capsules; styles of molecules.

Double and triple bonds are sticks in the plane of neighbouring atoms.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from raytracer._native import core
from raytracer.appearance.coloring.by_scale import color_by_scale
from raytracer.appearance.coloring.expression import select_rows
from raytracer.appearance.coloring.scale import ColorScale
from raytracer.appearance.coloring.style import SetStyle, StyleSettings, find_needed_columns
from raytracer.appearance.glyphs.shared import pick_colors
from raytracer.config.errors import SceneError, quote_value, suggest
from raytracer.config.warning import warn
from raytracer.model.bond_settings import PLAIN_BOND, STYLES, Radii
from raytracer.model.mesh_geometry import unit_vectors
from raytracer.model.particle_labels import ParticleLabels, find_element_symbols
from raytracer.model.simulation_box import nearest_boxes, periodic_cell
from raytracer.model.solids import CapsuleSet
from raytracer.model.sphere_set import SphereSet
from raytracer.system.memory import require_room
from raytracer.system.resources import choose_thread_count

TOLERANCE = 1.2
"""Longest bond, in sums of covalent radii: no known single bond is longer, and atoms without a bond
are farther apart."""

ROW = 240  # most bytes per bond during construction
KINDS = 200  # classes of radii per factor e: each is 0.5% wide
CARBON = 0.75  # covalent radius in angstrom, for the median radius without elements

COVER = 1.002  # factor on the radius of atoms as thick as their bonds, to cover the bond ends

MAX_NEIGHBOURS = 4  # neighbours of an atom that are tried for the plane of a bond
STRAIGHT = 1e-3  # sine of the angle to the bond below which a neighbour defines no plane


def estimate_angstrom(spheres: SphereSet) -> float:
    """Return the length of an angstrom in units of a set, estimated from radii."""
    if not spheres.count or _has_elements(spheres):
        return 1.0
    return float(np.median(find_element_radii(spheres, "covalent"))) / CARBON


def _has_elements(spheres: SphereSet) -> bool:
    labels = (spheres.cell or spheres).labels
    return labels is not None and None not in find_element_symbols(labels)


def find_element_radii(spheres: SphereSet, kind: str) -> NDArray[np.float64]:
    """Return the radii of the elements of all particles, (N,), else the set's radii."""
    if _has_elements(spheres):
        return np.asarray(spheres.columns.value(kind), np.float64)
    # Types have no element: the set's own radii touch in a packing, as covalent radii do.
    return np.broadcast_to(np.asarray(spheres.radius, np.float64), (spheres.count,))


class BondPairs(NamedTuple):
    """Bonds: two sphere indices and the periodic image of the second, int32 (M, 5), and values of
    the file for each, (M,)."""

    rows: NDArray[np.int32]
    columns: dict[str, NDArray[Any]]

    def taken(self, chosen: NDArray[Any]) -> Self:
        return type(self)(self.rows[chosen], {n: each[chosen] for n, each in self.columns.items()})

    def spans(self, spheres: SphereSet) -> NDArray[np.float64]:
        """Return vectors from the first atom to the second, float64 (M, 3), in units of the set."""
        ends = np.asarray(spheres.centers, np.float64)
        spans: NDArray[np.float64] = ends[self.rows[:, 1]] - ends[self.rows[:, 0]]
        crossing = self.rows[:, 2:].any(axis=1)
        if crossing.any():
            assert spheres.box is not None
            edges = np.array(spheres.box.edges, np.float64)
            spans[crossing] += np.einsum("ij,jk->ik", self.rows[crossing, 2:], edges)
        return spans

    def table(self, spheres: SphereSet, names: Iterable[str] = ()) -> SphereSet:
        """Return the pairs as a set at their midpoints, with `length`, their own columns, and of
        `names` those that end in 1 or 2: columns of the first or the second particle."""
        spans, atoms = self.spans(spheres), spheres.columns
        length = np.sqrt(np.square(spans).sum(axis=1)) * spheres.transform.scale
        columns: dict[str, Any] = {"length": length, **self.columns}
        for name in names:
            if name not in columns and name[-1:] in ("1", "2") and name[:-1] in atoms:
                columns[name] = atoms[name[:-1]][self.rows[:, int(name[-1]) - 1]]
        middles = spheres.centers[self.rows[:, 0]] + 0.5 * spans
        return SphereSet(middles, 1.0, columns=columns)

    def halves(
        self, spheres: SphereSet, shift: NDArray[np.float64] | float = 0.0
    ) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.int64], NDArray[np.int64]]:
        """Return segments between the particles, `shift` beside them, each across a periodic
        boundary as two halves: starts and ends, (S, 3), the pair of each, (S,), and at which of its
        particles both ends are, 0 or 1; -1 for whole segments."""
        starts, ends = (spheres.centers[self.rows[:, side]] + shift for side in (0, 1))
        cut = np.flatnonzero(self.rows[:, 2:].any(axis=1))
        half, far = 0.5 * self.taken(cut).spans(spheres), ends[cut]
        ends[cut] = starts[cut] + half
        side = np.full(len(ends) + len(cut), -1)
        side[cut], side[len(ends) :] = 0, 1
        starts, ends = np.concatenate([starts, far]), np.concatenate([ends, far - half])
        kind = spheres.centers.dtype
        return (
            starts.astype(kind),
            ends.astype(kind),
            np.append(np.arange(len(self.rows)), cut),
            side,
        )


def to_nearest_images(
    spheres: SphereSet, rows: NDArray[np.integer], columns: dict[str, NDArray[Any]]
) -> BondPairs:
    """Return pairs of particles, (M, 2), each with the nearest image of the second."""
    ends = spheres.centers[rows].astype(np.float64)
    boxes = nearest_boxes(ends[:, 1] - ends[:, 0], spheres.box)
    return BondPairs(np.concatenate([rows, -boxes], axis=1).astype(np.int32), columns)


def find_bonds(
    spheres: SphereSet, wanted: str | float | Mapping[str, float], place: str
) -> BondPairs:
    """Return the bonds of a set; place: of the setting, for messages."""
    if wanted in ("auto", "file"):
        table = spheres.columns.bond_table()
        if table is not None:
            return to_nearest_images(spheres, *table)
        if wanted == "file":
            raise SceneError(
                f"{place}: {spheres.source or 'the set'} holds no bonds between the "
                'particles that are shown; find them by distance: "distance"'
            )
    kinds: NDArray[np.integer]
    if isinstance(wanted, Mapping):
        kinds, reaches = _find_bonds_by_lengths(spheres, wanted, place)
    elif isinstance(wanted, str):
        kinds, sums = classify_radii(find_element_radii(spheres, "covalent"))
        reaches = TOLERANCE * sums
    else:
        kinds, reaches = np.zeros(spheres.count, np.int32), np.array([[float(wanted)]])
    pairs = find_close_pairs(spheres, kinds, reaches, place)
    require_room(place, len(pairs) * ROW, f"for {len(pairs):,} bonds")
    return BondPairs(pairs, {})


def classify_radii(radii: NDArray[np.float64]) -> tuple[NDArray[np.integer], NDArray[np.float64]]:
    """Return the class of each radius, (N,), and the largest sums of two of classes, (K, K)."""
    steps, kinds = np.unique(np.rint(np.log(radii) * KINDS), return_inverse=True)
    kinds, largest = kinds.reshape(-1), np.zeros(len(steps))
    np.maximum.at(largest, kinds, radii)
    return kinds, largest[:, None] + largest


def find_close_pairs(
    spheres: SphereSet, kinds: NDArray[np.integer], reaches: NDArray[np.float64], place: str
) -> NDArray[np.int32]:
    """Return the pairs of particles that are closer than the largest distances of their kinds, (N,)
    and (K, K), as `Pairs.rows`. Raises SceneError: one has more than 64 neighbours."""
    require_room(place, spheres.count * 64, "for the search of neighbours")
    box = spheres.box
    edges, periodic = periodic_cell(box) or (np.eye(3), np.zeros(3, np.bool_))
    origin = np.zeros(3) if box is None else np.array(box.origin, np.float64)
    points = np.ascontiguousarray(spheres.centers, np.float64)
    corners = np.vstack([origin[None], edges])
    kinds, reaches = np.ascontiguousarray(kinds, np.int32), np.ascontiguousarray(reaches)
    try:
        pairs: NDArray[np.int32] = core().close_pairs(
            points, kinds, reaches, corners, periodic.tolist(), choose_thread_count(0)
        )
    except ValueError:
        raise SceneError(
            f"{place}: a particle has more than 64 neighbours within {reaches.max():g}, the "
            "longest distance: give a shorter one, or smaller radii"
        ) from None
    return pairs


def _find_bonds_by_lengths(
    spheres: SphereSet, wanted: Mapping[str, float], place: str
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    labels = spheres.labels
    if labels is None:
        raise SceneError(
            f"{place}: {spheres.source or 'the set'} has no types or elements; give one distance"
        )
    known, reaches = find_types(labels), np.zeros((len(labels.names),) * 2)
    for pair, longest in wanted.items():
        here = match_pair(labels, parse_pair(pair, known, place))
        reaches[here | here.T] = longest
    return labels.ids, reaches


def find_types(labels: ParticleLabels) -> list[str]:
    """Return the labels of a set, and the symbols of their elements."""
    return list(dict.fromkeys([*labels.names, *filter(None, find_element_symbols(labels))]))


def parse_pair(pair: str, known: Collection[str], place: str) -> tuple[str, str]:
    """Return the two types of a pair, "Si-O". Raises SceneError, which names the place."""
    ends = [name.strip() for name in pair.split("-")]
    if len(ends) != 2 or not all(ends):
        raise SceneError(f"{place}: {quote_value(pair)} is not a pair of types such as Si-O")
    for name in ends:
        if name not in known:
            raise SceneError(
                f"{place}: there is no type {quote_value(name)}; {suggest(name, known)}"
            )
    return ends[0], ends[1]


def match_pair(labels: ParticleLabels, ends: Iterable[str]) -> NDArray[np.bool_]:
    """Return which pairs of labels have these types, in this order, bool (K, K)."""
    both = list(zip(labels.names, find_element_symbols(labels), strict=True))
    first, second = ([end in names for names in both] for end in ends)
    return np.outer(first, second)


class StickOffsets(NamedTuple):
    """Sticks of a bond: distances from its axis and radius, in units of the bond radius."""

    offsets: tuple[float, ...]
    radius: float


BESIDE = {
    2: StickOffsets((-1.0, 1.0), 0.6),
    3: StickOffsets((-1.45, 0.0, 1.45), 0.52),
}  # for thicker balls

WITHIN = {2: StickOffsets((-0.57, 0.57), 0.42), 3: StickOffsets((-0.72, 0.0, 0.72), 0.27)}
"""Sticks within the radius of a single bond, for atoms of that radius."""


LINES = {2: StickOffsets((-1.7, 1.7), 0.8), 3: StickOffsets((-2.6, 0.0, 2.6), 0.8)}
"""Thin sticks, spaced by more than their diameter so that they remain distinct in a picture."""


def make_bonds(spheres: SphereSet, bonding: SetStyle) -> tuple[SphereSet, CapsuleSet | None]:
    """Return particles in a molecule style, unless they have radii of their own, and their
    bonds."""
    settings, angstrom = bonding.settings, estimate_angstrom(spheres)
    radii = STYLES[settings.style] if settings.style else Radii(0.0, 0.0, PLAIN_BOND)
    wanted = settings.bonds
    if wanted is None:
        wanted = "auto" if radii.bond > 0 else "none"
    made = None
    if wanted != "none" and spheres.count:
        pairs = find_bonds(spheres, wanted, bonding.named("bonds"))
        made = _make_capsules(spheres, pairs, (radii.bond or PLAIN_BOND) * angstrom, bonding)
    if settings.style is None or bonding.radius is not None:
        return spheres, made
    if radii.vdw:
        return spheres.changed(radius=radii.vdw * find_element_radii(spheres, "vdw")), made
    same = settings.bond_radius if settings.style != "ball-and-stick" else None
    radius = same or radii.atom * angstrom
    # Atoms exactly as thick as bonds would coincide with the bond ends; edges show both.
    radius *= COVER if radii.atom == radii.bond else 1.0
    return spheres.changed(radius=radius), made


def _make_capsules(
    spheres: SphereSet, pairs: BondPairs, radius: float, bonding: SetStyle
) -> CapsuleSet | None:
    """Return bonds as capsules, across a periodic boundary as two halves, or None without any."""
    settings = bonding.settings
    select, color = settings.bond_select, settings.bond_color
    if select is not None and len(pairs.rows):
        table = pairs.table(spheres, find_needed_columns(select))
        pairs = pairs.taken(select_rows(select, table.columns, bonding.named("bond_select")))
    if not len(pairs.rows):
        where = spheres.source or "the set"
        warn(f"{bonding.named('bonds')}: no particles of {where} are bonded")
        return None
    radius = settings.bond_radius or radius
    scales: list[ColorScale] = []
    colored = None
    if isinstance(color, StyleSettings):
        rule = SetStyle(color, place=bonding.place, table="bond_color")
        (colored,), scale = color_by_scale([pairs.table(spheres, color.columns)], rule)
        scales = [scale]
    thick: Any = radius
    shift: Any = 0.0
    if "order" in pairs.columns and settings.bond_orders is not False:
        splits = {"licorice": WITHIN, "wire": LINES}.get(settings.style or "", BESIDE)
        rows, shift, thick = split_sticks(pairs, spheres, radius, splits)
        pairs, thick = pairs.taken(rows), radius * thick
        colored = None if colored is None else colored.taken(rows)
    starts, ends, of_pair, side = pairs.halves(spheres, shift)
    particles = pairs.rows[of_pair, np.maximum(side, 0)], pairs.rows[of_pair, abs(side)]
    colors = {"color": color} if color is not None else _half_colors(spheres, *particles)
    if colored is not None:
        colors = pick_colors(colored, of_pair)
    opacity = spheres.opacity
    if isinstance(opacity, np.ndarray):
        opacity = np.minimum(*(opacity[rows] for rows in particles))
    made = CapsuleSet(
        starts, ends, thick if isinstance(thick, float) else thick[of_pair], opacity=opacity,
        material=spheres.material, transform=spheres.transform, **colors,
    )  # fmt: skip
    made.scales, made.particles = scales, particles
    return made


def _half_colors(
    spheres: SphereSet, first: NDArray[np.int32], second: NDArray[np.int32]
) -> dict[str, Any]:
    """Return the colours of atoms for both halves of bonds, as arguments of `CapsuleSet`."""
    colors = pick_colors(spheres, first)
    if spheres.color_id is None and len(spheres.color) == 1:
        return colors
    ends = pick_colors(spheres, second).items()
    return colors | {f"end_{name}": value for name, value in ends if name != "color_space"}


def split_sticks(
    pairs: BondPairs, spheres: SphereSet, radius: float, splits: Mapping[int, StickOffsets]
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the sticks of bonds by their column `order`; aromatic bonds (1.5) count as double:
    index of the bond of each stick, (S,), offset from its axis, (S, 3), and radius in units of the
    bond radius, (S,)."""
    orders = np.nan_to_num(pairs.columns["order"], nan=1.0)
    whole = np.clip(np.ceil(orders - 0.25), 1, 3).astype(np.int64)
    several = np.flatnonzero(whole > 1)
    single = np.flatnonzero(whole == 1)
    across = _find_offset_directions(pairs.rows[:, :2], pairs.spans(spheres), several)
    bond, shift = [single], [np.zeros((len(single), 3))]
    thick = [np.ones(len(single))]
    for order, split in splits.items():
        mine = whole[several] == order
        for offset in split.offsets:
            bond.append(several[mine])
            shift.append(radius * offset * across[mine])
            thick.append(np.full(int(mine.sum()), split.radius))
    return np.concatenate(bond), np.concatenate(shift), np.concatenate(thick)


def _find_offset_directions(
    pairs: NDArray[np.integer], spans: NDArray[np.float64], several: NDArray[np.int64]
) -> NDArray[np.float64]:
    atoms = np.concatenate([pairs[:, 0], pairs[:, 1]])
    order = np.argsort(atoms, kind="stable")
    steps = np.concatenate([spans, -spans])[order]
    bond_of = np.concatenate([np.arange(len(pairs))] * 2)[order]
    atoms = atoms[order]
    along = unit_vectors(spans[several])
    axis = np.eye(3)[np.argmin(np.abs(along), axis=1)] if len(along) else along
    best = unit_vectors(np.cross(along, axis))
    widest = np.full(len(several), STRAIGHT)
    for end in (0, 1):
        atom = pairs[several, end]
        place = np.searchsorted(atoms, atom)
        for neighbour in range(MAX_NEIGHBOURS):
            at = np.minimum(place + neighbour, len(atoms) - 1)
            there = (atoms[at] == atom) & (bond_of[at] != several)
            side = unit_vectors(steps[at])
            part = side - (side * along).sum(axis=1)[:, None] * along
            width = np.sqrt(np.square(part).sum(axis=1))
            # The first atom's neighbours take precedence: in a ring all define the same plane.
            wider = there & (width > 1.01 * widest)
            best[wider] = unit_vectors(part[wider])
            widest[wider] = width[wider]
    return best
