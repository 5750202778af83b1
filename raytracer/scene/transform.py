"""Placing a sphere set: scale, then rotate, then move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..arguments import is_a, plain, real
from ..errors import SceneError, shown_value

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Triple = Sequence[float] | NDArray[Any]
    """Three numbers as a user gives them; `vector` makes a `Vector` of them."""

Vector = tuple[float, float, float]


def vector(value: Any, name: str) -> Vector:
    """Return three finite floats.

    Args:
        value: any sequence of three numbers.
        name: what to call it in a message.

    Raises:
        SceneError: it is not three finite numbers.
    """
    from itertools import islice
    from math import isfinite

    try:
        parts = [float(plain(v)) for v in islice(plain(value), 4)]  # it may have no end
    except Exception:  # whatever a foreign object raises
        parts = []
    if len(parts) != 3 or is_a(value, (str, bytes, bytearray, set, dict)):
        raise SceneError(f"{name}: {shown_value(value)} is not three numbers")
    if not all(map(isfinite, parts)):
        raise SceneError(f"{name}: {shown_value(value)} is not finite")
    return (parts[0], parts[1], parts[2])


@dataclass(frozen=True)
class Transform:
    """A uniform scale, then rotations about x, y and z in this order, then a translation.

    Args:
        scale: factor of coordinates and radii; positive.
        rotate: degrees about the x, y and z axes, right-handed, applied in this order.
        translate: scene units.

    Raises:
        SceneError: a value is not finite or the scale not positive.
    """

    scale: float = 1.0
    rotate: Triple = (0.0, 0.0, 0.0)
    translate: Triple = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        scale = real(self.scale, "transform.scale", 0.0, above=True)
        object.__setattr__(self, "scale", scale)
        object.__setattr__(self, "rotate", vector(self.rotate, "transform.rotate"))
        object.__setattr__(self, "translate", vector(self.translate, "transform.translate"))

    def linear(self) -> NDArray[np.float64]:
        """Return rotation times scale, float64 (3, 3), for column vectors."""
        import numpy as np

        result = np.eye(3) * self.scale
        for axis, degrees in enumerate(self.rotate):
            # Not `@`: linear algebra ends the process where it finds no room for its buffers.
            result = np.einsum("ij,jk->ik", rotation(axis, degrees), result)
        return result


def rotation(axis: int, degrees: float) -> NDArray[np.float64]:
    """Return the right-handed rotation about a coordinate axis, float64 (3, 3).

    Args:
        axis: 0, 1 or 2.
        degrees: angle; multiples of 90 give exact zeros and ones.
    """
    import numpy as np

    quarter, rest = divmod(degrees, 90.0)
    if rest == 0.0:
        cosine, sine = ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[int(quarter) % 4]
    else:
        cosine, sine = float(np.cos(np.radians(degrees))), float(np.sin(np.radians(degrees)))
    result = np.eye(3)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    result[i, i] = result[j, j] = cosine
    result[i, j], result[j, i] = -sine, sine
    return result
