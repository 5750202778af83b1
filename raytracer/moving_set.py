"""The set of spheres that moves in a live scene: which it is, what an update makes of it, and the
scale by which its values become colours."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.arguments import whole
from raytracer.errors import SceneError, counted, naming
from raytracer.scene.arrays import (
    Where,
    aligned,
    as_array,
    check_centers,
    check_radius,
    check_shape,
    floats,
)
from raytracer.scene.coloring import OF_SCALE, maps
from raytracer.scene.coloring.by_scale import by_scale
from raytracer.scene.coloring.scale import ColorScale
from raytracer.scene.coloring.scale_types import PALETTES
from raytracer.scene.coloring.style import SetStyle, StyleSettings
from raytracer.scene.scene import Scene
from raytracer.scene.set_colors import SetColors, colors_of
from raytracer.scene.sphere_set import SphereSet

VALUES = "values"
"""Name of the column of the values that colours follow."""

WHERE = Where(names={"centers": "positions", "radius": "radii", "color": "colors"})
"""What messages call the arrays of an update."""


def moving_set(scene: Scene, number: int | None) -> int:
    """Return the place of the set that moves. Raises SceneError."""
    filled = [place for place, each in enumerate(scene.spheres) if each.count]
    if not scene.spheres:
        raise SceneError("scene: has no set of spheres")
    if number is not None:
        place = whole(number, "set", 0, len(scene.spheres) - 1)
    elif len(filled) == 1 or len(scene.spheres) == 1:
        place = (*filled, 0)[0]
    else:
        raise SceneError(
            f"set: the scene has {counted(len(filled), 'set')} of spheres: give the number of the "
            f"one that moves, 0 to {len(scene.spheres) - 1}"
        )
    made = [each for each in scene.solids if each.count and (each.are_bonds or each.made_for)]
    made = [each for each in made if each.made_for not in ("box", "axes")]
    if made:
        what = "bonds" if made[0].are_bonds else made[0].made_for
        raise SceneError(
            f"scene: its {what} are made from the particles and do not follow them: leave them out"
        )
    return place


def changed(
    spheres: SphereSet,
    color_space: str,
    scale: ValueScale,
    positions: Any = None,
    radii: Any = None,
    colors: Any = None,
    values: Any = None,
) -> SphereSet:
    """Return the set with what an update says; centres and radii are not checked."""
    moved = copy(spheres)
    if positions is not None:
        moved.centers = aligned(check_shape(positions, WHERE))
    count = moved.count
    if radii is not None:
        sizes = floats(radii, "radius", WHERE)
        is_row = sizes.ndim == 1 and len(sizes) == count
        moved.radius = aligned(sizes) if is_row else check_radius(sizes, count, WHERE)
    if count != spheres.count:
        others = f"{counted(count, 'sphere')} in place of {spheres.count:,} with different"
        if radii is None and isinstance(spheres.radius, np.ndarray):
            raise SceneError(f"positions: {others} radii: give radii too")
        if isinstance(spheres.opacity, np.ndarray):
            raise SceneError(f"positions: {others} opacities: make a new LiveScene")
        moved = moved.without_columns()
    if values is not None:
        colored = SetColors(scale.colors(as_array(values, VALUES, WHERE), count))
        return _recolored(moved, colored, "linear")
    if colors is not None:
        found = colors_of(colors, None, color_space, count, WHERE)
        return _recolored(moved, found, color_space)
    return moved


def check(spheres: SphereSet) -> None:
    """Refuse numbers that are not finite, radii that are not positive, and colours of others."""
    check_centers(spheres.centers, WHERE)
    check_radius(spheres.radius, spheres.count, WHERE)
    ids = spheres.color_id
    colors = len(spheres.color) if ids is None else len(ids)
    if colors != spheres.count and (colors > 1 or ids is not None):
        raise SceneError(
            f"positions: {counted(spheres.count, 'sphere')} in place of {colors:,} with different "
            "colours: give colors or values too"
        )


def _recolored(spheres: SphereSet, colors: SetColors, space: str) -> SphereSet:
    """Return a set in other colours; without an alpha its opacity stays."""
    rows, ids, opacity = colors
    rows = rows if ids is None else rows[ids]
    colored = spheres.changed(color=rows, color_id=None, color_space=space, has_color=True)
    return colored if opacity is None else colored.changed(opacity=opacity)


class ValueScale:
    """The colour scale of a scene, or one that settings make of the first values."""

    def __init__(self, settings: dict[str, Any]) -> None:
        """Take those of `OF_SCALE` out of the settings, unless they say what to colour by."""
        self.scale: ColorScale | None = None
        has_own = "color_by" not in settings
        taken = {name: settings.pop(name) for name in OF_SCALE if has_own and name in settings}
        self._settings = taken
        if not taken:
            return
        map_name = self._style().map
        if isinstance(map_name, str) and map_name and map_name not in PALETTES:
            with naming("map"):
                maps.table(map_name)

    def take(self, scales: Any) -> None:
        """Take the first scale of a scene, unless the settings state one."""
        if scales and not self._settings:
            self.scale = scales[0]

    def of(self, first: Callable[[], NDArray[Any]]) -> ColorScale:
        """Return the scale; `first` returns the values that make it."""
        if self.scale is None:
            self.scale = self._made(first())
        return self.scale

    def colors(self, values: NDArray[Any], count: int) -> NDArray[np.float32]:
        """Return the colours of the values of that many spheres, float32 (N, 3), linear."""
        if values.shape != (count,):
            raise SceneError(f"values: has shape {values.shape} for {counted(count, 'sphere')}")
        return self.of(lambda: values).rgb(values)

    def _style(self) -> StyleSettings:
        return StyleSettings(color_by=VALUES, **self._settings)

    def _made(self, values: NDArray[Any]) -> ColorScale:
        column = SphereSet(np.zeros((len(values), 3)), 1.0, columns={VALUES: values})
        try:
            return by_scale([column], SetStyle(self._style()))[1]
        except SceneError as error:  # `color_by` is no argument of the caller
            raise SceneError(str(error).replace(f"color_by: '{VALUES}' ", f"{VALUES}: ")) from None
