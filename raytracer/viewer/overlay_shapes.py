"""Shapes over the picture: bars, marks of picks, the box of a selection."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyglet
from numpy.typing import NDArray
from pyglet import shapes

from raytracer.viewer.bars import Bar
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


class Bars:
    def __init__(self, dpi: int) -> None:
        self._unit = dpi / 96
        self._drawn: list[Bar] = []
        self._batch: Any = None
        self._kept: list[Any] = []  # a batch does not keep its shapes
        self._layers = [pyglet.graphics.Group(order) for order in range(3)]

    def draw(self, bars: list[Bar]) -> None:
        """Draw bars; their shapes are remade when one changes."""
        if bars != self._drawn:
            self._drawn, self._batch, self._kept = bars, pyglet.graphics.Batch(), []
            for bar in bars:
                self._add(bar)
        if bars:
            self._batch.draw()

    def _add(self, bar: Bar) -> None:
        unit, middle, filled = self._unit, bar.bottom + bar.height / 2, bar.share * bar.track_width
        self._rounded(bar.left, bar.bottom, bar.width, bar.height, PAPER, 0)
        for width, color in ((bar.track_width, TRACK), (filled, ACCENT)):
            if width > 4 * unit:
                self._rounded(bar.track_left, middle - 2 * unit, width, 4 * unit, color, 1)
        self._kept.append(
            shapes.Circle(bar.track_left + filled, middle, 7 * unit, color=INK, batch=self._batch,
                          group=self._layers[2])
        )  # fmt: skip
        offset = 12 * unit
        if bar.playing is not None:
            self._text("❚❚" if bar.playing else "▶", bar.left + 9 * unit, middle, "left")
            offset = 32 * unit
        self._text(bar.before, bar.left + offset, middle, "left")
        self._text(bar.after, bar.left + bar.width - 12 * unit, middle, "right")

    def _rounded(
        self, x: float, y: float, width: float, height: float, color: Color, layer: int
    ) -> None:
        radius = min(5 * self._unit, height / 2)
        self._kept.append(
            shapes.RoundedRectangle(x, y, width, height, radius, color=color, batch=self._batch,
                                    group=self._layers[layer])
        )  # fmt: skip

    def _text(self, text: str, x: float, y: float, side: Any) -> None:
        if text:
            self._kept.append(
                pyglet.text.Label(
                    text, font_name=SANS, font_size=POINTS, dpi=round(96 * self._unit), color=INK,
                    x=round(x), y=round(y), anchor_x=side, anchor_y="center", batch=self._batch,
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
