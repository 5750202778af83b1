"""A session that renders nothing, for tests of what shows sessions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from raytracer.viewer.session import Picture

STATE: dict[str, Any] = {
    "name": "fake.xyz",
    "spheres": 3,
    "saving": None,
    "look": "plain",
    "picks": [],
}


class FakeViewer:
    """Nothing is picked; pictures are saved at once."""

    size, samples, moving = (16, 12), 4, False
    picks: tuple[int, ...] = ()

    class loaded_scene:  # noqa: N801 - as of a viewer
        stem = "fake"

    def __init__(self) -> None:
        self.saved: list[tuple[tuple[int, int], int]] = []
        self.sizes: list[tuple[int, int]] = []
        self.closing = False

    def resize(self, width: int, height: int) -> None:
        if [(width, height)] != self.sizes[-1:]:
            self.sizes.append((width, height))


class FakeImage:
    def _repr_png_(self) -> bytes:
        return b"a picture"


def save(
    viewer: FakeViewer, size: tuple[int, int], samples: int, path: Path,
    deliver: Callable[[Any], object],
) -> None:  # fmt: skip
    viewer.saved.append((size, samples))
    deliver(FakeImage())


class FakeSession:
    """Keeps what it is told; `publish` makes pictures."""

    def __init__(self, wake: Callable[[], None] = lambda: None) -> None:
        self.wake = wake
        self.done: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []
        self.failure: BaseException | None = None
        self.closed = False
        self.viewer = FakeViewer()
        self.values = dict(STATE)
        self._number = 0
        self._ready: Picture | None = None

    def publish(self, draft: bool = True, finished: bool = False, opaque: bool = True) -> int:
        self._number += 1
        pixels = np.full((6, 8, 4), 10 * self._number % 256, np.uint8)
        size = (16, 12) if draft else (8, 6)
        self._ready = Picture(
            pixels, size, 1, 4, draft, finished, opaque, self._number, stamp=0.0
        )  # fmt: skip
        self.wake()
        return self._number

    def picture(self, timeout: float = 0.0) -> Picture | None:
        picture, self._ready = self._ready, None
        return picture

    def receive(self) -> None:
        """Handle nothing."""

    def do(self, name: str, /, *values: Any, **named: Any) -> str | None:
        if name == "next-map":
            raise ZeroDivisionError("a defect")
        self.done.append((name, values, named))
        self.values["look"] = named.get("value", self.values["look"])
        return "[camera]\n" if name == "print-camera" else None

    def state(self) -> dict[str, Any]:
        return dict(self.values)

    def panel(self) -> dict[str, Any]:
        return {}

    def close(self) -> None:
        """Note that it was closed."""
        self.closed = True
