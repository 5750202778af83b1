"""Colours by a scale: numbers by a colour map, texts and types as categories."""

from collections.abc import Mapping, Sequence
from math import inf, isfinite
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from raytracer.appearance.coloring import dates, maps
from raytracer.appearance.coloring.expression import Texts, evaluate, find_text_column
from raytracer.appearance.coloring.scale import (
    MISSING,
    STEPS,
    TOO_FINE,
    ColorScale,
    find_distinct_values,
    format_category,
    needs_more_digits,
)
from raytracer.appearance.coloring.scale_types import PALETTES, Limit
from raytracer.appearance.coloring.style import SetStyle
from raytracer.config.errors import SceneError, pluralize, prefix_errors, quote, suggest
from raytracer.config.inferred import current_defaults
from raytracer.config.warning import warn
from raytracer.model.arrays import find_min_max as extremes_of
from raytracer.model.elements import find_symbol, load_colors, load_elements
from raytracer.model.particle_labels import find_element_symbols, find_label_styles
from raytracer.model.parts import GLYPHS
from raytracer.model.sphere_set import SphereSet
from raytracer.particles.names import collect_names

MAX_CATEGORIES = 1000


def color_by_scale(
    sets: Sequence[SphereSet], style: SetStyle
) -> tuple[list[SphereSet], ColorScale]:
    """Colour sets by one scale of `color_by`."""
    by, place = style.settings.color_by or "", style.named("color_by")
    may_be_color = style.table == "bond_color" or style.place in GLYPHS
    if may_be_color and by.isidentifier() and sets and not any(by in s.columns for s in sets):
        from PIL.ImageColor import colormap  # late: a tenth of the time of a small render

        hint = suggest(by, [*sets[0].columns, *colormap])
        raise style.wrong("color_by", f"'{quote(by)}' is neither a colour nor a column; {hint}")
    values: list[Any] = []
    for spheres in sets:
        texts = find_text_column(by, spheres.columns)
        values.append(evaluate(by, spheres.columns, place) if texts is None else texts)
    times = _parse_times(style, values)
    values = times or values
    if _are_categories(sets, style, values):
        scale = _color_by_category(sets, style, values)
    else:
        scale = _color_by_value(sets, style, values, bool(times))
    return [_recolor(*each, scale) for each in zip(sets, values, strict=True)], scale


def _parse_times(style: SetStyle, values: list[Any]) -> list[NDArray[Any]]:
    """Return columns of dates in seconds since 1970, (N,); [] if they are to be categories, or are
    none."""
    settings, times = style.settings, list[NDArray[Any]]()
    is_categorical = settings.color_scale == "categorical" or isinstance(settings.map, Mapping)
    for each in values:
        seconds = dates.parse_dates(each.names) if isinstance(each, Texts) else None
        if seconds is None or is_categorical or settings.palette is not None:
            return []
        times.append(seconds[each.ids])
    return times


def _are_categories(sets: Sequence[SphereSet], style: SetStyle, values: list[Any]) -> bool:
    """Whether values are categories: texts, truth values, or particle types."""
    settings = style.settings
    by, kind = settings.color_by or "", settings.color_scale
    has_texts = any(isinstance(each, Texts) or each.dtype == bool for each in values)
    is_label = settings.range is None and all(s.columns.is_label(by) for s in sets)
    names = settings.map if isinstance(settings.map, Mapping) else ()
    has_numbers = any(n.removeprefix("-").replace(".", "", 1).isdecimal() for n in names)
    if not (has_texts or kind == "categorical" or (kind is None and (is_label or has_numbers))):
        return False
    if settings.range is not None or kind not in (None, "categorical"):
        setting = "color_scale" if settings.range is None else "range"
        raise style.wrong(
            setting, f"'{quote(by)}' holds no numbers or is categorical: leave {setting} out"
        )
    return True


