"""Trails: paths of particles over the frames of their file, as tubes."""

from collections import OrderedDict
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raytracer.appearance.coloring.expression import Texts
from raytracer.appearance.glyphs import shared
from raytracer.appearance.glyphs.settings import Trails
from raytracer.appearance.glyphs.shared import Doubles, GlyphSet, Rows
from raytracer.config.errors import DataFileError, SceneError
from raytracer.config.warning import collect_warnings, warn
from raytracer.model.particle_source import Box
from raytracer.model.scene import Scene
from raytracer.model.solids import CapsuleSet
from raytracer.model.spacing import mean_spacing
from raytracer.model.sphere_set import SphereSet

RADIUS = 0.05  # radius of the tubes, in mean distances of the particles
MAX_KEPT = 256 << 20  # most bytes of positions that are cached between pictures


class _TrailFrame(NamedTuple):
    """Particles of a frame: centres (N, 3) and box in file units, ids (N,) or None for rows."""

    centers: NDArray[Any]
    ids: NDArray[Any] | None
    box: Box | None


_kept: OrderedDict[tuple[Any, ...], _TrailFrame] = OrderedDict()
"""Recently read frames, the latest last: each frame of a movie needs most of them."""


class _FrameReader:
    """Frames of the file or of the file series of a set."""

    def __init__(self, spheres: SphereSet) -> None:
        from raytracer.particles.read import count_frames

        assert spheres.file is not None
        file = spheres.file
        self._file, self._box = file, spheres.box  # of frames that state none
        self._series = file.series if len(file.series) > 1 else ()
        self.count = len(self._series) or count_frames(
            file.named, ending=file.ending, topology=file.topology
        )
        self.shown = file.resolve_frame(self.count)

    def at(self, frame: int, ids: NDArray[Any] | None, rows: Rows) -> tuple[Doubles, Box | None]:
        """Return the positions of particles in a frame, (M, 3), NaN if missing, by ids or else
        rows; and the box."""
        data = self._read(frame)
        if ids is not None and data.ids is not None:
            rows = shared.find_rows_by_id(data.ids, ids)
        return shared.take_or_fill(data.centers, rows, np.nan), data.box or self._box

    def _read(self, frame: int) -> _TrailFrame:
        from raytracer.appearance.columns import list_file_columns
        from raytracer.particles.read import read

        changes: Any = {"path": self._series[frame], "name": None} if self._series else {}
        file = self._file._replace(**changes or {"frame": frame})
        status = file.path.stat()
        key = (file.named, frame, status.st_size, status.st_mtime_ns)
        if key not in _kept:
            try:
                with collect_warnings():
                    data = read(file, wanted=lambda about: list_file_columns(["id"], about))
            except DataFileError:
                if frame == self.shown or self.count == 1:
                    raise
                return _TrailFrame(np.empty((0, 3)), None, None)  # all particles are missing
            name = next(iter(list_file_columns(["id"], data.about or {})), "")
            centers = np.asarray(data.centers)
            if data.rows is not None:  # those that are left out are missing
                centers = np.full((data.total or 0, 3), np.nan)
                centers[data.rows] = data.centers
            _kept[key] = _TrailFrame(centers, data.extra.get(name), data.box)
        _kept.move_to_end(key)
        while sum(each.centers.nbytes for each in _kept.values()) > MAX_KEPT and len(_kept) > 1:
            _kept.popitem(last=False)
        return _kept[key]


