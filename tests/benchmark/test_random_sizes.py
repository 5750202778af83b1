"""Sizes drawn at random: the draw, the statistics, report, plot and record, on the CPU."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from numpy.typing import NDArray

import raytracer
from raytracer.benchmark import operations as ops
from raytracer.benchmark import report, run, size_plot
from raytracer.benchmark.operations.base import Indices
from raytracer.benchmark.random_sizes import THIN, draw, parse_request, statistics
from raytracer.benchmark.record import schema, validated
from raytracer.benchmark.size_plot import ticks
from raytracer.cli import main
from raytracer.errors import UserError


@pytest.fixture(autouse=True)
def without_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same on a machine with a GPU."""
    monkeypatch.setattr(run, "why_not", lambda *_: "there is no GPU in this test")


@pytest.mark.parametrize("name", ["matmul", "matmul_bf16", "vecadd", "histogram_bins"])
def test_groups_have_their_alignment_and_share(name: str) -> None:
    op = ops.find(name)
    drawn = draw(op, 200, 7)
    counts = {group: sum(each.group == group for each in drawn) for group in
              ("multiples of 64", "multiples of 8", "any", "thin")}  # fmt: skip
    assert list(counts.values()) == [100, 50, 50, 25]
    for each in drawn:
        sizes = {axis: each.axes[axis] for axis in op.random_axes}
        if each.group == "thin":
            assert min(sizes.values()) <= THIN
            continue
        step = {"multiples of 64": 64, "multiples of 8": 8}.get(each.group, 1)
        for axis, size in sizes.items():
            least, most = op.random_axes[axis]
            assert least <= size <= most
            assert size % step == 0 or size == least
    beside = [size for each in drawn if each.group == "any" for size in each.axes.values()
              if abs(size - 2 ** round(math.log2(size))) == 1]  # fmt: skip
    assert len(beside) >= 10
    assert draw(op, 200, 7) == drawn
    assert draw(op, 200, 8) != drawn


def test_sizes_are_log_uniform() -> None:
    sizes = [each.axes["k"] for each in draw(ops.find("matmul"), 2000, 1) if each.group != "thin"]
    below = sum(size < 2048 for size in sizes) / len(sizes)  # the middle of 256 and 16384
    assert 0.46 < below < 0.54


def test_elements_are_grouped_by_their_points() -> None:
    op = ops.find("contraction")
    drawn = draw(op, 400, 2)
    assert {each.axes["n"] for each in drawn} == set(range(2, 17))
    assert all(each.group == f"n = {each.axes['n']}" for each in drawn)
    assert max(each.axes["elements"] * each.axes["n"] ** 3 for each in drawn) <= 1 << 25


@pytest.mark.parametrize("text", ["", "random", "random:", "random:0", "random:-1", "random:1e3",
                                  "random:20000", "uniform:4", "4096"])  # fmt: skip
def test_requests_that_are_none(text: str) -> None:
    with pytest.raises(UserError, match="write random:COUNT"):
        parse_request(text)


def result(ratio: float, group: str, size: int = 64, op: str = "matmul") -> Any:
    """A result whose kernel takes a millisecond and whose faster library `ratio` of it."""
    times = {"01_a": 1e-3, "cuBLAS": ratio * 1e-3, "slow": 5e-3}
    rows = [
        {"label": label, "title": "", "kind": "peer" if label != "01_a" else "variant",
         "status": "ok", "reason": "",
         "time": {"median": t, "min": t, "q1": t, "q3": t, "noise": 0.0, "count": 9}}
        for label, t in times.items()
    ]  # fmt: skip
    work = {"flop": 2e9, "bytes_read": 1e6, "bytes_written": 1e6}
    return {"op": op, "axes": {"m": size}, "dtype": "float32", "input": "normal", "mode": "cold",
            "work": work, "note": "", "rows": rows, "group": group}  # fmt: skip


