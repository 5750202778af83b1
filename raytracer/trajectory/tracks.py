"""Particles over frames: positions averaged over frames, without periodic jumps, and in motion.

A particle is identified by its id, or by its row if the file has no ids; then all frames need the
same number of particles.

A particle that leaves a periodic box enters at the opposite side. The jump is the whole number of
edges that brings it nearest to its position in the previous frame, so a particle must move less
than half an edge between frames. `BoxCrossings` lists the few particles that jump in each frame;
their sum is the number of boxes that a particle has crossed.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from raytracer.appearance.glyphs.shared import find_image_shifts, find_rows_by_id, take_or_fill
from raytracer.config.errors import DataFileError, SceneError, pluralize
from raytracer.config.warning import collect_warnings
from raytracer.files.access import STANDARD_INPUT
from raytracer.model.motion import MotionKeys
from raytracer.model.particle_source import Box
from raytracer.model.scene import Scene
from raytracer.model.simulation_box import nearest_boxes
from raytracer.model.sphere_set import SphereSet
from raytracer.particles.frames import check_frame
from raytracer.scene_files.source import InputSource
from raytracer.trajectory.source import FrameSource, SceneSource, open_frames

Ids = NDArray[np.int64]
Points = NDArray[np.float64]
Boxes = NDArray[np.int64]

ID = "id"  # the column of ids, whatever its name in the file
MIN_KEPT = 3  # frames that are kept: what one picture needs, the next one needs too


class Track(NamedTuple):
    """The particles of one set in one frame, in the order of their ids."""

    name: str  # of the file and the frame, for messages
    # number of particles in the file if ids are row numbers; None if the file has ids
    total: int | None
    ids: Ids  # int64 (N,), increasing
    rows: Ids  # int64 (N,), of each id in the set
    centers: Points  # float64 (N, 3), in this order, in units of the set
    box: Box | None  # the periodic box, or None


def make_track(spheres: SphereSet, name: str) -> Track:
    """Return the particles of a set. Raises DataFileError: several have the same id."""
    centers = np.asarray(spheres.centers, np.float64)
    columns = spheres.columns
    ids = np.asarray(columns[ID]).astype(np.int64)
    rows = np.argsort(ids, kind="stable")
    ids = ids[rows]
    if len(ids) > 1 and (same := ids[1:] == ids[:-1]).any():
        raise DataFileError(
            f"{name}: several particles have the id {ids[1:][same][0]}, so they cannot be followed "
            "from frame to frame: leave smoothing, unwrap and shutter out"
        )
    total = None if columns.has_ids else spheres.data.total
    return Track(name, total, ids, rows, centers[rows], spheres.box)


def check_alike(one: Track, other: Track) -> None:
    """Refuse frames without ids whose numbers of particles differ. Raises DataFileError."""
    if one.total is not None and other.total is not None and one.total != other.total:
        raise DataFileError(
            f"{one.name} has {pluralize(one.total, 'particle')} without ids and {other.name} has "
            f"{other.total:,}, so they cannot be followed: leave smoothing, unwrap and shutter "
            "out, or write a column of ids"
        )


def find_positions(track: Track, ids: Ids) -> Points:
    """Return the positions of particles, (N, 3), NaN for those that the frame lacks."""
    if np.array_equal(track.ids, ids):  # often; a search of ids takes 1000 times as long
        return track.centers
    return take_or_fill(track.centers, find_rows_by_id(track.ids, ids), np.nan)


class BoxCrossings:
    """The periodic jumps of one set, in frames that are added in order."""

    def __init__(self) -> None:
        self._ids: list[Ids] = []  # of those that jump in each frame
        self._boxes: list[Boxes] = []
        self._last: Track | None = None
        self._passed: tuple[int, Ids, Boxes] | None = None

    def add(self, track: Track) -> None:
        """Add the next frame; its particles do not jump without a periodic box."""
        ids, moved = np.empty(0, np.int64), np.empty((0, 3), np.int64)
        if self._last is not None:
            check_alike(track, self._last)
            steps = track.centers - find_positions(self._last, track.ids)
            boxes = nearest_boxes(steps, track.box)
            moves = boxes.any(axis=1)
            ids, moved = track.ids[moves], -boxes[moves].astype(np.int64)
        self._last = track if self._last is None else _extend_track(self._last, track)
        self._ids.append(ids)
        self._boxes.append(moved)

    def count_crossed_boxes(self, place: int, track: Track) -> Boxes:
        """Return how many boxes each particle of the frame at `place` has crossed, int64 (N, 3)."""
        upto, ids, total = self._passed or (-1, np.empty(0, np.int64), np.empty((0, 3), np.int64))
        if upto > place:
            upto, ids, total = -1, ids[:0], total[:0]
        added = self._ids[upto + 1 : place + 1]
        if any(map(len, added)):
            moved = self._boxes[upto + 1 : place + 1]
            every, inverse = np.unique(np.concatenate([ids, *added]), return_inverse=True)
            sums = np.zeros((len(every), 3), np.int64)
            np.add.at(sums, inverse.reshape(-1), np.concatenate([total, *moved]))
            ids, total = every, sums
        self._passed = place, ids, total
        return take_or_fill(total, find_rows_by_id(ids, track.ids), 0)


def _extend_track(before: Track, track: Track) -> Track:
    """Return a frame together with the particles that only the frames before it had."""
    if np.array_equal(before.ids, track.ids):  # often, and quickly
        return track
    gone = ~np.isin(before.ids, track.ids)
    ids = np.concatenate([track.ids, before.ids[gone]])
    order = np.argsort(ids, kind="stable")
    centers = np.concatenate([track.centers, before.centers[gone]])
    return track._replace(ids=ids[order], centers=centers[order])


def load_tracks(
    source: FrameSource, frame: int, columns: Sequence[str] = ()
) -> tuple[Scene, list[Track]]:
    """Return a frame as it is in the file, and the particles of its sets."""
    scene = source.load(frame, [*columns, ID])
    return scene, [make_track(each, f"{source.name}: frame {frame}") for each in scene.spheres]


class TrackedSource(FrameSource):
    """A trajectory whose particles are averaged over `smoothing` of the shown `frames`, and
    unwrapped."""

    def __init__(
        self, source: FrameSource, frames: Sequence[int], smoothing: int, unwrap: bool
    ) -> None:
        self.count, self.name, self.animation = source.count, source.name, source.animation
        self._source, self._unwrap = source, unwrap
        self._before, self._after = (smoothing - 1) // 2, smoothing // 2
        self._first = max(min(frames) - self._before, 0)
        self._last = min(max(frames) + self._after, source.count - 1)
        self._looked = self._first  # frames before this one are in the jumps
        self._jumps: list[BoxCrossings] = []
        read = partial(load_tracks, source)
        self._read = lru_cache(self._before + self._after + 1)(read)

    @property
    def files(self) -> Sequence[Path]:
        return self._source.files

    @property
    def report(self) -> str:
        return self._source.report

    def signature(self) -> str | None:
        return self._source.signature()

    def check(self, frame: int) -> None:
        self._source.check(frame)

    def load(self, frame: int, columns: Sequence[str] = ()) -> Scene:
        scene, tracks = self._read(frame, tuple(columns))
        start, stop = max(frame - self._before, self._first), min(frame + self._after, self._last)
        moved = []
        for place, (spheres, track) in enumerate(zip(scene.spheres, tracks, strict=True)):
            centers = self._mean_positions(place, track, frame, range(start, stop + 1), columns)
            in_rows = np.empty_like(spheres.centers)
            in_rows[track.rows] = centers
            moved.append(spheres.changed(centers=in_rows, is_unwrapped=self._unwrap))
        return replace(scene, spheres=tuple(moved))

    def _mean_positions(
        self, place: int, track: Track, frame: int, frames: range, columns: Sequence[str]
    ) -> Points:
        """Return the mean position of each particle, float64 (N, 3), in the order of the track."""
        sums, number = np.zeros_like(track.centers), np.ones(len(track.centers))
        for other in frames:
            if other == frame:
                continue
            there = self._read(other, tuple(columns))[1][place]
            check_alike(track, there)
            steps = find_positions(there, track.ids) - track.centers
            # A jump between the two frames is none: smoothing needs no unwrapping.
            steps -= find_image_shifts(steps, track.box)
            sums += np.nan_to_num(steps)
            number += np.isfinite(steps[:, 0])
        centers = track.centers + sums / number[:, None]
        if self._unwrap:
            self._add_crossings(frame, tuple(columns))
            if track.box is not None:
                passed = self._jumps[place].count_crossed_boxes(frame - self._first, track)
                centers += passed @ np.array(track.box.edges, np.float64)
        return centers

    def _add_crossings(self, frame: int, columns: tuple[str, ...]) -> None:
        while self._looked <= frame:
            tracks = self._read(self._looked, columns)[1]
            if not any(track.box and any(track.box.periodic) for track in tracks):
                raise DataFileError(
                    f"{self.name}: frame {self._looked}: has no periodic box: leave unwrap out"
                )
            self._jumps = self._jumps or [BoxCrossings() for _ in tracks]
            for each, track in zip(self._jumps, tracks, strict=True):
                each.add(track)
            self._looked += 1


def load_moved(source: InputSource, frame: int | None, columns: Sequence[str] = ()) -> Scene:
    """Return a frame of a file with smoothed or unwrapped particles. Raises UserError: there is no
    such frame, or its particles cannot be followed."""
    if "moved" not in source.counted:
        frames = open_frames(source)
        source.counted["moved"] = TrackedSource(
            frames, (0, frames.count - 1), source.smoothing, source.unwrap
        )
    known: TrackedSource = source.counted["moved"]
    return known.load(check_frame(frame or 0, known.count, known.name), columns)


class FrameKeys:
    """Makes motion keys of the particles of a frame; particles are matched by their ids.

    A step to the next frame is that to the nearest periodic image. A particle that a frame lacks
    rests from there on. frame: the shown one; None: that of the file of each set.
    """

    def __init__(self, source: FrameSource, frame: int | None = None) -> None:
        self._source, self.frame = source, frame
        self._readers = dict[int, Callable[[int], list[Track]]]()  # by reach

    @classmethod
    def of(cls, source: InputSource) -> Self:
        """Return those of the frame that a source shows; standard input is read only once."""
        if source.path == STANDARD_INPUT:
            return cls(SceneSource([None]))
        frames: FrameSource = source.counted["moved"] if source.is_moved else open_frames(source)
        shown = source.frame
        return cls(frames, None if shown is None else check_frame(shown, frames.count, frames.name))

    @property
    def from_frames(self) -> Callable[[int, SphereSet, int], MotionKeys] | None:
        """How spheres move from frame to frame; None if there is only one."""
        return self._keys if self._source.count > 1 else None

    def _keys(self, place: int, spheres: SphereSet, reach: int) -> MotionKeys:
        """Return the motion of spheres; the unit of time is the interval between two frames.

        place: number of their set in the scene. reach: frames before and after the shown one.
        """
        frame = self.frame
        if frame is None:
            frame = 0 if spheres.file is None else spheres.file.resolve_frame(self._source.count)
        first, last = max(frame - reach, 0), min(frame + reach, self._source.count - 1)
        kept = max(2 * reach + 1, MIN_KEPT)
        read = self._readers.setdefault(reach, lru_cache(kept)(self._read))
        tracks = dict[int, Track]()
        for each in range(first, last + 1):
            if place >= len(sets := read(each)):
                raise SceneError(
                    f"{self._source.name}: frame {each} has fewer sets of spheres than others, so "
                    "that their motion is unknown: leave the shutter out"
                )
            tracks[each] = sets[place]
        ids = np.asarray(spheres.columns[ID]).astype(np.int64)
        after = _compute_offsets(ids, [tracks[each] for each in range(frame, last + 1)])
        before = _compute_offsets(ids, [tracks[each] for each in range(frame, first - 1, -1)])
        times = [*range(-len(before), 0), 0, *range(1, len(after) + 1)]
        offsets = (*reversed(before), np.zeros((1, 3)), *after)
        return MotionKeys(tuple(map(float, times)), offsets)

    def _read(self, frame: int) -> list[Track]:
        with collect_warnings():  # what is wrong with the shown frame was said
            return load_tracks(self._source, frame)[1]


def _compute_offsets(ids: Ids, tracks: Sequence[Track]) -> list[Points]:
    """Return the offsets of particles in all frames but the first from that one, (N, 3) each."""
    first, *others = tracks
    before = find_positions(first, ids)
    total = np.zeros_like(before)
    offsets = []
    for other in others:
        check_alike(first, other)
        there = find_positions(other, ids)
        steps = there - before
        total = total + np.nan_to_num(steps - find_image_shifts(steps, first.box), nan=0.0)
        offsets.append(total)
        before = there
    return offsets
