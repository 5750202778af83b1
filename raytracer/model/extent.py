"""Extent of spheres in given directions, without outliers and giants.

Outliers are spheres far away from all others, such as one that escaped from a simulation.
"""

from dataclasses import dataclass
from math import hypot, inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raytracer.model.arrays import BLOCK_ROWS, for_each_block
from raytracer.model.views import AXES, Vector
from raytracer.packing.buffers import DeviceRecords, SphereColumns, Spheres

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Numbers = NDArray[np.intp]

FEW = 100
"""At most one of this many spheres is an outlier (of fewer, one); more are part of the scene."""

MAX_RATIO = 10.0
"""Distance from the centre, relative to the others', beyond which a sphere is an outlier: the
others would fill at most a tenth of a picture that includes it."""

HALO = 20  # with `fit` "bulk" at most one of this many spheres is left out

HALF = 2.0
"""With `fit` "bulk", spheres are left out if the others then appear this many times as large."""

CLOSE = 1.25  # distance relative to the others' up to which spheres are then still framed

MIN_COUNT = 10  # number of spheres from which one may be an outlier
MAX_SAMPLE = 1 << 14  # size of the sample that determines the distance of the others

TURN = 1 << 32
GOLDEN = 2654435769
"""Steps of this fraction of `TURN`, the golden ratio, visit a range evenly and never resonate with
rows of a lattice."""

GIANT_RADIUS = 8.0
"""Radius in render space, where most spheres are within about 1, from which a sphere is not part of
the subject but, for example, the ball it stands on."""

GROUND = 0.9  # least distance of the others from the centre of the ball they stand on, in its radii


