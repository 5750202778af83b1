"""Bonds between particles as capsules, from the file or by distance; molecule styles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from raytracer._native import core
from raytracer.errors import SceneError, shown, shown_value, suggestion
from raytracer.memory import require_room
from raytracer.resources import thread_count
from raytracer.scene.bond_orders import BESIDE, LINES, WITHIN, sticks_of
from raytracer.scene.bond_settings import PLAIN_BOND, Bonding
from raytracer.scene.coloring.by_scale import by_scale
from raytracer.scene.coloring.expression import rows_of
from raytracer.scene.coloring.style import SetStyle, StyleSettings, columns_in
from raytracer.scene.particles.labels import element_symbols
from raytracer.scene.simulation_box import cell_of
from raytracer.warning import warn

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from raytracer.scene.coloring.scale import ColorScale
    from raytracer.scene.scene import CapsuleSet, SphereSet

TOLERANCE = 1.2
"""Longest bond, in sums of covalent radii: no known single bond is longer, and atoms without a bond
are farther apart."""

ROW = 240  # most bytes per bond during construction
KINDS = 200  # radius classes per factor e (0.5% wide) for particles without elements
CARBON = 0.75  # covalent radius in angstrom, for the median radius without elements


COVER = 1.002  # factor on the radius of atoms as thick as their bonds, to cover the bond ends


class Bonded(NamedTuple):
    atoms: SphereSet
    bonds: CapsuleSet | None


def bonded(spheres: SphereSet, bonding: Bonding) -> Bonded:
    """Apply a molecule style to particles and make their bonds."""
    radii, angstrom = bonding.radii, angstrom_of(spheres)
    wanted = bonding.bonds
    if wanted is None:
        wanted = "auto" if radii.bond > 0 else "none"
    made = None
    if wanted != "none" and spheres.count:
        pairs = _pairs(spheres, wanted, bonding)
        made = _capsules(spheres, pairs, (radii.bond or PLAIN_BOND) * angstrom, bonding)
    if bonding.style is None or bonding.keeps_radii:
        return Bonded(spheres, made)
    atoms = copy(spheres)
    if radii.vdw:
        atoms.radius = radii.vdw * element_radii(spheres, "vdw")
    else:
        same = bonding.radius is not None and bonding.style != "ball-and-stick"
        radius = float(bonding.radius) if same and bonding.radius else radii.atom * angstrom
        # Atoms exactly as thick as bonds would coincide with the bond ends; edges show both.
        atoms.radius = radius * (COVER if radii.atom == radii.bond else 1.0)
    return Bonded(atoms, made)


def angstrom_of(spheres: SphereSet) -> float:
    """Return the length of an angstrom in units of a set, estimated from radii."""
    if not spheres.count or _has_elements(spheres):
        return 1.0
    return float(np.median(element_radii(spheres, "covalent"))) / CARBON


def _has_elements(spheres: SphereSet) -> bool:
    labels = (spheres.cell or spheres).labels
    return labels is not None and None not in element_symbols(labels)


def element_radii(spheres: SphereSet, kind: str) -> NDArray[np.float64]:
    """Return the radii of the elements of all particles, (N,), else the set's radii."""
    if _has_elements(spheres):
        return np.asarray(spheres.columns.value(kind), np.float64)
    # Types have no element: the set's own radii touch in a packing, as covalent radii do.
    return np.broadcast_to(np.asarray(spheres.radius, np.float64), (spheres.count,))


class _Pairs(NamedTuple):
    """Bonds.

    Args:
        rows: int32 (M, 5): two sphere indices, and the periodic image of the second.
        columns: values of the file per bond, (M,) each.
    """

    rows: NDArray[np.int32]
    columns: dict[str, NDArray[Any]]

    def taken(self, chosen: NDArray[Any]) -> _Pairs:
        return _Pairs(self.rows[chosen], {n: each[chosen] for n, each in self.columns.items()})

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


def _pairs(
    spheres: SphereSet, wanted: str | float | Mapping[str, float], bonding: Bonding
) -> _Pairs:
    if wanted in ("auto", "file"):
        table = spheres.columns.bond_table()
        if table is not None:
            return _Pairs(_nearest_images(spheres, table[0]), table[1])
        if wanted == "file":
            raise SceneError(
                f"{bonding.place}bonds: {spheres.source or 'the set'} holds no bonds between the "
                'particles that are shown; find them by distance: "distance"'
            )
    return _Pairs(_close(spheres, wanted, bonding), {})


def _nearest_images(spheres: SphereSet, pairs: NDArray[np.int64]) -> NDArray[np.int32]:
    """Choose the periodic image of the second atom nearest to the first."""
    rows = np.zeros((len(pairs), 5), np.int32)
    rows[:, :2] = pairs
    box = spheres.box
    if box is not None and any(box.periodic):
        ends = spheres.centers[pairs].astype(np.float64)
        apart = (ends[:, 1] - ends[:, 0]) @ np.linalg.inv(np.array(box.edges, np.float64))
        shift = -np.rint(apart)
        shift[:, ~np.array(box.periodic)] = 0
        rows[:, 2:] = shift
    return rows


