"""Text over the picture: the numbers, messages, the picked sphere, the help."""

from __future__ import annotations

from itertools import zip_longest
from math import sqrt
from typing import TYPE_CHECKING

import pyglet

from raytracer.viewer.controls import help_rows
from raytracer.viewer.outline import outline, widened

if TYPE_CHECKING:
    from raytracer.viewer.viewer import Viewer

FONTS = ["DejaVu Sans Mono", "Menlo", "Consolas", "Liberation Mono", "Courier New"]
POINTS = 10.0
Color = tuple[int, int, int, int]
PAPER, INK, ALARM = (14, 16, 20, 200), (236, 238, 242, 255), (255, 196, 120, 255)
RING = (255, 176, 0, 255)
MARGIN = 10  # pixels at 96 dots an inch
LEAST_RING = 7.0  # pixels: around spheres that are smaller
UNBROKEN = 4000  # pixels: pyglet asks for a width where there are lines
SMALLEST = 0.6  # of the size of text, to fit a window


class Panel:
    """Some lines on dark paper, at a corner of the window.

    place: where the text's corner is, as parts of the window's width and height.
    wraps: long lines are broken, also within a word; otherwise the text becomes smaller.
    """

    def __init__(
        self, place: tuple[float, float], dpi: int, ink: Color = INK, wraps: bool = False
    ) -> None:
        self._place, self._dpi, self._ink, self._wraps = place, dpi, ink, wraps
        self._text, self._room = "", (0, 0)
        self._label: pyglet.text.Label | None = None
        self._paper: pyglet.shapes.Rectangle | None = None

    def draw(self, text: str, window: tuple[int, int], raised: int = 0) -> int:
        """Draw the text; nothing for an empty one.

        window: its size in pixels. raised: so many of them from below are taken already.
        Returns the height that it takes of the window, with a margin.
        """
        if not text:
            return 0
        scale, room = self._dpi / 96, (window[0], window[1] - raised)
        margin, pad = MARGIN * scale, 0.6 * MARGIN * scale
        if self._label is None or text != self._text or room != self._room:
            self._text, self._room = text, room
            self._set(text)
            self._fit(room, 2 * (margin + pad))
        assert self._label is not None
        assert self._paper is not None
        width, height = self._label.content_width, self._label.content_height
        x = margin + pad + self._place[0] * (room[0] - width - 2 * (margin + pad))
        y = margin + pad + self._place[1] * (room[1] - height - 2 * (margin + pad)) + raised
        self._label.position = round(x), round(y + height), 0
        self._paper.position = round(x - pad), round(y - pad)
        self._paper.width, self._paper.height = round(width + 2 * pad), round(height + 2 * pad)
        self._paper.draw()
        self._label.draw()
        return round(height + 2 * pad + margin)

    def _set(self, text: str) -> None:
        if self._label is None:
            self._label = pyglet.text.Label(
                text, font_name=FONTS, font_size=POINTS, color=self._ink, dpi=self._dpi,
                multiline=True, width=UNBROKEN, anchor_x="left", anchor_y="top",
            )  # fmt: skip
            self._paper = pyglet.shapes.Rectangle(0, 0, 1, 1, color=PAPER)
        else:
            self._label.text = text

    def _fit(self, room: tuple[int, int], border: float) -> None:
        """Break lines, and take smaller text if it would not fit."""
        assert self._label is not None
        if self._label.font_size != POINTS:
            self._label.font_size = POINTS
        if self._wraps:
            self._wrap(max(int(room[0] - border), 1))
        taken = self._label.content_width, self._label.content_height
        part = min((w - border) / max(t, 1) for w, t in zip(room, taken, strict=True))
        if part < 1.0:
            if self._wraps:  # smaller letters make fewer lines, too
                part = sqrt(max(part, 0.0))
            self._label.font_size = POINTS * max(part, SMALLEST)

    def _wrap(self, width: int) -> None:
        """Break lines between words, or anywhere if one word is wider than the window."""
        assert self._label is not None
        self._label.width = width
        self._label.set_style("wrap", "word")
        if self._label.content_width > width:
            self._label.set_style("wrap", "char")


class Overlay:
    """Every panel of the window."""

    def __init__(self, dpi: int) -> None:
        """dpi: of the window, which text follows."""
        self._status = Panel((0.0, 1.0), dpi)
        self._notice = Panel((0.0, 0.0), dpi, wraps=True)
        self._picked = Panel((1.0, 1.0), dpi)
        self._trouble = Panel((0.5, 0.0), dpi, ALARM, wraps=True)
        self._help = Panel((0.5, 0.5), dpi)

    def draw(self, viewer: Viewer, status: list[str], window: tuple[int, int]) -> None:
        """Draw what there is to say. status: the lines of numbers. window: its size in pixels."""
        _ring(viewer, window)
        if viewer.overlay and not viewer.help:
            self._status.draw("\n".join(status), window)
        if viewer.picked is not None and not viewer.help:
            self._picked.draw("\n".join(viewer.picked.lines()), window)
        raised = self._notice.draw(_message(viewer), window)
        self._trouble.draw(viewer.trouble, window, raised)
        if viewer.help:
            self._help.draw(help_text(), window)


def help_text() -> str:
    """All keys, in two columns."""
    rows = help_rows()
    half = (len(rows) + 1) // 2
    left, right = _column(rows[:half]), _column(rows[half:])
    wide = max(map(len, left))
    pairs = zip_longest(left, right, fillvalue="")
    return "\n".join(f"{one:<{wide}}    {other}".rstrip() for one, other in pairs)


def _column(rows: list[tuple[str, str]]) -> list[str]:
    wide = max(len(keys) for keys, _ in rows)
    return [f"{keys:>{wide}}  {meaning}" for keys, meaning in rows]


def _message(viewer: Viewer) -> str:
    """The prompt, how far a picture is, or the message of the moment."""
    if viewer.prompt is not None:
        width, height = viewer.size
        return (
            f"size of the PNG, and samples: {viewer.prompt or f'{width}x{height}'}▏\n"
            "for example 3840x2160 64; Enter saves, Esc cancels"
        )
    if saving := viewer.worker.saving:
        return f"{saving.path}: {saving.fraction:.0%}; Esc cancels"
    return viewer.notice


def _ring(viewer: Viewer, window: tuple[int, int]) -> None:
    """The outline of the picked sphere."""
    if viewer.picked is None:
        return
    center, radius = viewer.stage.sphere(viewer.picked.id)
    points = widened(outline(viewer.view, center, radius, window), LEAST_RING)
    if len(points) > 2:
        for width, color in ((4.0, (0, 0, 0, 255)), (2.0, RING)):
            pyglet.shapes.MultiLine(*points, closed=True, thickness=width, color=color).draw()
