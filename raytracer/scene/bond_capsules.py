"""Bonds as capsules, and styles of molecules."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.scene.bond_orders import BESIDE, LINES, WITHIN, sticks_of
from raytracer.scene.bond_settings import PLAIN_BOND, Bonding
from raytracer.scene.bonds import Pairs, angstrom_of, element_radii, pairs_of
from raytracer.scene.coloring.by_scale import by_scale
from raytracer.scene.coloring.expression import rows_of
from raytracer.scene.coloring.scale import ColorScale
from raytracer.scene.coloring.style import SetStyle, StyleSettings, columns_in
from raytracer.scene.solids import CapsuleSet
from raytracer.scene.sphere_set import SphereSet
from raytracer.warning import warn

COVER = 1.002  # factor on the radius of atoms as thick as their bonds, to cover the bond ends


def bonded(spheres: SphereSet, bonding: Bonding) -> tuple[SphereSet, CapsuleSet | None]:
    """Return particles in a molecule style, and their bonds."""
    radii, angstrom = bonding.radii, angstrom_of(spheres)
    wanted = bonding.bonds
    if wanted is None:
        wanted = "auto" if radii.bond > 0 else "none"
    made = None
    if wanted != "none" and spheres.count:
        pairs = pairs_of(spheres, wanted, bonding)
        made = _capsules(spheres, pairs, (radii.bond or PLAIN_BOND) * angstrom, bonding)
    if bonding.style is None or bonding.keeps_radii:
        return spheres, made
    atoms = copy(spheres)
    if radii.vdw:
        atoms.radius = radii.vdw * element_radii(spheres, "vdw")
    else:
        same = bonding.radius is not None and bonding.style != "ball-and-stick"
        radius = float(bonding.radius) if same and bonding.radius else radii.atom * angstrom
        # Atoms exactly as thick as bonds would coincide with the bond ends; edges show both.
        atoms.radius = radius * (COVER if radii.atom == radii.bond else 1.0)
    return atoms, made


def _capsules(
    spheres: SphereSet, pairs: Pairs, radius: float, bonding: Bonding
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
    made = CapsuleSet(
        starts, ends, thick if isinstance(thick, float) else thick[order],
        opacity=_opacity(spheres, first, second), material=spheres.material,
        transform=spheres.transform, **colors,
    )  # fmt: skip
    made.scales = scales
    made.particles = first, second
    return made


def _table(spheres: SphereSet, pairs: Pairs, names: Sequence[str]) -> SphereSet:
    """Return bonds as a set at their midpoints, with the columns that `names` may use."""
    spans = pairs.spans(spheres)
    length = np.sqrt(np.square(spans).sum(axis=1)) * spheres.transform.scale
    columns: dict[str, Any] = {"length": length, **pairs.columns}
    atoms = spheres.columns
    for name in names:
        if name not in columns and name[-1:] in ("1", "2") and atoms.has(name[:-1]):
            columns[name] = atoms[name[:-1]][pairs.rows[:, int(name[-1]) - 1]]
    return SphereSet(spheres.centers[pairs.rows[:, 0]] + 0.5 * spans, 1.0, columns=columns)


def _chosen(spheres: SphereSet, pairs: Pairs, select: str, place: str) -> NDArray[np.intp]:
    table = _table(spheres, pairs, columns_in(select))
    return rows_of(select, table.columns, f"{place}bond_select")


def _by_values(spheres: SphereSet, pairs: Pairs, bonding: Bonding) -> tuple[SphereSet, ColorScale]:
    """Colour bonds by a rule: a set at their midpoints, and its scale."""
    assert isinstance(bonding.color, StyleSettings)
    table = _table(spheres, pairs, bonding.color.columns)
    place = bonding.place.removesuffix(".")
    (colored,), scale = by_scale([table], SetStyle(bonding.color, place=place, table="bond_color"))
    return colored, scale


def _rule(colored: SphereSet, rows: NDArray[np.int64]) -> dict[str, Any]:
    assert colored.color_id is not None
    return {"color": colored.color, "color_id": colored.color_id[rows], "color_space": "srgb"}


def _opacity(spheres: SphereSet, first: NDArray[np.int32], second: NDArray[np.int32]) -> Any:
    if spheres.opacity is None or isinstance(spheres.opacity, float):
        return spheres.opacity
    return np.minimum(spheres.opacity[first], spheres.opacity[second])


def _colors(
    spheres: SphereSet, first: NDArray[np.int32], second: NDArray[np.int32], bonding: Bonding
) -> dict[str, Any]:
    if bonding.color is not None:
        return {"color": bonding.color}
    space = {"color_space": spheres.color_space}
    if len(spheres.color) == 1 and spheres.color_id is None:
        return {"color": spheres.color[0], **space}
    if spheres.color_id is not None:
        ids = {"color_id": spheres.color_id[first], "end_color_id": spheres.color_id[second]}
        return {"color": spheres.color, "end_color": spheres.color, **ids, **space}
    return {"color": spheres.color[first], "end_color": spheres.color[second], **space}