def _close(
    spheres: SphereSet, wanted: str | float | Mapping[str, float], bonding: Bonding
) -> NDArray[np.int32]:
    kinds, reaches = _reaches(spheres, wanted, bonding)
    require_room(f"{bonding.place}bonds", spheres.count * 64, "for the search of neighbours")
    try:
        pairs = close_pairs(spheres, kinds, reaches)
    except ValueError:
        raise SceneError(
            f"{bonding.place}bonds: a particle has more than 64 neighbours within "
            f"{float(reaches.max()):g}, the longest bond: give a shorter distance"
        ) from None
    require_room(f"{bonding.place}bonds", len(pairs) * ROW, f"for {len(pairs):,} bonds")
    return pairs


def close_pairs(
    spheres: SphereSet, kinds: NDArray[np.int32], reaches: NDArray[np.float64]
) -> NDArray[np.int32]:
    """Return the pairs of close particles with periodic images, as `_Pairs.rows`.

    Args:
        kinds: of the particles, (N,).
        reaches: largest distances of pairs of kinds, (K, K).

    Raises:
        ValueError: a particle has more than 64 neighbours.
    """
    box = spheres.box
    edges, periodic = cell_of(box) or (np.eye(3), np.zeros(3, np.bool_))
    origin = np.zeros(3) if box is None else np.array(box.origin, np.float64)
    points = np.ascontiguousarray(spheres.centers, np.float64)
    corners = np.vstack([origin[None], edges])
    pairs: NDArray[np.int32] = core().close_pairs(
        points, kinds, reaches, corners, periodic.tolist(), thread_count(0)
    )
    return pairs


