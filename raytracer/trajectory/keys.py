"""Motion keys of particles: where the frames around one have them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from raytracer.errors import SceneError
from raytracer.files.access import STANDARD_INPUT
from raytracer.scene.glyphs.shared import jumps, rows_by_id
from raytracer.scene.motion import Keys
from raytracer.scene.particles.frames import checked
from raytracer.scene.source import Source
from raytracer.scene.sphere_set import SphereSet
from raytracer.trajectory.source import FrameSource, SceneSource, frames_of
from raytracer.trajectory.tracks import ID, Ids, Points, Track, common, tracks_of
from raytracer.warning import collected

if TYPE_CHECKING:
    from raytracer.scene.motion import FromFrames

MIN_KEPT = 3  # frames that are kept: what one picture needs, the next one needs too


class FrameKeys:
    """Makes motion keys of the particles of a frame; particles are matched as by `tracks`.

    A step to the next frame is that to the nearest periodic image. A particle that a frame lacks
    rests from there on. frame: the shown one; None: that of the file of each set.
    """

    def __init__(self, source: FrameSource, frame: int | None = None) -> None:
        self._source, self.frame = source, frame
        self._readers = dict[int, Callable[[int], list[Track]]]()  # by reach

    @classmethod
    def of(cls, source: Source) -> FrameKeys:
        """Return those of the frame that a source shows; standard input is read only once."""
        if source.path == STANDARD_INPUT:
            return cls(SceneSource([None]))
        frames: FrameSource = source.counted["moved"] if source.is_moved else frames_of(source)
        shown = source.frame
        return cls(frames, None if shown is None else checked(shown, frames.count, frames.name))

    @property
    def from_frames(self) -> FromFrames | None:
        """How spheres move from frame to frame; None if there is only one."""
        return self._keys if self._source.count > 1 else None

    def _keys(self, place: int, spheres: SphereSet, reach: int) -> Keys:
        """Return the motion of spheres; the unit of time is the interval between two frames.

        place: number of their set in the scene. reach: frames before and after the shown one.
        """
        frame = self.frame
        if frame is None:
            frame = 0 if spheres.file is None else spheres.file.frame_of(self._source.count)
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
        after = _offsets(ids, [tracks[each] for each in range(frame, last + 1)])
        before = _offsets(ids, [tracks[each] for each in range(frame, first - 1, -1)])
        times = [*range(-len(before), 0), 0, *range(1, len(after) + 1)]
        offsets = (*reversed(before), np.zeros((1, 3)), *after)
        return Keys(tuple(map(float, times)), offsets)

    def _read(self, frame: int) -> list[Track]:
        with collected():  # what is wrong with the shown frame was said
            return tracks_of(self._source, frame)[1]


def _offsets(ids: Ids, tracks: Sequence[Track]) -> list[Points]:
    """Return the offsets of particles in all frames but the first from that one, (N, 3) each."""
    first, *others = tracks
    before = _places(first, ids)
    total = np.zeros_like(before)
    offsets = []
    for other in others:
        common(first, other)  # refuses what cannot be followed
        there = _places(other, ids)
        steps = there - before
        total = total + np.nan_to_num(steps - jumps(steps, first.box), nan=0.0)
        offsets.append(total)
        before = there
    return offsets


def _places(track: Track, ids: Ids) -> Points:
    """Return the positions of particles, (N, 3), NaN for those that the frame lacks."""
    places = np.full((len(ids), 3), np.nan)
    rows = rows_by_id(track.ids, ids)
    places[rows >= 0] = track.centers[rows[rows >= 0]]
    return places
