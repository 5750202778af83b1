"""Colours of particles by a scale: numbers by a map, texts and types as categories."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from math import inf, isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

from raytracer.errors import SceneError, counted, shown
from raytracer.scene.coloring.element_tables import colors_of_elements
from raytracer.scene.coloring.expression import Texts, evaluate, texts_of
from raytracer.scene.coloring.kinds import PALETTES
from raytracer.scene.coloring.limits import least_positive, limits_of
from raytracer.scene.coloring.scale import MISSING, STEPS, ColorScale, distinct, name_of
from raytracer.scene.coloring.style import SetStyle
from raytracer.scene.elements import Element, table
from raytracer.scene.inferred import inferred_names, inferred_range
from raytracer.scene.particles.labels import element_symbols, looks
from raytracer.warning import warn

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from raytracer.scene.scene import SphereSet

MOST_CATEGORIES = 1000
"""Most categories of a scale."""


class _Data(NamedTuple):
    """The values that colours follow.

    Args:
        values: numbers or truth values (N,) of each set; or texts.
        names: of the categories, None of numbers.
    """

    values: list[Any]
    names: list[str] | None


def by_scale(sets: list[SphereSet], style: SetStyle) -> tuple[list[SphereSet], ColorScale]:
    """Return sets with the colours of one scale."""
    settings = style.settings
    by = settings.color_by
    assert by is not None
    data = _data(sets, style)
    if data.names is not None:
        scale = _categorical(sets, style, data.names)
        ids = [_ids_of(values, scale) for values in data.values]
    else:
        scale = _continuous(sets, style, data.values)
        ids = [scale.ids(values) for values in data.values]
    return [_recolored(s, own, scale) for s, own in zip(sets, ids, strict=True)], scale


def _data(sets: list[SphereSet], style: SetStyle) -> _Data:
    """Return the values of all sets; texts and kinds of particles are categories."""
    settings, place = style.settings, style.named("color_by")
    by, kind = settings.color_by or "", settings.color_scale
    found: list[Any] = []
    for spheres in sets:
        texts = texts_of(by, spheres.columns)
        found.append(evaluate(by, spheres.columns, place) if texts is None else texts)
    has_texts = any(isinstance(each, Texts) or each.dtype == bool for each in found)
    is_label = (
        kind is None
        and settings.range is None
        and all(spheres.columns.is_label(by) for spheres in sets)
    )
    by_category = kind is None and _names_numbers(settings.map)
    if not (has_texts or by_category or is_label or kind == "categorical"):
        return _Data(found, None)
    if has_texts and kind not in (None, "categorical"):
        raise SceneError(
            f"{style.named('color_scale')}: '{shown(by)}' holds no numbers, so its scale is "
            f"categorical and not {kind}"
        )
    if settings.range is not None:
        raise SceneError(
            f"{style.named('range')}: the values of '{shown(by)}' are categories, which have no "
            "range: leave it out"
        )
    return _Data(found, inferred_names(place, lambda: _category_names(found, by, place)))


def _names_numbers(colors: Any) -> bool:
    """Whether a map gives colours to numbers by their names: {"1": ..., "2": ...}."""
    names = colors if isinstance(colors, Mapping) else ()
    return any(name.removeprefix("-").replace(".", "", 1).isdecimal() for name in names)


def _category_names(found: list[Any], by: str, place: str) -> list[str]:
    """Return the categories of all sets: numbers by value, words in the order of their use."""
    import numpy as np

    names: dict[str, None] = {}
    for values in found:
        if isinstance(values, Texts):
            used = np.bincount(values.ids, minlength=len(values.names))
            names |= dict.fromkeys(n for n, count in zip(values.names, used, strict=True) if count)
        else:
            known = distinct(values)
            if len(known) > MOST_CATEGORIES:
                raise SceneError(
                    f"{place}: '{shown(by)}' has {len(known):,} different values, and "
                    f"{MOST_CATEGORIES:,} categories at most have colours: leave the scale out"
                )
            names |= dict.fromkeys(map(name_of, known.tolist()))
    if len(names) > MOST_CATEGORIES:
        raise SceneError(
            f"{place}: '{shown(by)}' has {len(names):,} different texts, and {MOST_CATEGORIES:,} "
            "categories at most have colours"
        )
    if not names:
        raise SceneError(f"{place}: '{shown(by)}' has no values")
    if all(name.lstrip("-").isdecimal() for name in names):
        return sorted(names, key=int)
    return list(names)


def _categorical(sets: list[SphereSet], style: SetStyle, names: list[str]) -> ColorScale:
    """Return the scale of categories."""
    settings = style.settings
    colors = settings.map
    if colors is None and settings.palette is not None:
        colors = settings.palette
    if isinstance(colors, str) and colors in PALETTES:
        colors = colors_of_elements(colors)
    if colors is None:
        colors = _own_colors(sets, settings.color_by or "", names)
    if isinstance(colors, Mapping):
        missing = settings.missing_color or MISSING
        by_symbol = [_symbol(sets, name) for name in names]
        colors = [
            colors.get(name, colors.get(symbol or "", missing))
            for name, symbol in zip(names, by_symbol, strict=True)
        ]
    return _scale(style, {"kind": "categorical", "names": tuple(names)}, colors or "tab10", "")


def _symbol(sets: list[SphereSet], name: str) -> str | None:
    """Return the element that a label stands for, or None."""
    for spheres in sets:
        if spheres.labels is not None and name in spheres.labels.names:
            return element_symbols(spheres.labels)[spheres.labels.names.index(name)]
    from raytracer.scene.elements import symbol_of

    return None if name.isdecimal() else symbol_of(name)


def _own_colors(sets: list[SphereSet], by: str, names: list[str]) -> dict[str, Any] | None:
    """Return the colours that the labels of atoms have anyway, or None of other categories."""
    if not all(s.columns.is_label(by) and s.labels is not None for s in sets):
        return None
    found: dict[str, Any] = {}
    for spheres in sets:
        assert spheres.labels is not None
        found |= _label_colors(spheres, colors_of_elements("jmol"))
    return found if all(name in found for name in names) else None


def _label_colors(spheres: SphereSet, colors: Mapping[str, Any]) -> dict[str, Any]:
    """Return the colour of each label of a set."""
    labels = spheres.labels
    assert labels is not None
    usual = looks(labels, labels.own, labels.says, spheres.source).colors.tolist()
    found: dict[str, Any] = {}
    for name, symbol, color in zip(labels.names, element_symbols(labels), usual, strict=True):
        own = labels.own.get(name) or labels.own.get(symbol or "")
        if name in colors:
            color = colors[name]
        elif symbol is not None and symbol in colors and not _is_stated(own):
            color = colors[symbol]
        found[name] = tuple(color)
    return found


def _is_stated(own: Element | None) -> bool:
    """Whether the scene file states a colour of a label, and not only its element."""
    if own is None or own.color is None:
        return False
    return not own.symbol or own.color != table()[own.symbol].color


def with_palette(spheres: SphereSet, style: SetStyle) -> tuple[SphereSet, ColorScale]:
    """Return a set in which each label has the colour of a palette."""
    import numpy as np

    palette, labels = style.settings.palette, spheres.labels
    if labels is None:
        where = f"{spheres.source} has" if spheres.source else "the particles have"
        raise SceneError(f"{style.named('palette')}: {where} no elements or types")
    colors = colors_of_elements(palette) if isinstance(palette, str) else palette
    assert colors is not None
    if isinstance(palette, Mapping):
        known = {*labels.names, *(each for each in element_symbols(labels) if each)}
        unknown = [name for name in palette if name not in known and name not in
                   colors_of_elements("jmol")]  # fmt: skip
        if unknown:
            raise SceneError(
                f"{style.named('palette')}: '{shown(unknown[0])}' is neither an element nor a "
                f"label of the particles, which are {', '.join(map(shown, labels.names[:8]))}"
            )
        colors = {**colors_of_elements("jmol"), **palette}
    used = {labels.names[place] for place in np.unique(labels.ids)}
    by_label = {n: c for n, c in _label_colors(spheres, colors).items() if n in used}
    is_element = all(element_symbols(labels))
    scale = ColorScale(
        list(by_label.values()),
        "categorical",
        label="element" if is_element else "type",
        names=tuple(by_label),
    )
    ids = _ids_of(Texts(labels.names, labels.ids), scale)
    return _recolored(spheres, ids, scale), scale


def _ids_of(values: Any, scale: ColorScale) -> NDArray[np.int32]:
    """Return the rows of the scale's palette for the values of a set."""
    import numpy as np

    if not isinstance(values, Texts):
        return scale.ids(values)
    places = {name: place for place, name in enumerate(scale.names)}
    order = np.array([places.get(name, len(places)) for name in values.names], np.int32)
    ids: NDArray[np.int32] = order[values.ids]
    return ids


