"""Tables of figures of the pages, from the records of `renders`: no number is copied by hand.

`python docs/figures.py` writes the table below each `<!-- table: NAME -->` of the pages anew, and
what its records are of: device, date, load of the machine, and whether the kernels that were
measured are today's, or else of which revision. It also writes the quotations (`quotes.py`).
"""

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from math import exp, floor, log, log10
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from quotes import with_quotes

from raytracer.benchmark.run import kernel_digest
from raytracer.benchmark.sources import digests
from raytracer.system.resources import kernels_folder

ROOT = Path(__file__).parents[1]
RENDERS = ROOT / "renders"
PAGES = [
    ROOT / "README.md",
    ROOT / "scenes" / "README.md",
    *sorted((ROOT / "docs" / "kernels").glob("*.md")),
    *sorted((ROOT / "docs" / "guide").glob("*.md")),
]
# a marker, the lines of a table, and the paragraph below
MARKED = re.compile(r"(<!-- table: ([\w-]+) -->\n)(?:(?:\|.*\n)+\nRecords: .*\n)?")
MS, US = 1e3, 1e6
PEERS = "python tests/reference/peers"
BY_PEERS = "records/peers/embree-two-cores-loaded"

Cells = Iterator[list[str]]
digest_today = cache(kernel_digest)


@cache
def record(name: str) -> Any:
    """A record below `renders`."""
    return json.loads((RENDERS / f"{name}.json").read_text(encoding="utf-8"))


def results(name: str) -> list[dict[str, Any]]:
    """The results of a record of the bench."""
    found: list[dict[str, Any]] = record(f"bench/{name}")["results"]
    return found


def find(rows: Iterable[dict[str, Any]], **values: Any) -> dict[str, Any]:
    """The row with these values."""
    (row,) = [r for r in rows if all(r.get(name) == value for name, value in values.items())]
    return row


def figure(value: float, digits: int = 3) -> str:
    """A number with so many significant digits, but no fewer than its whole ones."""
    decimals = max(0, digits - 1 - floor(log10(abs(value)))) if value else 0
    return f"{value:,.{decimals}f}"


def triple(ours: float, peer: float, mode: str = "") -> list[str]:
    """Times of ours and of a peer, and the ratio: below 1 ours is faster."""
    return [figure(ours), figure(peer) + (f" ({mode})" if mode else ""), f"{ours / peer:.2f}"]


def row_of(result: Mapping[str, Any], label: str) -> Mapping[str, Any]:
    """The row whose label begins so."""
    (row,) = [row for row in result["rows"] if row["label"].startswith(label)]
    return row  # type: ignore[no-any-return]


def seconds(result: Mapping[str, Any], label: str) -> float:
    return float(row_of(result, label)["time"]["median"])


def rate(result: Mapping[str, Any], label: str) -> float:
    """GB/s of a row."""
    work = result["work"]
    return float(work["bytes_read"] + work["bytes_written"]) / seconds(result, label) / 1e9


def tflops(result: Mapping[str, Any], label: str) -> float:
    return float(result["work"]["flop"]) / seconds(result, label) / 1e12


COUNTS = {"1,000": "1k", "100,000": "100k", "1,000,000": "1m", "10,000,000": "10m"}

OTHERS = {"sphereflake": "sphereflake", "pile": "log-normal pile", "inside": "camera inside"}


OPTIX = ("records/peers/h200-optix-uniform", "records/peers/h200-optix-kinds")
CUBQL = "records/peers/h200-cubql-uniform"


def works_of(*names: str) -> dict[tuple[str, int], dict[str, dict[str, Any]]]:
    """The results of records of peers: by scene and number of spheres, then by work."""
    found: dict[tuple[str, int], dict[str, dict[str, Any]]] = {}
    for name in names:
        for result in record(name)["results"]:
            axes = result["axes"]
            found.setdefault((axes["scene"], axes["spheres"]), {})[result["op"]] = result
    return found


def ours_of(result: Mapping[str, Any]) -> str:
    return figure(MS * float(result["rows"][0]["time"]["median"]))


