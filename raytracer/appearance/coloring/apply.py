"""Apply styles to sphere sets: selection, radii, opacities and colours."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from raytracer.appearance.coloring import KEYS, OF_BONDS
from raytracer.appearance.coloring.by_scale import apply_palette, color_by_scale, find_limits
from raytracer.appearance.coloring.expression import Texts, evaluate, find_column_names, select_rows
from raytracer.appearance.coloring.scale import ColorScale
from raytracer.appearance.coloring.style import SetStyle, StyleSettings, find_needed_columns
from raytracer.appearance.columns import Columns
from raytracer.config.errors import SceneError, quote
from raytracer.config.inferred import name_set
from raytracer.model.arrays import ErrorContext, check_radius, silence_numpy
from raytracer.model.key_types import Expression, Share
from raytracer.model.simulation_box import wrap_positions
from raytracer.model.solids import CapsuleSet
from raytracer.model.sphere_set import SphereSet, check_opacities
from raytracer.packing.replicated_set import replicate

if TYPE_CHECKING:
    from raytracer.model.scene import Scene

MAX_SHOWN = 4  # most columns whose ranges a message about an empty selection states


@silence_numpy()
def style_sets(
    sets: Sequence[SphereSet], styles: Sequence[SetStyle | None]
) -> tuple[list[SphereSet], list[ColorScale]]:
    """Apply styles to sphere sets, None to leave one; return the sets and their colour scales: one
    for all sets with equal colour settings."""
    pairs = zip(sets, styles, strict=True)
    made = [
        spheres if style is None else _select_particles(spheres, style) for spheres, style in pairs
    ]
    scales: list[ColorScale] = []
    groups: dict[str, tuple[SetStyle, list[int]]] = {}
    for place, style in enumerate(styles):
        if style is not None and style.settings.color_by is not None:
            rule = repr([getattr(style.settings, name) for name in KEYS.values()])
            groups.setdefault(rule, (style, []))[1].append(place)
        elif style is not None and style.settings.palette is not None:
            made[place], scale = apply_palette(made[place], style)
            scales.append(scale)
    for style, places in groups.values():
        colored, scale = color_by_scale([made[place] for place in places], style)
        for place, spheres in zip(places, colored, strict=True):
            made[place] = spheres
        scales.append(scale)
    for place, style in enumerate(styles):
        if style is not None and style.settings.replicate is not None:
            copies = style.settings.replicate
            made[place] = replicate(made[place], copies, style.named("replicate"))
    return made, scales


def style_scene(
    scene: "Scene",
    settings: StyleSettings,
    radius: float | str | None = None,
    opacity: float | str | None = None,
) -> "Scene":
    """Return a scene with other colours or a selection of the particles from files or objects, or
    of all if there are none. Sets with colours and without the columns of `color_by` keep them if
    another set has these. radius, opacity: expressions; None keeps them."""
    of_data = [spheres.source != "" for spheres in scene.spheres]
    meant = of_data if any(of_data) else [True] * len(of_data)
    shade = None if opacity is None else str(Share().checked(opacity, "opacity"))
    size = None if radius is None else str(Expression().checked(radius, "radius"))
    has_box = any(each.box for each in scene.spheres)
    values = find_needed_columns(settings.color_by)
    has_values = [all(name in each.columns for name in values) for each in scene.spheres]
    plain = replace(settings, **dict.fromkeys(KEYS.values())) if any(has_values) else settings
    styles = []
    for spheres, is_meant, has in zip(scene.spheres, meant, has_values, strict=True):
        changes = plain if spheres.has_color and not has else settings
        if has_box and spheres.box is None:  # only sets with a box are periodic
            changes = replace(changes, wrap=None, replicate=None)
        styles.append(SetStyle(changes, size, opacity=shade) if is_meant else None)
    sets, scales = style_sets(scene.spheres, styles)
    kept = () if scales else scene.color_scales
    colored = replace(scene, spheres=sets, color_scales=(*kept, *scales))
    return _with_bond_sets(colored, *make_set_bonds(sets, styles))


def remake_bonds(scene: "Scene") -> "Scene":
    """Return a scene with the bonds of its sets made again; radii stay."""
    _, bonds = make_set_bonds(scene.spheres, [None] * len(scene.spheres))
    return _with_bond_sets(scene, scene.spheres, bonds)


def _with_bond_sets(
    scene: "Scene", sets: Sequence[SphereSet], bonds: Sequence[CapsuleSet]
) -> "Scene":
    others = [each for each in scene.capsules if not each.are_bonds]
    old = {id(scale) for each in scene.capsules if each.are_bonds for scale in each.scales}
    scales = [scale for scale in scene.color_scales if id(scale) not in old]
    scales += [scale for each in bonds for scale in each.scales]
    return replace(scene, spheres=sets, capsules=[*others, *bonds], color_scales=scales)


@silence_numpy()
def make_set_bonds(
    sets: Sequence[SphereSet], styles: Sequence[SetStyle | None]
) -> tuple[list[SphereSet], list[CapsuleSet]]:
    """Return sphere sets in molecule styles, and their bonds; without settings those of before
    stay."""
    made = list(sets)
    bonds: list[CapsuleSet] = []
    for index, (spheres, style) in enumerate(zip(sets, styles, strict=True)):
        bonding = spheres.bonding if style is None else _find_bond_style(spheres, style)
        if bonding is None:
            continue
        from raytracer.appearance.bonds import make_bonds

        plain = spheres
        if spheres.plain_radius is not None and (style is None or style.radius is None):
            plain = spheres.changed(radius=spheres.plain_radius)
        with name_set(f"bonds[{index}]"):
            atoms, capsules = make_bonds(plain, bonding)
        made[index] = atoms.changed(bonding=bonding, plain_radius=plain.radius)
        if capsules is not None:
            capsules.are_bonds, capsules.of_set = True, index
            bonds.append(capsules)
    return made, bonds


def _find_bond_style(spheres: SphereSet, style: SetStyle) -> SetStyle | None:
    """Return the settings of bonds, also those of before."""
    said = {name: getattr(style.settings, name) for name in OF_BONDS}
    given = {name: value for name, value in said.items() if value is not None}
    if spheres.bonding is not None:
        return replace(style, settings=replace(spheres.bonding.settings, **given))
    return replace(style, settings=StyleSettings(**given)) if given else None


def _select_particles(spheres: SphereSet, style: SetStyle) -> SphereSet:
    settings = style.settings
    if settings.wrap:
        spheres = wrap_positions(spheres, style.named("wrap"))
    if style.opacity is not None:
        spheres = set_values(spheres, "opacity", style.opacity, style.named("opacity"))
    if settings.select is not None:
        spheres = _apply_condition(spheres, settings.select, style)
    if style.radius is not None:
        spheres = set_values(spheres, "radius", style.radius, style.named("radius"))
    return spheres


def _apply_condition(spheres: SphereSet, condition: str, style: SetStyle) -> SphereSet:
    columns, rest = spheres.columns, style.settings.rest
    rows = select_rows(condition, columns, style.named("select"))
    if not len(rows):
        where = f" of {spheres.source}" if spheres.source else ""
        problem = (
            f"no particle{where} fulfils '{quote(condition)}'"
            f"{_find_condition_ranges(condition, columns)}"
        )
        raise style.wrong("select", problem)
    if len(rows) == spheres.count:
        return spheres
    if not rest:
        return spheres.taken(rows)
    kept = np.zeros(spheres.count, np.bool_)
    kept[rows] = True
    return spheres.faded(rest, kept)


def _find_condition_ranges(condition: str, columns: Columns) -> str:
    ranges: list[str] = []
    known = [name for name in find_column_names(condition) if name in columns]
    for name, values in zip(known, map(columns.value, known[:MAX_SHOWN]), strict=False):
        if isinstance(values, Texts):
            few = ", ".join(quote(each, 20) for each in values.names[:8])
            ranges.append(f"{name} is {few}{', ...' if len(values.names) > 8 else ''}")
        elif values.dtype.kind in "iuf" and values.ndim == 1:
            low, high = find_limits((None, None), [values])
            ranges.append(f"{name} is {low:.6g} to {high:.6g}")
    return f": {'; '.join(ranges)}" if ranges else ""


def set_values(spheres: SphereSet, name: str, value: float | str, place: str) -> SphereSet:
    """Return a set with a "radius" or "opacity": a number, or an expression over its columns."""
    values: Any = value
    with suppress(ValueError):
        values = float(value)
    if isinstance(values, str):
        values = evaluate(values, spheres.columns, place)
        values = values.astype(np.float32) if values.dtype == bool else values
    where = ErrorContext("", {name: f"'{quote(str(value))}'"})
    try:
        read = check_radius if name == "radius" else check_opacities
        return spheres.changed(**{name: read(values, spheres.count, where)})
    except SceneError as error:
        raise SceneError(f"{place}: {error}") from None
