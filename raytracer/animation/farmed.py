"""Frames of an animation rendered by a crew of workers.

A worker opens the trajectory once, uses the defaults of the first frame, and writes frames to their
final folder: under a temporary name, renamed when complete. An existing frame is not rendered
again, so a call may be repeated. A worker without access to the folder returns the frame instead.
"""

from __future__ import annotations

import socket
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from raytracer.animation.frames import FrameFiles, MovieFrames, NumberedPictures
from raytracer.animation.shots import Fixed, Plan, Renderer, Shot
from raytracer.errors import OutputError, UserError, shown
from raytracer.farm.crew import Crew, in_order
from raytracer.farm.shared import Shared, opened
from raytracer.files import output
from raytracer.warning import collected

PATIENCE = 60.0  # seconds until a file written by another machine must be visible


class Rendered(NamedTuple):
    data: bytes | None  # the file, if the worker cannot access its folder
    seconds: float | None  # of rendering; None if the frame existed
    exposure: float | None  # stops, if it is metered
    metadata: dict[str, Any]  # of the first frame's picture; otherwise {}
    warnings: list[str]


@dataclass(frozen=True)
class Order:
    """What a worker needs to render any frame."""

    plan: Plan
    fixed: Fixed  # from the first frame
    frames: FrameFiles  # where they are written
    beacon: Path  # a file beside them, visible to workers with access
    bits: int | None  # 8, or None for films
    signature: str | None  # of the input files, compared by workers


class ShotWorker:
    """Renders the frames of an order in a worker.

    Raises:
        UserError: the worker does not see the same files.
    """

    def __init__(self, order: Order) -> None:
        source = order.plan.source
        if source.signature() != order.signature:
            raise UserError(
                f"workers: {shown(socket.gethostname())} does not see {source.name} as it is "
                "here: workers need the same files under the same paths"
            )
        self.order = order
        self.is_shared = order.beacon.exists()
        hashed = isinstance(order.frames, NumberedPictures)
        self.renderer = Renderer(order.plan, fixed=order.fixed, hashed=hashed)

    def render(self, shot: Shot, exposure: float | None) -> Rendered:
        """Render a frame, unless it exists, and write or return it."""
        frames, renderer = self.order.frames, self.renderer
        is_metered = shot.index == 0 and renderer.tone.automatic and exposure is None
        if self.is_shared and not is_metered and self._is_written(shot):
            return Rendered(None, None, exposure, {}, [])
        with ExitStack() as stack:
            warnings = stack.enter_context(collected())
            if not self.is_shared:
                folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="raytracer-"))
                frames = frames.in_folder(Path(folder))
            renderer.exposure = exposure
            image = renderer.image(shot, self.order.bits)
            frames.save(shot.index, image, renderer.exposure)
            data = None if self.is_shared else frames.path(shot.index).read_bytes()
        metadata = image.metadata if shot.index == 0 else {}
        return Rendered(data, renderer.seconds[-1], renderer.exposure, metadata, warnings)

    def _is_written(self, shot: Shot) -> bool:
        """Whether the frame was already written by a worker that ended before it answered."""
        frames = self.order.frames
        try:
            written = frames.path(shot.index).stat().st_mtime_ns
            return written >= self.order.beacon.stat().st_mtime_ns and frames.has(shot.index)
        except OSError:
            return False

    def close(self) -> None:
        self.renderer.close()


def render_shot(shared: Shared, shot: Shot, exposure: float | None) -> Rendered:
    with opened(shared, ShotWorker) as worker:
        result: Rendered = worker.render(shot, exposure)
    return result


def rendered_by(
    crew: Crew, renderer: Renderer, frames: FrameFiles, shots: Sequence[Shot], bits: int | None
) -> Generator[tuple[Shot, Rendered]]:
    """Yield shots of the plan in order, once their frames are finished and in place.

    The first one is rendered alone if it decides the exposure; the renderer has read its frame.

    Raises:
        UserError: a frame cannot be rendered or written.
    """
    plan = renderer.plan
    folder = frames.folder.absolute()
    shared_folder = folder.parent if isinstance(frames, MovieFrames) else folder
    with output.temporary(shared_folder) as beacon:
        source = plan.source.sent()
        order = Order(
            replace(plan, source=source, backend=crew.backend), renderer.fixed,
            frames.in_folder(folder), beacon, bits, source.signature(),
        )  # fmt: skip
        shared = crew.share(Shared.of(order))
        rest = list(shots)
        exposure = renderer.exposure
        if renderer.tone.automatic and exposure is None:
            first = rest.pop(0)
            done = crew.submit(render_shot, shared, first, None).result()
            exposure = renderer.exposure = done.exposure
            _take(frames, first, done)
            yield first, done
        calls = ((shared, shot, exposure) for shot in rest)
        for shot, done in zip(rest, in_order(crew, render_shot, calls), strict=True):
            _take(frames, shot, done)
            yield shot, done


def _take(frames: FrameFiles, shot: Shot, done: Rendered) -> None:
    """Write a returned frame, or wait for one that a network file system shows late."""
    path = frames.path(shot.index)
    if done.data is not None:
        output.write(path, done.data)
    end = time.monotonic() + PATIENCE
    while not path.exists():
        if time.monotonic() > end:
            raise OutputError(
                f"{path}: a worker has written it, but it is not visible here: use a shared folder"
            )
        time.sleep(0.1)