def pictures() -> Cells:
    """Ours and the ratio to OptiX, and to cuBQL where it was run."""
    others = works_of(CUBQL)
    for (scene, count), works in works_of(*OPTIX).items():
        cells = [f"{scene}, {count:,}"]
        for work in ("primary", "shadow", "ao", "path"):
            cells += [ours_of(works[work]), f"{works[work]['ratio']:.2f}"]
            other = others.get((scene, count))
            cells.append(f"{other[work]['ratio']:.2f}" if other else "")
        yield cells


def trees() -> Cells:
    """Ours and the ratios to the fastest modes of OptiX and of cuBQL, which are named."""
    others = works_of(CUBQL)
    for (scene, count), works in works_of(*OPTIX).items():
        cells = [f"{scene}, {count:,}"]
        for work in ("build", "refit"):
            pair = [each[work] for each in (works, others.get((scene, count), {})) if work in each]
            cells += [ours_of(pair[0]) if pair else ""]
            modes = [f"{r['ratio']:.2f} ({r['fastest'].rpartition(', ')[2]})" for r in pair]
            cells += [*modes, "", ""][:2]
        yield cells


def embree() -> Cells:
    """Frames and builds of two cores, and occlusion and paths of random spheres."""
    names = ("embree", "embree-scenes", "embree-10m")
    rows = {row["scene"]: row for name in names for row in record(f"records/{name}")["rows"]}
    for shown in [*COUNTS, *OTHERS]:
        scene = f"r{COUNTS[shown]}" if shown in COUNTS else shown
        row = rows[scene]
        modes = {mode: peer["frame"]["median"] for mode, peer in row["peers"].items()}
        mode = min(modes, key=modes.__getitem__)
        cells = triple(row["ours"]["frame"]["median"], modes[mode], f"{mode} of {len(modes)}")
        cells += triple(row["ours"]["build"]["median"], row["peer_build"]["median"])
        for kind in ("ao", "path"):
            file = "embree-10m" if scene == "r10m" else "embree"
            found = [r for r in record(f"records/indirect/{file}")["rows"]
                     if (r["scene"], r["kind"]) == (scene, kind)]  # fmt: skip
            cells += [f"{r['ours_ms'] / r['peer_ms']:.2f}" for r in found] or [""]
        yield [f"{OTHERS[shown]}, {row['spheres']:,}" if shown in OTHERS else shown, *cells]


def embree_by_command() -> Cells:
    every = record(BY_PEERS)["results"]
    for count in (1_000, 100_000, 1_000_000):
        works = ("primary", "shadow", "ao", "path", "build")
        found = [r for w in works for r in every if (r["op"], r["axes"]["spheres"]) == (w, count)]
        modes = [f"{r['ratio']:.2f} ({r['fastest'].rpartition(', ')[2]})" for r in found]
        yield [f"{count:,}", *modes]


def warp() -> Cells:
    for kind in ("uniform", "plummer"):
        for count in (100_000, 1_000_000, 10_000_000):
            found = find(record("records/h100-trees"), kind=kind, spheres=count)["trees"]
            cells = [f"{kind}, {count:,}"]
            for work in ("build", "refit"):
                ours, peer = (found[tree][work]["median"] for tree in ("ours", "warp.Bvh lbvh"))
                cells += triple(MS * ours, MS * peer)
            yield cells


def moving() -> Cells:
    """Builds and refits, pictures per second, and pictures beside Newton."""
    built = [r for r in results("build") if r["axes"]["scene"] == "uniform"]
    for result in results("live"):
        count = result["axes"]["spheres"]
        pair = [r for r in built if r["axes"]["spheres"] == count]
        times = [figure(MS * seconds(find(pair, op=op), "")) for op in ("build", "build refit")]
        labels = ("small", "rebuilt", "picture", "scene")
        rates = [figure(1 / seconds(result, label)) for label in labels]
        beside = [each for each in record("records/h100-newton") if each["spheres"] == count]
        yield [f"{count:,}", *times, *rates, *(newton(beside[0]) if beside else ("", ""))]