def _reaches(
    spheres: SphereSet, wanted: str | float | Mapping[str, float], bonding: Bonding
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return the kinds of particles, int32 (N,), and the longest bonds of pairs of kinds, (K,
    K)."""
    if isinstance(wanted, Mapping):
        return _by_pairs(spheres, wanted, bonding)
    if not isinstance(wanted, str):
        longest = np.array([[float(wanted)]])
        return np.zeros(spheres.count, np.int32), longest
    radii = element_radii(spheres, "covalent")
    steps, kinds = np.unique(np.rint(np.log(radii) * KINDS), return_inverse=True)
    largest = np.zeros(len(steps))
    np.maximum.at(largest, kinds, radii)
    reaches = TOLERANCE * (largest[:, None] + largest[None, :])
    return kinds.astype(np.int32).reshape(-1), np.ascontiguousarray(reaches)


def _by_pairs(
    spheres: SphereSet, wanted: Mapping[str, float], bonding: Bonding
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    labels = spheres.labels
    if labels is None:
        raise SceneError(
            f"{bonding.place}bonds: {spheres.source or 'the set'} has no types or elements; "
            "give one distance"
        )
    symbols = element_symbols(labels)
    known = dict.fromkeys([*labels.names, *(symbol for symbol in symbols if symbol)])
    reaches = np.zeros((len(labels.names), len(labels.names)))
    for pair, longest in wanted.items():
        names = [name.strip() for name in pair.split("-")]
        if len(names) != 2:
            raise SceneError(
                f"{bonding.place}bonds: '{shown(pair)}' is not a pair of types such as Si-O"
            )
        for name in names:
            if name not in known:
                raise SceneError(
                    f"{bonding.place}bonds: there is no type {shown_value(name)}; "
                    f"{suggestion(name, known)}"
                )
        ends = [
            np.array([name in both for both in zip(labels.names, symbols, strict=True)])
            for name in names
        ]
        both = np.outer(ends[0], ends[1])
        reaches[both | both.T] = longest
    return np.ascontiguousarray(labels.ids, np.int32), reaches


def _capsules(
    spheres: SphereSet, pairs: _Pairs, radius: float, bonding: Bonding
) -> CapsuleSet | None:
    """Return bonds as capsules, or None if there are none.

    A bond across a periodic boundary becomes two halves, one at each atom.
    """
    if bonding.select is not None and len(pairs.rows):
        pairs = pairs.taken(_chosen(spheres, pairs, bonding.select, bonding.place))
    if not len(pairs.rows):
        warn(f"{bonding.place}bonds: no particles of {spheres.source or 'the set'} are bonded")
        return None
    radius = bonding.radius or radius
    scales: list[ColorScale] = []
    colored = None
    if isinstance(bonding.color, StyleSettings):
        colored, scale = _by_values(spheres, pairs, bonding)
        scales = [scale]
    thick: Any = radius
    shift = None
    if "order" in pairs.columns and bonding.orders is not False:
        splits = {"licorice": WITHIN, "wire": LINES}.get(bonding.style or "", BESIDE)
        orders = pairs.columns["order"]
        sticks = sticks_of(pairs.rows[:, :2], pairs.spans(spheres), orders, radius, splits)
        pairs, shift, thick = pairs.taken(sticks.bond), sticks.shift, radius * sticks.thick
        colored = None if colored is None else colored.taken(sticks.bond)
    first, second = pairs.rows[:, 0], pairs.rows[:, 1]
    starts, ends = spheres.centers[first], spheres.centers[second]
    if shift is not None and len(shift) > 1:
        starts, ends = (np.asarray(each + shift, each.dtype) for each in (starts, ends))
    crossing = pairs.rows[:, 2:].any(axis=1)
    whole, cut = np.flatnonzero(~crossing), np.flatnonzero(crossing)
    order = np.concatenate([whole, cut, cut])
    if len(cut):
        assert spheres.box is not None
        step = pairs.rows[cut, 2:] @ np.array(spheres.box.edges, np.float64)
        half = 0.5 * (ends[cut] + step - starts[cut])
        others = np.concatenate([ends[whole], starts[cut] + half, ends[cut] - half])
        starts = np.concatenate([starts[whole], starts[cut], ends[cut]])
        ends = others.astype(starts.dtype)
        first, second = (
            np.concatenate([first[whole], first[cut], second[cut]]),
            np.concatenate([second[whole], first[cut], second[cut]]),
        )
    colors = _colors(spheres, first, second, bonding) if colored is None else _rule(colored, order)
    made = spheres.joined(
        starts,
        ends,
        thick if isinstance(thick, float) else thick[order],
        opacity=_opacity(spheres, first, second),
        **colors,
    )
    made.scales = scales
    made.particles = first, second
    return made


def _table(spheres: SphereSet, pairs: _Pairs, names: Sequence[str]) -> SphereSet:
    """Return bonds as a set at their midpoints, with the columns that `names` may use."""
    spans = pairs.spans(spheres)
    length = np.sqrt(np.square(spans).sum(axis=1)) * spheres.transform.scale
    columns: dict[str, Any] = {"length": length, **pairs.columns}
    atoms = spheres.columns
    for name in names:
        if name not in columns and name[-1:] in ("1", "2") and atoms.has(name[:-1]):
            columns[name] = atoms[name[:-1]][pairs.rows[:, int(name[-1]) - 1]]
    kind = type(spheres)  # not imported: its module imports this one
    return kind(spheres.centers[pairs.rows[:, 0]] + 0.5 * spans, 1.0, columns=columns)


def _chosen(spheres: SphereSet, pairs: _Pairs, select: str, place: str) -> NDArray[np.intp]:
    table = _table(spheres, pairs, columns_in(select))
    return rows_of(select, table.columns, f"{place}bond_select")


def _by_values(spheres: SphereSet, pairs: _Pairs, bonding: Bonding) -> tuple[SphereSet, ColorScale]:
    """Colour bonds by a rule: a set at their midpoints, and its scale."""
    assert isinstance(bonding.color, StyleSettings)
    table = _table(spheres, pairs, bonding.color.columns)
    place = bonding.place.removesuffix(".")
    (colored,), scale = by_scale([table], SetStyle(bonding.color, place=place, table="bond_color"))
    return colored, scale


def _rule(colored: SphereSet, rows: NDArray[np.int64]) -> dict[str, Any]:
    """Return the colours of a rule as arguments of `joined`."""
    assert colored.color_id is not None
    return {"color": colored.color, "color_id": colored.color_id[rows], "color_space": "srgb"}


def _opacity(spheres: SphereSet, first: NDArray[np.int32], second: NDArray[np.int32]) -> Any:
    """Return the opacity of bonds: the lesser of the two atoms."""
    if spheres.opacity is None or isinstance(spheres.opacity, float):
        return spheres.opacity
    return np.minimum(spheres.opacity[first], spheres.opacity[second])


def _colors(
    spheres: SphereSet, first: NDArray[np.int32], second: NDArray[np.int32], bonding: Bonding
) -> dict[str, Any]:
    """Return one colour for all bonds, or the colours of the atoms at both ends."""
    if bonding.color is not None:
        return {"color": bonding.color}
    space = {"color_space": spheres.color_space}
    if len(spheres.color) == 1 and spheres.color_id is None:
        return {"color": spheres.color[0], **space}
    if spheres.color_id is not None:
        ids = {"color_id": spheres.color_id[first], "end_color_id": spheres.color_id[second]}
        return {"color": spheres.color, "end_color": spheres.color, **ids, **space}
    return {"color": spheres.color[first], "end_color": spheres.color[second], **space}
