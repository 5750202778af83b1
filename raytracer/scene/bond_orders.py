"""Double and triple bonds as parallel sticks in the plane of neighbouring atoms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

MAX_NEIGHBOURS = 4  # neighbours of an atom that are tried for the plane of a bond
STRAIGHT = 1e-3  # sine of the angle to the bond below which a neighbour defines no plane


class Split(NamedTuple):
    """Sticks of a bond: distances from its axis and radius, in units of the bond radius."""

    offsets: tuple[float, ...]
    radius: float


BESIDE = {2: Split((-1.0, 1.0), 0.6), 3: Split((-1.45, 0.0, 1.45), 0.52)}  # for thicker balls

WITHIN = {2: Split((-0.57, 0.57), 0.42), 3: Split((-0.72, 0.0, 0.72), 0.27)}
"""Sticks within the radius of a single bond, for atoms of that radius."""


LINES = {2: Split((-1.7, 1.7), 0.8), 3: Split((-2.6, 0.0, 2.6), 0.8)}
"""Thin sticks, spaced by more than their diameter so that they remain distinct in a picture."""


class Sticks(NamedTuple):
    """The sticks of bonds.

    Args:
        bond: index of the bond of each stick, int64 (S,).
        shift: offset from the axis of the bond, float64 (S, 3).
        thick: radius in units of the bond radius, float64 (S,).
    """

    bond: NDArray[np.int64]
    shift: NDArray[np.float64]
    thick: NDArray[np.float64]


def sticks_of(
    pairs: NDArray[np.integer],
    spans: NDArray[np.float64],
    orders: NDArray[np.floating],
    radius: float,
    splits: Mapping[int, Split],
) -> Sticks:
    """Return the sticks of bonds between pairs of atoms, (M, 2), along spans, (M, 3), with orders,
    (M,); aromatic bonds (1.5) count as double."""
    whole = np.clip(np.ceil(np.nan_to_num(orders, nan=1.0) - 0.25), 1, 3).astype(np.int64)
    several = np.flatnonzero(whole > 1)
    single = np.flatnonzero(whole == 1)
    across = _across(pairs, spans, several)
    bond, shift = [single], [np.zeros((len(single), 3))]
    thick = [np.ones(len(single))]
    for order, split in splits.items():
        mine = whole[several] == order
        for offset in split.offsets:
            bond.append(several[mine])
            shift.append(radius * offset * across[mine])
            thick.append(np.full(int(mine.sum()), split.radius))
    return Sticks(np.concatenate(bond), np.concatenate(shift), np.concatenate(thick))


def _across(
    pairs: NDArray[np.integer], spans: NDArray[np.float64], several: NDArray[np.int64]
) -> NDArray[np.float64]:
    atoms = np.concatenate([pairs[:, 0], pairs[:, 1]])
    order = np.argsort(atoms, kind="stable")
    steps = np.concatenate([spans, -spans])[order]
    bond_of = np.concatenate([np.arange(len(pairs))] * 2)[order]
    atoms = atoms[order]
    along = _unit(spans[several])
    best = _any_across(along)
    widest = np.full(len(several), STRAIGHT)
    for end in (0, 1):
        atom = pairs[several, end]
        place = np.searchsorted(atoms, atom)
        for neighbour in range(MAX_NEIGHBOURS):
            at = np.minimum(place + neighbour, len(atoms) - 1)
            there = (atoms[at] == atom) & (bond_of[at] != several)
            side = _unit(steps[at])
            part = side - (side * along).sum(axis=1)[:, None] * along
            width = np.sqrt(np.square(part).sum(axis=1))
            # The first atom's neighbours take precedence: in a ring all define the same plane.
            wider = there & (width > 1.01 * widest)
            best[wider] = _unit(part[wider])
            widest[wider] = width[wider]
    return best


def _unit(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Normalize vectors; zeros stay zero."""
    length = np.sqrt(np.square(vectors).sum(axis=1, keepdims=True))
    return np.asarray(vectors / np.where(length > 0.0, length, 1.0), np.float64)


def _any_across(along: NDArray[np.float64]) -> NDArray[np.float64]:
    axis = np.eye(3)[np.argmin(np.abs(along), axis=1)] if len(along) else along
    return _unit(np.cross(along, axis))