def newton(found: Mapping[str, Any]) -> tuple[str, str]:
    """Ratios to Newton, with or without tiles, of refitted trees and of those that are built."""
    frames = {name: time["median"] for name, time in found["frames"].items()}
    best = min(frames["Newton, refitted"], frames["Newton, refitted, in tiles"])
    ratios = frames["ours, refitted"] / best, frames["ours, built"] / frames["Newton, built"]
    return f"{ratios[0]:.2f}", f"{ratios[1]:.2f}"


def ladder() -> Cells:
    shown = ("weekend", "molecule", "crystal", "sphereflake", "galaxy", "cloud")
    scenes = {result["axes"]["scene"]: result for result in results("render")}
    for start in ("01", "04", "10", "12", "13"):
        first = row_of(scenes["weekend"], start)
        cells = [first["label"].replace("_", " ")]
        for name in shown:
            row = row_of(scenes[name], first["label"])
            cells.append(figure(MS * row["time"]["median"]) if "time" in row else "–")
        yield cells


ONE_AXIS = ("contraction_x", "contraction_y", "contraction_z")


def best() -> Cells:
    """The fastest rung and the fastest library of each record of an operation."""
    files = {
        "vecadd": "vecadd", "histogram": "histogram", "histogram-hot": "histogram",
        "histogram_bins-hot": "histogram_bins", "contraction": "contraction",
        "contraction-f64": "contraction", **{each: each for each in ONE_AXIS}, "matmul": "matmul",
        "matmul_bf16": "matmul_bf16",
    }  # fmt: skip
    for file, name in files.items():
        card = record(f"bench/{file}")["device"]["device"].split()[1]  # of "NVIDIA H100 80GB HBM3"
        for result in results(file):
            timed = [row for row in result["rows"] if "time" in row]
            kinds = (("variant",), ("peer",))
            ours, peer = (
                min((r for r in timed if r["kind"] in kind), key=lambda r: r["time"]["median"])
                for kind in kinds
            )
            speed = tflops if name.startswith("matmul") else rate
            a, b = (speed(result, row["label"]) for row in (ours, peer))
            unit = "TFLOP/s" if speed is tflops else "GB/s"
            axes = ", ".join(f"{axis} = {size:,}" for axis, size in result["axes"].items())
            if len(set(result["axes"].values())) == 1 and len(result["axes"]) > 1:
                axes = f"{next(iter(result['axes'].values())):,}"
            warm = ", warm" if result["mode"] == "hot" else ""
            what = f"{name}, {result['dtype']}, {axes}{warm}"
            yield [what, card, ours["label"], f"{figure(a)} {unit}", peer["label"],
                   f"{figure(b)} {unit}", f"{a / b:.2f}"]  # fmt: skip


NOT_YET = "not measured yet"
FLOORS = {"copy_gbps": "the bytes, at the rate of a copy", "fma_tflops": "the multiply-adds alone"}


def rungs_of(name: str) -> list[str]:
    """The rungs of a ladder, in order."""
    return sorted(path.stem for path in (ROOT / "kernels" / "ladders" / name).glob("*.cu"))


def rungs(name: str, files: tuple[str, ...], floor: str) -> Cells:
    """Registers, and time and rate at each size, of all rungs, peers and the floor of a ladder."""
    measured = [result for file in files for result in results(file)]
    peers = dict.fromkeys(
        row["label"] for result in measured for row in result["rows"] if row["kind"] == "peer"
    )
    for label in [*rungs_of(name), *peers]:
        rows = [[r for r in result["rows"] if r["label"] == label] for result in measured]
        cells = [label, registers([r[0]["resources"] for r in rows if r and r[0].get("resources")])]
        for result, row in zip(measured, rows, strict=True):
            missing = "" if NOT_YET in cells else NOT_YET
            cells += timed(result, row[0]) if row else [missing, ""]
        yield cells if measured else [label, NOT_YET]
    if floor:
        cells = [FLOORS[floor], ""]
        for file in files:
            limit = record(f"bench/{file}")["device"]["ceilings"][floor]
            for result in results(file):
                amount, scale = work_of(result, floor)
                cells += [time_in_words(amount / (limit * scale)), figure(limit)]
        yield cells


