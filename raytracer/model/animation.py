"""Settings of an animation: frames, time, camera motion, movie."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import MISSING, dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from raytracer.config.arguments import check_real
from raytracer.config.errors import SceneError, quote
from raytracer.config.field_types import (
    NUMBER,
    TEXT,
    AnyOf,
    FieldType,
    Integer,
    Number,
    Numbers,
    Text,
    Truth,
    Vector3,
    WordChoice,
)
from raytracer.config.fields import Defined, setting
from raytracer.model.key_types import FIELD_OF_VIEW, PICTURE_HEIGHT, Tables, TableType
from raytracer.model.source_settings import MAX_SMOOTHED
from raytracer.model.views import Triple

EASINGS = ("linear", "smooth", "in", "out")
"""Speed profiles of motion; "in" starts slowly, "out" ends slowly, "smooth" does both."""

CODECS = ("h264", "h265", "av1", "vp9")
CENTER = "center"  # value of `follow` for the mean of all centres

_TURN = re.compile(r"\s*(-?\d+(?:\.\d*)?|-?\.\d+)\s*(s|sec|seconds?|deg|degrees?|°)?\s*")

MAX_SECONDS = 1e6
MAX_DEGREES = 1e6


class Turn(NamedTuple):
    """Rotation of the camera: seconds per revolution, or total degrees of the animation."""

    seconds: float | None
    degrees: float


def parse_turn(value: Any, name: str) -> Turn:
    """Parse "8s" (seconds per revolution) or 360 (degrees in total)."""
    match = _TURN.fullmatch(value) if isinstance(value, str) else None
    unit = (match[2] or "") if match else ""
    if match is None and isinstance(value, str):
        raise SceneError(
            f"{name}: '{quote(str(value), 40)}' is not a turn: give seconds per revolution, such "
            "as 8s, or degrees over the animation, such as 360"
        )
    number = check_real(float(match[1]) if match else value, name, -MAX_DEGREES, MAX_DEGREES)
    if not unit.startswith("s"):
        return Turn(None, number)
    if not 0.01 <= abs(number) <= MAX_SECONDS:
        raise SceneError(
            f"{name}: give 0.01 s or more per revolution; a minus sign reverses the direction"
        )
    return Turn(abs(number), 360.0 if number > 0.0 else -360.0)


def _turn(value: Any, name: str) -> str | float:
    parse_turn(value, name)
    return str.__str__(value) if isinstance(value, str) else float(value)


TURN = FieldType(
    {int: NUMBER, float: NUMBER, str: TEXT}, _turn, metavar="SECONDSs|DEGREES",
    noun='degrees, or seconds per revolution such as "8s"',
)  # fmt: skip


@dataclass(frozen=True, repr=False, eq=False)
class Keyframe(Defined, place="keyframe"):
    """The camera at one time of an animation. Omitted values stay as in the keyframe before.

    Args:
        time: Seconds from the start of the animation.
        position: Eye point in scene units.
        look_at: Point at the centre of the picture.
        up: Up direction.
        vertical_fov: Vertical field of view in degrees.
        height: Height of the picture of an orthographic camera, in scene units.
        ease: Speed profile of the motion from the keyframe before.
    """

    time: float = setting(MISSING, Number(0.0, MAX_SECONDS))
    position: Triple | None = setting(None, Vector3(), default_text="as before")
    look_at: Triple | None = setting(None, Vector3(), default_text="as before")
    up: Triple | None = setting(None, Vector3(), default_text="as before")
    vertical_fov: float | None = setting(None, FIELD_OF_VIEW, default_text="as before")
    height: float | None = setting(None, PICTURE_HEIGHT, default_text="as before")
    ease: str = setting("smooth", WordChoice(EASINGS, "easing"))


@dataclass(frozen=True, repr=False, eq=False)
class AnimationSettings(Defined, place="animation"):
    """Frames, time and camera motion of an animation; the names are the keys of `[animation]`.

    Args:
        frames: Frames of a trajectory, as START:END:STEP; END is excluded. Negative numbers count
            from the end, parts may be left out: `::10` is every tenth.
        smoothing: Number of frames over which positions are averaged, centred on the shown frame.
            Particles are matched by their ids, or by row if all frames have the same number of
            particles; periodic boxes are respected.
        unwrap: Remove periodic jumps: particles that cross a boundary continue outside the box.
        fps: Frames per second of the movie.
        duration: Length of the movie in seconds; frames of a trajectory are repeated or skipped to
            fit.
        turntable: The camera goes around: seconds per revolution, or degrees over the animation.
        orbit: Angles by which the camera has moved around and up at the end.
        dolly: Factor of the camera's distance at the end: 0.5 comes nearer.
        zoom_to: Magnification at the end: 2 shows half the width.
        ease: Speed profile of orbit, dolly, zoom and a turntable in degrees.
        follow: What the camera follows and looks at: the mean of all centres, or one particle by
            its id in the file, or by its number if the file has no ids.
        quality: Quality of the movie's compression.
        codec: Codec of the movie.
        keyframes: The camera at given times, in ascending order.
    """

    frames: str | None = setting(None, Text(), default_text="all")
    smoothing: int = setting(1, Integer(1, MAX_SMOOTHED))
    unwrap: bool = setting(False, Truth())
    fps: float = setting(30.0, Number(0.01, 1000.0))
    duration: float | None = setting(
        None,
        Number(0.0, MAX_SECONDS, above=True),
        default_text="one picture for each frame of a trajectory; else that of the turntable "
        "or of the keyframes, or 6 s",
    )
    turntable: str | float | None = setting(None, TURN)
    orbit: tuple[float, float] | None = setting(
        None, Numbers(2, "two angles in degrees", "AZIMUTH,ELEVATION", -MAX_DEGREES, MAX_DEGREES)
    )
    dolly: float | None = setting(None, Number(1e-6, 1e6))
    zoom_to: float | None = setting(None, Number(1e-6, 1e6))
    ease: str = setting("linear", WordChoice(EASINGS, "easing"))
    follow: str | int | None = setting(
        None,
        AnyOf(
            WordChoice([CENTER]),
            Integer(0),
            noun=f"'{CENTER}' or the number of a particle",
            metavar="NUMBER",
        ),
        default_text="nothing",
    )
    quality: int = setting(75, Integer(1, 100))
    codec: str | None = setting(
        None, WordChoice(CODECS, "codec"), default_text="h264, of .webm vp9"
    )
    keyframes: Sequence[Keyframe] = setting((), Tables(TableType.of(f"{__name__}:Keyframe")))

    def __post_init__(self) -> None:
        super().__post_init__()
        if any(later.time <= one.time for one, later in pairwise(self.keyframes)):
            raise SceneError("animation.keyframes: the times of keyframes must increase")

    @property
    def turn(self) -> Turn:
        """Turntable motion of the camera, by no degrees if there is none."""
        return parse_turn(self.turntable or 0.0, "animation.turntable")

    @property
    def moves(self) -> bool:
        """Whether these settings move the camera."""
        motions = (self.turntable, self.orbit, self.dolly, self.zoom_to)
        return any(each is not None for each in motions) or len(self.keyframes) > 0
