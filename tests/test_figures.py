"""The tables of docs/kernels/figures.md against the records in renders/."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.pages import DOCS, ROOT, text_of

FIGURES = DOCS / "kernels" / "figures.md"


def rows(title: str) -> list[list[str]]:
    """The cells of every row of the tables below a heading."""
    text = text_of(FIGURES).split(f"\n## {title}\n")[1].split("\n## ")[0]
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def record(name: str) -> dict[str, Any]:
    """A record, as JSON types."""
    found: dict[str, Any] = json.loads((ROOT / "renders" / name).read_text(encoding="utf-8"))
    return found


def ours_and_library(result: dict[str, Any]) -> tuple[float, float]:
    """Seconds of our rung and of the faster library."""
    timed = [row for row in result["rows"] if row["status"] == "ok"]
    ours = [row["time"]["median"] for row in timed if row["kind"] != "peer"]
    return min(ours), min(row["time"]["median"] for row in timed if row["kind"] == "peer")


@pytest.mark.parametrize(("name", "first"), [("bf16", 0), ("fp32", 3)])
def test_squares(name: str, first: int) -> None:
    shown = [row[1:] for row in rows("Products of any size")[2:][first : first + 3]]
    results = record(f"records/squares/squares-{name}.json")["results"]
    assert [result["axes"]["m"] for result in results] == [1024, 2048, 4096, 8192]
    for place, result in enumerate(results):
        ours, library = ours_and_library(result)
        rates = [f"{result['work']['flop'] / time / 1e12:.1f}" for time in (ours, library)]
        assert [row[place] for row in shown] == [*rates, f"{library / ours:.3f}"]


@pytest.mark.parametrize("name", ["contraction-diffusion", "mass-advection"])
def test_elements_of_any_n(name: str) -> None:
    table = rows("Spectral elements")
    found = record(f"records/elements/{name}.json")["rows"]
    for key in {(row["op"], row["dtype"]) for row in found}:
        (place,) = [
            number
            for number, row in enumerate(table)
            if row[0] == " ".join(key).replace("contraction", "gradient")
        ]
        of_key = [row for row in found if (row["op"], row["dtype"]) == key]
        assert [row["n"] for row in of_key] == list(range(2, 17))
        assert table[place][1:] == [f"{row['of_copy']:.2f}" for row in of_key]
        assert table[place + 1][1:] == [row["kernel"][:2] for row in of_key]


@pytest.mark.parametrize(("name", "column"), [("", 1), ("-uniform", 2), ("-constant", 3)])
def test_warm_histograms(name: str, column: int) -> None:
    shown = [row[column] for row in rows("Histograms, warm")[2:]]
    (result,) = record(f"bench/histogram{name}-hot.json")["results"]
    size = result["work"]["bytes_read"] + result["work"]["bytes_written"]
    assert shown == [f"{size / row['time']['median'] / 1e9:,.0f}" for row in result["rows"]]


def test_frames_and_builds_beside_embree() -> None:
    frames = rows("CPU frame, 1024x1024, against Embree")[2:]
    builds = rows("BVH build, against Embree's medium build")[2:]
    names = ("embree", "embree-10m", "embree-scenes")
    found = [row for name in names for row in record(f"records/{name}.json")["rows"]]
    assert len(frames) == len(found) > 5
    for shown, row in zip(frames, found, strict=True):
        peer = row["peers"][row["fastest"]]["frame"]["median"]
        assert shown[1] == f"{row['ours']['frame']['median']:.1f} ms"
        assert shown[2] == f"{peer:.1f} ms ({row['fastest']})"
        assert shown[3] == f"{row['frame_ratio']:.2f}"
    for shown, row in zip(builds, found[1:4], strict=True):
        assert shown[3] == f"{row['build_ratio']:.2f}"
