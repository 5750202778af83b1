"""Shapes over the picture: the time line, marks of picks, the box of a selection."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyglet
from numpy.typing import NDArray
from pyglet import shapes

from raytracer.viewer.messages import Frame
from raytracer.viewer.outline import rings
from raytracer.viewer.state import ViewerState

Color = tuple[int, int, int, int]
Size = tuple[int, int]

PAPER: Color = (14, 16, 20, 200)
INK: Color = (236, 238, 242, 255)
TRACK: Color = (96, 102, 114, 255)
ACCENT: Color = (255, 176, 0, 255)
SHADOW: Color = (0, 0, 0, 255)
BOX: Color = (255, 176, 0, 40)

SANS = ["DejaVu Sans", "Helvetica Neue", "Segoe UI", "Liberation Sans", "Arial"]
POINTS = 9.0


class TimeLine:
    """The time line of a trajectory at the bottom of a window: button, knob on a track, numbers.

    Lengths are pixels, from the lower left of the window; `unit` of them at 96 dots per inch.
    """

    def __init__(self, dpi: int) -> None:
        self._unit = unit = dpi / 96
        self.height = 42 * unit  # with the margin below
        self._left, self._bottom, self._high = 10 * unit, 10 * unit, 26 * unit
        self._start, self._end = 190 * unit, 102 * unit  # of the track, from both edges
        self._width = 0  # of the window; 0 while there is none
        self._drawn: tuple[Any, ...] = ()
        self._batch: Any = None
        self._kept: list[Any] = []  # a batch does not keep its shapes
        self._layers = [pyglet.graphics.Group(order) for order in range(3)]

    def draw(self, viewer: ViewerState, width: int) -> float:
        """Draw the time line in a window of a width; return its height, 0 for a single frame."""
        time, number = viewer.time, viewer.frame_number
        self._width = width if time.count > 1 else 0
        if not self._width:
            return 0.0
        state = width, time.count, number, time.playing, time.speed
        if state != self._drawn:  # layout is slow
            self._drawn, self._batch, self._kept = state, pyglet.graphics.Batch(), []
            unit, middle = self._unit, self._bottom + self._high / 2
            filled = self._track * number / (time.count - 1)
            self._rounded(self._left, width - 2 * self._left, self._high, PAPER, 0)
            self._rounded(self._start, self._track, 4 * unit, TRACK, 1)
            if filled > 4 * unit:
                self._rounded(self._start, filled, 4 * unit, ACCENT, 1)
            self._kept.append(
                shapes.Circle(self._start + filled, middle, 7 * unit, color=INK, batch=self._batch,
                              group=self._layers[2])
            )  # fmt: skip
            self._text("❚❚" if time.playing else "▶", 19 * unit, "left")
            self._text(f"{number:,} / {time.count - 1:,}", 42 * unit, "left")
            self._text(f"{time.speed:g}x", width - 22 * unit, "right")
        self._batch.draw()
        return self.height

    def holds(self, x: float, y: float) -> bool:
        inside = self._left <= x <= self._width - self._left
        return inside and self._bottom <= y <= self._bottom + self._high

    def on_button(self, x: float) -> bool:
        return x < self._left + 30 * self._unit

    def share_at(self, x: float) -> float:
        """Return the position on the track nearest to a point, 0..1."""
        return min(max((x - self._start) / self._track, 0.0), 1.0)

    @property
    def _track(self) -> float:
        return max(self._width - self._start - self._end, 1.0)

    def _rounded(self, x: float, width: float, height: float, color: Color, layer: int) -> None:
        y, radius = self._bottom + (self._high - height) / 2, min(5 * self._unit, height / 2)
        self._kept.append(
            shapes.RoundedRectangle(x, y, width, height, radius, color=color, batch=self._batch,
                                    group=self._layers[layer])
        )  # fmt: skip

    def _text(self, text: str, x: float, side: Any) -> None:
        y = round(self._bottom + self._high / 2)
        self._kept.append(
            pyglet.text.Label(
                text, font_name=SANS, font_size=POINTS, dpi=round(96 * self._unit), color=INK,
                x=round(x), y=y, anchor_x=side, anchor_y="center", batch=self._batch,
                group=self._layers[1],
            )
        )  # fmt: skip


class Layer:
    """Draws pixels over the picture; the sprite is remade for another owner or size."""

    def __init__(self) -> None:
        self._owner: object = None
        self._size: Size = (0, 0)
        self._sprite: Any = None

    def draw(
        self, owner: object, size: Size, pixels: Callable[[], NDArray[np.uint8] | None],
        window: Size,
    ) -> None:  # fmt: skip
        """Draw pixels, uint8 (h, w, 4), stretched to the window, in pixels; None draws nothing."""
        if owner is not self._owner or size != self._size:
            self._owner, self._size, self._sprite = owner, size, None
            if (layer := pixels()) is not None:
                height, width = layer.shape[:2]
                image = pyglet.image.ImageData(width, height, "RGBA", layer.tobytes(), -4 * width)
                self._sprite = pyglet.sprite.Sprite(image)
        if self._sprite is not None:
            image = self._sprite.image
            self._sprite.scale_x = window[0] / image.width
            self._sprite.scale_y = window[1] / image.height
            self._sprite.draw()


def legend_and_texts(frame: Frame) -> NDArray[np.uint8] | None:
    """Return the annotations of a draft that do not depend on the camera, uint8 (h, w, 4).

    Others, such as a scale bar, are drawn only at rest.
    """
    loaded = frame.request.loaded_scene
    plan = loaded.job.plan
    if plan is None or (plan.annotations.legend is None and not plan.annotations.texts):
        return None
    width, height = frame.request.size
    pixels = np.zeros((height, width, 4), np.uint8)
    fixed = replace(plan, annotations=replace(plan.annotations, axes=None, scale_bar=None))
    fixed.draw_fixed(pixels, frame.request.buffers.view, loaded.job.space)
    return pixels


def draw_picks(viewer: ViewerState, window: tuple[int, int]) -> None:
    """Draw the rings of the picked spheres."""
    for points in rings(viewer, window):
        for width, color in ((4.0, SHADOW), (2.0, ACCENT)):
            shapes.MultiLine(*points, closed=True, thickness=width, color=color).draw()


def draw_box(corners: tuple[float, float, float, float]) -> None:
    """Draw the box of a selection; `corners` are x and y of two of them."""
    x0, y0, x1, y1 = corners
    left, bottom, width, height = min(x0, x1), min(y0, y1), abs(x1 - x0), abs(y1 - y0)
    shapes.Rectangle(left, bottom, width, height, color=BOX).draw()
    points = [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]
    shapes.MultiLine(*points, closed=True, thickness=1.5, color=ACCENT).draw()
