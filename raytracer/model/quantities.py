"""Units, masks and missing values of arrays of other packages, none of which is imported.

NumPy drops units and masks without a word when it makes a plain array of a quantity (astropy, pint,
unyt) or a masked array. Here lengths become numbers in one unit, masked numbers NaN and masked
texts empty; a unit where none can be used is an error.
"""

from collections.abc import Callable
from contextlib import suppress
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.config.errors import quote, type_name
from raytracer.config.warning import warn

Wrong = Callable[[str], Exception]
"""Makes an error of a problem."""

EXACT = 2**53
"""Whole numbers up to this are exact in float64."""


def find_unit(value: Any) -> Any:
    """Return the unit of a quantity, of a column of a table or of the first of a list of them, as
    an object of its package; None: it has none."""
    if isinstance(value, (list, tuple)):
        return find_unit(value[0]) if value else None
    kind = type(value)  # not `getattr` alone: a column of a table may be called "unit"
    if kind.__name__ == "DataArray" and hasattr(kind, "variable"):  # of xarray
        value, kind = value.data, type(value.data)
    there = [
        name for name in ("unit", "units") if hasattr(kind, name) or name in _own_attributes(value)
    ]
    named = (getattr(value, name, None) for name in there)
    # dates of pandas have a text, other objects functions of this name
    return next((u for u in named if not (u is None or isinstance(u, str) or callable(u))), None)


def _own_attributes(value: Any) -> Any:
    """Return the attributes that are the object's alone, not its class's."""
    return getattr(value, "__dict__", ())


def has_unit_or_mask(value: Any) -> bool:
    """Whether a value, or an item of a list, has a unit or a mask that NumPy would drop."""
    if isinstance(value, (list, tuple)):
        kinds = {type(item): item for item in value}
        return any(map(has_unit_or_mask, kinds.values()))
    return hasattr(type(value), "mask") or find_unit(value) is not None


def conversion_factor(unit: Any, other: Any) -> float | None:
    """Return the number by which values in a unit become values in another one, or in none (""),
    or None where there is no such number."""
    with suppress(Exception):  # whatever a foreign unit raises
        if unit is other or bool(unit == other):
            return 1.0
    for wanted in (other, str(other) or "dimensionless"):
        with suppress(Exception):
            one = 1.0 * unit
            convert = getattr(one, "to_value", None) or one.m_as  # astropy and unyt; pint
            return float(convert(wanted))
    return None


def convert_unit(value: Any, unit: Any, wrong: Wrong) -> Any:
    """Return a value without its unit, as an array that may have a mask, in another unit; None is
    that of a plain number. Raises the error that `wrong` makes."""
    own = find_unit(value)
    if own is None:
        return value
    times = conversion_factor(own, "" if unit is None else unit)
    if times is None:
        raise wrong(explain_wrong_unit(own, unit))
    if type(value).__name__ == "DataArray":
        value = value.data
    value = np.asanyarray(getattr(value, "magnitude", value))
    return value if times == 1.0 else fill_masked(value) * times


def explain_wrong_unit(own: Any, unit: Any) -> str:
    """Return what is wrong with a unit where another one, or None, belongs."""
    what = "numbers without a unit" if unit is None else f"values in {quote(str(unit))}"
    return f"has the unit {quote(str(own))}: give {what}"


def fill_masked(array: NDArray[Any], name: str = "") -> NDArray[Any]:
    """Return an array of NumPy's own type; masked numbers are NaN, masked texts empty, other
    masked values None. name: of the array, for a warning."""
    mask: Any = getattr(array, "mask", None) if hasattr(type(array), "mask") else None
    data: NDArray[Any] = np.asarray(getattr(array, "unmasked", array))  # astropy's; NumPy's
    if mask is None or data.dtype.names or not np.any(mask):
        return data
    if data.dtype.kind in "iub":
        warn_of_rounding(data, name)
        data = data.astype(np.float64)
    elif data.dtype.kind not in "fSUmM":
        data = data.astype(object)
    data = data.copy()
    empty: dict[str, Any] = {"f": np.nan, "S": b"", "U": "", "m": "NaT", "M": "NaT"}
    data[np.broadcast_to(mask, data.shape)] = empty.get(data.dtype.kind)
    return data


def objects_to_numbers(array: NDArray[Any], name: str = "") -> NDArray[Any]:
    """Return objects that are all real numbers or missing as numbers, NaN if missing: nullable
    columns of pandas come so. Others are returned as they are."""
    if array.dtype.kind != "O" or find_not_number(array) is not None:
        return array
    values = [None if is_missing(value) else value for value in array.ravel()]
    known = [value for value in values if value is not None]
    if not known:
        return array
    if len(known) == len(values):
        with suppress(OverflowError, ValueError):
            found = np.array(known)
            if found.dtype.kind in "iufb":
                return found.reshape(array.shape)
    if all(isinstance(value, (int, np.integer)) for value in known):
        if len(known) == len(values):
            warn(
                f"{name or 'values'}: whole numbers beyond 64 bits are rounded to double precision"
            )
        else:
            warn_of_rounding(np.array([float(value) for value in known]), name)
    rows = [np.nan if value is None else float(value) for value in values]
    return np.array(rows, np.float64).reshape(array.shape)


def find_not_number(array: NDArray[Any]) -> Any:
    """Return the first object that is neither a real number nor missing, or None."""
    return next((v for v in array.ravel() if not (is_missing(v) or _is_number(v))), None)


def is_missing(value: Any) -> bool:
    """Whether an object stands for a missing value: None, NaN, NumPy's masked, pandas' NA."""
    if value is None or value is np.ma.masked or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and value != value


def _is_number(value: Any) -> bool:
    return isinstance(value, (Number, np.bool_)) and not isinstance(value, complex)


def warn_of_rounding(values: NDArray[Any], name: str) -> None:
    """Warn of whole numbers that float64, which has NaN for the missing ones, does not hold."""
    if values.size and not (float(values.min()) >= -EXACT and float(values.max()) <= EXACT):
        warn(
            f"{name or 'values'}: some are missing, so whole numbers beyond 2^53 are rounded to "
            "double precision: leave out the rows that have none"
        )


def name_kind(value: Any) -> str:
    """Return what an object is, for messages."""
    return "None" if is_missing(value) else f"values of type {type_name(value)}"
