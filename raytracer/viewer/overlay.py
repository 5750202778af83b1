"""Text over the picture: status, messages, picked sphere, panel, help."""

import re
from functools import cache
from math import floor
from textwrap import wrap
from typing import Any, NamedTuple

import pyglet

from raytracer.viewer import panel
from raytracer.viewer.controls import help_pages
from raytracer.viewer.overlay_shapes import ACCENT, INK, PAPER, Color, TimeLine, draw_picks
from raytracer.viewer.picking import measures
from raytracer.viewer.state import ViewerState

FONTS = ["DejaVu Sans Mono", "Menlo", "Consolas", "Liberation Mono", "Courier New"]
SIZES = (10.0, 9.0, 8.0, 7.0, 6.0)  # of the font in points: the largest with which a text fits
ALARM: Color = (255, 196, 120, 255)
COLUMN_GAP = 4  # letters between the texts of two corners
MARGIN = 10  # pixels at 96 dots per inch
CUT = "…"  # at the end of a text, or of a line, that is too long
UNBROKEN = 4000  # pixels: pyglet needs a width for text of several lines


class Box(NamedTuple):
    """A rectangle of the window, in pixels from the lower left."""

    x: int
    y: int
    width: int
    height: int


class Sheet:
    """Lines of text on a dark rectangle, in a box of the window."""

    def __init__(
        self,
        place: tuple[float, float],
        dpi: int,
        ink: Color = INK,
        wraps: bool = False,
        titled: bool = False,
    ) -> None:
        self._place, self._dpi, self._ink, self._wraps = place, dpi, ink, wraps
        self._titled = titled  # whether lines that are not indented are titles
        self.paper: Box | None = None
        self._lines: list[str] = []
        self._drawn: tuple[str, Box] | None = None
        self._label: Any = None
        self._sheet: Any = None

    def draw(self, text: str, box: Box) -> int:
        """Draw a text, and return its height with the margin.

        Draws nothing if it is empty or the box is too small for a letter.
        """
        if (text, box) != self._drawn:
            self._drawn = text, box
            self.paper = self._lay_out(text, box) if text else None
        if self.paper is None:
            return 0
        self._sheet.draw()
        self._label.draw()
        return round(self.paper.height + borders(self._dpi)[0])

    def _lay_out(self, text: str, box: Box) -> Box | None:
        """Set label and rectangle; return the rectangle, or None if there is no room."""
        for points in SIZES:
            columns, rows = letters(box, self._dpi, points)
            lines = _broken(text, columns) if self._wraps else text.split("\n")
            if len(lines) <= rows and max(map(len, lines)) <= columns:
                break
        if columns < 1 or rows < 1:
            return None
        self._lines = _fitted(lines, columns, rows)
        self._label = self._label_of("\n".join(self._lines), points)
        margin, pad = borders(self._dpi)
        border = margin + pad
        width, height = self._label.content_width, self._label.content_height
        x = border + self._place[0] * (box.width - width - 2 * border) + box.x
        y = border + self._place[1] * (box.height - height - 2 * border) + box.y
        paper = Box(round(x - pad), round(y - pad), round(width + 2 * pad), round(height + 2 * pad))
        self._label.position = round(x), round(y + height), 0
        self._sheet = pyglet.shapes.Rectangle(*paper, color=PAPER)
        return paper

    def _label_of(self, text: str, points: float) -> Any:
        document = pyglet.text.document.FormattedDocument(text)
        style: Any = {"font_name": FONTS, "font_size": points, "color": self._ink}
        document.set_style(0, len(text), style)
        for title in re.finditer(r"^\S.*$", text, re.MULTILINE) if self._titled else ():
            document.set_style(*title.span(), {"color": ACCENT})
        return pyglet.text.DocumentLabel(
            document, dpi=self._dpi, multiline=True, width=UNBROKEN, anchor_y="top"
        )

    def holds(self, x: float, y: float) -> bool:
        left, bottom, width, height = self.paper or (0, 0, -1, -1)
        return 0 <= x - left <= width and 0 <= y - bottom <= height

    def line_at(self, y: float) -> int | None:
        """Return the number of the line at a height of the sheet; None where the text is cut."""
        assert self.paper is not None
        top, pad, count = self.paper.y + self.paper.height, borders(self._dpi)[1], len(self._lines)
        line = floor((top - pad - y) * count / (self.paper.height - 2 * pad))
        line = min(max(line, 0), count - 1)
        return None if self._lines[line].startswith(CUT) else line


