"""Plots of records: what is drawn where, and what is not shown is said."""

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

import raytracer
from raytracer.benchmark import plot, record, statistics
from raytracer.commands.cli import main
from raytracer.config.errors import OutputError, UserError

pytest.importorskip("matplotlib")

GPU: Any = {"device": "NVIDIA H100", "ceilings": {"copy_gbps": 3000.0, "fma_tflops": 60.0}}


def made(
    times: dict[str, float] | None = None, device: Any = GPU, dtypes: tuple[str, ...] = ("float32",)
) -> Any:
    """A record of a product with rows of some times."""
    results = []
    for number, dtype in enumerate(dtypes):
        rows = [
            statistics.timed(record.row(label), [[0.99 * each, each, 1.02 * each]] * 2)
            for label, each in (times or {"01_$low$": 0.4, "02_fast": 1e-3}).items()
        ]
        result = record.result("matmul", {"n": 1024 + number}, rows, "cold", "normal")
        result["dtype"] = dtype
        result["work"] = {"flop": 2e9, "bytes_read": 8e6, "bytes_written": 4e6}
        results.append(result)
    return {
        "format": 1, "date": "2026-01-01", "command": "", "backend": "cuda", "device": device,
        "why_no_gpu": "", "compiler": "nvcc 13.0", "kernel_digest": "abc", "load_average": 0.1,
        "versions": {}, "results": results,
    }  # fmt: skip


