"""Sphere sets whose arrays are on a GPU."""

from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from raytracer.device_array import DeviceArray
from raytracer.scene.arrays import Where
from raytracer.scene.coloring.scale import ColorScale
from raytracer.scene.particles.source import Box, Column, Data, Moment, kind_of
from raytracer.scene.sphere_set import SphereSet, given


class DeviceSpheres(SphereSet):
    """A set with arrays on a GPU: of `there`, by the attributes "centers", "radius" and "color",
    and of `columns`, (N,) or (N, K). Nothing writes to them. where: their names in messages.
    attributes: of the set, of those that are not there."""

    def __init__(
        self,
        there: Mapping[str, DeviceArray],
        columns: Mapping[str, NDArray[Any] | DeviceArray],
        where: Where,
        box: Box | None = None,
        time: Moment | None = None,
        **attributes: Any,
    ) -> None:
        super().__init__(np.zeros((1, 3)), 1.0, source=where.source)
        self.where = where
        for name, value in (*attributes.items(), *there.items()):
            setattr(self, name, value)
        about = {
            name: Column(kind_of(column.dtype) or "text", tuple(column.shape[1:]))
            for name, column in columns.items()
        }
        self._columns = _Columns(columns)
        arrays: Any = self._columns
        self._data = Data(self.count, arrays, about, box=box, time=time)

    def colored(self, name: str, scale: ColorScale) -> Self | None:
        """Return the set coloured by a column on the GPU; None: it is not there."""
        column = self._columns.there(name)
        if column is None or scale.is_categorical:
            return None
        return self.changed(color=column, color_scale=scale, color_id=None, color_space="linear")


def on_device(spheres: SphereSet, name: str) -> tuple[DeviceArray, ColorScale | None] | None:
    """Return an attribute that is on a GPU, and the scale of values."""
    array = given(spheres, name)
    if isinstance(array, (np.ndarray, float)):
        return None
    return array, spheres.color_scale if name == "color" else None


class _Columns(Mapping[str, "NDArray[Any]"]):
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
