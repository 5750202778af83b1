"""Motion of particles while the shutter is open, from velocities or from the frames around one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from raytracer.config.errors import SceneError, prefix_errors, quote, suggest
from raytracer.model.arrays import find_not_finite, silence_numpy
from raytracer.model.parts import GLYPHS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from raytracer.model.scene import Scene
    from raytracer.model.solids import CapsuleSet
    from raytracer.model.sphere_set import SphereSet

    Doubles = NDArray[np.float64]
    FromFrames = Callable[[int, SphereSet, int], "MotionKeys"]
    Rows = NDArray[Any]

VELOCITY = "velocity"
"""The usual column of velocities, and that of velocities given in Python or in a scene file."""

FIXED = [name for name in GLYPHS if name != "trails"]  # with the places of one moment


@dataclass(frozen=True, eq=False)
class MotionKeys:
    """Positions of spheres at two or more times, between and beyond which they move linearly."""

    times: tuple[float, ...]  # ascending; the centres of the set are those of time 0
    offsets: tuple[Doubles, ...]  # from the centres, own units, (N, 3) each or (1, 3) of all

    def at(self, centers: NDArray[np.floating[Any]], time: float) -> NDArray[np.floating[Any]]:
        """Return centres, (N, 3), at a time; at time 0 they are the array itself."""
        if time == 0.0:
            return centers
        last = int(np.searchsorted(self.times[1:-1], time)) + 1
        start, end = self.times[last - 1 : last + 1]
        share = (time - start) / (end - start)
        one, other = self.offsets[last - 1 : last + 1]
        moved: Doubles = share * (other - one)
        moved = moved + one if len(moved) == 1 else np.add(moved, one, out=moved)
        return centers + moved

    def taken(self, rows: Rows) -> MotionKeys:
        """Return the keys of some spheres, by number."""
        offsets = (each if len(each) == 1 else each[rows] for each in self.offsets)
        return MotionKeys(self.times, tuple(offsets))


@silence_numpy()
def with_motion(scene: Scene, from_frames: FromFrames | None) -> Scene:
    """Return a scene whose moving spheres and bonds have keys; one that has some stays as it is.

    Spheres move by the velocities that their set states; else from frame to frame if there are
    several, by `from_frames` (`trajectory.tracks`); else by a column of velocities
    with a usual name.

    Raises:
        SceneError: there are neither frames nor velocities, or these are wrong; or particles have
            solids that do not follow them.
    """
    if scene.camera is None or any(each.keys for each in scene.spheres):
        return scene
    if fixed := next((name for name in FIXED if getattr(scene, name) is not None), None):
        raise SceneError(
            f"camera.shutter: what [{fixed}] shows is made from the particles of one moment and "
            f"does not move with them: leave out either {fixed} or the shutter"
        )
    reach = int(np.ceil(0.5 * scene.camera.shutter))
    keys = [
        _keys_from_velocities(each) if each.velocity is not None or from_frames is None
        else from_frames(place, each, reach)
        for place, each in enumerate(scene.spheres)
    ]  # fmt: skip
    if not any(keys):
        raise SceneError(
            "camera.shutter: nothing moves: there is only one frame, and no column of velocities "
            "with a usual name; name the column by velocity (--velocity), or leave the shutter out"
        )
    sets = list(scene.spheres)
    for place, of_set in enumerate(keys):
        if of_set is not None and any(each.any() for each in of_set.offsets):
            sets[place] = sets[place].changed(keys=of_set)
    return replace(
        scene, spheres=sets, capsules=[_move_bonds(each, sets) for each in scene.capsules]
    )


def _keys_from_velocities(spheres: SphereSet) -> MotionKeys | None:
    """Return the keys of a set by its velocities; None if it states none and has no column."""
    from raytracer.appearance.coloring.style import find_needed_columns
    from raytracer.appearance.glyphs.vectors import read_vectors

    named, columns = spheres.velocity, spheres.columns
    with prefix_errors(spheres.source):
        velocities = read_vectors(columns, named or VELOCITY, "velocity")
        if velocities is None and named is None:
            return None
        if velocities is None:
            hint = suggest(str(named), list(columns))
            raise SceneError(f"velocity: there is no column '{quote(str(named))}'; {hint}")
        bad = find_not_finite(velocities)
        if bad is not None:
            raise SceneError(f"velocity: that of particle {bad} is not finite")
    is_stated = isinstance(named, tuple) and not any(
        name in columns for name in find_needed_columns(*named)
    )
    if not is_stated:  # in numbers
        velocities = velocities * spheres.data.length
    return MotionKeys((0.0, 1.0), (np.zeros((1, 3)), velocities))


def _move_bonds(capsules: CapsuleSet, sets: Sequence[SphereSet]) -> CapsuleSet:
    if capsules.particles is None:
        return capsules
    keys = sets[capsules.of_set].keys
    if keys is None:
        return capsules
    moving = copy(capsules)
    moving.start, moving.end = copy(capsules.start), copy(capsules.end)
    moving.start.keys, moving.end.keys = (keys.taken(rows) for rows in capsules.particles)
    return moving


def freeze_motion(scene: Scene, time: float) -> Scene:
    """Return a scene with what moves at a time; 0 is the middle of the shutter."""
    moved = copy(scene)
    moved.spheres = [_move_set(each, time) for each in scene.spheres]
    moved.capsules = [copy(each) for each in scene.capsules]
    for each in moved.capsules:
        each.start, each.end = _move_set(each.start, time), _move_set(each.end, time)
    return moved


def _move_set(spheres: SphereSet, time: float) -> SphereSet:
    if spheres.keys is None:
        return spheres
    return spheres.changed(centers=spheres.keys.at(spheres.centers, time))
