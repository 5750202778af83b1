"""Sphere sets whose arrays are on a GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import copy
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from raytracer.scene.particles.source import Column, Data, kind_of
from raytracer.scene.scene import SphereSet

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from raytracer.device_array import DeviceArray
    from raytracer.scene.coloring.scale import ColorScale
    from raytracer.scene.particles.source import Box, Moment


class DeviceSpheres(SphereSet):
    """A set of which some arrays are on a GPU; they come to the host when something asks for them.

    Args:
        there: arrays on the GPU by the attribute that they are the numbers of: "centers", (N, 3);
            "radius", (N,); "color", (N, 3). Nothing writes to them.
        columns: further values by name, (N,) or (N, K), on the host or on the GPU.
        load: makes the set on the host, with its checks.
        box, time: as of `Particles`.
        **attributes: of the set, of those that are not there.
    """

    def __init__(
        self,
        there: Mapping[str, DeviceArray],
        columns: Mapping[str, NDArray[Any] | DeviceArray],
        load: Callable[[], SphereSet],
        box: Box | None = None,
        time: Moment | None = None,
        **attributes: Any,
    ) -> None:
        super().__init__(np.zeros((1, 3)), 1.0)
        for name in there:
            vars(self).pop(name)
        self._there, self._load = dict(there), load
        self._scale: ColorScale | None = None  # of which "color" are values
        vars(self).update(attributes)
        about = {
            name: Column(kind_of(column.dtype) or "text", tuple(column.shape[1:]))
            for name, column in columns.items()
        }
        self._columns = _OnDemand(columns)
        arrays: Any = self._columns
        self._data = Data(self.count, arrays, about, box=box, time=time)

    @property
    def count(self) -> int:
        """Number of spheres."""
        there = vars(self).get("_there")
        return len(self.centers if there is None else there["centers"])

    def colored(self, name: str, scale: ColorScale) -> Self | None:
        """Return the set coloured by a column on the GPU; None: it is not there."""
        column = self._columns.there(name)
        if column is None or scale.is_categorical:
            return None
        changed = copy(self)
        vars(changed).pop("color", None)
        changed._there, changed._scale = self._there | {"color": column}, scale
        changed.color_id, changed.color_space = None, "linear"
        return changed

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._there:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        if name == "color" and self._scale is not None:
            return vars(self).setdefault(name, self._scale.rgb(self._there[name].to_host()))
        loaded = self._load()
        for each in self._there:
            if each != "color" or self._scale is None:
                vars(self).setdefault(each, getattr(loaded, each))  # a copy may have another
        return vars(self)[name]


def on_device(spheres: SphereSet, name: str) -> tuple[DeviceArray, ColorScale | None] | None:
    """Return an attribute that is on a GPU and not on the host, and the scale of values."""
    if not isinstance(spheres, DeviceSpheres) or name in vars(spheres):
        return None
    return spheres._there[name], spheres._scale if name == "color" else None


class _OnDemand(Mapping[str, "NDArray[Any]"]):
    """Columns, which come to the host one by one."""

    def __init__(self, columns: Mapping[str, Any]) -> None:
        self._columns = dict(columns)
        self._here: dict[str, NDArray[Any]] = {}

    def there(self, name: str) -> DeviceArray | None:
        """Return a column of one number per sphere that is on the GPU."""
        column: Any = self._columns.get(name)
        return column if hasattr(column, "to_host") and column.ndim == 1 else None

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name not in self._here:
            column = self._columns[name]
            self._here[name] = column.to_host() if hasattr(column, "to_host") else column
        return self._here[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)
