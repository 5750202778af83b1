"""Colour names of CSS, and the short ones of matplotlib.

Names that both have mean the same colour, except for single letters, which are matplotlib's: `g` is
CSS `green`; `c`, `m` and `y` are darker than cyan, magenta and yellow.
"""

from __future__ import annotations

import re

# matplotlib's default colour cycle, "C0" to "C9" and again from "C10", after the palette
# "Tableau 10"; "tab:" before a name of it.
CYCLE = {
    "blue": "#1f77b4", "orange": "#ff7f0e", "green": "#2ca02c", "red": "#d62728",
    "purple": "#9467bd", "brown": "#8c564b", "pink": "#e377c2", "gray": "#7f7f7f",
    "olive": "#bcbd22", "cyan": "#17becf",
}  # fmt: skip

_SHORT = {
    "b": "#0000ff", "g": "#008000", "r": "#ff0000", "c": "#00bfbf", "m": "#bf00bf",
    "y": "#bfbf00", "k": "#000000", "w": "#ffffff", "tab:grey": CYCLE["gray"],
    **{f"tab:{name}": digits for name, digits in CYCLE.items()},
}  # fmt: skip

_IN_CYCLE = re.compile(r"c(\d{1,9})", re.ASCII)


def digits_of(name: str) -> str | None:
    """Return "#rrggbb" of a colour name in any case, or None."""
    name = name.lower()
    if digits := _SHORT.get(name):
        return digits
    if place := _IN_CYCLE.fullmatch(name):
        return list(CYCLE.values())[int(place[1]) % len(CYCLE)]
    from PIL.ImageColor import colormap  # late: a tenth of the time of a small render

    css = colormap.get(name)
    if isinstance(css, tuple):  # Pillow caches looked-up names as tuples
        return "#{:02x}{:02x}{:02x}".format(*css)
    return css


def known() -> list[str]:
    from PIL.ImageColor import colormap

    return [*colormap, *(name for name in _SHORT if ":" in name)]
