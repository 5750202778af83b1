"""Colour scales: values to colours, and the content of their legends."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.appearance.coloring import dates, maps, ticks
from raytracer.appearance.coloring.expression import Texts
from raytracer.appearance.coloring.scale_types import MAP
from raytracer.appearance.coloring.ticks import Tick
from raytracer.config.arguments import check_items, check_text
from raytracer.config.errors import SceneError, prefix_errors
from raytracer.config.field_types import Integer, Number, Text, Truth, WordChoice
from raytracer.config.fields import Defined, setting
from raytracer.model.arrays import ErrorContext, as_array, for_each_block, silence_numpy
from raytracer.model.colors import RGB, Color, parse_color, srgb_to_linear
from raytracer.model.key_types import ColorValue, Rows
from raytracer.model.quantities import EXACT
from raytracer.packing.sphere_update import ColorMap

KINDS = ("linear", "log", "symlog", "discrete", "categorical")
STEPS = 5  # default number of colours of a discrete scale

MISSING = "#888888"

THRESHOLD = 1e-3  # default end of the linear part of a symlog scale, as a part of its end
DECADE = 1.0 / (1.0 - 1.0 / 10.0)  # decades of each half of the linear part, as in matplotlib
FEW = 1 << 16  # integers within a range of this size are looked up in a table

MAX_TICKS = 6

TOO_FINE = "whole numbers beyond 2^53 that double precision does not tell apart"


@dataclass(frozen=True, repr=False, eq=False)
class ColorScale(Defined):
    """Colours of values, and their legend.

    Args:
        map: Name of a colour map, or colours from the low end to the high end; for categories one
            per name.
        kind: "symlog" is logarithmic on both sides of zero and linear near it; "discrete" has
            `steps` colours; "categorical" has a colour per name.
        low: Value at the low end; lower values have its colour.
        high: Value at the high end; higher values have its colour.
        label: What the values are, for the legend.
        unit: Unit of the values, or "".
        missing: Colour of NaN, of unknown names, and on logarithmic scales of values that are not
            positive.
        steps: Number of colours of a discrete scale.
        threshold: A symlog scale is linear between -threshold and threshold.
        names: Names of the categories, in the order of the legend.
        dates: Whether values are seconds since 1970 (UTC), which the legend shows as dates.

    Raises:
        SceneError: an argument is wrong; the message names it.
    """

    map: str | Sequence[Color] = setting("viridis", MAP)
    kind: str = setting("linear", WordChoice(KINDS, "kind"))
    low: float = setting(0.0, Number())
    high: float = setting(1.0, Number())
    label: str = setting("", Text())
    unit: str = setting("", Text())
    missing: Color = setting(MISSING, ColorValue())
    steps: int | None = setting(None, Integer(1, 256))
    threshold: float | None = setting(None, Number(0.0, above=True))
    names: tuple[str, ...] = setting((), Rows(Text()))
    dates: bool = setting(False, Truth())

    def __post_init__(self) -> None:
        super().__post_init__()
        vars(self)["names"] = tuple(
            check_text(name, "names") for name in check_items(self.names, "names")
        )
        if isinstance(self.map, dict):
            raise SceneError("map: give a name, or a list of colours, one per category")
        if self.low > self.high:
            raise SceneError(
                f"range: {self.low:g} is above {self.high:g}; write the lower end first (to "
                "reverse a map, append _r to its name)"
            )
        if self.kind == "log" and self.low <= 0.0:
            raise SceneError(
                f"range: {self.low:g} has no logarithm; give a start above 0, or use the scale "
                "'symlog'"
            )
        _ = self.palette

    @property
    def is_categorical(self) -> bool:
        """Whether the legend lists names instead of a bar."""
        return self.kind == "categorical"

    @property
    def title(self) -> str:
        """Title of the legend: label and unit, as "speed (m/s)"."""
        return f"{self.label} ({self.unit})" if self.label and self.unit else self.label

    @cached_property
    def palette(self) -> NDArray[np.uint8]:
        """Colours by the ids of `ids`, sRGB, uint8 (K + 1, 3); the last is for missing values."""
        result = np.concatenate([self._colors(), _parse_colors([self.missing])])
        result.flags.writeable = False
        return result

    @cached_property
    def linear_palette(self) -> NDArray[np.float32]:
        """The palette in linear RGB, float32 (K + 1, 3)."""
        return srgb_to_linear(self.palette / 255.0).astype(np.float32)

    def _colors(self) -> NDArray[np.uint8]:
        is_named = isinstance(self.map, str)
        with prefix_errors("map"):
            colors = (
                maps.load_map(self.map) if isinstance(self.map, str) else _parse_colors(self.map)
            )
        count = len(colors)
        if self.kind == "categorical" and not (is_named and count > 100):
            return colors[np.arange(len(self.names)) % count]
        if not is_named:  # mixed
            places = np.linspace(0.0, count - 1.0, self._steps if self.kind == "discrete" else 256)
            mixed = [np.interp(places, np.arange(count), channel) for channel in colors.T]
            return np.round(np.stack(mixed, axis=1)).astype(np.uint8)
        if self.kind in ("categorical", "discrete"):  # colours at equal distances over the map
            steps = self._steps if self.kind == "discrete" else len(self.names)
            colors = colors[np.round(np.linspace(0, count - 1, steps)).astype(np.int64)]
        return colors

    @property
    def _steps(self) -> int:
        return self.steps or STEPS

    def ids(self, values: Any) -> NDArray[np.int32]:
        """Return the row of `palette` for each value, int32 (N,); values: numbers, or names of
        categories."""
        if isinstance(values, Texts):
            return self._find_rows(values.names)[values.ids]
        array = as_array(values, "values", ErrorContext(), self.unit or None)
        if array.ndim != 1 or array.dtype.kind not in ("iufbSU" if self.is_categorical else "iufb"):
            raise SceneError("values: give an array (N,) of numbers, or of names of categories")
        if self.is_categorical:
            return self._category_ids(array)
        if needs_more_digits(array, self.low, self.high):
            raise SceneError(f"values: {TOO_FINE}: subtract the least of them")
        result = np.empty(array.shape, np.int32)
        count = len(self.palette) - 1

        def convert(rows: slice) -> None:
            places = self.positions(array[rows]) * count
            result[rows] = np.where(np.isnan(places), count, np.minimum(places, count - 1))

        for_each_block(len(array), convert)
        return result

    def _category_ids(self, values: NDArray[Any]) -> NDArray[np.int32]:
        if (ends := small_integer_range(values)) is not None:
            return _look_up_rows(self._find_rows(range(ends[0], ends[1] + 1)), values, ends[0])
        known, inverse = np.unique(values, return_inverse=True)
        return self._find_rows(known.tolist())[inverse.reshape(-1)]

    def _find_rows(self, known: Iterable[Any]) -> NDArray[np.int32]:
        places = {name: place for place, name in enumerate(self.names)}
        return np.array(
            [places.get(format_category(each), len(self.names)) for each in known], np.int32
        )

    def rgb(self, values: Any) -> NDArray[np.float32]:
        """Return the colours of values as for `ids`, linear RGB, float32 (N, 3)."""
        return _look_up_rows(self.linear_palette, self.ids(values))

    @silence_numpy()
    def positions(self, values: Any) -> NDArray[np.float64]:
        """Return positions of numbers on the bar, 0 at the low end and 1 at the high end; NaN if
        missing."""
        numbers = np.asarray(values, np.float64)
        if self.kind == "log":
            numbers = np.log(np.where(numbers > 0.0, numbers, np.nan))
        elif self.kind == "symlog":
            numbers = _to_symlog(numbers, self._threshold)
        low, span, factor = self._interval
        places = np.subtract(numbers if factor == 1.0 else numbers * factor, low)
        if span > 0.0:
            places /= span
        else:
            places *= 0.0
        return np.clip(places, 0.0, 1.0, out=places)

    def color_map(self) -> ColorMap:
        """Return what a kernel needs to colour values by this scale. Raises SceneError: the scale
        is categorical."""
        if self.is_categorical:
            raise SceneError("values: a categorical scale has names: give an array on the host")
        kind = "linear" if self.kind == "discrete" else self.kind
        low, span, factor = self._interval
        return ColorMap(self.linear_palette, kind, low, span, factor, self._threshold, DECADE)

    @property
    def _interval(self) -> tuple[float, float, float]:
        """Return low end and length of the bar, and the factor of values that keeps them finite."""
        low, high = self.low, self.high
        if self.kind == "log":
            low, high = log(low), log(high)
        elif self.kind == "symlog":
            low, high = _to_symlog(np.array([low, high]), self._threshold).tolist()
        factor = 1.0 if isfinite(high - low) else 0.5
        return low * factor, high * factor - low * factor, factor

    @property
    def _threshold(self) -> float:
        return self.threshold or THRESHOLD * max(abs(self.low), abs(self.high)) or 1.0

    def srgb_table(self, count: int = 256) -> NDArray[np.uint8]:
        """Return `count` colours of the bar from its low end to its high end, uint8 (count, 3),
        sRGB."""
        colors = len(self.palette) - 1
        return self.palette[(np.arange(count) + 0.5).astype(np.int64) * colors // max(count, 1)]

    def ticks(self, most: int = MAX_TICKS) -> list[Tick]:
        """Return at most `most` ticks at round values; none for a categorical scale."""
        if self.is_categorical:
            return []
        low, high = self.low, self.high
        if self.dates:
            values, texts = dates.date_ticks(low, high, most)
            places = self.positions(values).tolist()
            return [Tick(*each) for each in zip(values, places, texts, strict=True)]
        if self.kind == "log":
            values = ticks.decade_ticks(low, high, most)
        elif self.kind == "symlog":
            values = ticks.symlog_ticks(low, high, self._threshold, most)
        elif self.kind == "discrete" and self._steps < 12 and isfinite(high - low):
            values = [low + (high - low) * i / self._steps for i in range(self._steps + 1)]
        else:
            values = ticks.linear_ticks(low, high, most)
        values = list(dict.fromkeys(values))  # steps may be smaller than those of float64
        places = self.positions(values).tolist()
        return [
            Tick(*each) for each in zip(values, places, ticks.format_ticks(values), strict=True)
        ]

    def categories(self) -> list[tuple[str, RGB]]:
        """Return names and colours (sRGB, 0..1) of a categorical scale, in order."""
        rows = (self.palette[: len(self.names)] / 255.0).tolist()
        return [(name, (r, g, b)) for name, (r, g, b) in zip(self.names, rows, strict=True)]


def _look_up_rows(table: NDArray[Any], rows: NDArray[Any], first: int = 0) -> NDArray[Any]:
    """Take rows of a table, (N, ...); `first` is the number of its first row."""
    result = np.empty((len(rows), *table.shape[1:]), table.dtype)

    def convert(part: slice) -> None:
        np.take(table, rows[part] - first, axis=0, out=result[part], mode="clip")

    for_each_block(len(rows), convert)
    return result


def small_integer_range(values: NDArray[Any]) -> tuple[int, int] | None:
    """Return the least and greatest of integers within a small range, otherwise None."""
    if values.dtype.kind not in "iu" or not values.size:
        return None
    low, high = int(values.min()), int(values.max())
    return (low, high) if high - low < FEW else None


def needs_more_digits(values: NDArray[Any], low: float, high: float) -> bool:
    """Whether whole numbers on a bar from low to high are so large that float64, in which their
    places are computed, gives different ones the same colour."""
    if values.dtype.kind not in "iu" or not values.size or values.min() == values.max():
        return False
    most = min(float(max(abs(int(values.min())), int(values.max()))), max(abs(low), abs(high)))
    return most > EXACT and high - low < FEW * float(np.spacing(most))


def find_distinct_values(values: NDArray[Any]) -> NDArray[Any]:
    """Return the distinct values in ascending order, without NaN."""
    if (ends := small_integer_range(values)) is not None:
        there = np.zeros(ends[1] - ends[0] + 1, bool)

        def work(rows: slice) -> None:
            there[values[rows] - ends[0]] = True

        for_each_block(len(values), work)
        kind = np.int64 if ends[0] < 0 else np.uint64
        found: NDArray[Any] = np.flatnonzero(there).astype(kind) + kind(ends[0])
        return found
    return np.unique(values[np.isfinite(values)] if values.dtype.kind == "f" else values)


def format_category(value: Any) -> str:
    """Return the value of a category as text: 1.0 is "1"."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return f"{value:.15g}" if isinstance(value, float) else str(value)


@silence_numpy()
def _to_symlog(values: NDArray[Any], threshold: float) -> NDArray[np.float64]:
    """Transform values: logarithmic beyond the threshold on both sides, linear between."""
    size = np.abs(values) / threshold
    beyond = np.copysign(DECADE + np.log10(size), values)
    return np.where(size > 1.0, beyond, values / threshold * DECADE)


def _parse_colors(colors: Sequence[Color]) -> NDArray[np.uint8]:
    if not colors:
        raise SceneError("map: holds no colours")
    return np.round(255.0 * np.array([parse_color(color) for color in colors])).astype(np.uint8)