class Overlay:
    def __init__(self, dpi: int) -> None:
        self._dpi = dpi
        self._status = Sheet((0.0, 1.0), dpi)
        self._notice = Sheet((0.0, 0.0), dpi, wraps=True)
        self._picked = Sheet((1.0, 1.0), dpi)
        self._reload_error = Sheet((0.5, 0.0), dpi, ALARM, wraps=True)
        self._help = Sheet((0.5, 0.5), dpi)
        self.panel = Sheet((0.0, 0.0), dpi, titled=True)
        self._rows: list[panel.Row | None] = []  # of the lines of the panel
        self.time_line = TimeLine(dpi)

    def draw(self, viewer: ViewerState, status: list[str], window: tuple[int, int]) -> None:
        """Draw all text, the messages at the bottom and the rest above them."""
        draw_picks(viewer, window)
        width, height = window
        used = round(self.time_line.draw(viewer, width))
        lines = panel.lines(viewer) if viewer.panel and not viewer.help else []
        self._rows = [row for _, row in lines]
        room = Box(0, used, width, height - used)
        panel_top = used + self.panel.draw("\n".join(text for text, _ in lines), room)
        # Beside the panel, whose rows must not move between two clicks.
        left = 0 if self.panel.paper is None else self.panel.paper.x + self.panel.paper.width
        used += self._notice.draw(_message(viewer), Box(left, used, width - left, height - used))
        reload_error = viewer.reload_error if not viewer.help else ""  # the help needs the room
        used += self._reload_error.draw(reload_error, Box(left, used, width - left, height - used))
        room = Box(0, used, width, height - used)
        if viewer.help:
            pages = help_pages(*letters(room, self._dpi, SIZES[1]))
            viewer.help_pages = len(pages)
            self._help.draw("\n".join(pages[min(viewer.help, len(pages)) - 1]), room)
            return
        described = viewer.picked.lines if viewer.picked else []
        picked = [*described, *measures(viewer)]
        self._draw_corners(status if viewer.overlay else [], picked, room, max(panel_top, used))

    def row_at(self, y: float) -> panel.Row | None:
        """Return the row at a height of the panel, if it is not a title."""
        line = self.panel.line_at(y)
        return None if line is None else self._rows[line]

    def draw_alone(self, text: str, window: tuple[int, int]) -> None:
        """Draw a text in the middle of an otherwise empty window."""
        self._help.draw(text, Box(0, 0, *window))

    def _draw_corners(self, status: list[str], picked: list[str], room: Box, bottom: int) -> None:
        """Draw two texts at the top, one below the other if the window is narrow.

        bottom: from which there is room for the first.
        """
        columns, _ = letters(room, self._dpi, SIZES[0])
        wide = sum(max(map(len, lines), default=-COLUMN_GAP) for lines in (status, picked))
        over = Box(0, bottom, room.width, room.y + room.height - bottom)
        used = self._status.draw("\n".join(status), over)
        above = used if wide + COLUMN_GAP > columns else 0
        self._picked.draw("\n".join(picked), room._replace(height=room.height - above))


def letters(room: Box, dpi: int, points: float) -> tuple[int, int]:
    """Return the number of letters per line, and of lines, that fit into a box."""
    border = 2 * sum(borders(dpi))
    wide, high = letter(dpi, points)
    return int((room.width - border) / wide), int((room.height - border) / high)


def borders(dpi: int) -> tuple[float, float]:
    """Return the margin outside a sheet and the padding inside it, in pixels."""
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


def _broken(text: str, columns: int) -> list[str]:
    """Break lines between words, or within longer words, at a number of letters."""
    lines = (wrap(line, max(columns, 1)) or [""] for line in text.split("\n"))
    return [part for parts in lines for part in parts]


def _fitted(lines: list[str], columns: int, rows: int) -> list[str]:
    if len(lines) > rows:
        lines = [*lines[: rows - 1], f"{CUT} {len(lines) - rows + 1} more"]
    return [line if len(line) <= columns else line[: columns - 1] + CUT for line in lines]


def _message(viewer: ViewerState) -> str:
    """Return the prompt, or the current message and the progress of a save job."""
    if viewer.prompt is not None:
        return str(viewer.prompt)
    lines = [viewer.notice] if viewer.notice and not viewer.help else []
    if save_job := viewer.worker.save_job:
        lines.append(f"{save_job.path}: {save_job.fraction:.0%}; Esc cancels")
    return "\n".join(lines)
