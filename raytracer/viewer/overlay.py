"""Text over the picture: the numbers, messages, the picked sphere, the help."""

from __future__ import annotations

from itertools import zip_longest
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
SMALLEST = 0.6  # of the size of text, to fit a window


class Panel:
    """Some lines on dark paper, at a corner of the window.

    place: where the text's corner is, as parts of the window's width and height.
    """

    def __init__(self, place: tuple[float, float], dpi: int, ink: Color = INK) -> None:
        self._place, self._dpi, self._ink = place, dpi, ink
        self._text, self._room = "", (0, 0)
        self._label: pyglet.text.Label | None = None
        self._paper: pyglet.shapes.Rectangle | None = None

    def draw(self, text: str, window: tuple[int, int]) -> None:
        """Draw the text; nothing for an empty one."""
        if not text:
            return
        scale = self._dpi / 96
        margin, pad = MARGIN * scale, 0.6 * MARGIN * scale
        if self._label is None or text != self._text or window != self._room:
            self._text, self._room = text, window
            self._set(text)
            self._fit(window, 2 * (margin + pad))
        assert self._label is not None
        assert self._paper is not None
        width, height = self._label.content_width, self._label.content_height
        x = margin + pad + self._place[0] * (window[0] - width - 2 * (margin + pad))
        y = margin + pad + self._place[1] * (window[1] - height - 2 * (margin + pad))
        self._label.position = round(x), round(y + height), 0
        self._paper.position = round(x - pad), round(y - pad)
        self._paper.width, self._paper.height = round(width + 2 * pad), round(height + 2 * pad)
        self._paper.draw()
        self._label.draw()

    def _set(self, text: str) -> None:
        if self._label is None:
            # pyglet asks for a width where there are lines, which content_width then measures.
            self._label = pyglet.text.Label(
                text, font_name=FONTS, font_size=POINTS, color=self._ink, dpi=self._dpi,
                multiline=True, width=4000, anchor_x="left", anchor_y="top",
            )  # fmt: skip
            self._paper = pyglet.shapes.Rectangle(0, 0, 1, 1, color=PAPER)
        else:
            self._label.text = text

    def _fit(self, window: tuple[int, int], border: float) -> None:
        """Smaller text, if it would not fit the window."""
        assert self._label is not None
        if self._label.font_size != POINTS:
            self._label.font_size = POINTS
        taken = self._label.content_width, self._label.content_height
        part = min((w - border) / max(t, 1) for w, t in zip(window, taken, strict=True))
        if part < 1.0:
            self._label.font_size = POINTS * max(part, SMALLEST)


class Overlay:
    """Every panel of the window."""

    def __init__(self, dpi: int) -> None:
        """dpi: of the window, which text follows."""
        self._status = Panel((0.0, 1.0), dpi)
        self._notice = Panel((0.0, 0.0), dpi)
        self._picked = Panel((1.0, 1.0), dpi)
        self._trouble = Panel((0.5, 0.0), dpi, ALARM)
        self._help = Panel((0.5, 0.5), dpi)

    def draw(self, viewer: Viewer, status: list[str], window: tuple[int, int]) -> None:
        """Draw what there is to say. status: the lines of numbers. window: its size in pixels."""
        _ring(viewer, window)
        if viewer.overlay and not viewer.help:
            self._status.draw("\n".join(status), window)
        if viewer.picked is not None and not viewer.help:
            self._picked.draw("\n".join(viewer.picked.lines()), window)
        self._trouble.draw(viewer.trouble, window)
        self._notice.draw(_message(viewer), window)
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
