"""Transform of a set: scale, then rotation, then translation."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from raytracer.config.field_types import Number, Vector3
from raytracer.config.fields import Defined, setting
from raytracer.model.views import Triple


@dataclass(frozen=True, repr=False, eq=False)
class Transform(Defined, place="transform"):
    """A uniform scale, then rotations about x, y and z in this order, then a translation.

    Args:
        scale: Factor of coordinates and radii, applied first.
        rotate: Degrees about the x, then the y, then the z axis, right-handed.
        translate: In scene units, applied last.

    Raises:
        SceneError: a value is not finite or the scale not positive.
    """

    scale: float = setting(1.0, Number(0.0, above=True))
    rotate: Triple = setting((0.0, 0.0, 0.0), Vector3())
    translate: Triple = setting((0.0, 0.0, 0.0), Vector3())

    def linear(self) -> NDArray[np.float64]:
        """Return rotation times scale, float64 (3, 3), for column vectors."""
        result = np.eye(3) * self.scale
        for axis, degrees in enumerate(self.rotate):
            # Not `@`: linear algebra ends the process if it cannot allocate its buffers.
            result = np.einsum("ij,jk->ik", rotation(axis, degrees), result)
        return result


def rotation(axis: int, degrees: float) -> NDArray[np.float64]:
    """Return the right-handed rotation about a coordinate axis, float64 (3, 3); multiples of 90
    degrees give exact zeros and ones."""
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
