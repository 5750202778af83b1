"""Points that a simulation logs, checked and read when something shows them."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Self

import numpy as np

from raytracer.config.arguments import check_mapping, check_text
from raytracer.config.errors import SceneError, UserError, quote, quote_value
from raytracer.in_situ.feed import COLUMN
from raytracer.model.arrays import ErrorContext, as_array
from raytracer.model.quantities import find_unit
from raytracer.packing.sphere_update import can_kernels_read
from raytracer.system.cuda_driver import LEGACY_STREAM, stream_handle
from raytracer.system.device_array import device_array

Given = tuple[Any, Any, Any, Mapping[str, Any] | None, Any]
"""Positions, radii, colours, columns and stream, as they are given to `LiveView.log_points`."""


Fits = Callable[[tuple[int, ...]], bool]  # whether a shape is right


class Points(NamedTuple):
    """A set of points: its arrays as they were given, and what is no array."""

    arrays: dict[str, Any]  # of NumPy or another package, on the host or on a GPU
    values: dict[str, Any]
    stream: int = LEGACY_STREAM  # on which arrays of a GPU are complete

    @classmethod
    def of(cls, name: str, given: Given) -> Self:
        """Return what was logged, with the shapes of its arrays checked. Raises UserError."""
        if not check_text(name, "name"):
            raise UserError("name: is empty; give the set of points a name, as 'grains'")
        positions, radii, colors, columns, stream = given
        handle = LEGACY_STREAM if stream is None else stream_handle(stream)

        def array(part: str, value: Any, wanted: str, fits: Fits) -> Any:
            read = _check_array(value, handle, fits)
            if read is None:
                shape = getattr(value, "shape", None)
                what = quote_value(value) if shape is None else f"an array of shape {tuple(shape)}"
                raise SceneError(f"log_points '{quote(name)}': {part}: give {wanted}, not {what}")
            return read

        centers = array("positions", positions, "(N, 3)", lambda s: len(s) == 2 and s[1] == 3)
        count = len(centers)
        arrays, values = {"positions": centers}, dict[str, Any]()
        if radii is not None:
            wanted = f"one radius or ({count:,},)"
            arrays["radii"] = array("radii", radii, wanted, lambda s: s in ((), (count,)))
        if isinstance(colors, str):
            values["colors"] = colors
        elif colors is not None:
            shapes = (3,), (4,), (count, 3), (count, 4), (count,)
            wanted = f"one colour or ({count:,}, 3)"
            arrays["colors"] = array("colors", colors, wanted, lambda s: s in shapes)
        given_columns = {} if columns is None else check_mapping(columns, "columns")
        for key, value in given_columns.items():
            part = f"column '{quote(key)}'"
            arrays[COLUMN + key] = array(part, value, f"({count:,},)", lambda s: s[:1] == (count,))
        return cls(arrays, values, handle)

    def move_to(self, name: str, gpu: int | None = None) -> Self:
        """Return the same with arrays on a GPU that it reads where they are, and others of NumPy.
        name: of the set; gpu: its number, or None. Raises UserError."""
        centers = self.arrays["positions"]
        where = ErrorContext(f"log_points '{quote(name)}'", unit=find_unit(centers))
        arrays = dict[str, Any]()
        for key, array in self.arrays.items():
            kind = "values" if key.startswith(COLUMN) else key
            found = device_array(array, key, self.stream)
            if gpu is None or found is None or not can_kernels_read(kind, found, len(centers), gpu):
                arrays[key] = as_array(found or array, key, where)
            else:
                arrays[key] = found
        return self._replace(arrays=arrays)


def _check_array(value: Any, stream: int, fits: Fits) -> Any:
    """Return an array of the right shape, or None. Those of other packages are read when they are
    copied: what computes them may not be done."""
    if type(value) in (float, int):
        value = np.asarray(value)
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and fits(shape):
        return value
    try:
        # The shape may be another one, as of Warp's vectors, or missing.
        there = device_array(value, stream=stream)
        array: Any = np.asarray(value) if there is None else there
    except Exception:  # whatever a foreign object raises
        return None
    return array if fits(array.shape) and array.dtype.kind != "O" else None