def _color_by_category(sets: Sequence[SphereSet], style: SetStyle, values: list[Any]) -> ColorScale:
    settings, place = style.settings, style.named("color_by")
    names = current_defaults().names(place, lambda: _category_names(values, style))
    colors = settings.palette if settings.map is None else settings.map
    if isinstance(colors, str) and colors in PALETTES:
        colors = load_colors(colors)
    if colors is None:
        colors = _usual_colors(sets, settings.color_by or "", names)
    if isinstance(colors, Mapping):
        missing = settings.missing_color or MISSING
        colors = [colors.get(n, colors.get(_symbol(sets, n) or "", missing)) for n in names]
    elif known := _collect_file_names(sets, settings.color_by or ""):
        # Each category has the same colour in all frames, whichever of them it is in.
        places = {name: place for place, name in enumerate(known)}
        rows = [places.get(name, crc32(name.encode()) % len(known)) for name in names]
        all_colors = maps.category_colors(len(known)) / 255.0
        of_all = _scale(style, colors or all_colors, "", kind="categorical", names=tuple(known))
        colors = (of_all.palette[rows] / 255.0).tolist()
    distinct_ones = None if colors else maps.category_colors(len(names)) / 255.0
    scale = _scale(style, colors or distinct_ones, "", kind="categorical", names=tuple(names))
    if (different := len({color for _, color in scale.categories()})) < len(names):
        _warn_of_shared(style, len(names), different)
    return scale


def _warn_of_shared(style: SetStyle, names: int, different: int) -> None:
    if isinstance(style.settings.map, Mapping) or style.settings.palette is not None:
        return  # stated by the user, category by category
    by, place = quote(style.settings.color_by or ""), style.named("map")
    warn(
        f"{place}: {names:,} categories of '{by}' share {different} colours: leave the map out for "
        "distinct ones, or name a map with more"
    )


def _collect_file_names(sets: Sequence[SphereSet], by: str) -> list[str]:
    """Return the values of a column in all frames of the sets' files as categories; none if these
    have one frame."""
    names: dict[str, None] = {}
    for spheres in sets:
        column = spheres.columns.in_file(by)
        if spheres.file is not None and column is not None:
            names |= dict.fromkeys(
                collect_names(
                    spheres.file,
                    column,
                    lambda values: [
                        format_category(value)
                        for value in find_distinct_values(values)[: MAX_CATEGORIES + 1].tolist()
                    ],
                )
            )
    found = list(names)[:MAX_CATEGORIES]
    return sorted(found, key=int) if _are_integers(found) else found


def _are_integers(names: Sequence[str]) -> bool:
    return all(name.lstrip("-").isdecimal() for name in names)


def _category_names(values: list[Any], style: SetStyle) -> list[str]:
    """Return the categories of all sets: numbers by value, words in order of first use."""
    by = quote(style.settings.color_by or "")
    names: dict[str, None] = {}
    for column in values:
        if isinstance(column, Texts):
            used = np.bincount(column.ids, minlength=len(column.names)) > 0
            known = np.array(column.names, object)[used]
        else:
            known = find_distinct_values(column)
        names |= dict.fromkeys(map(format_category, known[: MAX_CATEGORIES + 1].tolist()))
    if not 0 < len(names) <= MAX_CATEGORIES:
        raise style.wrong(
            "color_by",
            f"'{by}' has {'too many' if names else 'no'} values for categories, which are at most "
            f"{MAX_CATEGORIES:,}: choose another column, or leave out color_scale",
        )
    return sorted(names, key=int) if _are_integers([*names]) else list(names)


def _symbol(sets: Sequence[SphereSet], name: str) -> str | None:
    for spheres in sets:
        if spheres.labels is not None and name in spheres.labels.names:
            return find_element_symbols(spheres.labels)[spheres.labels.names.index(name)]
    return None if name.isdecimal() else find_symbol(name)


def _usual_colors(sets: Sequence[SphereSet], by: str, names: list[str]) -> dict[str, Any] | None:
    if not all(s.columns.is_label(by) and s.labels is not None for s in sets):
        return None
    elements = load_colors("jmol")
    colors: dict[str, Any] = {name: elements[name] for name in names if name in elements}
    for spheres in sets:
        colors |= _label_colors(spheres, elements)
    return colors if all(name in colors for name in names) else None


