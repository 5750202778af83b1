"""Structs, enums and constants that Python shares with the kernels.

They are defined in kernels/core/structs.h and enums.h, and kinds beside their functions. The
compiled extension reports their layout and values.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from raytracer._native import core

if TYPE_CHECKING:
    import numpy as np

    # struct name -> (size in bytes, [(field, kind, count, offset in bytes), ...]); kind: "f4",
    # "i4", ..., or the name of a struct
    Table = dict[str, tuple[int, list[tuple[str, str, int, int]]]]


@cache
def load_layout() -> Table:
    structs: Table = core().layout()
    return structs


@cache
def struct_dtype(name: str) -> np.dtype[Any]:
    """Return the dtype of a struct, for example "Camera". A field of three numbers has shape (3,);
    a field that is a struct has that struct's dtype."""
    import numpy as np

    size, fields = load_layout()[name]
    return np.dtype(
        {
            "names": [field for field, _, _, _ in fields],
            "formats": [_format(kind, count) for _, kind, count, _ in fields],
            "offsets": [offset for _, _, _, offset in fields],
            "itemsize": size,
        }
    )


def empty_structs(struct: str) -> np.ndarray[Any, np.dtype[np.void]]:
    """Return an empty array of a struct of the kernels, structured (0,)."""
    import numpy as np

    return np.zeros(0, struct_dtype(struct))


def _format(kind: str, count: int) -> Any:
    numbers = struct_dtype(kind) if kind in load_layout() else kind
    return numbers if count == 1 else (numbers, (count,))


@cache
def enum_values(name: str) -> dict[str, int]:
    """Return the values of an enum by name, in order, for example of "FilterKind"."""
    enums: dict[str, dict[str, int]] = core().enums()
    return enums[name]


def enum_value(name: str, word: str) -> int:
    """Return a value of an enum: code("FilterKind", "box")."""
    return enum_values(name)[word]


@cache
def kernel_constant(name: str) -> int:
    """Return a constant of the kernels by its name there, for example "kToneBins"."""
    constants: dict[str, int] = core().constants()
    return constants[name]


def draft_shape(height: int, width: int) -> tuple[int, int, int]:
    """Return the shape of the float32 planes that a draft of this size keeps of its surfaces."""
    around = 2 * kernel_constant("kDraftMargin")
    return kernel_constant("kDraftPlanes"), height + around, width + around
