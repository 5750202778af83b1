"""Who imports whom, drawn as SVG from the import statements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from itertools import pairwise

Arrows = dict[str, set[str]]

WIDTH, HEIGHT, ROW, GAP = 860, 26, 64, 12  # of the drawing; of a box; between rows; between boxes
LETTER, PADDING = 6.7, 18  # of 12 px sans serif
# The package itself, its entry point, and the file with the version.
LEFT_OUT = {"", "__main__", "_version"}


def units(modules: Mapping[str, set[str]]) -> Arrows:
    """Return folders and top-level modules of the package, and which of them each imports.

    Args:
        modules: full names of modules, and of those that each imports.

    Returns:
        Names without "raytracer."; a folder ends with "/". Those that import each other are one,
        "film, film_file".
    """
    folders = {name.split(".")[1] for name in modules if name.count(".") > 1}

    def unit(module: str) -> str:
        top = module.partition(".")[2].partition(".")[0]
        return f"{top}/" if top in folders else top

    arrows: Arrows = {}
    for module, imported in modules.items():
        found = arrows.setdefault(unit(module), set())
        found |= {unit(name) for name in imported} - {unit(module)} - LEFT_OUT
    for name in LEFT_OUT & set(arrows):
        del arrows[name]
    for group in circles(arrows):
        arrows = _joined(arrows, group)
    return arrows


def _joined(arrows: Arrows, group: Iterable[str]) -> Arrows:
    """The same with a group as one."""
    name = ", ".join(sorted(group))
    renamed = {one: name if one in set(group) else one for one in arrows}
    joined: Arrows = {}
    for one, targets in arrows.items():
        joined.setdefault(renamed[one], set()).update(renamed[target] for target in targets)
    joined[name].discard(name)
    return joined


def reduced(arrows: Arrows) -> Arrows:
    """Return the arrows that do not follow from others."""

    def reached(name: str) -> set[str]:
        return arrows[name].union(*(reached(target) for target in arrows[name]))

    below = {name: reached(name) for name in arrows}
    return {
        name: {one for one in targets if not any(one in below[other] for other in targets)}
        for name, targets in arrows.items()
    }


def rows(arrows: Arrows) -> list[list[str]]:
    """Return the units in rows from the top down; each imports from rows below its own only."""
    depth: dict[str, int] = {}

    def height(name: str) -> int:
        if name not in depth:
            depth[name] = 1 + max((height(target) for target in arrows[name]), default=-1)
        return depth[name]

    for name in arrows:
        height(name)
    found = [
        sorted(name for name in arrows if depth[name] == level)
        for level in range(max(depth.values()), -1, -1)
    ]
    for _ in range(8):  # units move towards the middle of those that they are tied to
        for up, row in pairwise(found):
            row.sort(key=lambda name, up=up: _middle(name, up, arrows))
    return found


def _middle(name: str, above: list[str], arrows: Arrows) -> float:
    places = [(at + 0.5) / len(above) for at, user in enumerate(above) if name in arrows[user]]
    return sum(places) / len(places) if places else 0.5


def _width(name: str) -> float:
    return len(name) * LETTER + PADDING


def _broken(row: list[str]) -> list[list[str]]:
    """A row in lines that fit into the drawing."""
    lines: list[list[str]] = [[]]
    for name in row:
        if sum(_width(one) + GAP for one in [*lines[-1], name]) > WIDTH and lines[-1]:
            lines.append([])
        lines[-1].append(name)
    return lines


def svg(arrows: Arrows) -> str:
    """Return the drawing; its colours are those of the text around it."""
    arrows = reduced(arrows)
    lines = [line for row in rows(arrows) for line in _broken(row)]
    boxes: dict[str, tuple[float, float, float]] = {}
    for at, line in enumerate(lines):
        free = (WIDTH - sum(map(_width, line))) / (len(line) + 1)
        x = free
        for name in line:
            boxes[name] = (x, 10 + at * ROW, _width(name))
            x += _width(name) + free
    parts = []
    for name, targets in arrows.items():
        x, y, width = boxes[name]
        for target in sorted(targets):
            u, v, span = boxes[target]
            start, end = x + width / 2, u + span / 2
            bend = (v - y - HEIGHT) / 2
            parts.append(
                f'<path d="M{start:.0f} {y + HEIGHT:.0f} C{start:.0f} {y + HEIGHT + bend:.0f} '
                f'{end:.0f} {v - bend:.0f} {end:.0f} {v:.0f}" fill="none" stroke="currentColor" '
                'stroke-opacity="0.35"/>'
            )
    for name, (x, y, width) in boxes.items():
        parts.append(
            f'<rect x="{x:.0f}" y="{y:.0f}" width="{width:.0f}" height="{HEIGHT}" rx="4" '
            'fill="var(--color-background-primary, white)" stroke="currentColor"'
            f' stroke-width="{2 if name.endswith("/") else 1}"/>'
            f'<text x="{x + width / 2:.0f}" y="{y + 17:.0f}" text-anchor="middle" '
            f'font-size="12" fill="currentColor">{escape(name)}</text>'
        )
    height = 10 + len(lines) * ROW - (ROW - HEIGHT) + 10
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" font-family="sans-serif" '
        f'aria-label="Packages and their imports">{"".join(parts)}</svg>'
    )


def circles(arrows: Mapping[str, set[str]]) -> list[list[str]]:
    """The groups of modules that reach each other, each sorted (Tarjan 1972)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for target in arrows[name]:
            if target not in index:
                visit(target)
                low[name] = min(low[name], low[target])
            elif target in stack:
                low[name] = min(low[name], index[target])
        if low[name] == index[name]:
            group = stack[stack.index(name) :]
            del stack[stack.index(name) :]
            if len(group) > 1:
                found.append(sorted(group))

    for name in arrows:
        if name not in index:
            visit(name)
    return sorted(found)