def _label_colors(spheres: SphereSet, colors: Mapping[str, Any]) -> dict[str, Any]:
    """Return the colour of each label: from `colors` by label, by element unless the file states
    one, else the usual."""
    labels = spheres.labels
    assert labels is not None
    labels = labels._replace(names=list(dict.fromkeys([*labels.names, *labels.known])))
    usual = find_label_styles(labels, spheres.source).colors.tolist()
    result: dict[str, Any] = {}
    for name, symbol, color in zip(labels.names, find_element_symbols(labels), usual, strict=True):
        stated = labels.stated.get(name) or labels.stated.get(symbol or "")
        is_stated = stated is not None and stated.color is not None and (
            not stated.symbol or stated.color != load_elements()[stated.symbol].color
        )  # fmt: skip
        if name in colors:
            color = colors[name]
        elif symbol is not None and symbol in colors and not is_stated:
            color = colors[symbol]
        result[name] = tuple(color)
    return result


def apply_palette(spheres: SphereSet, style: SetStyle) -> tuple[SphereSet, ColorScale]:
    """Colour each label by a palette; return the set and the scale."""
    palette, labels = style.settings.palette, spheres.labels
    assert palette is not None
    if labels is None:
        where = f"{spheres.source} has" if spheres.source else "the particles have"
        raise style.wrong("palette", f"{where} no elements or types")
    elements = load_colors(palette if isinstance(palette, str) else "jmol")
    given = {} if isinstance(palette, str) else dict(palette)
    for name in given:
        if name not in elements and name not in (*labels.names, *find_element_symbols(labels)):
            names = ", ".join(map(quote, labels.names[:8]))
            problem = "is neither an element nor a label of the particles, which are"
            raise style.wrong("palette", f"'{quote(name)}' {problem} {names}")
    used = {labels.names[place] for place in np.unique(labels.ids)}
    by_label = {n: c for n, c in _label_colors(spheres, elements | given).items() if n in used}
    label = "element" if all(find_element_symbols(labels)) else "type"
    colors = list(by_label.values())
    scale = ColorScale(colors, "categorical", label=label, names=tuple(by_label))
    return _recolor(spheres, Texts(labels.names, labels.ids), scale), scale


def _color_by_value(
    sets: Sequence[SphereSet], style: SetStyle, values: list[NDArray[Any]], are_times: bool
) -> ColorScale:
    settings, place = style.settings, style.named("color_by")
    by, kind = settings.color_by or "", settings.color_scale or "linear"
    if isinstance(settings.map, Mapping):
        problem = "numbers cannot have colours by category: name a colour map, or use color_scale"
        raise style.wrong("map", f"{problem} categorical")
    is_symmetric = kind == "symmetric"
    if kind in ("linear", "symmetric"):
        kind = "linear" if settings.color_steps is None else "discrete"
    if settings.color_steps is not None and kind != "discrete":
        problem = f"are for the scales linear, symmetric and discrete, not {kind}"
        raise style.wrong("color_steps", problem)
    if are_times and (is_symmetric or kind not in ("linear", "discrete")):
        problem = "holds dates, whose scale is linear, discrete or categorical"
        raise style.wrong("color_scale", f"'{quote(by)}' {problem}")
    wanted = _find_stated_range(style, are_times)
    low, high = current_defaults().range(place, lambda: find_limits(wanted, values))
    if not (isfinite(low) and isfinite(high)):
        raise style.wrong("color_by", f"'{quote(by)}' has no finite values")
    if any(needs_more_digits(each, low, high) for each in values):
        name = by if by.isidentifier() else f"`{by.strip('`')}`"
        raise style.wrong(
            "color_by",
            f"'{quote(by)}' holds {TOO_FINE}: colour by '{quote(name)} - min({quote(name)})'",
        )
    if kind == "log":
        start = _choose_log_start(low, wanted[0] is None, values, style)
        low, _ = current_defaults().range(f"{place} log", lambda: (start, high))
    if is_symmetric:
        high = max(abs(low), abs(high))
        low = -high
    unit = next((u for s in sets if (u := s.columns.unit(by))), "")
    steps = (settings.color_steps or STEPS) if kind == "discrete" else None
    return _scale(
        style, settings.map or "viridis", unit, kind=kind, low=low, high=high, steps=steps,
        threshold=settings.color_threshold, dates=are_times,
    )  # fmt: skip


