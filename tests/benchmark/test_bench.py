"""`raytracer bench` without a GPU: sizes, statistics, reports, clock and power."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

import raytracer
from raytracer.backends.base import CpuDevice
from raytracer.benchmark import data_sheets, record, report, run, statistics, tree_benchmark
from raytracer.benchmark import operations as ops
from raytracer.benchmark.benchmark import BenchOptions, RandomSizes, Sizes, parse_axes, parse_size
from raytracer.benchmark.cuda.session import clock
from raytracer.benchmark.record import read_record
from raytracer.commands.cli import main
from raytracer.config.errors import MemoryNeedError, UserError
from raytracer.system import memory


@pytest.fixture(autouse=True)
def without_gpu(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same everywhere, on a machine with a GPU as well."""
    monkeypatch.setattr(run, "explain_missing", lambda *_: "there is no GPU in this test")


@pytest.mark.parametrize(
    ("text", "size"),
    [("4096", 4096), ("1e6", 10**6), ("2^28", 2**28), ("2**10", 1024), ("1_000", 1000)],
)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text) == size


def test_points_are_every_combination() -> None:
    op = ops.OPERATIONS["matmul"]
    assert parse_axes(["m=1,2", "n=1e1"]) == {"m": "1,2", "n": "1e1"}
    found = BenchOptions(axes={"m": [1, 2], "n": [3, 4], "k": [5]}).points(op)
    assert [each.axes for each in found] == [
        {"m": m, "n": n, "k": 5} for m in (1, 2) for n in (3, 4)
    ]
    found = BenchOptions(sizes=[5, 6], axes={"n": [7]}).points(op)
    assert [each.axes for each in found] == [{"m": s, "n": 7, "k": s} for s in (5, 6)]
    assert BenchOptions().points(op) == [op]


def test_random_sizes_are_those_of_the_seed() -> None:
    op = ops.OPERATIONS["matmul"]

    def drawn(seed: int, **axes: Sizes) -> list[tuple[int, ...]]:
        points = BenchOptions(axes=axes, seed=seed).points(op)
        return [tuple(point.axes[name] for name in axes) for point in points]

    (several, others) = (drawn(seed, n=RandomSizes(500)) for seed in (3, 4))
    assert several == drawn(3, n=RandomSizes(500)) != others
    sizes = RandomSizes(500).draw("n", 4096, 3)
    assert {n for (n,) in several} == {*sizes}
    assert min(sizes) >= 4  # 4096 / 1024
    assert max(sizes) <= 4096
    below = sum(n < 128 for n in sizes) / len(sizes)
    assert 0.4 < below < 0.6  # log-uniform: half lie below the geometric mean
    # Axes are drawn together, and each as it is alone.
    both = drawn(3, n=RandomSizes(20), k=RandomSizes(20, 100, 200))
    assert [n for n, _ in both] == RandomSizes(20).draw("n", 4096, 3)
    assert len(both) == 20
    assert all(100 <= k <= 200 for _, k in both)
    assert len(drawn(3, n=RandomSizes(5), k=[1, 2])) == 10
    assert drawn(3, n=RandomSizes(4, 7, 7)) == [(7,)]  # each point once


def test_random_sizes_of_axes_with_few_sizes() -> None:
    op = ops.OPERATIONS["contraction"]
    points = BenchOptions(axes={"n": RandomSizes(30, 1, 100)}).points(op)
    assert {point.axes["n"] for point in points} <= {*op.macro_sizes["n"]}