def registers(used: list[Mapping[str, Any]]) -> str:
    """Registers of a thread, and the bytes that it spills, by the first size."""
    if not used:
        return ""
    spilled = used[0]["spilled"]
    return f"{used[0]['registers']}" + (f" ({spilled} bytes spilled)" if spilled else "")


def timed(result: Mapping[str, Any], row: Mapping[str, Any]) -> list[str]:
    if "time" not in row:
        return [str(row["status"]), ""]
    median = float(row["time"]["median"])
    key = "fma_tflops" if is_product(result) else "copy_gbps"
    amount, scale = work_of(result, key)
    return [time_in_words(median), figure(amount / median / scale)]


def is_product(result: Mapping[str, Any]) -> bool:
    return str(result["op"]).startswith("matmul")


def work_of(result: Mapping[str, Any], key: str) -> tuple[float, float]:
    """What a ceiling limits, FLOP or bytes, and its unit in these."""
    work = result["work"]
    if key == "fma_tflops":
        return float(work["flop"]), 1e12
    return float(work["bytes_read"] + work["bytes_written"]), 1e9


def time_in_words(value: float) -> str:
    return f"{figure(MS * value)} ms" if value >= 1e-3 else f"{figure(US * value)} µs"


def rungs_table(name: str, *files: str, floor: str = "") -> "Table":
    """The table of a ladder; its floor is a ceiling of the device's record."""
    columns = ["rung", "registers"] if files else ["rung", "time"]
    for file in files:
        for result in results(file):
            columns += [size_in_words(result), "TFLOP/s" if is_product(result) else "GB/s"]
    return Table(
        tuple(f"bench/{file}" for file in files),
        " | ".join(columns),
        lambda: rungs(name, files, floor),
        ladder=name,
    )


def size_in_words(result: Mapping[str, Any]) -> str:
    """The size of a column: one number where all axes are equal."""
    axes, mode = result["axes"], ", warm" if result["mode"] == "hot" else ""
    if len(axes) == 3 and len(set(axes.values())) == 1:
        return f"{axes['m']:,}{mode}"
    return ", ".join(f"{axis} = {size:,}" for axis, size in axes.items()) + mode


def scenes() -> Cells:
    """Milliseconds of a frame of each scene, by all rungs of the render ladder."""
    every = results("render")
    for label in rungs_of("render"):
        found = [[row for row in result["rows"] if row["label"] == label] for result in every]
        cells = [
            figure(MS * f[0]["time"]["median"]) if f and "time" in f[0] else "–" for f in found
        ]
        yield [label, *cells] if any(found) else [label, NOT_YET, *[""] * (len(every) - 1)]