def _continuous(sets: list[SphereSet], style: SetStyle, values: list[NDArray[Any]]) -> ColorScale:
    """Return the scale of numbers."""
    settings = style.settings
    by, kind = settings.color_by or "", settings.color_scale or "linear"
    if isinstance(settings.map, Mapping):
        raise SceneError(
            f"{style.named('map')}: colours by category do not go with numbers: name a colour map, "
            "or use the scale categorical"
        )
    is_symmetric = kind == "symmetric"
    if kind in ("linear", "symmetric"):
        kind = "linear" if settings.color_steps is None else "discrete"
    if settings.color_steps is not None and kind != "discrete":
        raise SceneError(
            f"{style.named('color_steps')}: go with the scales linear, symmetric and discrete, not "
            f"with {kind}"
        )
    wanted, place = settings.range or (None, None), style.named("color_by")
    low, high = inferred_range(place, lambda: limits_of(wanted, values))
    if not (isfinite(low) and isfinite(high)):
        raise SceneError(f"{style.named('color_by')}: '{shown(by)}' has no finite values")
    if kind == "log":
        start = _log_start(low, wanted[0] is None, values, style)
        low, _ = inferred_range(f"{place} log", lambda: (start, high))
    if is_symmetric:
        high = max(abs(low), abs(high))
        low = -high
    if low > high:
        raise SceneError(
            f"{style.named('range')}: it begins at {low:g}, above its end at {high:g}: "
            f"'{shown(by)}' goes from {limits_of((None, None), values)[0]:g} to "
            f"{limits_of((None, None), values)[1]:g}"
        )
    unit = next((u for s in sets if (u := s.columns.unit(by))), "")
    steps = (settings.color_steps or STEPS) if kind == "discrete" else None
    values_of = {"kind": kind, "low": low, "high": high, "steps": steps}
    values_of["threshold"] = settings.color_threshold
    return _scale(style, values_of, settings.map or "viridis", unit)


