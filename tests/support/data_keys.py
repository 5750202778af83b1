"""The keys of frames, colours, selections, history and keyframes, and what they do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Shown = dict[str, Any]
Effect = Callable[[Shown, Shown], object]


def asks(label: str) -> Effect:
    """The prompt asks something."""
    return lambda _, after: after["question"] == label


def colours(name: str, value: Any) -> Effect:
    """A setting of the style has a value."""
    return lambda _, after: after["style"].get(name) == value


def becomes(name: str, value: Any) -> Effect:
    """A part of what is shown has a value."""
    return lambda before, after: after[name] == value != before[name]


def slices(axis: str, low: float, high: float, keep: str = "below") -> Effect:
    """A slice is on an axis, between two shares of the extent."""

    def check(_: Shown, after: Shown) -> bool:
        now = after["slice"]
        return bool(now and now.axis == axis and low <= now.position <= high and now.keep == keep)

    return check


def turns(before: Shown, after: Shown) -> bool:
    """The camera looks another way."""
    return bool(before["forward"] != after["forward"])


def keeps(name: str) -> Effect:
    """A view is kept."""
    return lambda _, after: name in after["views"]


MIDDLE = ("pick", 120, 80)
COLOURED = ("color-by", "mass")
SLICED = ("slice", "x", 0.5)
SELECTED = ("select", "mass > 5")

DATA_EFFECTS: dict[str, tuple[Effect, tuple[tuple[Any, ...], ...]]] = {
    "M": (colours("color_by", "mass"), ()),
    "SHIFT+M": (colours("color_by", "id"), ()),
    "CTRL+M": (asks("colour by"), ()),
    "J": (colours("map", "magma"), (COLOURED,)),
    "SHIFT+J": (colours("map", "gray"), (COLOURED,)),
    "CTRL+J": (asks("colour map"), ()),
    "U": (colours("range", "p1,p99"), (COLOURED,)),
    "CTRL+U": (asks("range of colours"), ()),
    "SHIFT+U": (becomes("legend", False), (COLOURED,)),
    "SHIFT+S": (colours("style", "ball-and-stick"), ()),
    "CTRL+SHIFT+S": (colours("style", "wire"), ()),
    "CTRL+B": (colours("bonds", "auto"), ()),
    "SHIFT+I": (becomes("box", True), ()),
    "SHIFT+F10": (becomes("menu", True), ()),
    "SLASH": (asks("select"), ()),
    "CTRL+I": (becomes("selected", 3), (SELECTED,)),
    "SHIFT+G": (becomes("selected", 1), (MIDDLE,)),
    "D": (becomes("hidden", 2), (SELECTED,)),
    "SHIFT+D": (becomes("hidden", 3), (SELECTED,)),
    "CTRL+F": (becomes("faded", 1), (SELECTED,)),
    "CTRL+G": (becomes("faded", 1), (SELECTED,)),
    "CTRL+D": (becomes("hidden", 0), (SELECTED, ("hide-rest",))),
    "W": (slices("z", 0.5, 0.5), ()),
    "SHIFT+W": (slices("x", 0.5, 0.5, "above"), (SLICED,)),
    "BRACKETRIGHT": (slices("x", 0.501, 1.0), (SLICED,)),
    "BRACKETLEFT": (slices("x", 0.0, 0.499), (SLICED,)),
    "P": (becomes("playing", True), ()),
    "PERIOD": (becomes("number", 1), ()),
    "COMMA": (becomes("number", 1), (("frame", 2),)),
    "CTRL+PERIOD": (becomes("number", 3), ()),
    "CTRL+COMMA": (becomes("number", 0), (("frame", 2),)),
    "SHIFT+PERIOD": (becomes("speed", 2.0), (("set-speed", 1.0),)),
    "SHIFT+COMMA": (becomes("speed", 0.5), (("set-speed", 1.0),)),
    "SHIFT+P": (lambda before, after: before["loop"] != after["loop"], ()),
    "SHIFT+C": (lambda before, after: after["keyframes"] >= 1, ()),
    "CTRL+E": (lambda before, after: "camera" in after["notice"], (("keyframe",),)),
    "CTRL+R": (asks("movie"), ()),
    "CTRL+Z": (becomes("selected", 0), (SELECTED,)),
    "CTRL+Y": (becomes("selected", 2), (SELECTED, ("undo",))),
    "_0": (turns, ()),
    **{f"_{n}": (turns, (("orbit", 0.5, 0.1), ("keep-view", str(n)), ("reset",)))
       for n in range(1, 10)},
    **{f"CTRL+_{n}": (keeps(str(n)), ()) for n in range(1, 10)},
    "TAB": (becomes("panel", True), ()),
    "F11": (becomes("full_screen", True), ()),
}  # fmt: skip
"""By the first key of a control: the effect, and the actions that come before."""
