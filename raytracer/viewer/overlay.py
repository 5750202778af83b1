"""What a window draws over the picture: texts, the panel, the time line, picks and layers."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from textwrap import wrap
from typing import Any, NamedTuple

import numpy as np
import pyglet
from numpy.typing import NDArray
from pyglet import shapes

from raytracer.config.errors import pluralize
from raytracer.viewer import panel
from raytracer.viewer.controls import make_help_pages
from raytracer.viewer.messages import Frame
from raytracer.viewer.picking import format_measures, trace_rings
from raytracer.viewer.session import TECHNICAL, Session

Color = tuple[int, int, int, int]
Size = tuple[int, int]

PAPER: Color = (14, 16, 20, 200)
INK: Color = (236, 238, 242, 255)
TRACK: Color = (96, 102, 114, 255)
ACCENT: Color = (255, 176, 0, 255)
SHADOW: Color = (0, 0, 0, 255)
BOX: Color = (255, 176, 0, 40)

FONTS = ["DejaVu Sans Mono", "Menlo", "Consolas", "Liberation Mono", "Courier New"]
SIZES = (10.0, 9.0, 8.0, 7.0, 6.0)  # of the font in points: the largest with which a text fits
MARGIN = 10  # pixels at 96 dots per inch
CUT = "…"  # at the end of a text, or of a line, that is too long
UNBROKEN = 4000  # pixels: pyglet needs a width for text of several lines


class WindowRect(NamedTuple):
    """A rectangle of the window, in pixels from the lower left."""

    x: int
    y: int
    width: int
    height: int

    def contains(self, x: float, y: float) -> bool:
        return 0 <= x - self.x <= self.width and 0 <= y - self.y <= self.height


class TextBlock:
    """Lines of text on a dark rectangle, at a place of a box of the window: 0..1 of its room."""

    def __init__(self, place: tuple[float, float], dpi: int, wraps: bool = False) -> None:
        self._place, self._dpi, self._wraps = place, dpi, wraps
        self.paper: WindowRect | None = None
        self.lines: list[str] = []
        self._drawn: tuple[str, WindowRect] | None = None
        self._label: Any = None
        self._sheet: Any = None

    def draw(self, text: str, box: WindowRect) -> int:
        """Draw a text, and return its height with the margin; 0 for an empty one or no room."""
        if (text, box) != self._drawn:  # layout is slow
            self._drawn = text, box
            self.paper = self._lay_out(text, box) if text else None
        if self.paper is None:
            return 0
        self._sheet.draw()
        self._label.draw()
        return round(self.paper.height + measure_borders(self._dpi)[0])

    def _lay_out(self, text: str, box: WindowRect) -> WindowRect | None:
        """Set label and rectangle; return the rectangle, or None if there is no room."""
        for points in SIZES:
            columns, rows = count_letters(box, self._dpi, points)
            lines = _break_lines(text, columns) if self._wraps else text.split("\n")
            if len(lines) <= rows and max(map(len, lines)) <= columns:
                break
        if columns < 1 or rows < 1:
            return None
        self.lines = _fit_lines(lines, columns, rows)
        self._label = _make_label("\n".join(self.lines), self._dpi, points)
        margin, pad = measure_borders(self._dpi)
        border = margin + pad
        width, height = self._label.content_width, self._label.content_height
        x = border + self._place[0] * (box.width - width - 2 * border) + box.x
        y = border + self._place[1] * (box.height - height - 2 * border) + box.y
        paper = WindowRect(
            round(x - pad), round(y - pad), round(width + 2 * pad), round(height + 2 * pad)
        )
        self._label.position = round(x), round(y + height), 0
        self._sheet = shapes.Rectangle(*paper, color=PAPER)
        return paper


class TimeLine:
    """The time line of a trajectory at the bottom of a window: button, numbers, knob on a track."""

    def __init__(self, dpi: int) -> None:
        self._dpi, self._unit = dpi, dpi / 96
        self.paper = self._track = WindowRect(0, 0, -1, -1)  # there is none
        self._drawn: tuple[Any, ...] = ()
        self._parts: list[Any] = []

    def draw(self, session: Session, width: int) -> int:
        """Draw the time line in a window of a width; return its height, 0 for a single frame."""
        time, number, unit = session.time, session.frame_number, self._unit
        if time.count == 1:
            self.paper = WindowRect(0, 0, -1, -1)
            return 0
        state = width, time.count, number, time.playing, time.speed
        if state != self._drawn:  # layout is slow
            self._drawn = state
            text = f"{'❚❚' if time.playing else '▶ '} {number:,} / {time.count - 1:,} "
            label = _make_label(f"{text} {time.speed:g}x", self._dpi, SIZES[1])
            label.position = round(20 * unit), round(23 * unit + label.content_height / 2), 0
            left = round(40 * unit + label.content_width)
            long = max(round(width - 30 * unit) - left, 1)
            track = WindowRect(left, round(21 * unit), long, round(4 * unit))
            edge = round(10 * unit)
            self.paper = WindowRect(edge, edge, width - 2 * edge, round(26 * unit))
            knob = track.x + track.width * number / (time.count - 1)
            self._track = track
            self._parts = [
                shapes.Rectangle(*self.paper, color=PAPER), label,
                shapes.Rectangle(*track, color=TRACK),
                shapes.Circle(knob, 23 * unit, 7 * unit, color=ACCENT),
            ]  # fmt: skip
        for part in self._parts:
            part.draw()
        return round(42 * unit)

    def on_button(self, x: float) -> bool:
        return x < self.paper.x + 30 * self._unit

    def find_share(self, x: float) -> float:
        """Return the position on the track nearest to a point, 0..1."""
        return min(max((x - self._track.x) / self._track.width, 0.0), 1.0)


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
            self._sprite.width, self._sprite.height = window
            self._sprite.draw()


class WindowOverlay:
    """All that is drawn over the picture of a session."""

    def __init__(self, dpi: int) -> None:
        self._dpi = dpi
        self._about = TextBlock((0.0, 1.0), dpi)
        self._message = TextBlock((0.0, 0.0), dpi, wraps=True)
        self._help = TextBlock((0.5, 0.5), dpi)
        self.panel = TextBlock((0.0, 0.0), dpi)
        self._rows: list[panel.PanelRow | None] = []  # of the lines of the panel
        self.time_line = TimeLine(dpi)
        self._marks, self._legend = Layer(), Layer()

    def draw_layers(self, frame: Frame, window: Size) -> None:
        """Draw marks, and the legend over pictures that do not have it: drafts and those of GPUs.
        Annotations that depend on the camera, such as a scale bar, are drawn only at rest."""
        self._marks.draw(frame.marks, frame.size, lambda: frame.marks, window)
        if frame.draft or not hasattr(frame.picture, "pixels"):
            plan, shown = frame.request.loaded_scene.job.plan, frame.request.size
            self._legend.draw(plan, shown, lambda: _draw_legend_and_texts(frame), window)

    def draw(self, session: Session, status: list[str], window: Size) -> None:
        """Draw all text, the messages at the bottom and the rest above them."""
        for points in trace_rings(session, window):
            for thickness, color in ((4.0, SHADOW), (2.0, ACCENT)):
                shapes.MultiLine(*points, closed=True, thickness=thickness, color=color).draw()
        width, height = window
        used = self.time_line.draw(session, width)
        lines = panel.make_lines(session) if session.panel and not session.help else []
        self._rows = [row for _, row in lines]
        room = WindowRect(0, used, width, height - used)
        self.panel.draw("\n".join(text for text, _ in lines), room)
        # Beside the panel, whose rows must not move between two clicks.
        left = 0 if self.panel.paper is None else self.panel.paper.x + self.panel.paper.width
        used += self._message.draw(
            _format_message(session), WindowRect(left, used, width - left, height - used)
        )
        if session.help:
            room = WindowRect(0, used, width, height - used)
            pages = make_help_pages(*count_letters(room, self._dpi, SIZES[1]))
            session.help_pages = len(pages)
            self._help.draw("\n".join(pages[min(session.help, len(pages)) - 1]), room)
            return
        about = [status if session.overlay else []]
        about.append([*(session.picked.lines if session.picked else []), *format_measures(session)])
        text = "\n\n".join("\n".join(each) for each in about if each)
        self._about.draw(text, WindowRect(left, used, width - left, height - used))

    def find_row(self, y: float) -> panel.PanelRow | None:
        """Return the row at a height of the panel, if it is not a title."""
        assert self.panel.paper is not None
        pad, count, paper = measure_borders(self._dpi)[1], len(self.panel.lines), self.panel.paper
        down = paper.y + paper.height - pad - y
        index = min(max(int(down * count // (paper.height - 2 * pad)), 0), count - 1)
        return None if self.panel.lines[index].startswith(CUT) else self._rows[index]

    def draw_alone(self, text: str, window: Size) -> None:
        """Draw a text in the middle of an otherwise empty window."""
        self._help.draw(text, WindowRect(0, 0, *window))


def draw_box(corners: tuple[float, float, float, float]) -> None:
    """Draw the box of a selection; `corners` are x and y of two of them."""
    x0, y0, x1, y1 = corners
    shapes.Rectangle(x0, y0, x1 - x0, y1 - y0, color=BOX).draw()
    points = [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]
    shapes.MultiLine(*points, closed=True, thickness=1.5, color=ACCENT).draw()


def _draw_legend_and_texts(frame: Frame) -> NDArray[np.uint8] | None:
    """Return the annotations that do not depend on the camera, uint8 (h, w, 4)."""
    job = frame.request.job
    plan = job.plan
    if plan is None or (plan.annotations.legend is None and not plan.annotations.texts):
        return None
    width, height = frame.request.size
    pixels = np.zeros((height, width, 4), np.uint8)
    fixed = replace(plan, annotations=replace(plan.annotations, axes=None, scale_bar=None))
    fixed.draw_fixed(pixels, job.view, job.space)
    return pixels


# Texts


def format_status(session: Session, rate: float, way: str) -> list[str]:
    """Return the lines of the status text: scene, progress, tone; device and rates if TECHNICAL.
    rate: frames per second. way: how frames reach the window."""
    counts, frame, tone = session.loaded_scene.scene.counts(), session.frame, session.tone
    there = ", ".join(pluralize(count, noun) for noun, count in counts.items())
    lines = [f"{session.loaded_scene.name}   {there}"]
    if frame is not None:
        lines.append(_format_progress(frame))
    exposure = "auto" if tone.automatic else f"{float(tone.exposure):+.2f}"
    lines += [f"exposure {exposure}, tone curve {tone.tone}", "Tab: panel   H: keys"]
    if session.overlay >= TECHNICAL:
        lines += ["", str(session.loaded_scene.job.about["backend"]["device"])]
        if frame is not None:
            width, height = frame.size
            lines += [f"{width}x{height} pixels rendered", f"{rate:.0f} frames/s"]
            lines.append(f"shown by {way}")
    return lines


def _format_progress(frame: Frame) -> str:
    samples = frame.request.samples
    if frame.finished:
        return pluralize(samples, "sample", " per pixel, finished")
    if frame.draft or frame.size != frame.request.size:
        return "quick draft, samples follow"
    return f"{frame.samples} of {samples} samples per pixel"


def _format_message(session: Session) -> str:
    """Return the prompt with the current message, or messages and the progress of a save job."""
    if session.prompt is not None:
        return "\n".join(filter(None, [session.notice, str(session.prompt)]))
    lines = [] if session.help else [session.reload_error, session.notice]
    if save_job := session.worker.save_job:
        lines.append(f"{save_job.path}: {save_job.fraction:.0%}; Esc cancels")
    return "\n".join(filter(None, lines))


def count_letters(room: WindowRect, dpi: int, points: float) -> Size:
    """Return the number of letters per line, and of lines, that fit into a box."""
    border = 2 * sum(measure_borders(dpi))
    wide, high = _measure_letter(dpi, points)
    return int((room.width - border) / wide), int((room.height - border) / high)


def measure_borders(dpi: int) -> tuple[float, float]:
    """Return the margin outside a sheet and the padding inside it, in pixels."""
    margin = MARGIN * dpi / 96
    return margin, 0.6 * margin


def _make_label(text: str, dpi: int, points: float) -> Any:
    return pyglet.text.Label(
        text, font_name=FONTS, font_size=points, dpi=dpi, color=INK, multiline=True,
        width=UNBROKEN, anchor_y="top",
    )  # fmt: skip


@cache
def _measure_letter(dpi: int, points: float) -> tuple[float, float]:
    """Return the width of a letter and the height of a line, in pixels."""
    label = _make_label("\n".join(["M" * 64] * 16), dpi, points)
    return label.content_width / 64, label.content_height / 16


def _break_lines(text: str, columns: int) -> list[str]:
    """Break lines between words, or within longer words, at a number of letters."""
    lines = (wrap(line, max(columns, 1)) or [""] for line in text.split("\n"))
    return [part for parts in lines for part in parts]


def _fit_lines(lines: list[str], columns: int, rows: int) -> list[str]:
    if len(lines) > rows:
        lines = [*lines[: rows - 1], f"{CUT} {len(lines) - rows + 1} more"]
    return [line if len(line) <= columns else line[: columns - 1] + CUT for line in lines]
