"""The point that a camera follows: the mean of all centres, or one particle."""

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import DataFileError
from raytracer.scene.animation import CENTER
from raytracer.scene.scene import Scene
from raytracer.scene.sphere_set import SphereSet


def followed(scene: Scene, target: str | int) -> NDArray[np.float64]:
    """Return the point that a camera follows, float64 (3,), scene units.

    target: "center", or the id of a particle of the first set with a file, or its number if the
    file has no ids. Raises UserError: there is no such particle, or the file cannot be read.
    """
    sets = [spheres for spheres in scene.spheres if spheres.count]
    if target == CENTER:
        if not sets:
            return np.zeros(3)
        total = sum(_placed(s, s.centers.mean(axis=0, dtype=np.float64)) * s.count for s in sets)
        return np.asarray(total / sum(s.count for s in sets), np.float64)
    number = int(target)
    chosen = next((s for s in sets if s.file is not None), sets[0] if sets else None)
    if chosen is None:
        raise DataFileError(
            f"animation.follow: the scene has no particles, so there is no {number}"
        )
    rows = np.flatnonzero(np.asarray(chosen.columns["id"]) == number)
    if not len(rows):
        raise DataFileError(
            f"{chosen.source or 'the scene'}: animation.follow: there is no particle {number} "
            f"among {chosen.count:,}"
        )
    return _placed(chosen, np.asarray(chosen.centers[rows[0]], np.float64))


def _placed(spheres: SphereSet, point: NDArray[np.float64]) -> NDArray[np.float64]:
    placed = spheres.transform.linear() @ point + np.asarray(spheres.transform.translate)
    return np.asarray(placed, np.float64)
