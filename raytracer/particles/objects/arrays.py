"""Arrays: records, (N, 3), (N, 4) with radii, (T, N, 3) frames, and dictionaries of arrays."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.config.errors import DataFileError, pluralize
from raytracer.model import particle_names as naming
from raytracer.model import quantities
from raytracer.model.arrays import ErrorContext, as_array
from raytracer.model.particle_source import Particles
from raytracer.particles.array_source import (
    FrameContent,
    LazyColumn,
    ObjectSource,
    find_coordinates,
    has_frames,
    is_transposed,
)

_STYLES = {*naming.USUAL["radius"], *naming.USUAL["diameter"], *naming.USUAL["color"]}


class Source(ObjectSource):
    noun = "field"

    def particles(self, names: Mapping[str, str]) -> Particles:
        result = super().particles(names)
        if (frames := self.frames or 1) > 1 and not self.is_chosen:
            text = f"has {frames:,} frames; the first is shown: for another one give frame=NUMBER"
            result.notes.append(("", f"{self.name}: {text}"))
        return result

    def read(self) -> FrameContent | dict[str, Any]:
        if isinstance(self.value, Mapping):
            return self.of_dictionary(self.value)
        records = getattr(getattr(self.value, "dtype", None), "names", None)
        if records and isinstance(self.value, np.ndarray) and self.value.ndim == 1:
            return self.of_dictionary({name: self.value[name] for name in records})
        unit = quantities.find_unit(self.value)
        array = as_array(self.value, "centers", ErrorContext(self.name), unit)
        is_series = has_frames(array.shape) and not array.dtype.names
        columns = {"centers": array} if is_series else split_columns(array, self.name)
        return columns if unit is None else {n: make_entry(v, unit) for n, v in columns.items()}

    def of_dictionary(self, value: Mapping[Any, Any]) -> dict[str, Any]:
        """Return the columns of arrays by name; one number of a style is that of each particle."""
        units = {str(name): quantities.find_unit(each) for name, each in value.items()}
        arrays = {str(name): as_array(each, str(name), ErrorContext(self.name), units[str(name)])
                 for name, each in value.items()}  # fmt: skip
        sized = {name: each for name, each in arrays.items() if each.ndim}
        place = (
            find_coordinates(sized) or naming.find_usual_name("x", sized) or next(iter(sized), "")
        )
        shape = sized[place].shape if sized else (0,)
        count = shape[1 if has_frames(shape) or is_transposed(shape) else 0]
        for name in [name for name in arrays if naming.normalize_name(name) in _STYLES]:
            if arrays[name].ndim == 0:
                sized[name] = np.full(count, arrays[name])
            elif count not in arrays[name].shape[:2]:
                has = f"has {pluralize(len(arrays[name]), 'value')}"
                raise self.error(f"array '{name}': {has} for {pluralize(count, 'particle')}")
        return {
            name: each if units[name] is None else make_entry(each, units[name])
            for name, each in sized.items()
        }


def make_entry(array: NDArray[Any], unit: Any) -> LazyColumn:
    """Return the column of a quantity: its numbers, and its unit."""
    return LazyColumn(array.dtype, array.shape, lambda: array, str(unit), unit)


def split_columns(array: NDArray[Any], source: str) -> dict[str, NDArray[Any]]:
    """Return the columns of records (N,), of centres (N, 3), or of centres and radii (N, 4).

    Raises:
        DataFileError: the array has another shape or type.
    """
    if array.dtype.names and array.ndim == 1:  # as from a package that is not NumPy
        return {name: array[name] for name in array.dtype.names}
    if array.ndim != 2 or array.shape[1] not in (3, 4) or array.dtype.kind not in "iuf":
        raise DataFileError(
            f"{source}: has shape {array.shape} and type {array.dtype}; centres are (N, 3), (N, 4) "
            "with radii, or (T, N, 3) frames, of numbers: leave out further columns"
        )
    columns = {"centers": array[:, :3]}
    return columns if array.shape[1] == 3 else columns | {"radius": array[:, 3]}
