"""The tables of docs/kernels/figures.md against the records in renders/."""

from __future__ import annotations

import json
import re
import statistics
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


def medians(name: str, operation: str | None = None) -> dict[str, float]:
    """Seconds of each row of a record's only result, or of that of an operation, by label."""
    results = record(f"bench/{name}.json")["results"]
    (result,) = [one for one in results if operation in (None, one["op"])]
    return {row["label"]: row["time"]["median"] for row in result["rows"] if row["status"] == "ok"}


def spoken(label: str) -> str:
    """A label as the tables write it: 01_wmma is "01 wmma", a peer goes by its library."""
    return label.replace("_", " ")


def test_products_in_bfloat16() -> None:
    shown = {row[0].partition(" (")[0]: row[1:] for row in rows("BF16 matrix products")}
    results = [
        result
        for name in ("matmul_bf16-sizes", "matmul_bf16")
        for result in record(f"bench/{name}.json")["results"]
    ]
    for result in results:
        place = [1024, 2048, 4096, 8192].index(result["axes"]["m"])
        rate = {
            row["label"].partition(" (")[0]: result["work"]["flop"] / row["time"]["median"] / 1e12
            for row in result["rows"]
        }
        for label, value in rate.items():
            expected = f"{value:.0f}"
            if label != "cuBLAS":
                expected += f" ({value / rate['cuBLAS']:.2f})"
            assert shown[spoken(label)][place] == expected, (label, result["axes"])
    assert len(results) == 4


@pytest.mark.parametrize(("name", "column"), [("contraction", 1), ("contraction-f64", 3)])
def test_gradient(name: str, column: int) -> None:
    shown = {row[0][:2]: row[column:] for row in rows("Spectral elements") if row[0][:2].isdigit()}
    work = record(f"bench/{name}.json")["results"][0]["work"]
    copy = record(f"bench/{name}.json")["device"]["ceilings"]["copy_gbps"]
    found = {label: time for label, time in medians(name).items() if label[:2].isdigit()}
    assert len(found) == len(shown) == 9
    for label, time in found.items():
        share = (work["bytes_read"] + work["bytes_written"]) / time / 1e9 / copy
        assert shown[label[:2]][:2] == [f"{time * 1e6:.0f}", f"{share:.0%}"], label


def ours_and_library(result: dict[str, Any]) -> tuple[float, float]:
    """Seconds of our rung and of the faster library."""
    timed = [row for row in result["rows"] if row["status"] == "ok"]
    ours = [row["time"]["median"] for row in timed if row["kind"] != "peer"]
    return min(ours), min(row["time"]["median"] for row in timed if row["kind"] == "peer")


@pytest.mark.parametrize(("name", "first"), [("bf16", 0), ("fp32", 3)])
def test_squares(name: str, first: int) -> None:
    shown = [row[1:] for row in rows("Products by the last rungs")[2:][first : first + 3]]
    results = record(f"records/squares/squares-{name}.json")["results"]
    assert [result["axes"]["m"] for result in results] == [1024, 2048, 4096, 8192]
    for place, result in enumerate(results):
        ours, library = ours_and_library(result)
        rates = [f"{result['work']['flop'] / time / 1e12:.1f}" for time in (ours, library)]
        assert [row[place] for row in shown] == [*rates, f"{library / ours:.3f}"]


def test_products_at_random_sizes() -> None:
    shown = [
        row for row in rows("Products by the last rungs") if "float" in row[0] and "(" in row[2]
    ]
    files = sorted((ROOT / "renders" / "records" / "random").glob("*.json"))
    assert len(shown) == len(files) == 16
    for file in files:
        found = json.loads(file.read_text(encoding="utf-8"))
        ratios: dict[str, list[float]] = {}
        for result in found["results"]:
            ours, library = ours_and_library(result)
            ratios.setdefault(result["group"], []).append(library / ours)
        labels = {
            each["label"][:2]
            for result in found["results"]
            for each in result["rows"]
            if each["kind"] == "variant" and each["status"] == "ok"
        }
        seed, names = found["random_sizes"]["seed"], ", ".join(sorted(labels))
        (row,) = [row for row in shown if row[0].endswith(f", {seed}") and row[1] == names]
        for cell, group in zip(
            row[2:], ("multiples of 64", "multiples of 8", "any", "thin"), strict=True
        ):
            of_group = ratios[group]
            share = sum(ratio >= 0.92 for ratio in of_group) / len(of_group)
            mean = statistics.geometric_mean(of_group)
            assert cell == f"{mean:.2f} ({share:.0%}, {min(of_group):.2f})", (file.name, group)


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


def test_histograms_of_any_input_and_address() -> None:
    heads, _, *shown = rows("Histograms of any input and address")
    *kinds, odd = heads[1:]
    assert odd == "normal, odd address"
    for place, kind in enumerate([*kinds, "odd"], start=1):
        (result,) = record(f"records/histograms/bytes-{kind}.json")["results"]
        size = result["work"]["bytes_read"] + result["work"]["bytes_written"]
        (row,) = result["rows"]
        assert shown[0][place] == f"{size / row['time']['median'] / 1e9:,.0f}"
    for place, kind in enumerate(kinds, start=1):
        (result,) = record(f"records/histograms/bins-{kind}.json")["results"]
        assert shown[1][place] == f"{result['rows'][0]['time']['median'] * 1e6:.1f}"


@pytest.mark.parametrize(("name", "column"), [("", 1), ("-uniform", 2), ("-constant", 3)])
def test_warm_histograms(name: str, column: int) -> None:
    shown = [row[column] for row in rows("Histograms, warm")[2:]]
    (result,) = record(f"bench/histogram{name}-hot.json")["results"]
    size = result["work"]["bytes_read"] + result["work"]["bytes_written"]
    assert shown == [f"{size / row['time']['median'] / 1e9:,.0f}" for row in result["rows"]]


def test_tone() -> None:
    shown = {row[0]: row[1] for row in rows("Tone")}
    histogram, picture = medians("tone", "tone histogram"), medians("tone", "tone picture")
    whole = medians("tone", "tone whole")
    found = re.findall(r"[\d.]+", " ".join(list(shown.values())[2:6]))
    expected = [f"{histogram['one kernel'] * 1e6:.1f}"]
    expected += [f"{histogram['CUB over a transform iterator'] * 1e6:.1f}"]
    expected += [f"{picture[name] * 1e6:.1f}" for name in ("one pass", "three passes")]
    expected += [f"{whole[name] * 1e6:.0f}" for name in ("linear", "reinhard", "aces", "agx")]
    assert found == expected


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