def test_statistics_are_of_the_faster_library() -> None:
    results = [result(0.5, "any", 7), result(2.0, "any"), result(1.0, "thin")]
    empty = result(1.0, "any")
    empty["rows"] = []
    device: Any = {"ceilings": {"copy_gbps": 1000.0, "fma_tflops": 4.0}}
    any_, ceiling, thin, _ = statistics([*results, empty], device)
    assert (any_["group"], any_["measure"], any_["count"], any_["failed"]) == ("any", "peer", 2, 1)
    assert any_["geometric_mean"] == pytest.approx(1.0)
    assert (any_["worst"], any_["worst_axes"]) == (0.5, {"m": 7})
    assert any_["quantiles"] == pytest.approx([0.65, 1.25, 1.85])
    assert ceiling["measure"] == "ceiling"
    assert ceiling["worst"] == pytest.approx(0.5)
    assert thin["group"] == "thin"
    assert thin["geometric_mean"] == pytest.approx(1.0)


def test_a_run_on_the_cpu_is_saved_and_plotted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved, plot = tmp_path / "a.json", tmp_path / "a.png"
    words = ["bench", "vecadd", "contraction", "--sizes", "random:4", "--seed", "3"]
    words += ["--min-time", "0.001", "--save", str(saved), "--plot", str(plot)]
    assert main(words) == 0
    text = capsys.readouterr().out
    assert "4 sizes drawn at random, seed 3" in text
    assert "the lowest:" in text
    record = json.loads(saved.read_text())
    jsonschema.validate(record, schema())
    found = validated(record, "a.json")
    assert found["random_sizes"]["count"] == 4
    assert len(found["results"]) == 5 + 4  # one thin vector
    assert {row["measure"] for row in found["random_sizes"]["statistics"]} == {"ceiling"}
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert "| operation" in report.text(found, "markdown")


def test_ticks_are_round_and_have_one() -> None:
    assert ticks(0.4, 3.1) == [0.5, 0.7, 1, 1.5, 2, 3]
    assert ticks(0.88, 1.12) == [0.9, 0.95, 1, 1.05, 1.1]
    for low, high in ((0.99, 1.01), (0.7, 1.3), (0.5, 1.2), (0.01, 200.0)):
        marks = ticks(low, high)
        assert 1 in marks
        assert marks == sorted(marks)
        assert low <= marks[0] <= marks[-1] <= high


def test_all_points_of_a_plot_lie_inside_of_it() -> None:
    results = [result(ratio, "any", 64 + i) for i, ratio in enumerate((0.07, 0.9, 1.0, 4.5))]
    record: Any = {"results": results, "random_sizes": {}, "device": {"device": "H200"},
                   "compiler": "Build cuda_13.0.r13.0/compiler.36424714_0", "backend": "cuda",
                   "date": "2026-01-01T00:00"}  # fmt: skip
    figure = size_plot.draw(record)
    scatter, bars = figure.axes
    low, high = scatter.get_ylim()
    assert low < 0.07 * 0.99
    assert high > 4.5 * 1.01
    assert bars.get_ylim() == (low, high)
    assert sum(bar.get_width() for bar in bars.patches) == len(results)
    assert figure.get_suptitle() == "H200 · CUDA 13.0 · 2026-01-01"
    (text,) = scatter.get_legend().get_texts()
    mean = (0.07 * 0.9 * 4.5) ** 0.25
    assert text.get_text() == f"any: 4, mean {mean:.2f}"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"sizes": "random:4", "size": 64}, "cannot be combined"),
        ({"sizes": "random:4", "axes": {"n": 4}}, "cannot be combined"),
        ({"sizes": "random:x"}, "write random:COUNT"),
        ({"sizes": "random:4", "seed": -1}, "seed"),
        ({"sizes": 4}, "sizes"),
    ],
)
def test_arguments_that_do_not_fit(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words):
        raytracer.bench("vecadd", **arguments)


def test_a_part_is_that_of_the_reference() -> None:
    for name in ("matmul", "matmul_bf16", "contraction", "mass", "vecadd", "matrixadd"):
        op = ops.find(name)
        axes = op.resolve(op.awkward[2])
        inputs = op.inputs(axes, op.dtypes[0], "normal", 1)
        part = op.part(axes, 5)
        chosen = {key: taken(inputs[key], each) for key, each in part.inputs.items()}
        expected = op.reference(inputs)
        for key, values in op.reference(chosen).items():
            found = taken(expected[key], part.outputs)
            assert values == pytest.approx(found, rel=1e-12, abs=1e-12)


def taken(array: NDArray[Any], indices: Indices) -> NDArray[Any]:
    """Take indices along each axis."""
    for axis, index in enumerate(indices):
        if index is not None:
            array = array.take(index, axis)
    return array