def tree_results() -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Results of the build ladder and of its rays, for the largest number of spheres of a scene."""
    ladder, rays = (
        {result["axes"]["scene"]: result for result in sorted(
            (each for each in results("build") if each["op"] == op),
            key=lambda each: int(each["axes"]["spheres"]),
        )}
        for op in ("build ladder", "build rays")
    )  # fmt: skip
    return [(ladder[scene], rays[scene]) for scene in ladder]


def built_trees() -> Cells:
    """Registers, and milliseconds of a build and of its rays, of each scene."""
    found = tree_results()
    for label in rungs_of("build"):
        pairs = [
            [r for r in each["rows"] if r["label"] == label] for pair in found for each in pair
        ]
        times = [figure(MS * f[0]["time"]["median"]) if f and "time" in f[0] else "" for f in pairs]
        used = [f[0]["resources"] for f in pairs if f and f[0].get("resources")]
        yield [label, registers(used), *times] if any(times) else [label, NOT_YET]


def trees_table() -> "Table":
    """The table of the build ladder, with two columns for each scene."""
    found = tree_results()
    columns = ["rung", "registers"] if found else ["rung", "time"]
    for built, _ in found:
        columns += [f"{built['axes']['scene']}, {built['axes']['spheres']:,}: build", "rays"]
    records = ("bench/build",) if found else ()
    return Table(records, " | ".join(columns), built_trees, ladder="build")


def tone_passes() -> Cells:
    for result in results("tone")[:2]:
        for row in result["rows"]:
            median = time_in_words(float(row["time"]["median"]))
            yield [f"{result['op']}, {row['label']}", median, figure(rate(result, row["label"]))]


SEEDS = {"bf16": (45015, 47782, 78983), "fp32": (41493, 52017, 73965)}


def speeds(file: str) -> list[float]:
    """The speed relative to the fastest library at each size of a record."""
    found = []
    for result in record(f"records/random/random-{file}")["results"]:
        times: dict[str, list[float]] = {"variant": [], "peer": []}
        for row in result["rows"]:
            if "time" in row:
                times[row["kind"]].append(row["time"]["median"])
        found.append(min(times["peer"]) / min(times["variant"]))
    return found


def random_products() -> Cells:
    # in the order in which they were drawn
    groups = {"multiples of 64": slice(100), "multiples of 8": slice(100, 150),
              "any": slice(150, 200), "an axis of 1 to 255": slice(200, None)}  # fmt: skip
    for shown, part in groups.items():
        cells = [shown]
        for file, seeds in SEEDS.items():
            runs = [speeds(f"{file}-{seed}")[part] for seed in seeds]
            means = [exp(fmean(map(log, run))) for run in runs]
            cells.append(f"{min(means):.2f} to {max(means):.2f}")
            cells.append(f"{min(min(run) for run in runs):.2f}")
        yield cells


def preview() -> Cells:
    for file in ("preview", "preview-cpu"):
        device = {"preview": "H200", "preview-cpu": "two CPU cores"}[file]
        for result in results(file):
            axes, first = result["axes"], result["rows"][0]
            late = float(np.percentile(first["samples"], 95.0))
            labels = ("kernels", "last event")
            yield [
                f"{device}, {axes['spheres']:,}, {axes['width']}x{axes['height']}",
                first["title"].split()[0],
                f"{figure(MS * first['time']['median'])} ({figure(MS * late)})",
                *(figure(MS * seconds(result, label)) for label in labels),
            ]


def mitsuba() -> Cells:
    names = {"equal-quality": "two CPU cores", "equal-quality-gpu": "H200"}
    for file, device in names.items():
        for scene, found in record(f"records/mitsuba/{file}")["scenes"].items():
            yield [
                f"{scene}, {device}",
                *(f"{each['ratio_seconds']:.2f}" for each in found["times"]),
            ]


def large() -> Cells:
    _, host, device = record("records/h200-150m")["runs"]
    for run, where, first in ((host, "16 CPU cores", "build"), (device, "H200", "upload")):
        printed = run["printed"]
        peak = run["peak_rss_so_far_bytes"] if first == "build" else printed["memory"]["resident"]
        frame = figure(MS * printed["frames"]["median"])
        yield [where, figure(printed["timings"][first]), frame, figure(peak / 2**30)]


@dataclass(frozen=True)
class Table:
    """A table of figures: its records, its columns, the cells of its rows.

    renew: the command of today that measures this again, where that of the record is of programs
        that are not in the repository any more,.
    ladder: the operation whose rungs are the rows; the sentence below says what measures those that
        no record has.
    """

    records: tuple[str, ...]
    columns: str
    rows: Callable[[], Cells]
    renew: str = ""
    ladder: str = ""


TABLES = {
    "pictures": Table(
        (*OPTIX, CUBQL),
        "spheres | camera rays: ours, ms | OptiX: ratio | cuBQL: ratio | with shadows: ours, ms "
        "| OptiX: ratio | cuBQL: ratio | `ao`: ours, ms | OptiX: ratio | cuBQL: ratio "
        "| `path`: ours, ms | OptiX: ratio | cuBQL: ratio",
        pictures,
    ),
    "embree": Table(
        ("records/embree", "records/embree-scenes", "records/embree-10m", "records/indirect/embree",
         "records/indirect/embree-10m"),
        "spheres | frame: ours, ms | Embree (fastest mode) | ratio | build: ours, ms | Embree "
        "| ratio | `ao`: ratio | `path`: ratio",
        embree,
        f"{PEERS} embree --size 1024 1024 --spheres 1e3 1e5 1e6 1e7",
    ),
    "embree-4": Table(
        (BY_PEERS,),
        "spheres | camera rays | with shadows | `ao` | `path` | build",
        embree_by_command,
    ),
    "trees": Table(
        (*OPTIX, CUBQL),
        "spheres | build: ours, ms | OptiX: ratio | cuBQL: ratio | refit: ours, ms | OptiX: ratio "
        "| cuBQL: ratio",
        trees,
    ),
    "warp": Table(
        ("records/h100-trees",),
        "spheres | build: ours, ms | Warp | ratio | refit: ours, ms | Warp | ratio",
        warp,
        f"{PEERS} warp --work build refit --spheres 1e5 1e6 1e7",
    ),
    "moving": Table(
        ("bench/build", "bench/live", "records/h100-newton"),
        "spheres | build, ms | refit, ms | pictures/s, refitted | built for each | picture alone "
        "| `render` of a new scene | Newton, refitted: ratio | built: ratio",
        moving,
        f"{PEERS} newton --spheres 1e4 1e5 1e6",
    ),
    "ladder": Table(
        ("bench/render",),
        "rung | weekend, 479 | molecule, 979 | crystal, 31,019 | sphereflake, 66,431 "
        "| galaxy, 300,000 | cloud, 1,000,001",
        ladder,
    ),
    "best": Table(
        ("bench/vecadd", "bench/histogram", "bench/histogram-hot", "bench/histogram_bins-hot",
         "bench/contraction", "bench/contraction-f64", *(f"bench/{each}" for each in ONE_AXIS),
         "bench/matmul", "bench/matmul_bf16"),
        "operation | card | best rung | speed | library | its speed | relative speed",
        best,
    ),
    "random": Table(
        tuple(f"records/random/random-{t}-{seed}" for t, seeds in SEEDS.items() for seed in seeds),
        "sizes | bfloat16 | worst | float32 | worst",
        random_products,
        "raytracer bench matmul_bf16 --dtype bfloat16_out --variant 12_any_size --hot "
        "--axis m=random:200:256:16384 --axis n=random:200:256:16384 "
        "--axis k=random:200:256:16384 --seed 45015",
    ),
    "preview": Table(
        ("bench/preview", "bench/preview-cpu"),
        "where, spheres, pixels | frames/s | event to fence, ms (95%) | kernels alone, ms "
        "| full size after a drag, ms",
        preview,
        "raytracer preview SCENE --offscreen 400 --json",
    ),
    "mitsuba": Table(
        ("records/mitsuba/equal-quality", "records/mitsuba/equal-quality-gpu"),
        "scene | ratio at the largest error | at the middle one | at the smallest",
        mitsuba,
        f"{PEERS} mitsuba",
    ),
    "large": Table(
        ("records/h200-150m",),
        "where | build or upload, s | frame, ms | peak memory, GiB",
        large,
        "raytracer render big.npz --backend cuda --width 1920 --height 1080 --samples 1 "
        "--filter point --repeat 9 --json",
    ),
    "rungs-vecadd": rungs_table("vecadd", "vecadd", floor="copy_gbps"),
    "rungs-matrixadd": rungs_table("matrixadd", "matrixadd", floor="copy_gbps"),
    "rungs-histogram": rungs_table("histogram", "histogram", "histogram-hot", floor="copy_gbps"),
    "rungs-histogram_bins": rungs_table("histogram_bins", "histogram_bins-hot", floor="copy_gbps"),
    "rungs-matmul": rungs_table("matmul", "matmul", floor="fma_tflops"),
    "rungs-matmul_bf16": rungs_table("matmul_bf16", "matmul_bf16"),
    "rungs-contraction": rungs_table("contraction", "contraction", floor="copy_gbps"),
    "rungs-contraction-f64": rungs_table("contraction", "contraction-f64", floor="copy_gbps"),
    **{f"rungs-{name}": rungs_table(name, name, floor="copy_gbps") for name in (
        *ONE_AXIS, "mass", "diffusion", "advection",
    )},
    "rungs-render": Table(
        ("bench/render",),
        " | ".join(["rung", *(
            f"{result['axes']['scene']}, {result['axes']['spheres']:,}"
            for result in results("render")
        )]),
        scenes,
        ladder="render",
    ),
    "rungs-build": trees_table(),
    "rungs-tone": Table(("bench/tone",), "work, rung | time | GB/s", tone_passes, ladder="tone"),
}  # fmt: skip
"""The tables of the pages, by name."""


def revision_of(name: str) -> str:
    """Return the revision of the kernels of a record; "" if they are today's."""
    found, known = record(name), record("records/revisions")
    if isinstance(found, dict):
        measured = [result.get("kernels") for result in found.get("results", [])]
        if measured and all(each and is_today(each) for each in measured):
            return ""
        if "kernel_digest" in found:
            if found["kernel_digest"] == digest_today():
                return ""
            name = found["kernel_digest"]
    if name not in known:
        raise KeyError(
            f"{name}: add the revision of these kernels to renders/records/revisions.json"
        )
    return str(known[name])