def make_trails(scene: Scene, trails: Trails) -> GlyphSet:
    """Return the trails of the sets that come from files with several frames."""
    sets = [each for each in scene.spheres if each.count and each.file is not None]
    files = [(each, _FrameReader(each)) for each in sets]
    paths = [_find_steps(spheres, of_set, trails) for spheres, of_set in files if of_set.count > 1]
    if not paths:
        raise SceneError(
            "trails: no file of the scene has several frames, so there are no paths to show: use a "
            "trajectory"
        )
    paths = [each for each in paths if each[-1].count]
    if not paths:
        warn("trails: the particles do not move before the shown frame")
        return GlyphSet([])
    colored, scales = shared.color_sets([points for *_, points in paths], trails.color, "trails")
    tubes = []
    for (spheres, starts, stops, _), points in zip(paths, colored, strict=True):
        radius = trails.radius or RADIUS * mean_spacing(shared.to_scene_units(spheres))
        colors = shared.pick_colors(points)  # the round ends of the steps join
        tubes.append(CapsuleSet(starts, stops, radius, material=trails.material, **colors))
    return GlyphSet(tubes, scales)


def _find_steps(
    spheres: SphereSet, files: _FrameReader, trails: Trails
) -> tuple[SphereSet, Doubles, Doubles, SphereSet]:
    """Return a set, steps of its paths: starts and stops in scene units, (S, 3), and their middles,
    a set with columns and the colours of the particles."""
    now = files.shown
    first = 0 if trails.last is None else max(now - trails.last, 0)
    last = files.count - 1 if trails.last is None else now
    frames = sorted(range(last, first - 1, -trails.step))
    rows = shared.select_every(spheres.columns, trails.select, trails.every, "trails")
    shared.require_capsules(len(rows) * len(frames), "trails")
    places, whole = _find_positions(spheres, files, rows, frames, now)
    keep = np.isfinite(places[:-1] + places[1:]).all(axis=2) & whole[1:]
    step, particle = np.nonzero(keep)
    starts, stops = (
        shared.to_scene_units(spheres, each[keep]) for each in (places[:-1], places[1:])
    )
    numbers = np.array(frames, np.float64)
    columns = {
        "time": 0.5 * (numbers[step] + numbers[step + 1]),
        "particle": rows[particle],
        "step": np.linalg.norm(stops - starts, axis=1),
    }
    points = SphereSet(0.5 * (starts + stops), 1.0, columns=columns)
    colors = shared.pick_colors(spheres, rows[particle])
    colors["color"] = np.atleast_2d(colors["color"])
    return spheres, starts, stops, points.changed(**colors)


def _find_positions(
    spheres: SphereSet, files: _FrameReader, rows: Rows, frames: list[int], now: int
) -> tuple[Doubles, NDArray[np.bool_]]:
    """Return the positions of particles in F frames, (F, M, 3), NaN if missing, each path ending at
    its particle, which may be unwrapped, wrapped, smoothed or an image; and whether the step that
    ends there stays inside the box, (F, M)."""
    ids = spheres.columns.value("id") if spheres.columns.has_ids else None
    ids = None if ids is None or isinstance(ids, Texts) else ids[rows]
    in_file = np.asarray(spheres.columns.value("index"))[rows]
    places = np.full((len(frames), len(rows), 3), np.nan)
    whole = np.ones(places.shape[:2], np.bool_)
    ends = min(now, frames[0]), max(now, frames[-1])
    # Between distant frames the nearest image may be wrong, so unwrapping uses all frames.
    walked = range(ends[0], ends[1] + 1) if spheres.is_unwrapped else sorted({*frames, now})
    index = {frame: place for place, frame in enumerate(frames)}
    shown = np.asarray(spheres.centers, np.float64)[rows]
    moves = np.zeros_like(shown)
    before = np.full_like(shown, np.nan)
    for frame in walked:
        there, box = files.at(frame, ids, in_file)
        if spheres.is_unwrapped:
            there -= shared.find_image_shifts(there - before, box)
            before = np.where(np.isfinite(there), there, before)
        elif index.get(frame, 0) > 0:
            steps = there - places[index[frame] - 1]
            whole[index[frame]] = ~shared.find_image_shifts(steps, box).any(axis=1)
        if frame in index:
            places[index[frame]] = there
        if frame == now:
            moves = np.where(np.isfinite(there), shown - there, 0.0)
    return places + moves, whole
