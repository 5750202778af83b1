"""Bonds between particles, from the file or by distance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raytracer._native import core
from raytracer.errors import SceneError, shown, shown_value, suggestion
from raytracer.memory import require_room
from raytracer.resources import thread_count
from raytracer.scene.bond_settings import Bonding
from raytracer.scene.particles.labels import element_symbols
from raytracer.scene.simulation_box import cell_of

if TYPE_CHECKING:
    from raytracer.scene.sphere_set import SphereSet

TOLERANCE = 1.2
"""Longest bond, in sums of covalent radii: no known single bond is longer, and atoms without a bond
are farther apart."""

ROW = 240  # most bytes per bond during construction
KINDS = 200  # radius classes per factor e (0.5% wide) for particles without elements
CARBON = 0.75  # covalent radius in angstrom, for the median radius without elements


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


class Pairs(NamedTuple):
    """Bonds.

    Args:
        rows: int32 (M, 5): two sphere indices, and the periodic image of the second.
        columns: values of the file per bond, (M,) each.
    """

    rows: NDArray[np.int32]
    columns: dict[str, NDArray[Any]]

    def taken(self, chosen: NDArray[Any]) -> Pairs:
        return Pairs(self.rows[chosen], {n: each[chosen] for n, each in self.columns.items()})

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


def pairs_of(
    spheres: SphereSet, wanted: str | float | Mapping[str, float], bonding: Bonding
) -> Pairs:
    if wanted in ("auto", "file"):
        table = spheres.columns.bond_table()
        if table is not None:
            return Pairs(_nearest_images(spheres, table[0]), table[1])
        if wanted == "file":
            raise SceneError(
                f"{bonding.place}bonds: {spheres.source or 'the set'} holds no bonds between the "
                'particles that are shown; find them by distance: "distance"'
            )
    return Pairs(_close(spheres, wanted, bonding), {})


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
    """Return the pairs of close particles with periodic images, as `Pairs.rows`.

    kinds: of the particles, (N,). reaches: largest distances of pairs of kinds, (K, K). Raises
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
