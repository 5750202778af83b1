"""Ticks of colour scales: round values with short texts."""

from itertools import pairwise
from math import ceil, floor, isfinite, log10
from typing import NamedTuple

import numpy as np

ROUND = (1.0, 2.0, 2.5, 5.0, 10.0)  # steps between ticks, times a power of ten
PLAIN = (-4, 5)  # powers of ten of the largest tick without an exponent


class Tick(NamedTuple):
    """A labelled value of a colour scale: its position on the bar, 0 to 1, and an ASCII text."""

    value: float
    position: float
    text: str


def linear_ticks(low: float, high: float, most: int) -> list[float]:
    """Return at most `most` round values in low..high."""
    if not low < high or not isfinite(high - low):
        return [low] if low == high else [low, high]
    step = _round_step((high - low) / max(most - 1, 1))
    while floor(high / step + 1e-9) - ceil(low / step - 1e-9) + 1 > most:
        step = _round_step(1.1 * step)
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    digits = 2 - floor(log10(step))
    values = [round(place * step, digits) + 0.0 for place in range(first, last + 1)]
    return [value for value in values if low <= value <= high] or [low, high]


def decade_ticks(low: float, high: float, most: int) -> list[float]:
    """Return round values in low..high, both positive, for a logarithmic scale."""
    first, last = ceil(log10(low) - 1e-9), floor(log10(high) + 1e-9)
    if last - first >= 1:
        step = ceil((last - first + 1) / most)
        powers = (float(f"1e{power}") for power in range(first, last + 1, step))
        return [value for value in powers if low <= value <= high]
    for factors in ((1, 2, 5), range(1, 10)):
        fine = (float(f"{f}e{power}") for power in range(first - 1, last + 1) for f in factors)
        inside = [value for value in fine if low <= value <= high]
        if len(inside) > 1:
            return inside[:: ceil(len(inside) / most)]
    return linear_ticks(low, high, most)


def symlog_ticks(low: float, high: float, threshold: float, most: int) -> list[float]:
    """Return zero and powers of ten on both sides of it, for a symlog scale."""
    values = [0.0]
    for sign, end in ((1.0, high), (-1.0, -low)):
        if end > threshold:
            values += [sign * value for value in decade_ticks(threshold, end, max(most // 2, 1))]
    inside = sorted(value for value in values if low <= value <= high)
    return inside if len(inside) > 1 else linear_ticks(low, high, most)


def format_ticks(values: list[float]) -> list[str]:
    """Format numbers briefly, all with the same number of decimals, or if they are very large or
    small with an exponent; with as many digits as tell them apart."""
    powers = [floor(log10(abs(value))) for value in values if value]
    gaps = [abs(b - a) for a, b in pairwise(values) if a != b]
    gap = min(gaps, default=abs(values[0]) or 1.0)

    def fitting(forms: list[list[str]]) -> list[str]:
        for form in forms:
            if all(abs(float(t) - v) <= 1e-4 * gap for t, v in zip(form, values, strict=True)):
                return form
        return forms[-1]

    plain = fitting([[f"{value:.{decimals}f}" for value in values] for decimals in range(18)])
    short = fitting(
        [[_format_scientific(value, digits) for value in values] for digits in range(6, 18)]
    )
    is_usual = not powers or (PLAIN[0] <= min(powers) and max(powers) <= PLAIN[1])
    if is_usual and len(plain[0].partition(".")[2]) < 8:
        return plain
    return min(short, plain, key=lambda form: max(map(len, form)))


def _format_scientific(value: float, digits: int) -> str:
    text = np.format_float_scientific(value, digits, trim="-", exp_digits=1)
    return text.replace("e+", "e").replace(".e", "e") if value else "0"


def _round_step(least: float) -> float:
    """Return the least round number that is at least `least`."""
    power = 10.0 ** floor(log10(least))
    return next(each * power for each in ROUND if each * power >= least * (1.0 - 1e-9))