def _find_stated_range(style: SetStyle, are_times: bool) -> tuple[Limit, Limit]:
    """Return the ends of the range that is set, dates in seconds since 1970."""
    low, high = style.settings.range or (None, None)
    has, is_one = ("dates", "a number") if are_times else ("numbers", "a date")
    for end in (low, high):
        is_percentile = isinstance(end, str) and end.startswith("p")
        if end is not None and not is_percentile and isinstance(end, str) != are_times:
            by, stated = (
                quote(style.settings.color_by or ""),
                end if isinstance(end, str) else f"{end:g}",
            )
            raise style.wrong(
                "range", f"'{by}' holds {has}, and {stated} is {is_one}: give {has} or percentiles"
            )
    return _seconds(low), _seconds(high)


def _seconds(end: Limit) -> Limit:
    if not isinstance(end, str) or end.startswith("p"):
        return end
    seconds = dates.parse_dates([end])
    assert seconds is not None
    return float(seconds[0])


def _choose_log_start(
    low: float, is_free: bool, values: list[NDArray[Any]], style: SetStyle
) -> float:
    if low > 0.0 or not is_free:
        return low
    by, name = quote(style.settings.color_by or ""), style.named("color_scale")
    least = min(float(np.min(each, initial=inf, where=each > 0)) for each in values)
    if least == inf:
        raise SceneError(f"{name}: '{by}' has no values above 0; use the scale symlog")
    if count := sum(int(np.count_nonzero(each <= 0.0)) for each in values):
        warn(
            f"{name}: {pluralize(count, 'particle')} with '{by}' at or below 0 cannot be on it and "
            "have the colour of missing values: the scale symlog shows them"
        )
    return least


def _scale(style: SetStyle, colors: Any, unit: str, **values: Any) -> ColorScale:
    settings = style.settings
    label = settings.color_label if settings.color_label is not None else settings.color_by
    unit = unit if settings.color_unit is None else settings.color_unit
    missing = settings.missing_color or MISSING
    with prefix_errors(style.named("map").rpartition(".")[0]):
        return ColorScale(
            colors, **values, label=(label or "").strip("`"), unit=unit, missing=missing
        )


def _recolor(spheres: SphereSet, values: Any, scale: ColorScale) -> SphereSet:
    ids = scale.ids(values)
    return spheres.changed(color=scale.palette, color_space="srgb", color_id=ids)


def find_limits(limits: tuple[Limit, Limit], parts: Sequence[NDArray[Any]]) -> tuple[float, float]:
    """Return the ends of a range over arrays (N,); inf and -inf without a finite value."""
    ends = [find_finite_min_max(part) for part in parts] if None in limits else []
    percents = [float(each[1:]) for each in limits if isinstance(each, str)]
    values = iter(find_percentiles(parts, percents) if percents else ())
    low, high = (next(values) if isinstance(each, str) else each for each in limits)
    return (
        min(end for end, _ in ends) if low is None else float(low),
        max(end for _, end in ends) if high is None else float(high),
    )


def find_finite_min_max(values: NDArray[Any]) -> tuple[float, float]:
    """Return the least and the greatest finite value; inf and -inf without any."""
    low, high = extremes_of(values)
    if len(values) and isfinite(low) and isfinite(high):
        return low, high
    finite = values[np.isfinite(values)]
    return float(finite.min(initial=inf)), float(finite.max(initial=-inf))


def find_percentiles(parts: Sequence[NDArray[Any]], percents: list[float]) -> list[float]:
    """Return percentiles (0 to 100) of the finite values of arrays (N,); NaN without any."""
    finite = np.concatenate([part[np.isfinite(part)] for part in parts])
    if not finite.size:
        return [float("nan")] * len(percents)
    return [float(np.percentile(finite, each, overwrite_input=True)) for each in percents]