def find_outliers(
    centers: NDArray[np.floating[Any]], low: NDArray[np.float64], high: NDArray[np.float64]
) -> NDArray[np.bool_] | None:
    """Return which points, (N, 3), in a box are outliers, bool (N,), or None if none is."""
    if len(centers) < MIN_COUNT:
        return None
    x, y, z = centers.T
    with np.errstate(over="ignore"):
        points = SphereColumns(x, y, z, np.broadcast_to(np.float32(0.0), x.shape))
        middle, (others,) = measure_bulk(points, np.empty(0, np.intp), FEW)
        limit = MAX_RATIO * others
        corner = np.maximum(high - middle, middle - low)
        if float(np.linalg.norm(corner)) <= limit:
            return None
        far = np.empty(len(centers), bool)

        def work(rows: slice) -> None:
            far[rows] = np.linalg.norm(centers[rows] - middle, axis=1) > limit

        for_each_block(len(centers), work)
    return far if 0 < np.count_nonzero(far) <= max(len(far) // FEW, 1) else None


def measure_bulk(
    spheres: Spheres, skipped: Numbers, *few: int
) -> tuple[NDArray[np.float64], list[float]]:
    """Return the centre of the spheres, and the distances within which all but one of `few` spheres
    are, but at least one."""
    rows = sample_rows(spheres.size - len(skipped))
    if len(skipped):
        # Ranks count without skipped rows; add the number of skipped ones before each.
        rows += np.searchsorted(skipped - np.arange(len(skipped)), rows, side="right")
    *centers, radius = (array.astype(np.float64) for array in spheres.taken(rows))
    center = np.array([median(axis) for axis in centers])
    # Column by column: rows of three numbers take NumPy four times as long.
    squares = sum((axis - middle) ** 2 for axis, middle in zip(centers, center, strict=True))
    reach = np.sqrt(squares) + radius
    others = [len(reach) - 1 - max(len(reach) // each, 1) for each in few]
    return center, np.partition(reach, others)[others].tolist()


def sample_rows(count: int) -> NDArray[np.int64]:
    """Return at most `MAX_SAMPLE` of `count` rows, evenly spread."""
    if count <= MAX_SAMPLE:
        return np.arange(count)
    steps = (np.arange(MAX_SAMPLE, dtype=np.uint64) * np.uint64(GOLDEN)) % np.uint64(TURN)
    return (steps * np.uint64(count) // np.uint64(TURN)).astype(np.int64)


def median(values: NDArray[np.float64]) -> float:
    """Return the median; `numpy.median` would import masked arrays (10 ms)."""
    low, high = (len(values) - 1) // 2, len(values) // 2
    ordered = np.partition(values, [low, high])
    return float(ordered[low] + ordered[high]) / 2.0


class Outliers(NamedTuple):
    """Spheres that a fitted camera leaves out: their number, the index of the farthest, and its
    distance relative to the others'."""

    total: int
    farthest: int
    times: float


@dataclass(frozen=True, eq=False)
class Subject:
    """What a fitted camera frames: spheres, or without any a unit ball, except the `skipped`,
    ascending, and further points, (K, 3). fit: "all" includes outliers, "bulk" leaves out more."""

    spheres: Spheres
    fit: bool | str | None = True
    skipped: Numbers | None = None
    points: Doubles | None = None

    def reach(self, planes: list[Doubles]) -> tuple[list[float], Outliers | None]:
        """Return max(n . c + r) for each normal n, and the outliers left out."""
        reached, outliers = self._find_sphere_reach(planes)
        if self.points is not None:
            reached = [
                max(m, float((self.points @ n).max())) for m, n in zip(reached, planes, strict=True)
            ]
        return reached, outliers

    def box(self) -> tuple[Doubles, Doubles]:
        """Return lower and upper corner of the bounding box, (3,) each."""
        axes = np.eye(3)
        reached, _ = self.reach([*axes, *-axes])
        return -np.array(reached[3:]), np.array(reached[:3])

    def _find_sphere_reach(self, planes: list[Doubles]) -> tuple[list[float], Outliers | None]:
        skipped = np.empty(0, np.intp) if self.skipped is None else self.skipped
        count = self.spheres.size - len(skipped)
        if count == 0:
            return [1.0] * len(planes), None
        reached, _ = _find_reach(self.spheres, planes, skipped)
        if self.fit == "all" or count < MIN_COUNT:
            return reached, None
        center, (others, core) = measure_bulk(self.spheres, skipped, FEW, HALO)
        few, limit = FEW, MAX_RATIO * others
        farthest = max(m - float(n @ center) for m, n in zip(reached, planes, strict=True))
        if self.fit == "bulk" and count >= FEW:
            if others > HALF * core:
                few, others = HALO, core
            limit = CLOSE * others
            farthest *= CLOSE / HALF
        if farthest <= limit:
            return reached, None  # outliers do not enlarge the frame
        nearer, outliers = _find_reach(self.spheres, planes, skipped, center, limit, others)
        if outliers is None or outliers.total > max(count // few, 1):
            return reached, None
        return nearer, outliers


def bounding_ball(subject: Subject) -> Spheres:
    """Return a ball around a subject, about the centre of its bounding box, (1,) each: a camera
    that fits it shows the subject from all directions."""
    spheres, (low, high) = SphereColumns(*subject.spheres), subject.box()
    center, size = (low + high) / 2.0, (high - low) / 2.0
    skipped = np.empty(0, np.intp) if subject.skipped is None else subject.skipped
    farthest = np.zeros(len(spheres[0]) // BLOCK_ROWS + 2)  # per block, and for the points

    def work(rows: slice) -> None:
        *places, radius = _block(spheres, skipped, rows)
        offsets = [place - middle for place, middle in zip(places, center, strict=True)]
        distance = np.sqrt(sum(offset * offset for offset in offsets)) + radius
        for offset, half in zip(offsets, size, strict=True):
            distance[np.abs(offset) > half] = 0.0  # an outlier
        farthest[rows.start // BLOCK_ROWS] = distance.max(initial=0.0)

    for_each_block(len(spheres[0]), work)
    if subject.points is not None:
        farthest[-1] = np.linalg.norm(subject.points - center, axis=1).max()
    ball = (*center, farthest.max() or 1.0)
    return SphereColumns(*(np.array([value], np.float32) for value in ball))


def find_center(spheres: Spheres) -> Doubles:
    """Return the centre of the box around spheres without giants and outliers, (3,)."""
    low, high = Subject(spheres, skipped=find_giants(spheres)).box()
    return (low + high) / 2.0


def find_giants(spheres: Spheres) -> Numbers:
    """Return the indices of spheres much larger than the others, ascending, (G,); none without
    others."""
    if isinstance(spheres, DeviceRecords) and spheres.radii()[1] <= GIANT_RADIUS:
        return np.empty(0, np.intp)
    numbers = np.flatnonzero(spheres[3] > GIANT_RADIUS)
    return numbers if len(numbers) < spheres.size else numbers[:0]


def find_ground_up(spheres: Spheres) -> Vector | None:
    """Return the axis from the largest giant, on which the others stand, to these; or None."""
    numbers = find_giants(spheres)
    if not len(numbers):
        return None
    ground = numbers[int(spheres[3][numbers].argmax())]
    offset = find_center(spheres) - [float(axis[ground]) for axis in spheres[:3]]
    if hypot(*offset) < GROUND * float(spheres[3][ground]):
        return None  # a shell around the others, such as a sky
    axis = int(abs(offset).argmax())
    return AXES[("-" if offset[axis] < 0.0 else "") + "xyz"[axis]]


def find_lowest_height(spheres: Spheres, up: Vector) -> float:
    """Return the height of the lowest point of all spheres along a unit vector."""
    (reach,), _ = Subject(spheres, "all").reach([-np.array(up, np.float64)])
    return -reach


def _block(spheres: SphereColumns, skipped: Numbers, rows: slice) -> list[Doubles]:
    """Return x, y, z and radius of a block; the radius of skipped spheres is -inf."""
    columns = [column[rows].astype(np.float64) for column in spheres]
    first, last = np.searchsorted(skipped, (rows.start, rows.stop))
    columns[3][skipped[first:last] - rows.start] = -inf
    return columns


def _find_reach(
    spheres: Spheres,
    planes: list[Doubles],
    skipped: Numbers,
    center: Doubles | None = None,
    limit: float = inf,
    others: float = inf,
) -> tuple[list[float], Outliers | None]:
    """Return max(n . c + r) for each normal n over spheres within `limit`, and the outliers."""
    reached, far, farthest, distance = spheres.reach(np.array(planes), center, limit, skipped)
    return reached, Outliers(far, farthest, distance / others) if far else None