def _log_start(low: float, is_free: bool, values: list[NDArray[Any]], style: SetStyle) -> float:
    """Return where a logarithmic scale begins."""
    by = shown(style.settings.color_by or "")
    if low > 0.0:
        return low
    if not is_free:
        raise SceneError(
            f"{style.named('range')}: {low:g} has no logarithm; let it begin above 0, or use the "
            "scale symlog"
        )
    least = least_positive(values)
    if least == inf:
        raise SceneError(
            f"{style.named('color_scale')}: '{by}' has no values above 0, which a logarithm needs; "
            "use the scale symlog"
        )
    import numpy as np

    count = sum(int(np.count_nonzero(each <= 0.0)) for each in values)
    if count:
        warn(
            f"{style.named('color_scale')}: {counted(count, 'particle')} with '{by}' at or below 0 "
            f"{'has' if count == 1 else 'have'} no logarithm and the colour of missing values: the "
            "scale symlog shows them"
        )
    return least


def _scale(style: SetStyle, values: dict[str, Any], colors: Any, unit: str) -> ColorScale:
    """Return a scale with the legend of the settings."""
    settings = style.settings
    label = settings.color_label if settings.color_label is not None else settings.color_by
    try:
        return ColorScale(
            colors,
            **values,
            label=(label or "").strip("`"),
            unit=unit if settings.color_unit is None else settings.color_unit,
            missing=settings.missing_color or MISSING,
        )
    except SceneError as error:
        place = "range" if str(error).startswith("range") else "map"
        text = str(error).removeprefix("range: ").removeprefix("map: ")
        raise SceneError(f"{style.named(place)}: {text}") from None


def _recolored(spheres: SphereSet, ids: NDArray[np.int32], scale: ColorScale) -> SphereSet:
    """Return a set with the colours of a scale."""
    recolored = copy(spheres)
    recolored.color, recolored.color_id = scale.palette, ids
    recolored.color_space = "srgb"
    return recolored
