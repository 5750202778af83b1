"""Colour maps by name: ten included ones, and those of matplotlib, cmcrameri and colorcet.

`maps.npz` holds ten maps of matplotlib, in sRGB rounded to 8 bits. viridis, magma, inferno and
plasma (N. Smith, S. van der Walt, E. Firing), cividis (J. Nuñez, C. Anderton, R. Renslow) and
twilight (B. Bechtold) are in the public domain (CC0); turbo is by A. Mikhailov, Copyright 2019
Google LLC (Apache-2.0); coolwarm comes from the published table of K. Moreland.
"""

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.config.errors import SceneError, find_nearest_name, quote
from raytracer.model.colors import srgb_to_linear

NAMES = (
    "viridis", "magma", "inferno", "plasma", "cividis", "turbo", "coolwarm", "twilight", "gray",
    "tab10",
)  # fmt: skip
"""Maps without another package."""


@cache
def load_map(name: str) -> NDArray[np.uint8]:
    """Return the colours of a map from its low end to its high end, uint8 (K, 3), sRGB, read-only.

    name: one of `NAMES`, or a map of matplotlib ("RdBu"), cmcrameri ("batlow", "cmc.batlow") or
    colorcet ("fire", "cet_fire") if installed; "_r" behind it reverses the map.
    """
    straight = name.removesuffix("_r")
    with np.load(Path(__file__).with_name("maps.npz")) as included:
        colors = included[straight] if straight in included else _load_foreign_map(straight)
    if colors is None:
        raise SceneError(_explain_unknown(name))
    values = np.ascontiguousarray(colors[::-1] if straight != name else colors)
    values.flags.writeable = False
    return values


@cache
def category_colors(count: int) -> NDArray[np.uint8]:
    """Return colours for categories, uint8 (K, 3), sRGB, K at most `count`: those of tab10, then
    each time the one farthest in CIELAB from all before, and from white, black and grey."""
    steps = np.linspace(0.0, 1.0, 9)
    known = np.concatenate([load_map("tab10") / 255.0, [[0.0] * 3, [0.5] * 3, [1.0] * 3]])
    grid = np.stack(np.meshgrid(steps, steps, steps), axis=-1).reshape(-1, 3)
    lab = _to_lab(grid)
    away = np.min([np.linalg.norm(lab - each, axis=1) for each in _to_lab(known)], axis=0)
    chosen = [load_map("tab10")[:count]]
    for _ in range(min(count, len(grid)) - len(chosen[0])):
        place = int(away.argmax())
        chosen.append(np.round(255.0 * grid[place : place + 1]).astype(np.uint8))
        away = np.minimum(away, np.linalg.norm(lab - lab[place], axis=1))
    return np.concatenate(chosen)


def _to_lab(srgb: NDArray[Any]) -> NDArray[np.float64]:
    """Return sRGB colours, (N, 3) in 0..1, in CIELAB (D65)."""
    to_xyz = [[0.4339, 0.3762, 0.1899], [0.2126, 0.7152, 0.0722], [0.0178, 0.1095, 0.8727]]
    x, y, z = np.cbrt(srgb_to_linear(srgb) @ np.array(to_xyz).T).T  # by those of white
    return np.stack([116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)], axis=1)


_PACKAGES = {
    "matplotlib": ("matplotlib", "colormaps", ""),
    "cmcrameri": ("cmcrameri.cm", "cmaps", "cmc."),
    "colorcet": ("colorcet", "palette", "cet_"),
}
"""Packages of colour maps: module, attribute of the maps by name, prefix of their names here."""


def _list_package_maps(package: str) -> Any:
    module, attribute, _ = _PACKAGES[package]
    try:
        return getattr(import_module(module), attribute)
    except ImportError:
        return None


def _load_foreign_map(name: str) -> NDArray[np.uint8] | None:
    named = [p for p, (_, _, prefix) in _PACKAGES.items() if prefix and name.startswith(prefix)]
    for package in (*named, *_PACKAGES):
        colors = (_list_package_maps(package) or {}).get(name.removeprefix(_PACKAGES[package][2]))
        if colors is not None and package == "colorcet":
            return np.array([list(bytes.fromhex(color[1:])) for color in colors], np.uint8)
        if colors is not None:
            rgb: NDArray[np.float64] = colors(np.arange(colors.N))
            return np.round(255.0 * rgb[:, :3]).astype(np.uint8)
    return None


def _explain_unknown(name: str) -> str:
    known = [*NAMES, *(each for package in _PACKAGES for each in _list_package_maps(package) or ())]
    if near := find_nearest_name(name, known):
        hint = f"did you mean '{near}'?"
    else:
        missing = ", ".join(each for each in _PACKAGES if _list_package_maps(each) is None)
        more = f"; pip install 'raytracer[maps]' adds those of {missing}" if missing else ""
        hint = f"known are {', '.join(NAMES)}{more}"
    return f"there is no colour map named '{quote(name)}'; {hint}"
