"""Styles applied to sphere sets: which particles are shown, how large, in which colours."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from raytracer.errors import SceneError, UserError, shown
from raytracer.scene.arrays import Where, check_radius, quiet
from raytracer.scene.coloring.by_scale import by_scale, with_palette
from raytracer.scene.coloring.expression import Texts, evaluate, names_in
from raytracer.scene.coloring.limits import limits_of
from raytracer.scene.coloring.scale import ColorScale
from raytracer.scene.coloring.style import KEYS, SetStyle, StyleSettings
from raytracer.scene.inferred import making_set
from raytracer.scene.kinds import Expression, Share
from raytracer.scene.periodic import replicated, wrapped

if TYPE_CHECKING:
    from raytracer.scene.bond_settings import Bonding
    from raytracer.scene.columns import Columns
    from raytracer.scene.scene import CapsuleSet, Scene, SphereSet

MOST_SHOWN = 4
"""Most columns whose ranges a message about an empty selection tells."""


@quiet()
def styled_sets(
    sets: Sequence[SphereSet], styles: Sequence[SetStyle | None]
) -> tuple[list[SphereSet], list[ColorScale]]:
    """Return sphere sets with their styles, and the scales of their colours.

    Sets with the same colour settings share one scale, so that the same colour means the same value
    in all of them.

    Args:
        sets: with the particles of the whole file.
        styles: of each set; None leaves it as it is.

    Raises:
        SceneError: a column is missing, an expression is wrong, nothing is selected, or a scale
            has no values; the sentence names the setting.
    """
    pairs = list(zip(sets, styles, strict=True))
    made = [spheres if style is None else _sized(spheres, style) for spheres, style in pairs]
    scales: list[ColorScale] = []
    groups: list[tuple[SetStyle, list[int]]] = []
    for place, style in enumerate(styles):
        if style is None:
            continue
        if style.settings.color_by is not None:
            same = [each for each in groups if _same(each[0].settings, style.settings)]
            if same:
                same[0][1].append(place)
            else:
                groups.append((style, [place]))
        elif style.settings.palette is not None:
            made[place], scale = with_palette(made[place], style)
            scales.append(scale)
    for style, places in groups:
        colored, scale = by_scale([made[place] for place in places], style)
        for place, spheres in zip(places, colored, strict=True):
            made[place] = spheres
        scales.append(scale)
    return [_repeated(s, style) for s, style in zip(made, styles, strict=True)], scales


def styled(
    scene: Scene,
    settings: StyleSettings,
    radius: float | str | None = None,
    opacity: float | str | None = None,
) -> Scene:
    """Return a scene whose particles have other colours, or of which some are shown.

    Args:
        scene: its sets that come from files or objects are changed; without such, all are.
        settings: what to change.
        radius: a number or an expression over columns; None keeps the radii.
        opacity: a number or an expression over columns; None keeps the opacities.

    Raises:
        SceneError: as for `styled_sets`.
    """
    of_data = [spheres.source != "" for spheres in scene.spheres]
    meant = of_data if any(of_data) else [True] * len(of_data)
    shade = None if opacity is None else str(Share().checked(opacity, "opacity", UserError))
    size = None if radius is None else str(Expression().checked(radius, "radius", UserError))
    styles = [SetStyle(_for_set(settings, s, scene), size, opacity=shade) if each else None
              for s, each in zip(scene.spheres, meant, strict=True)]  # fmt: skip
    sets, scales = styled_sets(scene.spheres, styles)
    kept = () if scales else scene.color_scales
    colored = replace(scene, spheres=sets, color_scales=(*kept, *scales))
    return _bonded(colored, *bonded_sets(sets, styles))


def with_bonds(scene: Scene) -> Scene:
    """Return a scene with the bonds that its sets ask for, made again; radii stay.

    Raises:
        SceneError: as for `bonded_sets`.
    """
    _, bonds = bonded_sets(scene.spheres, [None] * len(scene.spheres))
    return _bonded(scene, scene.spheres, bonds)


def _bonded(scene: Scene, sets: Sequence[SphereSet], bonds: Sequence[CapsuleSet]) -> Scene:
    """Return a scene with other sets, and with bonds instead of its own."""
    others = [each for each in scene.capsules if not each.are_bonds]
    old = {id(scale) for each in scene.capsules if each.are_bonds for scale in each.scales}
    scales = [scale for scale in scene.color_scales if id(scale) not in old]
    scales += [scale for each in bonds for scale in each.scales]
    return replace(scene, spheres=sets, capsules=[*others, *bonds], color_scales=scales)


@quiet()
def bonded_sets(
    sets: Sequence[SphereSet], styles: Sequence[SetStyle | None]
) -> tuple[list[SphereSet], list[CapsuleSet]]:
    """Return sphere sets in the styles of molecules, and the bonds between their particles.

    Args:
        sets: as `styled_sets` returns them.
        styles: of each set; one that says nothing of bonds keeps what was said before.

    Raises:
        SceneError: a pair names a type that there is not, or there are too many bonds.
    """
    made = list(sets)
    bonds: list[CapsuleSet] = []
    for index, (spheres, style) in enumerate(zip(sets, styles, strict=True)):
        said = spheres.bonding if style is None else _bonding(spheres, style)
        if said is None:
            continue
        from raytracer.scene.bonds import bonded

        plain = spheres if spheres.plain_radius is None else copy(spheres)
        if spheres.plain_radius is not None and (style is None or style.radius is None):
            plain.radius = spheres.plain_radius
        with making_set(f"bonds[{index}]"):
            atoms, capsules = bonded(plain, said)
        atoms = copy(atoms)
        atoms.bonding, atoms.plain_radius = said, plain.radius
        made[index] = atoms
        if capsules is not None:
            capsules.are_bonds = True
            bonds.append(capsules)
    return made, bonds


def _bonding(spheres: SphereSet, style: SetStyle) -> Bonding | None:
    """Return what is said about the bonds of a set, before what was said earlier."""
    settings = style.settings
    said = {name: getattr(settings, name) for name in ("style", "bonds")}
    for name in ("radius", "color", "select", "orders"):
        said[name] = getattr(settings, f"bond_{name}")
    earlier = spheres.bonding
    if earlier is not None:
        said = {
            name: getattr(earlier, name) if value is None else value for name, value in said.items()
        }
    elif all(value is None for value in said.values()):
        return None
    from raytracer.scene.bond_settings import Bonding

    place = f"{style.place}." if style.place else ""
    return Bonding(**said, place=place, own_radii=style.radius is not None)


def _for_set(settings: StyleSettings, spheres: SphereSet, scene: Scene) -> StyleSettings:
    """Return the settings of a set: one without a box, beside others with one, stays put."""
    if spheres.box is not None or not any(each.box for each in scene.spheres):
        return settings
    return replace(settings, wrap=None, replicate=None)


def _same(one: StyleSettings, other: StyleSettings) -> bool:
    """Whether two sets are coloured by the same settings."""
    return all(getattr(one, name) == getattr(other, name) for name in KEYS.values())


# Selection and size


def _sized(spheres: SphereSet, style: SetStyle) -> SphereSet:
    """Return the particles of a set that are selected, with their places and radii."""
    if style.settings.wrap:
        spheres = wrapped(spheres, style.named("wrap"))
    if style.opacity is not None:
        spheres = with_opacity(spheres, style.opacity, style.named("opacity"))
    if style.settings.select is not None:
        place = style.named("select")
        spheres = _with_bonding(spheres, style)  # what conditions may ask for
        spheres = _selected(spheres, style.settings.select, place, style.settings.rest)
    if style.radius is not None:
        spheres = with_radius(spheres, style.radius, style.named("radius"))
    return spheres


def _with_bonding(spheres: SphereSet, style: SetStyle) -> SphereSet:
    """Return a set that knows what is said about its bonds; none are made yet."""
    said = _bonding(spheres, style)
    if said is None or said == spheres.bonding:
        return spheres
    knowing = copy(spheres)
    knowing.bonding = said
    return knowing


def _repeated(spheres: SphereSet, style: SetStyle | None) -> SphereSet:
    """Return a set with its periodic images."""
    if style is None or style.settings.replicate is None:
        return spheres
    return replicated(spheres, style.settings.replicate, style.named("replicate"))


def _selected(
    spheres: SphereSet, condition: str, place: str, rest: float | None = None
) -> SphereSet:
    """Return the particles that fulfil a condition, or all with the others faded.

    Args:
        spheres: the set.
        condition: an expression.
        place: what messages call it.
        rest: opacity of the others, times their own; None leaves them out.

    Raises:
        SceneError: no particle fulfils it, or it is no condition.
    """
    import numpy as np

    columns = spheres.columns
    chosen = evaluate(condition, columns, place)
    if chosen.dtype != bool:
        raise SceneError(
            f"{place}: '{shown(condition)}' is no condition; compare it, for example "
            f"'{shown(condition)} > 0'"
        )
    rows = np.flatnonzero(chosen)
    if not len(rows):
        where = f" of {spheres.source}" if spheres.source else ""
        raise SceneError(
            f"{place}: no particle{where} fulfils '{shown(condition)}'{_ranges(condition, columns)}"
        )
    if len(rows) == spheres.count:
        return spheres
    if not rest:
        return spheres.taken(rows)
    faded = copy(spheres)
    own = np.float32(1.0) if spheres.opacity is None else spheres.opacity
    faded.opacity = np.where(chosen, own, np.float32(rest) * own).astype(np.float32)
    return faded


def _ranges(condition: str, columns: Columns) -> str:
    """Return what the columns of a condition hold, for a message."""
    found: list[str] = []
    for name in names_in(condition):
        if not columns.has(name) or len(found) == MOST_SHOWN:
            continue
        values = columns.value(name)
        if isinstance(values, Texts):
            few = ", ".join(shown(each, 20) for each in values.names[:8])
            found.append(f"{name} is {few}{', ...' if len(values.names) > 8 else ''}")
        elif values.dtype.kind in "iuf" and values.ndim == 1:
            low, high = limits_of((None, None), [values])
            found.append(f"{name} is {low:.6g} to {high:.6g}")
    return f": {'; '.join(found)}" if found else ""


def with_radius(spheres: SphereSet, text: str, place: str) -> SphereSet:
    """Return a set with the radii of an expression.

    Args:
        spheres: the set; its arrays are shared.
        text: an expression over columns.
        place: what messages call it.

    Raises:
        SceneError: the expression is wrong, or its values are no radii.
    """
    values: Any
    try:
        values = float(text)
    except ValueError:
        values = evaluate(text, spheres.columns, place)
    where = Where("", {"radius": f"'{shown(text)}'"})
    sized = copy(spheres)
    try:
        sized.radius = check_radius(values, spheres.count, where)
    except SceneError as error:
        raise SceneError(f"{place}: {error}") from None
    return sized


def with_opacity(spheres: SphereSet, text: str, place: str) -> SphereSet:
    """Return a set with the opacities of an expression.

    Args:
        spheres: the set; its arrays are shared.
        text: an expression over columns, or a number.
        place: what messages call it.

    Raises:
        SceneError: the expression is wrong, or a value is not from 0 to 1.
    """
    import numpy as np

    values = np.asarray(evaluate(text, spheres.columns, place), np.float32)
    good = (values >= 0.0) & (values <= 1.0)
    if not good.all():
        row = int(np.argmin(good))
        raise SceneError(
            f"{place}: '{shown(text)}' is {values[row]:g} for particle {row}; an opacity goes from "
            f"0 to 1, as in clip({shown(text)}, 0, 1)"
        )
    clear = copy(spheres)
    clear.opacity = values
    return clear
