"""NumPy dtypes of the structs that Python shares with the kernels.

The list of fields is kernels/core/structs.h; the compiled extension reports sizes and offsets as
its compiler sees them, and the dtypes are made from that report alone.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from raytracer.errors import RaytracerError

if TYPE_CHECKING:
    import numpy as np

    # struct name -> (size in bytes, [(field, "f4" | "i4" | "u4", count, offset in bytes), ...])
    Table = dict[str, tuple[int, list[tuple[str, str, int, int]]]]


@cache
def table() -> Table:
    """Size and fields of every shared struct, as the extension's compiler laid them out."""
    from raytracer import _core

    structs: Table = _core.layout()
    return structs


@cache
def dtype(name: str) -> np.dtype[Any]:
    """The dtype of one struct, for instance "Camera"; a field of three numbers has shape (3,).

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
            "formats": [kind if count == 1 else (kind, (count,)) for _, kind, count, _ in fields],
            "offsets": [offset for _, _, _, offset in fields],
            "itemsize": size,
        }
    )
