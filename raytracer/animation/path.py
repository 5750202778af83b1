"""The path of the camera: its pose at each time of an animation.

Keyframes, or the scene's camera, define the pose; turntable, orbit, dolly and zoom move it from
there about the point it looks at, and it follows the mean of all centres or one particle.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import acos, atan, cos, degrees, pi, radians, sin, tan
from typing import Self

import numpy as np
from numpy.typing import NDArray

from raytracer.config.errors import DataFileError
from raytracer.model.animation import CENTER, AnimationSettings, Keyframe
from raytracer.model.camera import Camera
from raytracer.model.scene import Scene
from raytracer.model.simulation_box import to_triple
from raytracer.model.sphere_set import SphereSet

Point = NDArray[np.float64]

MAX_ELEVATION = 89.5  # limit of an orbit's elevation in degrees: over the pole `up` is undefined
PARALLEL = 1e-9  # sine of the angle below which two directions count as equal or opposite


def ease_share(share: float, ease: str) -> float:
    """Return the completed fraction of a motion at a fraction of its time; ease: of `EASINGS`."""
    share = min(max(share, 0.0), 1.0)
    if ease == "smooth":
        return share * share * (3.0 - 2.0 * share)
    if ease == "in":
        return share * share
    if ease == "out":
        return share * (2.0 - share)
    return share


@dataclass(frozen=True)
class CameraPose:
    """A moving camera: target, offset to the eye, and size of the picture."""

    target: Point  # centre of the picture, float64 (3,), scene units
    offset: Point  # from the target to the eye
    up: Point  # up direction
    half: float  # tangent of half the field of view; orthographic: half the height

    @classmethod
    def of(cls, camera: Camera) -> Self:
        position, target = np.array(camera.position, float), np.array(camera.look_at, float)
        half = tan(radians(camera.vertical_fov) / 2.0)
        if camera.height is not None:
            half = camera.height / 2.0
        up = np.array(camera.upward, float)
        return cls(target, position - target, up / np.linalg.norm(up), half)

    def camera(self, like: Camera) -> Camera:
        """Convert to a camera of the type of another one."""
        perspective = like.type == "perspective"
        return replace(
            like,
            position=to_triple(self.target + self.offset),
            look_at=to_triple(self.target),
            up=to_triple(self.up),
            vertical_fov=degrees(2.0 * atan(self.half)) if perspective else like.vertical_fov,
            height=None if perspective else 2.0 * self.half,
            fit=False,
            direction=None,
        )


def turn_about_target(stand: CameraPose, azimuth: float, elevation: float) -> CameraPose:
    """Rotate a camera about its target: degrees to the right about `up`, and upwards."""
    offset = _rotate_about(stand.offset, stand.up, radians(azimuth))
    side = np.cross(stand.up, offset)
    length = float(np.linalg.norm(side))
    if elevation and length > 0.0:
        distance = float(np.linalg.norm(offset))
        now = 90.0 - degrees(acos(min(max(float(offset @ stand.up) / distance, -1.0), 1.0)))
        wanted = min(max(now + elevation, -MAX_ELEVATION), MAX_ELEVATION)
        offset = _rotate_about(offset, side / length, radians(now - wanted))
    return replace(stand, offset=offset)


def _rotate_about(vector: Point, axis: Point, angle: float) -> Point:
    """Rotate a vector about a unit axis, right-handed (Rodrigues)."""
    along = float(axis @ vector) * (1.0 - cos(angle))
    return vector * cos(angle) + np.cross(axis, vector) * sin(angle) + axis * along


def interpolate_poses(one: CameraPose, other: CameraPose, share: float) -> CameraPose:
    """Interpolate two cameras: direction on a great circle, distance geometrically."""
    lengths = [float(np.linalg.norm(stand.offset)) for stand in (one, other)]
    direction = _slerp(one.offset / lengths[0], other.offset / lengths[1], one.up, share)
    return CameraPose(
        one.target + (other.target - one.target) * share,
        direction * lengths[0] ** (1.0 - share) * lengths[1] ** share,
        _slerp(one.up, other.up, one.offset / lengths[0], share),
        one.half ** (1.0 - share) * other.half**share,
    )


def _slerp(one: Point, other: Point, by: Point, share: float) -> Point:
    """Interpolate directions on a great circle; opposite ones turn about `by`."""
    cosine = min(max(float(one @ other), -1.0), 1.0)
    axis = np.cross(one, other)
    length = float(np.linalg.norm(axis))
    if length < PARALLEL:
        if cosine > 0.0:
            return one
        axis, length = by - one * float(by @ one), 1.0
        axis = axis / (float(np.linalg.norm(axis)) or 1.0)
        return _rotate_about(one, axis, pi * share)
    return _rotate_about(one, axis / length, acos(cosine) * share)


class CameraPath:
    """The motion of a camera from its start, with position and target, over some frames and
    seconds."""

    def __init__(
        self, camera: Camera, settings: AnimationSettings, frames: int, duration: float
    ) -> None:
        self._camera, self._settings = camera, settings
        self._frames, self._duration = frames, duration
        self._keys = _keyframe_poses(camera, settings.keyframes)

    def at(self, frame: int, time: float, moved: Point | None = None) -> Camera:
        """Return the camera of a frame; moved: displacement of the followed point since the first
        one."""
        settings = self._settings
        stand = self._interpolate_keyframes(time)
        share = frame / max(self._frames - 1, 1)
        progress = ease_share(share, settings.ease)
        stand = turn_about_target(stand, self._azimuth(time), 0.0)
        if settings.orbit is not None:
            azimuth, elevation = settings.orbit
            stand = turn_about_target(stand, azimuth * progress, elevation * progress)
        if settings.dolly is not None:
            stand = replace(stand, offset=stand.offset * settings.dolly**progress)
        if settings.zoom_to is not None:
            stand = replace(stand, half=stand.half / settings.zoom_to**progress)
        if moved is not None:
            stand = replace(stand, target=stand.target + moved)
        return stand.camera(self._camera)

    def _azimuth(self, time: float) -> float:
        """Return the angle of the turntable; the frame after the last one closes the circle."""
        turn = self._settings.turn
        if turn.seconds is not None:
            return turn.degrees * time / turn.seconds
        return turn.degrees * ease_share(time / self._duration, self._settings.ease)

    def _interpolate_keyframes(self, time: float) -> CameraPose:
        keys = self._keys
        for (start, one, _), (end, other, ease) in pairwise(keys):
            if time < end:
                return interpolate_poses(
                    one, other, ease_share((time - start) / (end - start), ease)
                )
        return keys[-1][1]


def _keyframe_poses(
    camera: Camera, keyframes: Sequence[Keyframe]
) -> list[tuple[float, CameraPose, str]]:
    """Return time, camera and easing of each keyframe; without any, of the camera."""
    stands: list[tuple[float, CameraPose, str]] = []
    now = camera
    for key in keyframes:
        names = ("position", "look_at", "up", "vertical_fov", "height")
        values = {name: getattr(key, name) for name in names if getattr(key, name) is not None}
        now = replace(now, **values)
        stands.append((key.time, CameraPose.of(now), key.ease))
    return stands or [(0.0, CameraPose.of(camera), "linear")]


def find_followed_point(scene: Scene, target: str | int) -> Point:
    """Return the point that a camera follows, float64 (3,), scene units.

    target: "center", or the id of a particle of the first set with a file, or its number if the
    file has no ids. Raises UserError: there is no such particle, or the file cannot be read.
    """
    sets = [spheres for spheres in scene.spheres if spheres.count]
    if target == CENTER:
        if not sets:
            return np.zeros(3)
        total = sum(
            _transform_point(s, s.centers.mean(axis=0, dtype=np.float64)) * s.count for s in sets
        )
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
    return _transform_point(chosen, np.asarray(chosen.centers[rows[0]], np.float64))


def _transform_point(spheres: SphereSet, point: Point) -> Point:
    placed = spheres.transform.linear() @ point + np.asarray(spheres.transform.translate)
    return np.asarray(placed, np.float64)