def is_today(measured: Mapping[str, str]) -> bool:
    """Whether the sources of some digests are still there, with the same contents."""
    return all(digest_of(name) == digest for name, digest in measured.items())


@cache
def digest_of(name: str) -> str:
    """Return the digest of a source of today; "" where it has gone."""
    path = kernels_folder().parent / name
    return digests([path])[name] if path.is_file() else ""


def origin(name: str) -> str:
    """Say of which device, day and kernels a record is, as far as it says so itself."""
    found = record(name)
    first = found if isinstance(found, dict) else found[0]
    device = first.get("device", {}) if isinstance(first.get("device", {}), dict) else {}
    revision = revision_of(name)
    parts = [str(device.get("device", "")).replace("(R)", ""), str(first.get("date", ""))[:10]]
    parts.append(f"kernels of `{revision}`" if revision else "today's kernels")
    return ", ".join(filter(None, parts))


def statement(table: Table) -> str:
    """Return the sentence below a table, with records of the same origin together."""
    groups: dict[str, list[str]] = {}
    for name in table.records:
        groups.setdefault(origin(name), []).append(name)
    parts = []
    for of, names in groups.items():
        every = [record(name) for name in names]
        loads = [each["load_average"] for each in every if "load_average" in each]
        between = (
            " to ".join(f"{load:g}" for load in dict.fromkeys([min(loads), max(loads)]))
            if loads
            else "not told"
        )
        parts.append(f"{shown(names)} ({of}, load {between})")
    renew = f" Again by `{table.renew}`." if table.renew else ""
    if table.ladder and any(NOT_YET in cells for cells in table.rows()):
        command = f"raytracer bench {table.ladder} --backend cuda"
        if any("float64" in str(result["dtype"]) for name in table.records
               for result in record(name)["results"]):  # fmt: skip
            command += " --dtype float64"
        renew += f" What is not measured yet: `{command}`."
    return f"Records: {'; '.join(parts) or 'none yet'}.{renew}"


