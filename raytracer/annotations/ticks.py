"""Ticks: round numbers on a scale, and how they are written."""

from __future__ import annotations

from math import ceil, floor, isfinite, log10
from typing import NamedTuple

STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
"""Distances of ticks, times a power of ten."""

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

PLAIN = (1e-4, 1e5)
"""Numbers between these are written without an exponent."""


class Ticks(NamedTuple):
    """Ticks of a scale.

    Args:
        values: ascending.
        labels: one for each; "" for a tick without a number.
        exponent: of ten, by which all labels are to be multiplied; 0 for none.
    """

    values: list[float]
    labels: list[str]
    exponent: int = 0


def round_down(value: float) -> float:
    """Return the largest of 1, 2 and 5 times a power of ten that is not above a number > 0."""
    power = 10.0 ** floor(log10(value))
    return max(step * power for step in (1.0, 2.0, 5.0) if step * power <= value * (1.0 + 1e-9))


def linear(low: float, high: float, most: int = 6) -> Ticks:
    """Return at most `most` round numbers in a range."""
    if not (isfinite(low) and isfinite(high)) or high <= low:
        return Ticks([low], [number(low)])
    power = 10.0 ** floor(log10((high - low) / most))
    for step in (factor * power * scale for scale in (1.0, 10.0) for factor in STEPS):
        first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
        if last - first + 1 <= most:
            break
    values = [step * index for index in range(first, last + 1)]
    return _labelled(values, step)


def _labelled(values: list[float], step: float) -> Ticks:
    """Return ticks with as many digits as their distance needs."""
    largest = max(map(abs, values), default=0.0)
    exponent = floor(log10(largest)) if largest > 0.0 else 0
    if PLAIN[0] <= largest < PLAIN[1] or largest == 0.0:
        exponent = 0
    unit = 10.0**exponent
    digits = 0
    while digits < 9 and abs(round(step / unit, digits) - step / unit) > 1e-6 * step / unit:
        digits += 1
    labels = [f"{value / unit:.{digits}f}" for value in values]
    labels = [label.replace("-", "−") if float(label) else label.lstrip("-") for label in labels]
    return Ticks(values, labels, exponent)


def logarithmic(low: float, high: float, most: int = 7) -> Ticks:
    """Return the powers of ten in a range of positive numbers, with unlabelled ticks between."""
    first, last = ceil(log10(low) - 1e-9), floor(log10(high) + 1e-9)
    if last - first < 1:
        return linear(low, high)
    stride = max(ceil((last - first + 1) / most), 1)
    values, labels = [], []
    for power in range(first - 1, last + 1):
        for digit in range(1, 10 if stride == 1 else 2):
            value = digit * 10.0**power
            if low * (1.0 - 1e-9) <= value <= high * (1.0 + 1e-9):
                values.append(value)
                labelled = digit == 1 and (power - first) % stride == 0
                labels.append(power_of_ten(power) if labelled else "")
    return Ticks(values, labels)


def symmetric(low: float, high: float, linear_below: float) -> Ticks:
    """Return zero and powers of ten on both sides of it, beyond a part that is linear."""
    first = ceil(log10(linear_below) - 1e-9)
    values, labels = [], []
    for sign in (-1, 1):
        reach = -low if sign < 0 else high
        last = floor(log10(reach) + 1e-9) if reach > 0.0 else first - 1
        stride = max(ceil((last - first + 1) / 4), 1)
        for power in range(last, first - 1, -stride):
            values.append(sign * 10.0**power)
            labels.append(("−" if sign < 0 else "") + power_of_ten(power))
    if low <= 0.0 <= high:
        values.append(0.0)
        labels.append("0")
    order = sorted(range(len(values)), key=values.__getitem__)
    return Ticks([values[i] for i in order], [labels[i] for i in order])


def power_of_ten(power: int) -> str:
    """Return a power of ten as it is written: 0.1, 1, 10, 100, 10³."""
    plain = {-2: "0.01", -1: "0.1", 0: "1", 1: "10", 2: "100"}
    return plain.get(power) or f"10{str(power).translate(_RAISED)}"


def number(value: float) -> str:
    """Return a number for a label, with at most six digits."""
    text = f"{value:.6g}"
    mantissa, e, exponent = text.partition("e")
    if e:
        text = f"{mantissa}×10{str(int(exponent)).translate(_RAISED)}"
    return text.replace("-", "−")
