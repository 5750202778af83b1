"""Comparisons as Markdown tables: `python -m raytracer.benchmark.table RECORD.json ...`.

`--schema` in place of files prints the JSON Schema of such a record.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from rich.box import MARKDOWN
from rich.console import Console
from rich.table import Table

from raytracer.benchmark.comparison_record import Comparison, ComparisonRow, schema

WIDTH = 240  # characters; a redirected table must not be wrapped


def show(record: Comparison) -> None:
    """Print the device, the table and the note of a record."""
    console = Console(width=WIDTH, soft_wrap=True)
    device = ", ".join(f"{key} {value}" for key, value in record["device"].items())
    heading = f"{record['peer']}; {device}; load {record['load_average']}; {record['date']}"
    console.print(heading, highlight=False)
    console.print(table(record["rows"]))
    console.print(record["note"], highlight=False)


def table(rows: list[ComparisonRow]) -> Table:
    """Return frames and builds in ms, and ratios, bytes per sphere and hits as ours / peer."""
    modes = list(rows[0]["peers"]) if rows else []
    grid = Table(box=MARKDOWN)
    grid.add_column("scene")
    numbers = ["spheres", "ours ms: median \\[min, quartiles]", *(f"peer {mode}" for mode in modes)]
    numbers += ["ratio", "build ours", "build peer", "ratio", "bytes/sphere", "hits", "lit"]
    for name in [*numbers, "same"]:
        grid.add_column(name, justify="right")
    for row in rows:
        grid.add_row(*cells(row))
    return grid


def cells(row: ComparisonRow) -> list[str]:
    """Return the cells of one row; an asterisk marks the fastest mode of the peer."""
    ours, peers, fastest = row["ours"], row["peers"], row["fastest"]
    frame, best = ours["frame"], peers[fastest]
    spread = f"[{_ms(frame['min'])}, {_ms(frame['q1'])}–{_ms(frame['q3'])}]"
    return [
        row["scene"],
        f"{row['spheres']:,}",
        f"{_ms(frame['median'])} {spread}".replace("[", "\\["),  # rich reads [...] as a style
        *(_ms(peers[m]["frame"]["median"]) + ("*" if m == fastest else "") for m in peers),
        f"{row['frame_ratio']:.2f}",
        _ms(ours["build"]["median"]),
        _ms(row["peer_build"]["median"]),
        f"{row['build_ratio']:.2f}",
        " / ".join(_bytes(side["bytes_per_sphere"]) for side in (ours, best)),
        *(_both(*pair) for pair in ((ours["hits"], best["hits"]), (ours["lit"], best["lit"]))),
        {True: "yes", False: "NO", None: ""}[row["agree"]],
    ]


def _ms(value: float) -> str:
    return f"{value:.4g}" if value < 1000 else f"{value:.0f}"


def _bytes(value: float | None) -> str:
    return "?" if value is None else f"{value:.1f}"


def _both(ours: int | None, peer: int | None) -> str:
    return "" if ours is None or peer is None else f"{ours:,} / {peer:,}"


if __name__ == "__main__":
    if sys.argv[1:] == ["--schema"]:
        print(json.dumps(schema(), indent=1))
    else:
        for path in sys.argv[1:]:
            show(json.loads(Path(path).read_text(encoding="utf-8")))
