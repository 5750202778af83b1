"""Trails: the paths of particles over the frames of their file, as tubes."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from raytracer.errors import SceneError
from raytracer.memory import require_room
from raytracer.scene.coloring.expression import Texts
from raytracer.scene.glyphs.shared import (
    Made,
    by_values,
    chosen,
    colors_of,
    follows,
    placed,
    product,
    require_capsules,
)
from raytracer.scene.scene import CapsuleSet, SphereSet
from raytracer.scene.spacing import mean_spacing
from raytracer.warning import warn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from raytracer.scene.glyphs.settings import Trails
    from raytracer.scene.particles.data_file import DataFile
    from raytracer.scene.particles.source import Box
    from raytracer.scene.scene import Scene

THIN = 0.05
"""Radius of the tubes, in mean distances of the particles of the set."""

KEPT_BYTES = 256 << 20
"""Most bytes of the positions of frames that are kept for the next picture."""


class _Frame(NamedTuple):
    """The particles of a frame.

    Args:
        centers: (N, 3), own units.
        ids: their numbers, (N,), or None where they are the rows.
        box: the simulation box, own units, or None.
    """

    centers: NDArray[Any]
    ids: NDArray[Any] | None
    box: Box | None


_kept: OrderedDict[tuple[Any, ...], _Frame] = OrderedDict()
"""Frames that were read, the latest last: a movie shows each of them many times."""


def trails_of(scene: Scene, said: Trails) -> Made:
    """Return the trails of a scene.

    Args:
        scene: its sets that come from files with several frames have trails.
        said: which, and what they look like.

    Raises:
        SceneError: no set comes from a file with several frames, or an expression is wrong.
    """
    paths = []
    for spheres in scene.spheres:
        if spheres.count and spheres.file is not None:
            found = _path(spheres, spheres.file, said)
            if found is not None:
                paths.append(found)
    if not paths:
        raise SceneError(
            "trails: no file of the scene holds several frames, so there are no paths to show"
        )
    paths = [each for each in paths if each.points.count]
    if not paths:
        warn("trails: the particles do not move before the frame that is shown")
        return Made([], [])
    scales = []
    looks: list[dict[str, Any]]
    if follows(said.color):
        sets, scale = by_values([each.points for each in paths], said.color, "trails")  # type: ignore[arg-type]
        looks, scales = [colors_of(each) for each in sets], [scale]
    elif said.color is not None:
        looks = [{"color": said.color} for _ in paths]
    else:
        looks = [each.own_colors for each in paths]
    return Made([each.tubes(said, own) for each, own in zip(paths, looks, strict=True)], scales)


class _Path:
    """The steps of the particles of a set.

    Args:
        spheres: the set that is shown.
        starts, stops: scene units, float64 (S, 3).
        rows: of the particles in the set, (S,).
        times: of the steps, in frames, (S,).
        spacing: mean distance of the particles of the set, scene units.
    """

    def __init__(
        self,
        spheres: SphereSet,
        starts: NDArray[np.float64],
        stops: NDArray[np.float64],
        rows: NDArray[np.int64],
        times: NDArray[np.float64],
        spacing: float,
    ) -> None:
        self.starts, self.stops, self.spacing = starts, stops, spacing
        steps = np.sqrt(np.square(stops - starts).sum(axis=1))
        columns = {"time": times, "particle": rows, "step": steps}
        self.points = SphereSet(0.5 * (starts + stops), 1.0, columns=columns)
        self.own_colors = colors_of(spheres, rows)

    def tubes(self, said: Trails, looks: dict[str, Any]) -> CapsuleSet:
        """Return the steps as capsules, whose round ends join."""
        radius = said.radius or THIN * self.spacing
        return CapsuleSet(self.starts, self.stops, radius, material=said.material, **looks)


def _path(spheres: SphereSet, file: DataFile, said: Trails) -> _Path | None:
    """Return the paths of a set; None if its file holds one frame."""
    files = _Files(file, spheres.box)
    if files.count < 2:
        return None
    now = files.number(file)
    first = 0 if said.last is None else max(now - said.last, 0)
    last = files.count - 1 if said.last is None else now
    frames = sorted({*range(last, first - 1, -said.step)})
    rows = chosen(spheres.columns, said.select, said.every, spheres.count, "trails")
    require_capsules(len(rows) * len(frames), "trails")
    require_room("trails", 24 * len(rows) * len(frames), "for the paths of particles")
    places, whole = _places(spheres, files, rows, frames, now)
    return _steps(spheres, rows, places, whole, np.array(frames, np.float64))


def _places(
    spheres: SphereSet, files: _Files, rows: NDArray[np.int64], frames: list[int], now: int
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the places of particles in frames, moved so that each path meets its particle.

    Particles need not be shown where the file has them: they may be unwrapped, wrapped, smoothed,
    or periodic images. Paths of unwrapped particles are joined where they go through a side.

    Args:
        spheres: the set.
        files: its frames.
        rows: of the particles in it, (M,).
        frames: their numbers, increasing, F of them.
        now: the frame that is shown.

    Returns:
        Own units, float64 (F, M, 3), NaN where a particle is not there; and whether the step that
        ends there goes through no side of the box, (F, M).
    """
    ids = _ids(spheres, rows)
    in_file = np.asarray(spheres.columns.value("index"))[rows]
    places = np.full((len(frames), len(rows), 3), np.nan)
    whole = np.ones(places.shape[:2], np.bool_)
    ends = min(now, frames[0]), max(now, frames[-1])
    # Between far frames the nearest image need not be the right one: unwrapping looks at all.
    walked = range(ends[0], ends[1] + 1) if spheres.is_unwrapped else sorted({*frames, now})
    index = {frame: place for place, frame in enumerate(frames)}
    shown = np.asarray(spheres.centers, np.float64)[rows]
    moves = np.zeros_like(shown)
    before = np.full_like(shown, np.nan)
    for frame in walked:
        found = files.places(frame, ids, in_file)
        if spheres.is_unwrapped:
            found -= _jumps(found - before, files.box(frame))
            before = np.where(np.isfinite(found), found, before)
        elif index.get(frame, 0) > 0:
            steps = found - places[index[frame] - 1]
            whole[index[frame]] = ~_jumps(steps, files.box(frame)).any(axis=1)
        if frame in index:
            places[index[frame]] = found
        if frame == now:
            moves = np.where(np.isfinite(found), shown - found, 0.0)
    return places + moves, whole


