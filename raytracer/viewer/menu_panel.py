"""The context menu of a window: rows, chosen row, and positions."""

from __future__ import annotations

from pyglet import shapes

from raytracer.viewer.controls import Item
from raytracer.viewer.overlay import POINTS, Box, Panel, borders, letter
from raytracer.viewer.overlay_shapes import BOX, PAPER
from raytracer.viewer.state import OpenMenu

BACK = Item("‹ back", "back")  # first row of a submenu


class MenuPanel:
    """Draws the menu; the mouse or keys choose a row."""

    def __init__(self, dpi: int, menu: OpenMenu | None = None) -> None:
        self._dpi, self.menu = dpi, menu
        self._panel = Panel((0.0, 1.0), dpi, sheet=(*PAPER[:3], 240))
        self._number = 0  # of the menu that the next fields are about
        self._within: Item | None = None  # whose submenu is open
        self._chosen: int | None = None
        self._first = self._shown = 0  # first visible row, and their number

    @property
    def rows(self) -> list[Item]:
        if self.menu is None:
            return []
        if self._number != self.menu.number:
            self._number, self._within = self.menu.number, None
            self._chosen, self._first = None, 0
        if not self.menu.items or self._within is None:
            return list(self.menu.items)
        return [BACK, *self._within.items]

    def draw(self, window: tuple[int, int]) -> None:
        """Draw it beside its position, within the window (width and height in pixels)."""
        rows = self.rows
        if self.menu is None or not rows:
            self._panel.draw("", Box(0, 0, *window))
            return
        margin, pad = borders(self._dpi)
        high = letter(self._dpi, POINTS)[1]
        self._shown = max(min(int((window[1] - 2 * (margin + pad)) / high), len(rows)), 1)
        if self._chosen is not None:
            self._first = min(max(self._first, self._chosen + 1 - self._shown), self._chosen)
        self._first = min(self._first, len(rows) - self._shown)
        lines = _lines(rows)[self._first : self._first + self._shown]
        wide = len(lines[0]) * letter(self._dpi, POINTS)[0] + 2 * pad
        tall = self._shown * high + 2 * pad
        x, y = self.menu.place
        left = round(max(min(x, window[0] - wide - margin), 0) - margin)
        top = round(min(max(window[1] - y, tall + margin), window[1]) + margin)
        room = Box(left, 0, round(wide + 2 * margin) + 2, top)
        self._panel.draw("\n".join(lines), room)
        self._draw_choice()

    def _draw_choice(self) -> None:
        paper = self._panel.paper
        if self._chosen is None or paper is None:
            return
        pad = borders(self._dpi)[1]
        high = (paper.height - 2 * pad) / self._shown
        bottom = paper.y + paper.height - pad - (self._chosen - self._first + 1) * high
        shapes.Rectangle(paper.x, bottom, paper.width, high, color=(*BOX[:3], 90)).draw()

    def row_at(self, x: float, y: float) -> int | None:
        """Return the row at a point, pixels from the lower left; -1 on a border, None outside."""
        line = self._panel.line_at(x, y) if self.rows else None
        if line is None:
            return None
        return self._first + line if 0 <= line < self._shown else -1

    def point(self, x: float, y: float) -> bool:
        """Choose the row under the mouse; return whether the choice has changed."""
        row = self.row_at(x, y)
        chosen = row if row is not None and row >= 0 and self.rows[row].is_active else None
        changed = chosen != self._chosen
        self._chosen = chosen
        return changed

    def step(self, count: int) -> None:
        active = [row for row, item in enumerate(self.rows) if item.is_active]
        if self._chosen in active:
            self._chosen = active[(active.index(self._chosen) + count) % len(active)]
        elif active:
            self._chosen = active[0 if count > 0 else -1]

    def take(self) -> Item | None:
        """Perform the chosen row: open its submenu, go back, or return an action and close."""
        item = None if self._chosen is None else self.rows[self._chosen]
        if item is None or not item.is_active:
            return None
        if item is BACK:
            self.back()
            return None
        if item.items:
            self._within, self._chosen, self._first = item, None, 0
            return None
        self.close()
        return item

    def back(self) -> None:
        """Leave the submenu, or close the menu."""
        within, self._within, self._first = self._within, None, 0
        if within is None:
            self.close()
        else:
            self._chosen = self.rows.index(within)

    def close(self) -> None:
        if self.menu is not None:
            self.menu.items = ()


def _lines(rows: list[Item]) -> list[str]:
    """Return rows as lines of the same length: mark, label, key."""
    keys = ["›" if item.items else item.key for item in rows]
    wide, right = max(len(item.label) for item in rows), max(map(len, keys))
    return [
        f"{'•' if item.chosen else ' '} {item.label:<{wide}}  {key:>{right}} "
        for item, key in zip(rows, keys, strict=True)
    ]
