"""Colour maps by name: ten that need no other package, and those of matplotlib and its kin.

`maps.npy` holds eight maps of matplotlib, in sRGB rounded to 8 bits. viridis,
magma, inferno and plasma (N. Smith, S. van der Walt, E. Firing), cividis (J. Nuñez, C. Anderton,
R. Renslow) and twilight (B. Bechtold) are in the public domain (CC0); turbo is by A. Mikhailov,
Copyright 2019 Google LLC (Apache-2.0); coolwarm is made of the published table of K. Moreland.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from raytracer.errors import SceneError, nearest, shown
from raytracer.scene.color_names import CYCLE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

STORED = {
    **dict.fromkeys(("viridis", "magma", "inferno", "plasma", "cividis", "turbo", "coolwarm"), 256),
    "twilight": 510,
}
"""Maps of `maps.npy` in its order, and how many colours each has."""

NAMES = (*STORED, "gray", "tab10")
"""Maps that need no other package; "_r" behind a name reverses the map."""

CATEGORICAL = "tab10"
"""The map of categories that have no colours of their own."""

REVERSED = "_r"


@cache
def table(name: str) -> NDArray[np.uint8]:
    """Return the colours of a map from its low end to its high end.

    Args:
        name: one of `NAMES`, or a map of matplotlib ("RdBu"), cmcrameri ("batlow", "cmc.batlow")
            or colorcet ("fire", "cet_fire") where these are installed; with "_r" it is reversed.

    Returns:
        uint8 (K, 3), sRGB, read-only; K is 256 of most maps, and less of those of categories.

    Raises:
        SceneError: there is no such map.
    """
    import numpy as np

    straight = name.removesuffix(REVERSED)
    colors = _own(straight)
    if colors is None:
        colors = _foreign(straight)
    if colors is None:
        raise SceneError(_unknown(name))
    values = np.ascontiguousarray(colors[::-1] if straight != name else colors)
    values.flags.writeable = False
    return values


def _own(name: str) -> NDArray[np.uint8] | None:
    """Return the colours of one of `NAMES`, or None."""
    import numpy as np

    if name in STORED:
        stored = np.load(Path(__file__).with_name("maps.npy"), allow_pickle=False)
        names = list(STORED)
        first = sum(STORED[each] for each in names[: names.index(name)])
        colors: NDArray[np.uint8] = stored[first : first + STORED[name]]
        return colors
    if name in ("gray", "grey"):
        return np.repeat(np.arange(256, dtype=np.uint8)[:, None], 3, axis=1)
    if name == "tab10":
        return _of_digits(CYCLE.values())
    return None


def _of_digits(colors: Any) -> NDArray[np.uint8]:
    """Return colours "#rrggbb" as uint8 (K, 3)."""
    import numpy as np

    return np.array([list(bytes.fromhex(color[1:])) for color in colors], np.uint8)


def _foreign(name: str) -> NDArray[np.uint8] | None:
    """Return the colours of a map of another package, or None."""
    import numpy as np

    packages = (("cmcrameri", "cmc."), ("colorcet", "cet_"), ("matplotlib", ""))
    named = [each for each in packages if each[1] and name.startswith(each[1])]
    for module, prefix in (*named, packages[2], *packages[:2]):
        bare = name.removeprefix(prefix)
        if other := _library(module):
            found = _maps_of(module, other).get(bare)
            if module == "colorcet" and found is not None:
                return _of_digits(found)
            if found is not None:
                colors: NDArray[np.float64] = found(np.arange(found.N))
                return np.round(255.0 * colors[:, :3]).astype(np.uint8)
    return None


def _library(name: str) -> Any:
    """Return a package of colour maps, or None where it is not installed."""
    try:
        return import_module("cmcrameri.cm" if name == "cmcrameri" else name)
    except ImportError:
        return None


def _maps_of(name: str, module: Any) -> Any:
    """Return the maps of a package by name."""
    attribute = {"matplotlib": "colormaps", "cmcrameri": "cmaps", "colorcet": "palette"}[name]
    return getattr(module, attribute)


def _unknown(name: str) -> str:
    """Return what is wrong with a name, and which are near."""
    known = list(NAMES)
    missing = []
    for module in ("matplotlib", "cmcrameri", "colorcet"):
        if other := _library(module):
            known += _maps_of(module, other)
        else:
            missing.append(module)
    near = nearest(name, known)
    if near:
        hint = f"did you mean '{near}'?"
    else:
        hint = f"known are {', '.join(NAMES)}"
        if missing:
            hint += f", and with pip install 'raytracer[maps]' those of {', '.join(missing)}"
    return f"there is no colour map named '{shown(name)}'; {hint}"
