"""What Python shares with the kernels: dtypes of structs, numbers of choices, constants.

The lists are kernels/core/structs.h and kernels/core/enums.h. The compiled extension reports what
its compiler made of them, and nothing here is known otherwise.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from raytracer._native import core
from raytracer.errors import RaytracerError

if TYPE_CHECKING:
    import numpy as np

    # struct name -> (size in bytes, [(field, kind, count, offset in bytes), ...]); kind: "f4",
    # "i4", ..., or the name of a struct
    Table = dict[str, tuple[int, list[tuple[str, str, int, int]]]]


@cache
def table() -> Table:
    """Size and fields of every shared struct, as the extension's compiler laid them out."""
    structs: Table = core().layout()
    return structs


@cache
def dtype(name: str) -> np.dtype[Any]:
    """The dtype of one struct, for instance "Camera".

    A field of three numbers has shape (3,); a field that is a struct has that struct's dtype.

    Raises RaytracerError if there is no such struct.
    """
    import numpy as np

    structs = table()
    if name not in structs:
        raise RaytracerError(f"there is no struct {name!r}; the kernels share {sorted(structs)}")
    size, fields = structs[name]
    return np.dtype(
        {
            "names": [field for field, _, _, _ in fields],
            "formats": [_format(kind, count) for _, kind, count, _ in fields],
            "offsets": [offset for _, _, _, offset in fields],
            "itemsize": size,
        }
    )


def _format(kind: str, count: int) -> Any:
    """Return what numpy.dtype takes for a field."""
    numbers = dtype(kind) if kind in table() else kind
    return numbers if count == 1 else (numbers, (count,))


@cache
def enum(name: str) -> dict[str, int]:
    """The numbers of a choice by its words, in the order of the numbers: "FilterKind", say.

    Raises RaytracerError if the kernels have no such choice.
    """
    enums: dict[str, dict[str, int]] = core().enums()
    if name not in enums:
        raise RaytracerError(f"there is no enum {name!r}; the kernels share {sorted(enums)}")
    return enums[name]


def code(name: str, word: str) -> int:
    """The kernels' number for a word of a choice: code("FilterKind", "box").

    Raises RaytracerError if there is no such choice, or no such word in it.
    """
    numbers = enum(name)
    if word not in numbers:
        raise RaytracerError(f"{name} has no {word!r}; it has {sorted(numbers)}")
    return numbers[word]


@cache
def constant(name: str) -> int:
    """A constant of the kernels, under its name there: "kToneBins", say.

    Raises RaytracerError if the extension reports no such constant.
    """
    constants: dict[str, int] = core().constants()
    if name not in constants:
        raise RaytracerError(f"there is no constant {name!r}; shared are {sorted(constants)}")
    return constants[name]
