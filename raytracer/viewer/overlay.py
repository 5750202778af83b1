"""Text over the picture: status, messages, picked sphere, help."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import floor
from typing import Any

import pyglet

from raytracer.viewer import panel
from raytracer.viewer.bars import bars, room_for
from raytracer.viewer.controls import GROUPS, key_of
from raytracer.viewer.overlay_shapes import ACCENT, INK, PAPER, Bars, Color, draw_picks
from raytracer.viewer.panels import COLUMN_GAP, ROW_GAP, broken, fitted, heads_in, help_pages
from raytracer.viewer.picking import measures, picked_lines
from raytracer.viewer.state import ViewerState

FONTS = ["DejaVu Sans Mono", "Menlo", "Consolas", "Liberation Mono", "Courier New"]
POINTS = 10.0
ALARM: Color = (255, 196, 120, 255)
MARGIN = 10  # pixels at 96 dots per inch
UNBROKEN = 4000  # pixels: pyglet needs a width for text of several lines
SIZES = (1.0, 0.9, 0.8, 0.7, 0.6)  # factors of the font size, to fit a window
HELP_SIZES = (1.0, 0.9, 0.8)  # for one page; a smaller window gets several


@dataclass(frozen=True)
class Box:
    """A rectangle of the window, in pixels from the lower left."""

    x: int
    y: int
    width: int
    height: int


class Panel:
    """Lines of text on a dark rectangle, in a box of the window."""

    def __init__(
        self,
        place: tuple[float, float],
        dpi: int,
        ink: Color = INK,
        wraps: bool = False,
        heads: tuple[str, ...] = (),
        sheet: Color = PAPER,
    ) -> None:
        self._sheet_color = sheet
        self._place, self._dpi, self._ink, self._wraps = place, dpi, ink, wraps
        self._heads = heads
        self.paper: Box | None = None
        self.count = 0  # of lines
        self._drawn = "", Box(0, 0, 0, 0), POINTS
        self._label: Any = None
        self._sheet: pyglet.shapes.Rectangle | None = None

    def draw(self, text: str, box: Box, points: float = POINTS) -> int:
        """Draw a text; nothing if it is empty or the box is too small for a letter."""
        if (text, box, points) != self._drawn:
            self._drawn = text, box, points
            self.paper = self._lay_out(text, box, points) if text else None
        if self.paper is None:
            return 0
        assert self._sheet is not None
        self._sheet.draw()
        self._label.draw()
        return round(self.paper.height + borders(self._dpi)[0])

    def _lay_out(self, text: str, box: Box, points: float) -> Box | None:
        """Set label and rectangle; return the rectangle, or None if there is no room."""
        for part in SIZES:
            columns, rows = letters(box, self._dpi, points * part)
            if columns < 1 or rows < 1:
                continue
            lines = broken(text, columns) if self._wraps else text.split("\n")
            if len(lines) <= rows and max(map(len, lines)) <= columns:
                break
        else:
            if columns < 1 or rows < 1:
                return None
            lines = fitted(lines, columns, rows)
        self.count = len(lines)
        self._set("\n".join(lines), points * part)
        assert self._sheet is not None
        margin, pad = borders(self._dpi)
        border = margin + pad
        width, height = self._label.content_width, self._label.content_height
        x = border + self._place[0] * (box.width - width - 2 * border) + box.x
        y = border + self._place[1] * (box.height - height - 2 * border) + box.y
        paper = Box(round(x - pad), round(y - pad), round(width + 2 * pad), round(height + 2 * pad))
        self._label.position = round(x), round(y + height), 0
        self._sheet.position = paper.x, paper.y
        self._sheet.width, self._sheet.height = paper.width, paper.height
        return paper

    def _set(self, text: str, points: float) -> None:
        """Set the text; each part under a heading has its colour."""
        if self._sheet is None:
            self._sheet = pyglet.shapes.Rectangle(0, 0, 1, 1, color=self._sheet_color)
        layout: Any = {"dpi": self._dpi, "multiline": True, "width": UNBROKEN, "anchor_y": "top"}
        style: Any = {"font_name": FONTS, "font_size": points, "color": self._ink}
        if self._heads:
            document = pyglet.text.document.FormattedDocument(text)
            document.set_style(0, len(text), style)
            for start, end in heads_in(text, self._heads):
                document.set_style(start, end, {"color": ACCENT})
            self._label = pyglet.text.DocumentLabel(document, **layout)
        elif self._label is None:
            self._label = pyglet.text.Label(text, **style, **layout)
        else:
            self._label.text = text
            if self._label.font_size != points:
                self._label.font_size = points

    def line_at(self, x: float, y: float) -> int | None:
        """Return the number of the line at a point, or beyond the ends; None outside the panel."""
        paper = self.paper
        if paper is None or not (
            0 <= x - paper.x <= paper.width and 0 <= y - paper.y <= paper.height
        ):
            return None
        pad = borders(self._dpi)[1]
        return floor((paper.y + paper.height - pad - y) * self.count / (paper.height - 2 * pad))


class Overlay:
    def __init__(self, dpi: int) -> None:
        self._dpi = dpi
        self._status = Panel((0.0, 1.0), dpi)
        self._notice = Panel((0.0, 0.0), dpi, wraps=True)
        self._picked = Panel((1.0, 1.0), dpi)
        self._reload_error = Panel((0.5, 0.0), dpi, ALARM, wraps=True)
        self._help = Panel((0.5, 0.5), dpi, heads=GROUPS)
        self._data = Panel((0.0, 0.0), dpi, heads=panel.TITLES)
        self._data_rows: list[panel.Row] = []
        self._bars = Bars(dpi)

    def draw(self, viewer: ViewerState, status: list[str], window: tuple[int, int]) -> None:
        """Draw all text, the messages at the bottom and the rest above them."""
        draw_picks(viewer, window)
        width, height = window
        shown = bars(viewer, window, self._dpi)
        self._bars.draw(shown)
        used = room_for(shown, self._dpi)
        used += self._notice.draw(_message(viewer), Box(0, used, width, height - used))
        reload_error = viewer.reload_error if not viewer.help else ""  # the help needs the room
        used += self._reload_error.draw(reload_error, Box(0, used, width, height - used))
        room = Box(0, used, width, height - used)
        picked = picked_lines(viewer) + measures(viewer)
        lines = status if viewer.overlay and not viewer.help else []
        self._draw_corners(lines, [] if viewer.help else picked, room)
        self._draw_data(viewer, room)
        self._draw_help(viewer, room)

    def draw_alone(self, text: str, window: tuple[int, int]) -> None:
        """Draw a text in the middle of an otherwise empty window."""
        self._help.draw(text, Box(0, 0, *window))

    def _draw_data(self, viewer: ViewerState, room: Box) -> None:
        if not viewer.panel or viewer.help:
            self._data.draw("", room)
            return
        self._data_rows, text = _panel_lines(viewer)
        self._data.draw(text, room)

    def row_at(self, x: float, y: float) -> panel.Row | None:
        """Return the row of the panel at a point, in pixels from the lower left."""
        line = self._data.line_at(x, y)
        return None if line is None else self._data_rows[min(max(line, 0), self._data.count - 1)]

    def _draw_corners(self, status: list[str], picked: list[str], room: Box) -> None:
        """Draw two texts at the top; without room only the second."""
        columns, rows = letters(room, self._dpi, POINTS)
        wide = sum(max(map(len, lines), default=-COLUMN_GAP) for lines in (status, picked))
        beside = wide + COLUMN_GAP <= columns
        if not beside and picked and len(status) + ROW_GAP + len(picked) > rows:
            status = []
        used = self._status.draw("\n".join(status), room)
        below = Box(room.x, room.y, room.width, room.height - (0 if beside else used))
        self._picked.draw("\n".join(picked), below)

    def _draw_help(self, viewer: ViewerState, room: Box) -> None:
        """Draw the help on one page with the largest possible font, or on several pages."""
        if not viewer.help:
            self._help.draw("", room)
            return
        for part in HELP_SIZES:
            pages = help_pages(*letters(room, self._dpi, POINTS * part))
            if len(pages) == 1:
                break
        viewer.help_pages = len(pages)
        lines = pages[min(viewer.help, len(pages)) - 1]
        self._help.draw("\n".join(lines), room, POINTS * part)


def letters(room: Box, dpi: int, points: float) -> tuple[int, int]:
    """Return the number of letters per line, and of lines, that fit into a box."""
    border = 2 * sum(borders(dpi))
    wide, high = letter(dpi, points)
    return int((room.width - border) / wide), int((room.height - border) / high)


def borders(dpi: int) -> tuple[float, float]:
    """Return the margin outside a panel and the padding inside it, in pixels."""
    margin = MARGIN * dpi / 96
    return margin, 0.6 * margin


@cache
def letter(dpi: int, points: float) -> tuple[float, float]:
    """Return the width of a letter and the height of a line, in pixels."""
    label = pyglet.text.Label(
        "\n".join(["M" * 64] * 16), font_name=FONTS, font_size=points, dpi=dpi, multiline=True,
        width=UNBROKEN,
    )  # fmt: skip
    return label.content_width / 64, label.content_height / 16


def _panel_lines(viewer: ViewerState) -> tuple[list[panel.Row], str]:
    """Return the rows of the panel, with headings, and their lines: label, value, key."""
    rows: list[panel.Row] = []
    lines: list[tuple[str, str, str]] = []
    for title, section in list(panel.sections(viewer).items())[:4]:  # keys do the rest
        labelled = [row for row in section if row.label and row.calls()]
        rows += [panel.Row(title), *labelled]
        lines.append((title, "", ""))
        for row in labelled:
            name, values = next(iter(row.calls()), ("", {}))
            lines.append((f"  {row.label}", row.words(), key_of(name, values)))
    wide, values_wide, _ = (max(map(len, parts)) for parts in zip(*lines, strict=True))
    text = [
        f"{one:<{wide}}  {two:<{values_wide}}  {three:>7}".rstrip() for one, two, three in lines
    ]
    return rows, "\n".join(text)


def _message(viewer: ViewerState) -> str:
    """Return the prompt, or the current message and the progress of a save job."""
    if viewer.prompt is not None and viewer.question is not None:
        return viewer.question.lines(viewer.prompt)
    lines = [viewer.loading] if viewer.loading else []
    lines += [viewer.notice] if viewer.notice and not viewer.help else []
    if save_job := viewer.worker.save_job:
        if viewer.closes_after_save:
            lines.append(f"{save_job.path}: {save_job.fraction:.0%}, then the window closes")
            lines.append("close again to discard it; Esc to stay")
        else:
            lines.append(f"{save_job.path}: {save_job.fraction:.0%}; Esc cancels")
    return "\n".join(lines)
