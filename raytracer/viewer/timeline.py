"""Time line: play, step and scrub the frames of a trajectory; turntable."""

from __future__ import annotations

from dataclasses import replace

from raytracer.arguments import real
from raytracer.errors import UserError
from raytracer.viewer.actions import action
from raytracer.viewer.camera_actions import orbit
from raytracer.viewer.state import ViewerState

FRAME_RATE = 10.0  # frames per second at speed 1, unless loading takes longer
TURNTABLE_SPEED = 0.5  # radians per second of the turntable: a turn takes 12.6 seconds


def receive_count(viewer: ViewerState, count: int) -> None:
    """Note the number of frames; at the end of a growing file, show its new end."""
    time = viewer.time
    grew = count > time.count > 1
    was_last = viewer.frame_number == time.count - 1
    time.count = max(count, 1)
    if grew:
        viewer.notify(f"{time.count:,} frames")
    if (grew and was_last and time.follows) or viewer.frame_number >= time.count:
        frame(viewer, time.count - 1)


@action()
def frame(viewer: ViewerState, number: int) -> None:
    """Show a frame, from 0; numbers are limited to the existing frames."""
    time = viewer.time
    number = min(max(number, 0), time.count - 1)
    time.follows = time.count > 1 and number == time.count - 1
    if number != viewer.frame_number:
        viewer.show(replace(viewer.content, frame=number))


@action()
def step(viewer: ViewerState, count: int) -> None:
    """Step forward by a number of frames, or back if it is negative; playing ends."""
    viewer.time.playing = False
    if viewer.time.count == 1:
        viewer.notify("there is one frame")
        return
    frame(viewer, viewer.frame_number + count)


@action()
def play(viewer: ViewerState, on: bool | None = None) -> None:
    """Play the frames, or pause; without an argument, toggle."""
    time = viewer.time
    if time.count == 1:
        viewer.notify("there is one frame")
        return
    time.playing = not time.playing if on is None else on
    time.waited = 0.0


@action()
def set_speed(viewer: ViewerState, factor: float) -> None:
    """Set the speed relative to 10 frames per second."""
    viewer.time.speed = real(factor, "set-speed: factor", 0.01, 100.0, error=UserError)
    viewer.notify(f"at most {FRAME_RATE * viewer.time.speed:g} frames per second")


def tick(viewer: ViewerState, seconds: float) -> None:
    """Advance the turntable, and the frames once the previous one is loaded."""
    if viewer.turning:
        orbit(viewer, TURNTABLE_SPEED * seconds, 0.0)
    time = viewer.time
    if not time.playing:
        return
    time.waited += seconds
    if not viewer.loader.busy and time.waited >= 1.0 / (FRAME_RATE * time.speed):
        time.waited = 0.0
        frame(viewer, (viewer.frame_number + 1) % time.count)