def _jumps(steps: NDArray[np.float64], box: Box | None) -> NDArray[np.float64]:
    """Return the whole edges of a periodic box that are nearest to steps, (M, 3); 0 for NaN."""
    if box is None or not any(box.periodic):
        return np.zeros_like(steps)
    edges = np.array(box.edges, np.float64)
    if not abs(np.linalg.det(edges)) > 0.0:
        return np.zeros_like(steps)
    boxes = np.rint(product(np.nan_to_num(steps), np.linalg.inv(edges).T))
    boxes[:, ~np.array(box.periodic)] = 0.0
    return product(boxes, edges.T)


def _steps(
    spheres: SphereSet,
    rows: NDArray[np.int64],
    places: NDArray[np.float64],
    whole: NDArray[np.bool_],
    frames: NDArray[np.float64],
) -> _Path:
    """Return the steps between frames, those through a side of the box left out.

    Args:
        spheres: the set.
        rows: of the particles in it, (M,).
        places: in each frame, own units, float64 (F, M, 3); NaN where a particle is not there.
        whole: whether the step that ends there goes through no side, (F, M).
        frames: their numbers, (F,).
    """
    starts, stops = places[:-1], places[1:]
    keep = np.isfinite(starts).all(axis=2) & np.isfinite(stops).all(axis=2) & whole[1:]
    step, particle = np.nonzero(keep)
    transform = spheres.transform
    linear, move = transform.linear(), np.asarray(transform.translate)
    return _Path(
        spheres,
        product(starts[keep], linear) + move,
        product(stops[keep], linear) + move,
        rows[particle],
        0.5 * (frames[step] + frames[step + 1]),
        mean_spacing(placed(spheres)),
    )


def _ids(spheres: SphereSet, rows: NDArray[np.int64]) -> NDArray[Any] | None:
    """Return the numbers that the file has of particles; None where it has none."""
    if not spheres.columns.has_ids:
        return None
    found = spheres.columns.value("id")
    return None if isinstance(found, Texts) else found[rows]


class _Files:
    """The frames of a file, or of the files of a series.

    Args:
        file: the one that is shown.
        box: of frames that state none.
    """

    def __init__(self, file: DataFile, box: Box | None) -> None:
        from raytracer.scene.particles.read import frame_count
        from raytracer.scene.particles.series import files_beside

        self._file, self._box = file, box
        self._series: Sequence[Path] = (
            files_beside(file.path, file.series) if file.series > 1 else ()
        )
        self.count = len(self._series) or frame_count(
            file.named, ending=file.ending, topology=file.topology
        )

    def number(self, file: DataFile) -> int:
        """Return the number of the frame that is shown."""
        if self._series:
            return list(self._series).index(file.path)
        return (file.frame or 0) % self.count

    def places(
        self, frame: int, ids: NDArray[Any] | None, rows: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return where particles are in a frame, own units, float64 (M, 3); NaN: nowhere.

        Args:
            frame: its number.
            ids: of the particles, (M,), or None.
            rows: of the particles in the file, (M,), where there are no ids.
        """
        found = self._read(frame)
        centers = np.asarray(found.centers, np.float64)
        if ids is None or found.ids is None:
            places = np.full((len(rows), 3), np.nan)
            there = rows < len(centers)
            places[there] = centers[rows[there]]
            return places
        if not len(found.ids):
            return np.full((len(rows), 3), np.nan)
        order = np.argsort(found.ids, kind="stable")
        at = np.minimum(np.searchsorted(found.ids[order], ids), len(order) - 1)
        row = order[at]
        return np.where((found.ids[row] == ids)[:, None], centers[row], np.nan)

    def box(self, frame: int) -> Box | None:
        """Return the simulation box of a frame, own units."""
        return self._read(frame).box or self._box

    def _read(self, frame: int) -> _Frame:
        """Return the particles of a frame."""
        from raytracer.scene.columns import columns_for
        from raytracer.scene.particles.read import read
        from raytracer.warning import collected

        file = self._file
        if self._series:
            file = file._replace(path=self._series[frame], name=None)
        else:
            file = file._replace(frame=frame)
        status = file.path.stat()
        key = (file.named, frame, status.st_size, status.st_mtime_ns)
        if key in _kept:
            _kept.move_to_end(key)
            return _kept[key]
        with collected():
            data = read(file, wanted=_ids_wanted)
        own = columns_for(["id"], data.about or {})
        ids = data.extra.get(own[0]) if own else None
        found = _Frame(np.asarray(data.centers), ids, data.box)
        _kept[key] = found
        while sum(each.centers.nbytes for each in _kept.values()) > KEPT_BYTES and len(_kept) > 1:
            _kept.popitem(last=False)
        return found


def _ids_wanted(about: Any) -> list[str]:
    """Return the column of the particles' numbers, if there is one."""
    from raytracer.scene.columns import columns_for

    return columns_for(["id"], about)
