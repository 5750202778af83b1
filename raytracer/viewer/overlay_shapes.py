"""Shapes over the picture: bars, marks of picks, the box of a selection."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyglet
from numpy.typing import NDArray
from pyglet import shapes

from raytracer.viewer import view
from raytracer.viewer.bars import Bar
from raytracer.viewer.content import center_of
from raytracer.viewer.messages import Frame
from raytracer.viewer.outline import rings
from raytracer.viewer.picking import pick_ids
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
        self._dpi = dpi
        self._drawn: list[Bar] = []
        self._batch: Any = None
        self._kept: list[Any] = []  # a batch does not keep its shapes

    def draw(self, bars: list[Bar]) -> None:
        """Draw bars; their shapes are remade when one changes."""
        if bars != self._drawn:
            self._drawn, self._batch, self._kept = bars, pyglet.graphics.Batch(), []
            for bar in bars:
                self._add(bar)
        if bars:
            self._batch.draw()

    def _add(self, bar: Bar) -> None:
        unit = self._dpi / 96
        middle, knob = bar.bottom + bar.height / 2, bar.track_left + bar.share * bar.track_width
        back = pyglet.graphics.Group(0)
        front, top = pyglet.graphics.Group(1), pyglet.graphics.Group(2)
        self._shape(
            shapes.RoundedRectangle, bar.left, bar.bottom, bar.width, bar.height, 5 * unit,
            color=PAPER, group=back,
        )  # fmt: skip
        thick = 4 * unit
        self._shape(
            shapes.RoundedRectangle, bar.track_left, middle - thick / 2, bar.track_width, thick,
            thick / 2, color=TRACK, group=front,
        )  # fmt: skip
        if knob - bar.track_left > thick:
            self._shape(
                shapes.RoundedRectangle, bar.track_left, middle - thick / 2,
                knob - bar.track_left, thick, thick / 2, color=ACCENT, group=front,
            )  # fmt: skip
        for share in bar.ticks:
            x = bar.track_left + share * bar.track_width
            self._shape(
                shapes.Rectangle, x - unit, middle - 8 * unit, 2 * unit, 16 * unit, color=INK,
                group=front,
            )  # fmt: skip
        self._shape(shapes.Circle, knob, middle, 7 * unit, color=INK, group=top)
        if bar.playing is not None:
            self._button(bar, middle, unit, front)
        offset = 32 if bar.playing is not None else 12
        self._text(bar.before, bar.left + offset * unit, middle, "left", front)
        self._text(bar.after, bar.left + bar.width - 12 * unit, middle, "right", front)

    def _button(self, bar: Bar, middle: float, unit: float, group: Any) -> None:
        x, size = bar.left + 10 * unit, 6 * unit
        if bar.playing:
            for part in (0.0, 7.0):
                self._shape(
                    shapes.Rectangle, x + part * unit, middle - size, 4 * unit, 2 * size,
                    color=INK, group=group,
                )  # fmt: skip
            return
        self._shape(
            shapes.Triangle, x, middle - size, x, middle + size, x + 1.8 * size, middle,
            color=INK, group=group,
        )  # fmt: skip

    def _shape(self, kind: Any, *values: Any, **named: Any) -> None:
        self._kept.append(kind(*values, batch=self._batch, **named))

    def _text(self, text: str, x: float, y: float, side: Any, group: Any) -> None:
        if text:
            self._kept.append(
                pyglet.text.Label(
                    text, font_name=SANS, font_size=POINTS, dpi=self._dpi, color=INK, x=round(x),
                    y=round(y), anchor_x=side, anchor_y="center", batch=self._batch, group=group,
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
    """Draw the rings of the picked spheres, and lines between several."""
    for points in rings(viewer, window):
        for width, color in ((4.0, SHADOW), (2.0, ACCENT)):
            shapes.MultiLine(*points, closed=True, thickness=width, color=color).draw()
    if len(ids := pick_ids(viewer)) > 1:
        _measured(viewer, ids, window)


def _measured(viewer: ViewerState, ids: list[int], window: tuple[int, int]) -> None:
    loaded = viewer.loaded_scene
    centers = np.array([loaded.sphere(each)[0] for each in ids])
    places, ahead = view.project(viewer.view, centers, window[0] / window[1])
    if not ahead.all():
        return
    points = ((places + 1.0) * 0.5 * np.array(window)).tolist()
    real = [center_of(loaded.scene, each) for each in ids]
    for first in range(len(ids) - 1):
        (x0, y0), (x1, y1) = points[first], points[first + 1]
        for width, color in ((4.0, SHADOW), (2.0, ACCENT)):
            shapes.Line(x0, y0, x1, y1, thickness=width, color=color).draw()
        length = f"{float(np.linalg.norm(real[first + 1] - real[first])):.5g}"
        _tag(length, (x0 + x1) / 2, (y0 + y1) / 2)


def _tag(text: str, x: float, y: float) -> None:
    label = pyglet.text.Label(
        text, font_name=SANS, font_size=POINTS, color=INK, x=round(x), y=round(y),
        anchor_x="center", anchor_y="center",
    )  # fmt: skip
    width, height = label.content_width + 8, label.content_height + 2
    shapes.RoundedRectangle(x - width / 2, y - height / 2, width, height, 4, color=PAPER).draw()
    label.draw()


def draw_box(corners: tuple[float, float, float, float]) -> None:
    """Draw the box of a selection; `corners` are x and y of two of them."""
    x0, y0, x1, y1 = corners
    left, bottom, width, height = min(x0, x1), min(y0, y1), abs(x1 - x0), abs(y1 - y0)
    shapes.Rectangle(left, bottom, width, height, color=BOX).draw()
    points = [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]
    shapes.MultiLine(*points, closed=True, thickness=1.5, color=ACCENT).draw()
