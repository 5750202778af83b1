"""Bonds as capsules, styles of molecules; double and triple bonds as sticks in the plane of
neighbouring atoms."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raytracer.scene.bond_settings import PLAIN_BOND, STYLES, Radii
from raytracer.scene.bonds import Pairs, angstrom_of, element_radii, pairs_of
from raytracer.scene.coloring.by_scale import by_scale
from raytracer.scene.coloring.expression import rows_of
from raytracer.scene.coloring.scale import ColorScale
from raytracer.scene.coloring.style import SetStyle, StyleSettings, columns_in
from raytracer.scene.glyphs.shared import colors_of
from raytracer.scene.mesh_geometry import unit_vectors
from raytracer.scene.solids import CapsuleSet
from raytracer.scene.sphere_set import SphereSet
from raytracer.warning import warn

COVER = 1.002  # factor on the radius of atoms as thick as their bonds, to cover the bond ends

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


def bonded(spheres: SphereSet, bonding: SetStyle) -> tuple[SphereSet, CapsuleSet | None]:
    """Return particles in a molecule style, unless they have radii of their own, and their
    bonds."""
    settings, angstrom = bonding.settings, angstrom_of(spheres)
    radii = STYLES[settings.style] if settings.style else Radii(0.0, 0.0, PLAIN_BOND)
    wanted = settings.bonds
    if wanted is None:
        wanted = "auto" if radii.bond > 0 else "none"
    made = None
    if wanted != "none" and spheres.count:
        pairs = pairs_of(spheres, wanted, bonding.named("bonds"))
        made = _capsules(spheres, pairs, (radii.bond or PLAIN_BOND) * angstrom, bonding)
    if settings.style is None or bonding.radius is not None:
        return spheres, made
    if radii.vdw:
        return spheres.changed(radius=radii.vdw * element_radii(spheres, "vdw")), made
    same = settings.bond_radius if settings.style != "ball-and-stick" else None
    radius = same or radii.atom * angstrom
    # Atoms exactly as thick as bonds would coincide with the bond ends; edges show both.
    radius *= COVER if radii.atom == radii.bond else 1.0
    return spheres.changed(radius=radius), made


def _capsules(
    spheres: SphereSet, pairs: Pairs, radius: float, bonding: SetStyle
) -> CapsuleSet | None:
    """Return bonds as capsules, across a periodic boundary as two halves, or None without any."""
    settings = bonding.settings
    select, color = settings.bond_select, settings.bond_color
    if select is not None and len(pairs.rows):
        table = pairs.table(spheres, columns_in(select))
        pairs = pairs.taken(rows_of(select, table.columns, bonding.named("bond_select")))
    if not len(pairs.rows):
        where = spheres.source or "the set"
        warn(f"{bonding.named('bonds')}: no particles of {where} are bonded")
        return None
    radius = settings.bond_radius or radius
    scales: list[ColorScale] = []
    colored = None
    if isinstance(color, StyleSettings):
        rule = SetStyle(color, place=bonding.place, table="bond_color")
        (colored,), scale = by_scale([pairs.table(spheres, color.columns)], rule)
        scales = [scale]
    thick: Any = radius
    shift: Any = 0.0
    if "order" in pairs.columns and settings.bond_orders is not False:
        splits = {"licorice": WITHIN, "wire": LINES}.get(settings.style or "", BESIDE)
        rows, shift, thick = sticks_of(pairs, spheres, radius, splits)
        pairs, thick = pairs.taken(rows), radius * thick
        colored = None if colored is None else colored.taken(rows)
    starts, ends, of_pair, side = pairs.halves(spheres, shift)
    particles = pairs.rows[of_pair, np.maximum(side, 0)], pairs.rows[of_pair, abs(side)]
    colors = {"color": color} if color is not None else _colors(spheres, *particles)
    if colored is not None:
        colors = colors_of(colored, of_pair)
    opacity = spheres.opacity
    if isinstance(opacity, np.ndarray):
        opacity = np.minimum(*(opacity[rows] for rows in particles))
    made = CapsuleSet(
        starts, ends, thick if isinstance(thick, float) else thick[of_pair], opacity=opacity,
        material=spheres.material, transform=spheres.transform, **colors,
    )  # fmt: skip
    made.scales, made.particles = scales, particles
    return made


def _colors(
    spheres: SphereSet, first: NDArray[np.int32], second: NDArray[np.int32]
) -> dict[str, Any]:
    """Return the colours of atoms for both halves of bonds, as arguments of `CapsuleSet`."""
    colors = colors_of(spheres, first)
    if spheres.color_id is None and len(spheres.color) == 1:
        return colors
    ends = colors_of(spheres, second).items()
    return colors | {f"end_{name}": value for name, value in ends if name != "color_space"}


def sticks_of(
    pairs: Pairs, spheres: SphereSet, radius: float, splits: Mapping[int, Split]
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the sticks of bonds by their column `order`; aromatic bonds (1.5) count as double:
    index of the bond of each stick, (S,), offset from its axis, (S, 3), and radius in units of the
    bond radius, (S,)."""
    orders = np.nan_to_num(pairs.columns["order"], nan=1.0)
    whole = np.clip(np.ceil(orders - 0.25), 1, 3).astype(np.int64)
    several = np.flatnonzero(whole > 1)
    single = np.flatnonzero(whole == 1)
    across = _across(pairs.rows[:, :2], pairs.spans(spheres), several)
    bond, shift = [single], [np.zeros((len(single), 3))]
    thick = [np.ones(len(single))]
    for order, split in splits.items():
        mine = whole[several] == order
        for offset in split.offsets:
            bond.append(several[mine])
            shift.append(radius * offset * across[mine])
            thick.append(np.full(int(mine.sum()), split.radius))
    return np.concatenate(bond), np.concatenate(shift), np.concatenate(thick)


def _across(
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
