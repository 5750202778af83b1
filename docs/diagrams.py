"""Diagrams of the pages about kernels, computed from the rules that the kernels follow.

`python docs/diagrams.py` writes them to `docs/static`.
"""

import sys
from collections.abc import Callable
from pathlib import Path

STATIC = Path(__file__).parent / "static"
DARK, LIGHT, LINE, OTHER = "#2563a8", "#b8d4f0", "#777777", "#d97a1e"


class Drawing:
    """Shapes of an SVG with a white ground, in pixels from the upper left corner."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self.shapes = [f'<rect width="{width}" height="{height}" fill="white"/>']

    def box(self, x: float, y: float, w: float, h: float, fill: str = "none") -> None:
        place = f'x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}"'
        self.shapes.append(f'<rect {place} fill="{fill}" stroke="{LINE}" stroke-width="0.7"/>')

    def line(self, x: float, y: float, to_x: float, to_y: float, color: str = LINE) -> None:
        ends = f'x1="{x:g}" y1="{y:g}" x2="{to_x:g}" y2="{to_y:g}"'
        self.shapes.append(f'<line {ends} stroke="{color}" stroke-width="1.3"/>')

    def dot(self, x: float, y: float, radius: float, fill: str) -> None:
        self.shapes.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" fill="{fill}"/>')

    def text(self, x: float, y: float, words: str, anchor: str = "start", size: int = 12) -> None:
        style = f'font-family="sans-serif" font-size="{size}" text-anchor="{anchor}"'
        self.shapes.append(f'<text x="{x:g}" y="{y:g}" {style}>{words}</text>')

    def svg(self) -> str:
        size = f'viewBox="0 0 {self.width} {self.height}" width="{self.width}"'
        body = "\n".join(self.shapes)
        return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>\n{body}\n</svg>\n'


def warp_access() -> Drawing:
    """The sectors of 32 bytes that a load of a warp touches, by rows and along a row."""
    d, rows, cols, cell = Drawing(720, 190), 8, 32, 10
    for x0, title, words, used in (
        (10, "01_by_rows: threads a row apart", "32 sectors for 32 numbers (8 rows shown)",
         {(row, 0) for row in range(rows)}),
        (380, "03_coalesced: threads along a row", "4 sectors for 32 numbers",
         {(0, col) for col in range(cols)}),
    ):  # fmt: skip
        sectors = {(row, col // 8) for row, col in used}
        d.text(x0, 20, title, size=14)
        for row in range(rows):
            for sector in range(cols // 8):
                fill = LIGHT if (row, sector) in sectors else "none"
                d.box(x0 + sector * 8 * cell, 34 + row * 14, 8 * cell, 14, fill)
        for row, col in sorted(used):
            d.box(x0 + col * cell, 34 + row * 14, cell, 14, DARK)
        d.text(x0, 166, words)
    d.text(10, 184, "dark: what the warp asks for; light: what comes with it", size=11)
    return d


def lane_copies() -> Drawing:
    """The banks in which eight lanes count their keys, with one copy of the bins and with 32."""
    d, keys = Drawing(720, 190), (5, 37, 5, 69, 2, 101, 5, 7)
    banks: tuple[tuple[int, str, Callable[[int, int], int]], ...] = (
        (20, "one copy: bank = key modulo 32", lambda lane, key: key % 32),
        (390, "32 copies: bank = lane", lambda lane, key: (key * 32 + lane) % 32),
    )
    for x0, title, bank_of in banks:
        d.text(x0, 20, title, size=14)
        used = [bank_of(lane, key) for lane, key in enumerate(keys)]
        for lane, (key, bank) in enumerate(zip(keys, used, strict=True)):
            d.box(x0 + lane * 38, 34, 34, 24, LIGHT)
            d.text(x0 + lane * 38 + 17, 50, str(key), "middle")
            color = OTHER if used.count(bank) > 1 else DARK
            d.line(x0 + lane * 38 + 17, 58, x0 + bank * 38 + 17, 130, color)
            d.box(x0 + lane * 38, 130, 34, 24, OTHER if used.count(lane) > 1 else "none")
            d.text(x0 + lane * 38 + 17, 146, str(lane), "middle")
    d.text(
        20, 178, "above: keys of lanes 0 to 7; below: banks 0 to 7. Orange: served in turn", size=11
    )
    return d


def product_tiles() -> Drawing:
    """The tiles of 10_warp_tiles: of a block, a warp and a thread, each a part of the last."""
    d, top = Drawing(720, 225), 46
    panels: tuple[tuple[str, int, int, tuple[int, ...], tuple[int, ...]], ...] = (
        ("C: tiles of blocks, 128 x 128", 4, 4, (1,), (1,)),
        ("a block: warps, 64 x 32", 2, 4, (0,), (2,)),
        ("a warp: four 4 x 4 of a thread", 16, 8, (3, 11), (1, 5)),
    )
    for at, (title, rows, cols, row, col) in enumerate(panels):
        x0, width, height = 20 + at * 240, 150 / cols, 150 / rows
        d.text(x0, 20, title, size=13)
        d.box(x0 - 12, top, 8, 150)
        d.box(x0, top - 12, 150, 8)
        for r in range(rows):
            d.box(x0 - 12, top + r * height, 8, height, OTHER if r in row else "none")
            for c in range(cols):
                fill = DARK if r in row and c in col else "none"
                d.box(x0 + c * width, top + r * height, width, height, fill)
        for c in col:
            d.box(x0 + c * width, top - 12, width, 8, OTHER)
        if at < 2:
            d.line(
                x0 + (col[0] + 1) * width, top + (row[0] + 0.5) * height, x0 + 222, top + 75, DARK
            )
    d.text(20, 216, "orange: the rows of A and the columns of B that the dark tile needs", size=11)
    return d


def swizzle() -> Drawing:
    """Where the 16-byte pieces of eight rows of 128 bytes are, and which banks one column uses."""
    d, column = Drawing(720, 225), 2
    for x0, title, mask in ((30, "rows as they are", 0), (400, "piece = column xor row", 7)):
        d.text(x0, 20, title, size=14)
        for row in range(8):
            d.text(x0 - 6, 54 + row * 18, str(row), "end", 11)
            for col in range(8):
                piece = col ^ (row & mask)
                d.box(x0 + piece * 36, 40 + row * 18, 36, 18, DARK if col == column else "none")
                if col != column:
                    d.text(x0 + piece * 36 + 18, 53 + row * 18, str(col), "middle", 10)
        for piece in range(8):
            d.text(x0 + piece * 36 + 18, 36, f"{4 * piece}-{4 * piece + 3}", "middle", 9)
    d.text(
        30,
        202,
        "rows of 128 bytes, the banks above, pieces of 16 bytes by their column of the matrix",
    )
    words = "dark: column 2, which ldmatrix reads: four banks eight times, or all banks once"
    d.text(30, 218, words, size=11)
    return d


def element_lines() -> Drawing:
    """The points of an element of n = 4, and the lines along the axes through one of them."""
    d, n = Drawing(720, 220), 4

    def place(i: int, j: int, k: int) -> tuple[float, float]:
        return 60 + 62 * k + 21 * i, 186 - 42 * j - 13 * i

    chosen = (1, 1, 2)
    ends = {"x": ((0, 1, 2), (3, 1, 2)), "y": ((1, 0, 2), (1, 3, 2)), "z": ((1, 1, 0), (1, 1, 3))}
    for a, b in ends.values():
        d.line(*place(*a), *place(*b), DARK)
    points = [(i, j, k) for i in range(n) for j in range(n) for k in range(n)]
    apart = {p: sum(a != b for a, b in zip(p, chosen, strict=True)) for p in points}
    for point in sorted(points, key=lambda p: -apart[p]):
        fill = {0: OTHER, 1: DARK}.get(apart[point], LIGHT)
        d.dot(*place(*point), 5 if apart[point] < 2 else 3.5, fill)
    d.text(400, 60, "The gradient at one point takes three lines:", size=13)
    d.text(400, 84, "along x: values n² numbers apart in memory")
    d.text(400, 106, "along y: n numbers apart")
    d.text(400, 128, "along z: contiguous")
    d.text(400, 156, "Every value of a line serves n points of the line.", size=13)
    d.text(60, 212, "z to the right, y upwards, x into the page")
    return d


DIAGRAMS: dict[str, Callable[[], Drawing]] = {
    "warp-access": warp_access,
    "lane-copies": lane_copies,
    "product-tiles": product_tiles,
    "swizzle": swizzle,
    "element-lines": element_lines,
}


def main() -> int:
    for name, draw in DIAGRAMS.items():
        (STATIC / f"{name}.svg").write_text(draw().svg(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
