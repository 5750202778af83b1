"""Tables of pages have the numbers of the records that they name, and say of which revision.

A number agrees with its record if it is rounded from it: half of its last digit.
"""

import json
import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from math import exp, log
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import click
import numpy as np
import pytest

from raytracer.benchmark.run import kernel_digest
from raytracer.errors import UserError
from support.commands import accept
from support.pages import DOCS, README, ROOT, text_of

FIGURES = DOCS / "kernels" / "figures.md"
CHECKED = [
    README,
    ROOT / "scenes" / "README.md",
    *sorted((DOCS / "kernels").glob("*.md")),
    *sorted((DOCS / "guide").glob("*.md")),
]
RENDERS = ROOT / "renders"
NAMED = re.compile("renders/(bench|records)/.*json|renders/records/[a-z]+`")
NUMBER = re.compile(r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?:\.\d+)?|(?<![\w.,])\d+(?:\.\d+)?(?![\w^])")
MS, US = 1e3, 1e6

Values = Iterable[float]


def record(name: str) -> Any:
    """A record below `renders`."""
    return json.loads(text_of(RENDERS / name))


def results(name: str) -> list[dict[str, Any]]:
    """The results of a record of the bench."""
    found: list[dict[str, Any]] = record(f"bench/{name}.json")["results"]
    return found


def median(result: Mapping[str, Any], label: str) -> float | None:
    """The time in seconds of the row whose label begins so, or None where it was not timed."""
    (row,) = [row for row in result["rows"] if row["label"].startswith(label)]
    return float(row["time"]["median"]) if "time" in row else None


def seconds(result: Mapping[str, Any], label: str) -> float:
    found = median(result, label)
    assert found is not None, label
    return found


def rate(result: Mapping[str, Any], label: str) -> float:
    """GB/s of a row."""
    work = result["work"]
    return float(work["bytes_read"] + work["bytes_written"]) / seconds(result, label) / 1e9


def tflops(result: Mapping[str, Any], label: str) -> float:
    return float(result["work"]["flop"]) / seconds(result, label) / 1e12


def quartiles(time: Mapping[str, float], unit: float) -> Values:
    return [unit * time[name] for name in ("median", "q1", "q3")]


class Table(NamedTuple):
    """A table of a page: the headings over it, the text since the last table, and its cells."""

    page: Path
    heading: str
    text: str
    header: list[str]
    rows: list[list[str]]


