"""Dates and times as values of colour scales: seconds since 1970 (UTC), without leap seconds."""

import re
from collections.abc import Sequence
from math import floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.appearance.coloring import ticks as numbers

_DATE = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?) ?(?:Z|([+-]\d\d):?(\d\d)?)?)?",
    re.ASCII,
)
_MISSING = ("", "NaT", "None", "nan", "NaN")


def parse_dates(texts: Sequence[str]) -> NDArray[np.float64] | None:
    """Parse dates of ISO 8601, as 2024-01-31 or 2024-01-31T18:00:00.5+01:00: float64 (K,), NaN if
    missing; None: there is another text among them. A time without a zone is UTC."""
    times, zones = list[str](), np.zeros(len(texts))
    for place, text in enumerate(texts):
        match = _DATE.fullmatch(text)
        if match is None and text not in _MISSING:
            return None
        day, clock, hours, minutes = match.groups() if match else ("NaT", None, None, None)
        times.append(f"{day}T{clock or '00:00'}" if match else "NaT")
        if hours:
            zones[place] = int(hours) * 3600 + int(f"{hours[0]}{minutes or 0}") * 60
    try:
        known = np.array(times, "M8[us]")
    except ValueError:  # a 13th month
        return None
    if np.isnat(known).all():
        return None
    return np.where(np.isnat(known), np.nan, known.astype(np.int64) / 1e6) - zones


def date_ticks(low: float, high: float, most: int) -> tuple[list[float], list[str]]:
    """Return at most `most` times in low..high, seconds since 1970 (UTC), at round steps of the
    calendar, and their texts; ends that have no date as numbers."""
    if not YEARS[0] <= low <= high < YEARS[1]:
        values = numbers.linear_ticks(low, high, most)
        return values, numbers.format_ticks(values)
    for unit, form, steps in _CALENDAR:
        first, last = (np.datetime64(floor(end), "s").astype(f"M8[{unit}]") for end in (low, high))
        for step in steps:
            start = 1970 if unit == "Y" else 0  # round years, not years since 1970
            origin = (first.astype(np.int64) + start) // step * step - start
            count = (last.astype(np.int64) - origin) // step + 1
            if count > most + 1:
                continue
            whole = (origin + step * np.arange(count)).astype(f"M8[{unit}]")
            values = whole.astype("M8[s]").astype(np.int64).astype(float).tolist()
            inside = [value for value in values if low <= value <= high]
            if 2 <= len(inside) <= most:
                return inside, [_format_date(value, form) for value in inside]
    values = numbers.linear_ticks(low, high, most)
    forms = [_format_date(value, "us") for value in values]
    zeros = min(len(form) - len(form.rstrip("0")) for form in forms)
    return values, [form[: -min(zeros, 6) or None].rstrip(".") for form in forms]


YEARS = (-62_135_596_800.0, 253_402_300_800.0)  # seconds from 1970 to the years 1 and 10,000
_CALENDAR = (
    ("s", "s", (1, 2, 5, 10, 15, 30)), ("m", "m", (1, 2, 5, 10, 15, 30)),
    ("h", "m", (1, 2, 3, 6, 12)), ("D", "D", (1, 2, 5, 10)), ("M", "M", (1, 2, 3, 6)),
    ("Y", "Y", tuple(digit * 10**power for power in range(4) for digit in (1, 2, 5))),
)  # fmt: skip
"""Units of steps, of the texts at them, and steps."""


def _format_date(value: float, unit: Any) -> str:
    """Return a time in seconds since 1970 as 2024-01-31 18:00, as far as the unit."""
    time = np.datetime64(round(value * 1e6), "us")
    return str(np.datetime_as_string(time, unit=unit)).replace("T", " ")
