"""The scale by which the values of updates become colours."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from raytracer.errors import SceneError, counted, naming

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from raytracer.scene.coloring.scale import ColorScale
    from raytracer.scene.coloring.style import StyleSettings

VALUES = "values"
"""Name of the column of the values that colours follow."""

SETTINGS = (
    "map", "range", "color_scale", "color_steps", "color_threshold", "missing_color", "color_label",
    "color_unit",
)  # fmt: skip
"""Settings that say how values become colours, where nothing else is coloured by data."""


class ValueScale:
    """The colour scale of a scene, or one that settings make of the first values.

    `scale` is None until there is one.
    """

    def __init__(self, settings: dict[str, Any]) -> None:
        """Take those of `SETTINGS` out of the settings, unless they say what to colour by.

        Raises:
            SceneError: settings that are wrong for any values.
        """
        self.scale: ColorScale | None = None
        has_own = "color_by" not in settings
        taken = {name: settings.pop(name) for name in SETTINGS if has_own and name in settings}
        self._settings = taken
        if not taken:
            return
        from raytracer.scene.coloring import maps
        from raytracer.scene.coloring.field_types import PALETTES

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
        from raytracer.scene.coloring.style import StyleSettings

        return StyleSettings(color_by=VALUES, **self._settings)

    def _made(self, values: NDArray[Any]) -> ColorScale:
        """Return the scale that the settings make of values."""
        from raytracer.scene.coloring.by_scale import by_scale
        from raytracer.scene.coloring.style import SetStyle
        from raytracer.scene.scene import SphereSet

        column = SphereSet(np.zeros((len(values), 3)), 1.0, columns={VALUES: values})
        try:
            return by_scale([column], SetStyle(self._style()))[1]
        except SceneError as error:  # `color_by` is no argument of the caller
            raise SceneError(str(error).replace(f"color_by: '{VALUES}' ", f"{VALUES}: ")) from None