def tables(page: Path) -> list[Table]:
    found = []
    for part in re.split(r"^(?=##+ )", text_of(page), flags=re.MULTILINE):
        heading = part.partition("\n")[0].lstrip("# ") if part.startswith("#") else ""
        above: list[str] = []
        rows: list[list[str]] = []
        for line in [*part.splitlines(), ""]:
            if line.startswith("|"):
                rows.append([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
            elif rows:
                text = "\n".join(above)
                found.append(Table(page, heading, text, rows[0], rows[2:]))
                rows, above = [], [line]
            else:
                above.append(line)
    return found


# For each table the values of a row, in the order of its numbers, by its cells; the first ones are
# its name.


def embree(cells: list[str]) -> Values:
    names = {"1,000 spheres": "r1k", "100,000 spheres": "r100k", "1,000,000 spheres": "r1m",
             "10,000,000 spheres": "r10m", "sphereflake, 7,381": "sphereflake",
             "log-normal pile, 40,000": "pile", "camera inside 1,000,000": "inside"}  # fmt: skip
    row = embree_rows()[names[cells[0]]]
    modes = {name: peer["frame"]["median"] for name, peer in row["peers"].items()}
    mode = re.findall(r"\((\w+)", cells[2])[0]
    assert modes[mode] == min(modes.values())
    ours = row["ours"]["frame"]["median"]
    named = [float(mode)] if mode.isdecimal() else []
    return [ours, modes[mode], *named, ours / modes[mode]]


def embree_rows() -> dict[str, Any]:
    names = ("embree", "embree-scenes", "embree-10m")
    return {row["scene"]: row for name in names for row in record(f"records/{name}.json")["rows"]}


def embree_build(cells: list[str]) -> Values:
    scene = {"100,000": "r100k", "1,000,000": "r1m", "10,000,000": "r10m"}[cells[0].split()[0]]
    row = embree_rows()[scene]
    return [row["ours"]["build"]["median"], row["peer_build"]["median"], row["build_ratio"]]


def capsules(cells: list[str]) -> Values:
    rays = "primary + shadow" if "shadow" in cells[1] else "primary"
    name = f"capsules_{cells[0].replace(',', '')}, {rays}"
    (row,) = [r for r in record("records/optix-capsules.json")["rows"] if r["scene"] == name]
    ours, peer = row["ours"], row["peers"]["OptiX"]
    sizes = [ours["bytes_per_sphere"], peer["bytes_per_sphere"]] if cells[-1] else []
    return [ours["frame"]["median"], peer["frame"]["median"], row["frame_ratio"], *sizes]


def optix(cells: list[str]) -> Values:
    scene = {"sphereflake, H200": "sphereflake", "log-normal pile, H200": "pile",
             "camera inside the cloud, H200": "inside"}.get(cells[0])  # fmt: skip
    scene = scene or f"random_{cells[0].split()[0].replace(',', '')}"
    rows = {row["scene"]: row for row in record("records/h200-optix.json")["rows"]}
    row = rows[f"{scene}, primary + shadow"]
    ours, peer = row["ours"]["frame"]["median"], row["peers"]["OptiX"]["frame"]["median"]
    return [ours, peer, ours / peer]


def trees(kind: str) -> Callable[[list[str]], Values]:
    def values(cells: list[str]) -> Values:
        for work in ("build", "refit"):
            for count in (100_000, 1_000_000, 10_000_000):
                (found,) = [
                    each
                    for each in record("records/h100-trees.json")
                    if (each["kind"], each["spheres"]) == (kind, count)
                ]
                if work in found["trees"][cells[0]]:
                    yield from quartiles(found["trees"][cells[0]][work], MS)

    return values


def newton(cells: list[str]) -> Values:
    count = int(cells[0].replace(",", ""))
    (found,) = [each for each in record("records/h100-newton.json") if each["spheres"] == count]
    for name in ("ours, refitted", "Newton, refitted", "Newton, refitted, in tiles", "ours, built",
                 "Newton, built"):  # fmt: skip
        yield from quartiles(found["frames"][name], MS)


def ladder(cells: list[str]) -> Values:
    scenes = ("weekend", "molecule", "crystal", "sphereflake", "galaxy", "cloud")
    timed = {each["axes"]["scene"]: median(each, cells[0][:3].strip() + "_")
             for each in results("render")}  # fmt: skip
    assert [timed[name] is None for name in scenes] == [cell == "–" for cell in cells[1:]]
    return [MS * time for name in scenes if (time := timed[name]) is not None]


def best(cells: list[str]) -> Values:
    """A rate or a time of ours, of PyTorch, and the speed of ours by that of PyTorch."""
    name, rung = cells[:2]
    size = re.findall(r"(\d+)$", name)
    if name.startswith("matmul"):
        file = "matmul" if "FP32" in name else "matmul_bf16"
        (found,) = [r for r in results(file) if r["axes"]["n"] == int(size[0])]
        ours, peer = tflops(found, rung), tflops(found, "cuBLAS")
        return [ours, peer, ours / peer]
    files = {"vecadd": "vecadd", "histogram, 2^30 bytes, normal": "histogram",
             "histogram, 2^30 bytes, normal, warm": "histogram-hot",
             "histogram of": "histogram_bins-hot", "gradient contraction, n = 8, FP32":
             "contraction", "gradient contraction, n = 8, FP64": "contraction-f64"}  # fmt: skip
    file = files[max((key for key in files if name.startswith(key)), key=len)]
    (found,) = results(file)
    if "µs" in cells[2]:
        ours, peer = US * seconds(found, rung), US * seconds(found, "PyTorch")
        return [ours, peer, peer / ours]
    ours, peer = rate(found, rung), rate(found, "PyTorch")
    return [ours, peer, ours / peer]


def vectors(cells: list[str]) -> Values:
    for label, file in ((cells[0], "vecadd"), (cells[3], "histogram")):
        if label:
            start = label[:2] + "_" if label[0].isdecimal() else label
            yield rate(results(file)[0], start)


def squares_of_ladder(file: str, count: int) -> Callable[[list[str]], Values]:
    def values(cells: list[str]) -> Values:
        found = results(file)
        assert len(found) == count
        if cells[0].startswith("relative"):
            for each in found:
                labels = [row["label"] for row in each["rows"] if row["kind"] == "variant"]
                timed = [label for label in labels if median(each, label) is not None]
                yield max(tflops(each, label) for label in timed) / tflops(each, "cuBLAS")
            return
        for each in found:
            start = "cuBLAS" if cells[0].startswith("cuBLAS") else cells[0][:2] + "_"
            yield tflops(each, start)
            if file == "matmul_bf16" and start != "cuBLAS":
                yield tflops(each, start) / tflops(each, "cuBLAS")

    return values


def gradient(cells: list[str]) -> Values:
    start = cells[0] if cells[0].startswith("PyTorch") else cells[0][:2] + "_"
    for file in ("contraction", "contraction-f64"):
        (found,) = results(file)
        copy = record("bench/contraction.json")["device"]["ceilings"]["copy_gbps"]
        yield US * seconds(found, start)
        yield 100.0 * rate(found, start) / copy


def elements(cells: list[str]) -> Values:
    rows = record("records/elements.json")["rows"]
    dtype = cells[0].split()[-1] if cells[0] != "rung" else ""
    if dtype:
        chosen = [r for r in rows if (r["op"], r["dtype"]) == ("contraction", dtype)]
        return [row["of_copy"] for row in sorted(chosen, key=lambda row: row["n"])]
    dtype = {"13": "float32", "12": "float64"}[cells[1]]
    chosen = [r for r in rows if (r["op"], r["dtype"]) == ("contraction", dtype)]
    return [float(row["kernel"][:2]) for row in sorted(chosen, key=lambda row: row["n"])]


def histograms(cells: list[str]) -> Values:
    is_bytes = cells[0].startswith("256")
    kinds = ("normal", "uniform", "constant", "few", "sorted", *(("odd",) if is_bytes else ()))
    for kind in kinds:
        file = f"records/histograms/{'bytes' if is_bytes else 'bins'}-{kind}.json"
        (found,) = record(file)["results"]
        label = found["rows"][0]["label"]
        yield rate(found, label) if is_bytes else US * seconds(found, label)


def squares(cells: list[str]) -> Values:
    file = "bf16" if cells[0].startswith("bfloat16") else "fp32"
    for found in record(f"records/squares/squares-{file}.json")["results"]:
        ours = tflops(found, "23_")
        rows = [row["label"] for row in found["rows"] if row["kind"] == "peer" and "time" in row]
        peer = max(tflops(found, label) for label in rows)
        what = cells[0].split(", ")[1]
        yield {"1": ours, "c": peer, "r": ours / peer}[what[0]]


def random_sizes(cells: list[str]) -> Values:
    dtype, seed = cells[0].split(", ")
    file = f"random-{'bf16' if dtype == 'bfloat16' else 'fp32'}-{seed}"
    found = record(f"records/random/{file}.json")["results"]
    ratios_of_all = []
    for each in found:
        times: dict[str, list[float]] = {"variant": [], "peer": []}
        for row in each["rows"]:
            if "time" in row:
                times[row["kind"]].append(row["time"]["median"])
        ratios_of_all.append(min(times["peer"]) / min(times["variant"]))
    # in the order in which they were drawn: multiples of 64, of 8, any, and thin ones
    groups = [ratios_of_all[part] for part in (slice(100), slice(100, 150), slice(150, 200),
                                               slice(200, None))]  # fmt: skip
    for ratios in groups:
        yield exp(fmean(map(log, ratios)))
        yield 100.0 * fmean(ratio >= 0.92 for ratio in ratios)
        yield min(ratios)


def occlusion(cells: list[str]) -> Values:
    yield from indirect("ao", cells)


def paths(cells: list[str]) -> Values:
    yield from indirect("path", cells)


def indirect(kind: str, cells: list[str]) -> Values:
    scene = f"random_{cells[0].replace(',', '')}"
    rows = record("records/indirect/optix.json")["rows"]
    (row,) = [row for row in rows if (row["scene"], row["kind"]) == (scene, kind)]
    return [row["ours_ms"], row["peer_ms"], row["ratio"], *row["grey"]]


def on_cpu(cells: list[str]) -> Values:
    count = cells[0].split()[0]
    scene = {"1,000": "r1k", "100,000": "r100k", "1,000,000": "r1m", "10,000,000": "r10m"}[count]
    file = "embree-10m" if scene == "r10m" else "embree"
    for kind in ("ao", "path"):
        rows = record(f"records/indirect/{file}.json")["rows"]
        (row,) = [row for row in rows if (row["scene"], row["kind"]) == (scene, kind)]
        times = [row["peer_ms"]]
        if "to" in cells[2 if kind == "ao" else 5].split():
            runs = [time for runs in row["peer_runs_ms"].values() for time in runs]
            times = [min(runs), max(runs)]
        yield row["ours_ms"]
        yield from times
        yield from sorted(row["ours_ms"] / time for time in times)


def on_h100(cells: list[str]) -> Values:
    (row,) = [
        row
        for row in record("records/indirect/optix-h100.json")
        if same_scene(row["scene"], cells[0])
    ]
    for kind in ("ao", "path"):
        ours, peer = row[f"{kind} ours"], row[f"{kind} optix"]
        yield from (ours, peer, ours / peer)


def same_scene(name: str, cell: str) -> bool:
    """Whether "lattice 100000" of a record is "touching lattice, 100,000" of a page."""
    kind, count = name.rsplit(" ", 1)
    shown, _, number = cell.rpartition(", ")
    return kind.split()[0] in shown.lower() and int(number.replace(",", "")) == int(count)


def tone(cells: list[str]) -> Values | None:
    """Of the GPU alone: the rows of two cores have no record."""
    if "CPU" in cells[0] or cells[0].startswith("the same"):
        return None
    histogram, picture, whole = results("tone")
    if cells[0].startswith("log-luminance"):
        return [US * row["time"]["median"] for row in histogram["rows"]]
    found = picture if cells[0].startswith("exposure") else whole
    times = [US * row["time"]["median"] for row in found["rows"]]
    return sorted(times) if found is picture else times  # in one pass, in three


def preview(cells: list[str]) -> Values:
    is_cpu = cells[0].startswith("two")
    number = 1_000_000 if "1,000,000 " in cells[0] else 10_000_000
    (found,) = (
        results("preview-cpu")
        if is_cpu
        else [each for each in results("preview") if each["axes"]["spheres"] == number]
    )
    first = found["rows"][0]
    yield float(first["title"].split()[0])
    yield MS * first["time"]["median"]
    yield MS * float(np.percentile(first["samples"], 95.0))
    yield MS * seconds(found, "kernels")
    if not is_cpu:
        yield MS * seconds(found, "page-locked")


def mitsuba(cells: list[str]) -> Values:
    name = cells[0].split()[0]
    found = record("records/mitsuba/equal-quality.json")["scenes"][name]
    rows, times = found["rows"], found["times"]
    yield from (row["samples"] for row in rows["raytracer"])
    for program in ("raytracer", "mitsuba"):
        yield from (row["error"] for row in rows[program])
        yield from (row["seconds"] for row in rows[program])
    yield from (times[1]["raytracer_seconds"], times[1]["mitsuba_seconds"], times[1]["error"])
    yield from (each["ratio_seconds"] for each in times)


def mitsuba_gpu(cells: list[str]) -> Values:
    name = cells[0].split()[0]
    found = record("records/mitsuba/equal-quality-gpu.json")["scenes"][name]
    yield from (8.0, 64.0, 256.0)
    for program in ("raytracer", "mitsuba"):
        rows = [row for row in found["rows"][program] if row["samples"] in (8, 64, 256)]
        yield from (row["error"] for row in rows)
        yield from (MS * row["seconds"] for row in rows)
    yield from (each["ratio_seconds"] for each in found["times"])


def large(cells: list[str]) -> Values | None:
    """Of the rows of 150,000,000 spheres alone: the others have no record."""
    if not cells[0].startswith("150,000,000"):
        return None
    runs = record("records/h200-150m.json")["runs"]
    if "16 cores" in cells[0]:
        found = runs[1]
        printed = found["printed"]
        times = [printed["timings"]["build"], MS * printed["frames"]["median"]]
        return [*times, found["peak_rss_so_far_bytes"] / 2**30]
    printed = runs[2]["printed"]
    times = [printed["timings"]["upload"], MS * printed["frames"]["median"]]
    return [*times, printed["memory"]["resident"] / 2**30]


class Check(NamedTuple):
    """How the numbers of a table are found in its records: all rows after the named cells."""

    records: list[str]
    values: Callable[[list[str]], Values | None]
    columns: slice = slice(1, None)  # with numbers


CHECKS: dict[tuple[str, int], Check] = {
    ("CPU frame, 1024x1024, against Embree", 0): Check(
        ["records/embree.json", "records/embree-scenes.json", "records/embree-10m.json"], embree
    ),
    ("Capsules against OptiX", 0): Check(["records/optix-capsules.json"], capsules, slice(2, None)),
    ("BVH build, against Embree's medium build", 0): Check(
        ["records/embree.json", "records/embree-10m.json"], embree_build
    ),
    ("BVH build on an H100, beside Warp and cuBQL", 0): Check(
        ["records/h100-trees.json"], trees("uniform")
    ),
    ("BVH build on an H100, beside Warp and cuBQL", 1): Check(
        ["records/h100-trees.json"], trees("plummer")
    ),
    ("BVH build on an H100, beside Warp and cuBQL", 2): Check(["records/h100-newton.json"], newton),
    ("H200 frame, 1920x1080, against OptiX's own spheres", 0): Check(
        ["records/h200-optix.json"], optix
    ),
    ("Other scenes", 0): Check(["records/h200-optix.json"], optix),
    ("The render ladder", 0): Check(["bench/render.json"], ladder),
    ("Best kernels and libraries on an H100", 0): Check(
        ["bench/vecadd.json", "bench/histogram.json", "bench/histogram-hot.json",
         "bench/histogram_bins-hot.json", "bench/contraction.json", "bench/contraction-f64.json",
         "bench/matmul.json", "bench/matmul_bf16.json"], best, slice(2, None),
    ),
    ("Vectors, bytes and float32 matrix products", 0): Check(
        ["bench/vecadd.json", "bench/histogram.json"], vectors, slice(1, None, 3)
    ),
    ("Vectors, bytes and float32 matrix products", 1): Check(
        ["bench/matmul.json"], squares_of_ladder("matmul", 3)
    ),
    ("Spectral elements", 0): Check(
        ["bench/contraction.json", "bench/contraction-f64.json"], gradient
    ),
    ("Elements of any n", 0): Check(["records/elements.json"], elements),
    ("Histograms of any input and address", 0): Check(
        [f"records/histograms/{kind}-{name}.json" for kind in ("bytes", "bins")
         for name in ("normal", "uniform", "constant", "few", "sorted")], histograms,
    ),
    ("BF16 matrix products", 0): Check(
        ["bench/matmul_bf16.json"], squares_of_ladder("matmul_bf16", 4)
    ),
    ("Products of any size", 0): Check(
        ["records/squares/squares-bf16.json", "records/squares/squares-fp32.json"], squares
    ),
    ("Products of any size", 1): Check(
        [f"records/random/random-{name}.json" for name in (
            "bf16-45015", "bf16-47782", "bf16-78983", "fp32-41493", "fp32-52017", "fp32-73965"
        )], random_sizes,
    ),
    ("Ambient occlusion", 0): Check(["records/indirect/optix.json"], occlusion, slice(2, None)),
    ("Ambient occlusion", 1): Check(
        ["records/indirect/embree.json", "records/indirect/embree-10m.json"], on_cpu
    ),
    ("Path tracing", 0): Check(["records/indirect/optix.json"], paths),
    ("Path tracing", 1): Check(["records/indirect/optix-h100.json"], on_h100),
    ("Equal quality beside Mitsuba 3", 0): Check(["records/mitsuba/equal-quality.json"], mitsuba),
    ("Equal quality beside Mitsuba 3", 1): Check(
        ["records/mitsuba/equal-quality-gpu.json"], mitsuba_gpu
    ),
    ("Tone", 0): Check(["bench/tone.json"], tone),
    ("Preview", 0): Check(["bench/preview.json", "bench/preview-cpu.json"], preview),
    ("Memory and whole processes", 0): Check(["records/h200-150m.json"], large, slice(1, 2)),
}  # fmt: skip
"""The tables that name a record, by their section and their place in it."""


def numbered(page: Path) -> dict[tuple[str, int], Table]:
    found: dict[tuple[str, int], Table] = {}
    for table in tables(page):
        place = sum(heading == table.heading for heading, _ in found)
        found[table.heading, place] = table
    return found


def numbers(cells: Iterable[str]) -> list[tuple[float, float]]:
    """Every number of some cells, with half of its last digit."""
    found = []
    for cell in cells:
        for text in NUMBER.findall(cell):
            decimals = len(text.partition(".")[2])
            found.append((float(text.replace(",", "")), 0.5 * 10.0**-decimals))
    return found


def differences(table: Table, check: Check) -> list[str]:
    wrong = []
    for cells in table.rows:
        values = check.values(cells)
        if values is None:
            continue
        expected, shown = list(values), numbers(cells[check.columns])
        pairs = zip(shown, expected, strict=False)
        is_right = all(abs(one - other) <= half * 1.02 for (one, half), other in pairs)
        if not is_right or len(shown) != len(expected):
            wrong.append(f"{cells}: the record has {[float(f'{x:.6g}') for x in expected]}")
    return wrong


@pytest.mark.parametrize("place", CHECKS, ids=str)
def test_numbers_of_a_table_are_those_of_its_records(place: tuple[str, int]) -> None:
    assert differences(numbered(FIGURES)[place], CHECKS[place]) == []


def ranges(cells: list[str]) -> Values:
    """The least and the greatest geometric mean of three runs; alike, they are one number."""
    group = ("multiples of 64", "multiples of 8", "any").index(cells[0])
    for cell, dtype in zip(cells[1:], ("bfloat16", "float32"), strict=True):
        seeds = {"bfloat16": (45015, 47782, 78983), "float32": (41493, 52017, 73965)}[dtype]
        means = [[*random_sizes([f"{dtype}, {seed}"])][3 * group] for seed in seeds]
        yield from (min(means), max(means)) if "to" in cell else (max(means),)
        assert "to" in cell or max(means) - min(means) < 0.01


CHECKS["Best kernels and libraries on an H100", 1] = Check(
    [f"records/random/{file.name}" for file in (RENDERS / "records/random").glob("*.json")], ranges
)

WITHOUT = {
    "BVH build on an H200, against OptiX's own spheres": "a driver in C++ that was not kept",
    "Moving spheres on an H100": "not kept; the record named is of the numbers in the text",
    "BF16 matrix products": "figures that others published",
    "Environment maps": "of several versions; the record is of the last",
}
"""Sections that name a record, and have tables of which there is none."""


def test_tables_in_sections_with_records_are_compared() -> None:
    for page in CHECKED:
        found = numbered(page)
        naming = {table.heading for table in found.values() if NAMED.search(table.text)}
        for (heading, place), table in found.items():
            if heading in naming and heading not in WITHOUT:
                assert page == FIGURES, f"{page}: compare its tables, too"
                assert (heading, place) in CHECKS, f"{table.heading}, table {place}: compare it"


def test_numbers_in_the_text_of_moving_spheres() -> None:
    text = " ".join(text_of(FIGURES).split())
    shown = re.findall(r"`renders/bench/live.json`, revision `\w+`\): ([^:]+?) refitted", text)
    timed = {label: [1.0 / seconds(each, label) for each in results("live")]
             for label in ("rebuilt", "small")}  # fmt: skip
    counts = [int(word) for word in re.findall(r"(?<![\d,])\d{3}(?!,?\d)", shown[0])]
    assert counts == [round(rate) for rate in timed["rebuilt"] + timed["small"]]
    guide = re.findall(r"renders (\d+), (\d+) and (\d+) pictures", text_of(DOCS / "guide/live.md"))
    assert [int(word) for word in guide[0]] == [round(rate) for rate in timed["small"][1:]]


def section(heading: str) -> str:
    parts = re.split(r"^##+ ", text_of(FIGURES), flags=re.MULTILINE)
    (found,) = [part for part in parts if part.partition("\n")[0] == heading]
    return found


@pytest.mark.parametrize("place", CHECKS, ids=str)
def test_a_table_says_of_which_revision_its_records_are(place: tuple[str, int]) -> None:
    """Unless they are of today's kernels; and it names the records, or their folder."""
    check, text = CHECKS[place], section(place[0])
    revisions, today = record("records/revisions.json"), kernel_digest()
    for name in check.records:
        folder, _, file = name.rpartition("/")
        assert file in text or re.search(rf"renders/{folder}(`|/\*)", text), f"{name} is not named"
        found = record(name)
        digest = found.get("kernel_digest") if isinstance(found, dict) else None
        if digest is None:
            assert "has no digest of its kernels" in text, name
        elif digest != today:
            assert f"`{revisions[digest]}`" in text, f"{name} is of {revisions[digest]}"


BENCHES = sorted((RENDERS / "bench").glob("*.json"))


@pytest.mark.parametrize("path", BENCHES, ids=lambda path: path.name)
def test_commands_of_records_are_accepted(path: Path) -> None:
    """By today's program, or the record is of another revision, and the page says so."""
    found = record(f"bench/{path.name}")
    try:
        accept(shlex.split(found["command"].partition(", once")[0].replace("NAME", "weekend")))
    except (click.UsageError, UserError):
        revisions = record("records/revisions.json")
        assert f"`{revisions[found['kernel_digest']]}`" in text_of(FIGURES)