@pytest.mark.parametrize("seed", [None, 7])
def test_random_sizes_are_in_the_record(
    seed: int | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = tmp_path / "a.json"
    words = ["bench", "build", "--size", "random:2:10:50", "--scene", "web", "--min-time", "0.001"]
    more = [] if seed is None else ["--seed", str(seed)]
    assert main([*words, *more, "--backend", "cpu", "--save", str(saved)]) == 0
    found = json.loads(saved.read_text())
    assert found["seed"] == (seed or 1)
    assert f"random sizes of seed {seed or 1};" in capsys.readouterr().out
    sizes = {result["axes"]["spheres"] for result in found["results"]}
    assert len(sizes) == 2
    assert all(10 <= size <= 50 for size in sizes)


@pytest.mark.parametrize(
    ("names", "options", "words"),
    [
        ("vecadd", {"dtype": "int8"}, "no dtype 'int8'"),
        ("vecadd", {"input": "sorted"}, "takes the inputs"),
        ("vecadd", {"scene": "weekend"}, "--scene is not an option of vecadd"),
        ("vecadd", {"min_time": 0}, "min_time: must be above 0"),
        ("vecadd", {"backend": "tpu"}, "backend 'tpu'"),
        ("vecadd", {"backend": "cpu"}, "vecadd need an NVIDIA GPU: .* the CPU, too"),
        ("vecadd", {"with_file": "a.cu"}, "need an NVIDIA GPU"),
        ("tone", {"with_file": "a.cu"}, "--with"),
        ("vecadd histogram", {"with_file": "a.cu"}, "--with"),
        ("matmul", {"axes": {"mm": 1}}, "no axis 'mm'; did you mean 'm'"),
        ("matmul", {"size": "1e10"}, "matmul: m = 10000000000, .*: no memory has such arrays"),
        ("vecadd", {"size": 2**62 - 1}, "vecadd: n = 4611686018427387903: no memory has"),
        ("matmul", {"axes": {"n": "random"}}, "write random:COUNT or random:COUNT:LOW:HIGH"),
        ("matmul", {"axes": {"n": "random:2:9"}}, "write random:COUNT or random:COUNT:LOW:HIGH"),
        ("matmul", {"axes": {"n": "random:x"}}, "size 'x': write a whole number"),
        ("matmul", {"axes": {"n": "random:0"}}, "must be at least 1"),
        ("matmul", {"axes": {"n": "random:9:8:7"}}, "LOW before HIGH"),
        ("matmul", {"axes": {"n": "random:1e9"}}, "at most 10000 sizes"),
        ("matmul", {"axes": {"n": "random:2", "m": "random:3"}}, "drawn together: give one number"),
        ("matmul", {"seed": 3}, "--seed is of random sizes"),
        ("matmul", {"seed": -3, "size": "random:2"}, "seed: must be at least 0"),
        ("vecadd", {"axes": {"offset": "random:2"}}, "offset: give the range of random sizes"),
        ("tone", {"axes": {"width": "random:2"}}, "give one size from 1 to 16384"),
        ("contraction", {"axes": {"n": "random:2:1000:2000"}}, "n: none of .* is from 1000 to"),
        ("render", {"variant": "77"}, "no variant '77'; known are cpu_flat, cpu_perspective"),
        *(("build", {"size": size}, "write a whole number")
          for size in (" ", "1.5", "n", "1e30", "2^99", "-4x")),
        ("build", {"scene": "wab"}, "there is no kind of spheres 'wab'; did you mean 'web'"),
        ("build", {"axes": {"width": 9}}, "--axis is not an option of build"),
        ("tone", {"mode": "hot"}, "--hot is not an option of tone"),
        ("live", {"input": "zeros"}, "--input is not an option of live"),
        ("build", {"size": 2**40}, f"size: must be at most {CpuDevice.max_spheres}"),
        ("build", {"size": 0}, "size: must be at least 1"),
    ],
)  # fmt: skip
def test_mistakes_are_one_sentence(names: str, options: dict[str, Any], words: str) -> None:
    backend = "cpu" if names.startswith(("build", "render", "tone")) else "auto"
    with pytest.raises(UserError, match=words):
        raytracer.bench(*names.split(), **{"backend": backend} | options)


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("build", {"size": "10,1e7"}, "bench build: needs .* for 10,000,000 spheres and 1.0 GiB"),
        ("build", {"size": "random:4:5e7:6e7"}, "bench build: needs .* and 1.0 GiB is free: give"),
        ("live", {"size": 10**7, "scene": "web"}, "bench live: needs about 1.4 GiB of memory"),
        ("tone", {"axes": {"width": 16384, "height": 16384}}, "bench tone: needs about 8.0 GiB"),
    ],
)
def test_sizes_above_the_free_memory(
    name: str, options: dict[str, Any], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Refused before anything of any size is made."""
    monkeypatch.setattr(memory, "available_memory", lambda: 2**30)
    monkeypatch.setattr(tree_benchmark, "spheres", None)
    with pytest.raises(MemoryNeedError, match=words):
        raytracer.bench(name, backend="cpu", **options)


def test_statistics_of_samples() -> None:
    found = statistics.statistics([4.0, 1.0, 2.0, 3.0, 5.0])
    assert found == {"median": 3.0, "min": 1.0, "q1": 2.0, "q3": 4.0, "noise": 2 / 3, "count": 5}


def row(label: str, median: float, kind: str = "variant") -> dict[str, Any]:
    time = dict.fromkeys(("median", "q1", "q3", "min"), median) | {"noise": 0.002, "count": 12}
    made = record.row(label, label, kind) | {"time": time, "samples": []}  # type: ignore[arg-type]
    return made | {"clock": {"sm_mhz": 1980, "watts": 500, "held_back_by": ["power limit"]}}


BAD = record.row("03_bad") | {"status": "wrong", "reason": "c is off by 1"}
RESULT: Any = record.result("vecadd", {"n": 10**9}, [], "cold", "normal") | {
    "work": {"flop": 1e9, "bytes_read": 2e9, "bytes_written": 2e9},
    "rows": [row("01_slow", 4e-3), row("02_fast", 1e-3), BAD, row("PyTorch add", 2e-3, "peer")],
}
DEVICE: Any = {
    "device": "NVIDIA H200", "driver": "580",
    "ceilings": {"copy_gbps": 5000.0, "fma_tflops": 50.0},
    "peak": {"copy_gbps": 8000.0, "fma_tflops": 80.0, "mma_tflops": 1000.0},
    "peak_source": "data sheet of its maker",
}  # fmt: skip
RECORD: Any = {
    "backend": "cuda", "device": DEVICE, "compiler": "nvcc 13", "date": "today",
    "results": [RESULT],
}  # fmt: skip


def test_figures_are_work_over_time() -> None:
    fast = RESULT["rows"][1]
    found = report.figures(fast, RESULT, DEVICE)
    rates = {"tflops": 1.0, "gbps": 4000, "of_ceiling": 0.8, "of_peak": 0.5}
    assert found == pytest.approx(rates)
    assert report.figures(fast, RESULT, {})["of_peak"] is None
    assert report.figures(BAD, RESULT, DEVICE) == {}


@pytest.mark.parametrize("dtype", ["bfloat16", "bfloat16_out"])
@pytest.mark.parametrize(
    ("flop", "ceilings", "share"),
    [
        (8e11, {"copy_gbps": 5000.0, "fma_tflops": 50.0}, None),  # of an old record, or GPU
        (1.44e12, {"copy_gbps": 5000.0, "fma_tflops": 50.0, "mma_tflops": 1600.0}, 0.9),
        (8e10, {"copy_gbps": 5000.0, "mma_tflops": 1600.0}, 0.8),  # limited by memory
        (8e11, {"mma_tflops": 1600.0}, 0.5),
    ],
)
def test_the_ceiling_of_bfloat16_is_that_of_tensor_cores(
    dtype: str, flop: float, ceilings: Any, share: float | None
) -> None:
    result = RESULT | {"dtype": dtype, "work": RESULT["work"] | {"flop": flop}}
    fast = RESULT["rows"][1]
    found = report.figures(fast, result, {"ceilings": ceilings, "peak": ceilings})
    expected = None if share is None else pytest.approx(share)
    assert (found["of_ceiling"], found["of_peak"]) == (expected, expected)


@pytest.mark.parametrize(
    ("name", "rates"),
    [
        ("NVIDIA H200", (4800, 67, 989.5)),
        ("NVIDIA H100 80GB HBM3", (3350, 67, 989.5)),
        ("NVIDIA RTX PRO 6000 Blackwell Workstation Edition", (1792, 125, 503.8)),
        ("A100-SXM4-80GB", (2039, 19.5, 312)),
        ("NVIDIA GeForce RTX 4090", (1008, 82.6, 165.2)),
        ("Tesla T4", (320, 8.1)),
        ("NVIDIA A100-SXM4-40GB MIG 1g.5gb", None),
        ("NVIDIA GeForce RTX 4090 Laptop GPU", None),
        ("", None),
    ],
)
def test_the_data_sheet_of_a_gpu_is_in_the_record(
    name: str, rates: tuple[float, ...] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "describe_device", lambda _: {"device": name})
    device = run.describe_backend("cuda")
    assert device["device"] == name
    assert tuple(device.get("peak", {}).values()) == (rates or ())
    assert ("peak_source" in device) == bool(rates)


def test_peaks_of_tensor_cores_are_dense_ones() -> None:
    """Of a multiprocessor and cycle: 256 FLOP in float32 (of A100: 128); on tensor cores 4096 of
    H100 at a lower clock, 2048 of A100, 1024 of others, half of it on GeForce and L40."""
    ratios = {"H": 14.5, "A100": 16, "GeForce": 2, "L40 ": 2, "T4": 0}
    for name, sheet in data_sheets.SHEETS.items():
        expected = next((ratio for k, ratio in ratios.items() if f"{name} ".startswith(k)), 4)
        assert sheet.bfloat16 / sheet.float32 == pytest.approx(expected, rel=0.05), name


@pytest.mark.parametrize("form", ["table", "markdown"])
def test_tables(form: str) -> None:
    text = report.format_record(RECORD, form)
    lines = {line.strip("| ").split()[0]: line for line in text.splitlines() if line}
    assert "1 ms" in lines["02_fast"]
    assert "4.00" in lines["02_fast"]  # x first
    assert "2.00" in lines["02_fast"]  # x peer
    assert "80%" in lines["02_fast"]
    assert "50%" in lines["02_fast"]
    assert "of peak" in lines["variant"]
    peak = "memory 8,000 GB/s, FP32 FMA 80.0 TFLOP/s, BF16 tensor cores 1000 TFLOP/s"
    assert f"peak by the data sheet of its maker: {peak}" in text
    assert "1 T " in lines["02_fast"]
    assert "250 G" in lines["01_slow"]
    assert "wrong" in lines["03_bad"]
    assert "03_bad: WRONG: c is off by 1" in text
    assert "throttled by: power limit" in text
    assert "copy 5,000 GB/s" in text


def test_csv_has_plain_numbers() -> None:
    lines = list(csv.DictReader(report.format_record(RECORD, "csv").splitlines()))
    assert [line["label"] for line in lines] == ["01_slow", "02_fast", "03_bad", "PyTorch add"]
    fast, bad = lines[1], lines[2]
    expected = {"n": 1e9, "median": 1e-3, "tflops": 1.0, "gbps": 4000, "of_ceiling": 0.8}
    expected["of_peak"] = 0.5
    assert {name: float(fast[name]) for name in expected} == pytest.approx(expected)
    assert (fast["op"], fast["mode"], fast["kind"]) == ("vecadd", "cold", "variant")
    assert (bad["status"], bad["reason"], bad["median"]) == ("wrong", "c is off by 1", "")


def test_csv_quotes_what_needs_quotes() -> None:
    row = record.row("03_bad", kind="mine") | {"status": "wrong", "reason": 'a "b", c\nd'}
    text = report.format_record(RECORD | {"results": [RESULT | {"rows": [row]}]}, "csv")
    assert next(csv.DictReader(io.StringIO(text, newline="")))["reason"] == 'a "b", c\nd'


def test_control_characters_of_a_record_are_escaped() -> None:
    strange = RECORD | {"results": [RESULT | {"rows": [row("\x1b[2Jx", 1.0)]}]}
    assert "\\x1b[2Jx" in report.format_record(strange, "table")


def test_rows_of_few_runs_are_told_of_the_renderer_too() -> None:
    for work in (RESULT["work"], {"flop": 0, "bytes_read": 0, "bytes_written": 0}):
        many, few = row("12_many", 1.0), row("10_few", 1.0)
        many["time"], few["time"] = (
            each["time"] | {"count": n} for each, n in ((many, 10), (few, 2))
        )
        text = report.format_record(
            RECORD | {"results": [RESULT | {"work": work, "rows": [many, few]}]}
        )
        assert "few runs, so that medians are uncertain" in text
        assert "gives more): 10_few 2\n" in text


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved = tmp_path / "a.json"
    words = ["bench", "tone", "--axis", "width=64", "--min-time", "0.002", "--backend", "cpu"]
    assert main([*words, "--save", str(saved)]) == 0
    assert "on all cores" in capsys.readouterr().out
    kept = json.loads(saved.read_text())
    assert kept["results"][0]["op"] == "tone histogram"
    assert kept["kernel_digest"]
    assert kept["command"].startswith("raytracer")
    assert main(["bench", "--list"]) == 0
    assert "07_one_piece" in capsys.readouterr().out
    assert main(["bench", "vecadd", "--axis", "n"]) == 2


@pytest.mark.parametrize(
    ("printed", "found"),
    [
        ("1980, 512.34, 0x0000000000000024",
         {"sm_mhz": 1980, "watts": 512, "held_back_by": ["power limit", "thermal limit"]}),
        ("1980, [N/A], 0x0", {"sm_mhz": 1980}),
        ("No devices were found", {}),
        (None, {}),
    ],
)  # fmt: skip
def test_what_is_known_is_read(
    printed: str | None, found: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if printed:
        program = tmp_path / "nvidia-smi"
        program.write_text(f"#!/bin/sh\necho '{printed}'\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert clock("0000:3B:00.0") == found


def test_a_run_that_is_stopped_keeps_its_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    saved = tmp_path / "a.json"
    monkeypatch.setattr(tree_benchmark.SpheresBenchmark, "run", stopped)
    words = ["bench", "tone", "build", "--axis", "width=64", "--min-time", "0.002"]
    assert main([*words, "--backend", "cpu", "--save", str(saved)]) == 130
    kept = json.loads(saved.read_text())
    assert [each["op"] for each in kept["results"]] == [
        "tone histogram",
        "tone picture",
        "tone whole",
    ]
    assert f"{saved} has the 3 results until then" in capsys.readouterr().err
    assert report.format_record(read_record(saved), "markdown")