def is_png(path: Path) -> bool:
    with Image.open(path) as picture:
        return picture.format == "PNG"


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The figures that are saved, after they were laid out."""
    figures: list[Any] = []
    save = plot._save

    def keep(figure: Any, path: Path) -> None:
        save(figure, path)
        figures.append(figure)

    monkeypatch.setattr(plot, "_save", keep)
    return figures


def texts(axis: Any) -> list[Any]:
    return [*axis.texts, *axis.get_yticklabels(), axis.title, axis.xaxis.label]


def test_bars_are_medians_and_points_lie_under_the_roof(drawn: list[Any], tmp_path: Path) -> None:
    assert raytracer.plot_record(made(), tmp_path / "a.png") == []
    assert is_png(tmp_path / "a.png")
    times, roof = drawn[0].axes
    assert [bar.get_width() for bar in times.patches] == pytest.approx([400.0, 1.0])  # ms
    assert times.get_xscale() == "log"
    assert times.texts[1].get_text() == "1 ms · 2 TFLOP/s · 3% of ceiling"
    (points,) = roof.collections
    expected = [(2e9 / 12e6, 2e9 / 0.4 * 1e-12), (2e9 / 12e6, 2.0)]
    assert points.get_offsets().tolist() == [pytest.approx(each) for each in expected]
    across, height = roof.lines[0].get_data()
    assert height == pytest.approx([min(3.0 * x, 60.0) for x in across])


@pytest.mark.parametrize(
    ("ceilings", "top", "words"),
    [({"mma_tflops": 900.0}, 900.0, "0% of ceiling"), ({}, float("inf"), "2 TFLOP/s")],
)
def test_products_on_tensor_cores_lie_under_their_own_roof(
    ceilings: dict[str, float], top: float, words: str, drawn: list[Any], tmp_path: Path
) -> None:
    device = {"device": "NVIDIA H200", "ceilings": GPU["ceilings"] | ceilings}
    shown = made(device=device, dtypes=("bfloat16", "bfloat16_out"))
    assert raytracer.plot_record(shown, tmp_path / "a.png") == []
    *times, roof = drawn[0].axes
    assert times[0].texts[1].get_text().endswith(words)
    across, height = roof.lines[0].get_data()
    assert height == pytest.approx([min(3.0 * x, top) for x in across])
    names = [each.get_text() for each in roof.texts]
    assert ("BF16 tensor cores 900.0 TFLOP/s" in names) == bool(ceilings)


def test_labels_do_not_overlap(drawn: list[Any], tmp_path: Path) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text

    near = {f"{i:02d}_rung_with_a_long_name": 1e-3 * (1 + 0.001 * i) for i in range(12)}
    raytracer.plot_record(made(near), tmp_path / "a.png")
    canvas: Any = FigureCanvasAgg(drawn[0])
    drawing = canvas.get_renderer()
    for axis in drawn[0].axes:
        boxes = [Text.get_window_extent(each, drawing) for each in texts(axis) if each.get_text()]
        for i, one in enumerate(boxes):
            assert not any(one.overlaps(other) for other in boxes[i + 1 :])
            assert one.x0 >= 0
            assert one.x1 <= drawn[0].bbox.x1
            assert one.y0 >= 0


def test_names_are_pushed_down() -> None:
    assert plot.push_down([5.0, 4.9, 4.8, 1.0], 0.5) == [5.0, 4.5, 4.0, 1.0]
    heights = plot.push_down([3.0] * 5, 1.0)
    assert all(one - other >= 1.0 for one, other in pairwise(heights))


@pytest.mark.parametrize(
    ("made_of", "words"),
    [
        ({"device": {"device": "a CPU"}}, "no roofline: the ceilings are measured on a GPU"),
        ({"dtypes": ("float32", "bfloat16")}, r"leaves out matmul \(bfloat16\): .* of float32"),
        (
            {"dtypes": ("bfloat16_out", "float64")},
            r"leaves out matmul \(float64\): .* of bfloat16_out",
        ),
    ],
)
def test_what_is_not_shown_is_said(made_of: Any, words: str, tmp_path: Path) -> None:
    (remark,) = raytracer.plot_record(made(**made_of), tmp_path / "a.png")
    assert re.search(words, remark)


def test_single_rows_of_an_operation_share_a_panel(drawn: list[Any], tmp_path: Path) -> None:
    raytracer.plot_record(made({"a": 1.0}, dtypes=("float32",) * 3), tmp_path / "a.png")
    bars, roof = drawn[0].axes
    assert [label.get_text() for label in bars.get_yticklabels()] == ["n 1024", "n 1025", "n 1026"]
    assert len(roof.get_legend().get_texts()) == 3


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved, other = tmp_path / "a.json", tmp_path / "b.json"
    saved.write_text(json.dumps(made()))
    other.write_text(json.dumps(made({"01_$low$": 0.5, "02_fast": 1e-3})))
    picture = tmp_path / "a.png"
    assert main(["bench", str(saved), "--plot", str(picture), "--format", "csv"]) == 0
    assert "02_fast" in capsys.readouterr().out
    assert picture.stat().st_size > 1000
    picture.write_text("old")  # pictures are replaced
    assert main(["bench", "--compare", str(saved), str(other), "--plot", str(picture)]) == 0
    assert "1 slower, 1 same" in capsys.readouterr().out
    assert is_png(picture)
    words = ["bench", "tone", "--axis", "width=64", "--min-time", "0.002", "--backend", "cpu"]
    assert main([*words, "--plot", str(picture), "--save", str(tmp_path / "c.json")]) == 0
    assert "the plot has no roofline" in capsys.readouterr().err


def test_comparisons_are_drawn(drawn: list[Any], tmp_path: Path) -> None:
    slower = made({"01_$low$": 0.44, "02_fast": 1e-3})
    compared = raytracer.compare_records(made(), slower)
    raytracer.plot_comparison(compared, tmp_path / "a.png")
    (axis,) = drawn[0].axes
    assert [each.get_text() for each in axis.texts] == ["1.100 slower", "1.000 same"]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["bench", "a.json", "--plot", "a.jpg"], "the picture is written as PNG"),
        (["bench", "a.json", "--plot", "none/a.png"], "none"),
        (["bench", "a.json", "--size", "4"], "the record a.json runs nothing: leave out --size"),
        (["bench", "a.json", "vecadd"], "the record a.json runs nothing: leave out vecadd"),
        (["bench", "vecadd", "a.json"], "leave out"),
        (["bench", "none.json"], "there is no such file"),
        (["bench", "a.json", "--plot", "a.json"], "PNG"),
        (["bench", "tone", "--save", "a.png", "--plot", "./a.png"], "by --save and by --plot"),
        (["bench", "tone", "--list", "--plot", "a.png"], "leave out --list and --profile"),
        (["bench", "--compare", "a.png", "a.json", "--plot", "a.png"], "a.png"),
    ],
)
def test_mistakes_are_one_sentence(
    words: list[str], reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    text = json.dumps(made())
    Path("a.json").write_text(text)
    if words[1] == "--compare":
        Path("a.png").write_text(text)
    assert main(words) == 2
    said = capsys.readouterr()
    assert reason in said.err
    assert len(said.err.splitlines()) == 1
    assert "--compare" in words or not said.out
    assert Path("a.json").read_text() == text
    assert not Path("a.png").exists() or Path("a.png").read_text() == text


def test_nothing_timed_and_no_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    empty = made() | {"results": []}
    with pytest.raises(UserError, match="nothing was timed"):
        raytracer.plot_record(empty, tmp_path / "a.png")
    monkeypatch.setattr(plot, "find_spec", lambda _: None)
    with pytest.raises(OutputError, match=r"plots need matplotlib: pip install"):
        raytracer.plot_record(made(), tmp_path / "a.png")
    assert not [*tmp_path.iterdir()]