def shown(names: list[str]) -> str:
    """Return records as a text, all of a folder by its name."""
    folders = {name.rpartition("/")[0] for name in names}
    if len(folders) == 1 and len(names) > 3:
        (folder,) = folders
        if {path.stem for path in (RENDERS / folder).glob("*.json")} == {
            Path(n).name for n in names
        }:
            return f"`renders/{folder}/`"
    return ", ".join(f"`renders/{name}.json`" for name in names)


def markdown(name: str) -> str:
    """Return a table and the sentence below it."""
    table = TABLES[name]
    columns = [column.strip() for column in table.columns.split(" | ")]
    rows = list(table.rows())
    assert all(len(row) == len(columns) for row in rows), name
    marks = ["---", *["---:"] * (len(columns) - 1)]
    lines = ["| " + " | ".join(cells) + " |" for cells in (columns, marks, *rows)]
    return "\n".join([*lines, "", statement(table)]) + "\n"


def written(text: str) -> str:
    """Return a page with its tables as the records have them, and its quotations as the files."""
    return MARKED.sub(lambda match: match[1] + markdown(match[2]), with_quotes(text))


def main() -> int:
    for page in PAGES:
        before = page.read_text(encoding="utf-8")
        if (after := written(before)) != before:
            page.write_text(after, encoding="utf-8")
            print(f"{page.relative_to(ROOT)} is new")
    return 0


if __name__ == "__main__":
    sys.exit(main())
