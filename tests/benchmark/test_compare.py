"""Two records compared: intervals by hand and by simulation, differences in sentences."""

import copy
import csv
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer.benchmark import record, statistics
from raytracer.benchmark.compare import RUN_NOISE, TOLERANCE, judge, ratio_interval, student
from raytracer.commands.cli import main
from raytracer.config.errors import UserError

TABLED = [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (7, 2.365), (20, 2.086), (1000, 1.962)]
Turns = list[list[float]]


@pytest.mark.parametrize(("freedom", "quantile"), TABLED)
def test_quantiles_are_those_of_tables(freedom: int, quantile: float) -> None:
    assert student(freedom) == pytest.approx(quantile, rel=2e-3)


def test_an_interval_by_hand() -> None:
    """Logarithms 0, 0.2 and 1, 1.2: variances 0.02, two turns each, two degrees of freedom."""
    before, after = ([[math.exp(each)] for each in logs] for logs in ((0, 0.2), (1, 1.2)))
    half = math.hypot(4.303 * math.sqrt(0.02), 1.96 * math.sqrt(2 * 0.02))
    ratio, interval = ratio_interval(before, after)
    assert ratio == pytest.approx(math.e)
    assert interval == pytest.approx((math.exp(1 - half), math.exp(1 + half)), rel=1e-3)
    assert ratio_interval([[1.0, 1.1]], after)[1] is None
    quiet = [[1.0], [1.0]]
    half = 1.96 * RUN_NOISE * math.sqrt(2)
    ratio, interval = ratio_interval(quiet, quiet)
    assert ratio == 1.0
    assert interval == pytest.approx((math.exp(-half), math.exp(half)), rel=1e-6)


@pytest.mark.parametrize(
    ("ratio", "interval", "verdict"),
    [
        (1.0, (0.985, 1.015), "same"),
        (1.01, (1.005, 1.015), "same"),  # the difference is certain, and does not matter
        (1.015, (1.005, 1.025), "undecided"),
        (1.05, (1.01, 1.09), "slower"),
        (0.95, (0.91, 0.99), "faster"),
        (1.05, (0.99, 1.11), "undecided"),
        (1.0, (0.97, 1.03), "undecided"),
        (2.0, None, "undecided"),
    ],
)
def test_verdicts(ratio: float, interval: tuple[float, float] | None, verdict: str) -> None:
    assert judge(ratio, interval) == verdict


def run_of(
    random: np.random.Generator, turns: int, sample: float, turn: float, speed: float = 1.0
) -> Turns:
    """Times of a run: noise of the run, of each turn, and of each sample, which only adds."""
    base = -math.log(speed) + RUN_NOISE * random.standard_normal()
    return [
        np.exp(
            base + turn * random.standard_normal() + sample * np.abs(random.standard_normal(count))
        ).tolist()
        for count in random.integers(3, 17, turns)
    ]


@pytest.mark.parametrize(
    ("turns", "sample", "turn"), [(4, 0.003, 0.001), (8, 0.005, 0.002), (20, 0.01, 0.002)]
)
def test_two_runs_of_one_program_are_the_same_in_19_of_20(
    turns: int, sample: float, turn: float
) -> None:
    random = np.random.default_rng(53)
    verdicts, covered = list[str](), 0
    for _ in range(400):
        ratio, interval = ratio_interval(*(run_of(random, turns, sample, turn) for _ in range(2)))
        assert interval is not None
        verdicts.append(judge(ratio, interval))
        covered += interval[0] <= 1 <= interval[1]
    assert verdicts.count("same") >= 380
    assert covered >= 374  # 95% less two and a half standard deviations


def test_disturbances_that_last_longer_than_a_turn() -> None:
    """Other programs come and go: the noise of a turn is mostly that of the turn before."""
    random = np.random.default_rng(56)

    def drifting() -> Turns:
        state, turns = 0.2 * random.standard_normal(), []
        for _ in range(8):
            state = 0.8 * state + 0.12 * random.standard_normal()
            turns.append(np.exp(state + 0.05 * random.standard_normal(6)).tolist())
        return turns

    verdicts = [judge(*ratio_interval(drifting(), drifting())) for _ in range(400)]
    assert verdicts.count("faster") + verdicts.count("slower") <= 50  # and not a third


@pytest.mark.parametrize(("sample", "turn"), [(0.01, 0.02), (0.1, 0.05)])
def test_noise_is_undecided_and_never_a_difference(sample: float, turn: float) -> None:
    random = np.random.default_rng(54)
    pairs = ((run_of(random, 8, sample, turn), run_of(random, 8, sample, turn)) for _ in range(400))
    verdicts = [judge(*ratio_interval(*pair)) for pair in pairs]
    assert verdicts.count("faster") + verdicts.count("slower") <= 30  # 5% and 2.3 deviations


@pytest.mark.parametrize(("speed", "verdict"), [(1.04, "faster"), (1 / 1.04, "slower")])
def test_a_difference_of_4_percent_is_found(speed: float, verdict: str) -> None:
    random = np.random.default_rng(55)
    pairs = ((run_of(random, 12, 0.005, 0.002),
              run_of(random, 12, 0.005, 0.002, speed)) for _ in range(200))  # fmt: skip
    assert sum(judge(*ratio_interval(*pair)) == verdict for pair in pairs) >= 190


def made(labels: dict[str, float], n: int = 4096, **others: Any) -> Any:
    """A record with rows of some times."""
    rows = []
    for label, seconds in labels.items():
        turns = [[seconds * (1 + 0.001 * (i % 3))] * 4 for i in range(8)]
        rows.append(statistics.timed(record.row(label), turns))
    result = record.result("vecadd", {"n": n}, rows, "cold", "normal")
    return {
        "format": 1, "date": "today", "command": "", "backend": "cuda",
        "device": {"device": "NVIDIA H100"}, "why_no_gpu": "", "compiler": "nvcc 13.0",
        "kernel_digest": "abc", "load_average": 0.1, "versions": {"raytracer": "1"},
        "results": [result],
    } | others  # fmt: skip


A = made({"01_slow": 4e-3, "02_fast": 1e-3, "03_gone": 1.0})
B = made(
    {"01_slow": 2e-3, "02_fast": 1.001e-3, "04_new": 1.0},
    device={"device": "NVIDIA H200"}, kernel_digest="def",
)  # fmt: skip


def test_rows_and_remarks(tmp_path: Path) -> None:
    found = raytracer.compare_records(A, B)
    assert [(row["label"], row["verdict"]) for row in found["rows"]] == [
        ("01_slow", "faster"), ("02_fast", "same"),
    ]  # fmt: skip
    assert found["rows"][0]["ratio"] == pytest.approx(0.5)
    assert found["remarks"] == [
        "the device differs: NVIDIA H100 in A, NVIDIA H200 in B",
        "the sources of the CUDA kernels (digest) differs: abc in A, def in B",
        "only A has vecadd (n 4096; float32, normal, cold): 03_gone",
        "only B has vecadd (n 4096; float32, normal, cold): 04_new",
    ]
    assert not raytracer.compare_records(A, A)["remarks"]


def test_other_sizes_are_named() -> None:
    both = copy.deepcopy(A)
    both["results"] += made({"01_slow": 1.0}, n=8)["results"]
    found = raytracer.compare_records(both, A)
    assert "vecadd was measured at n 4096; float32, normal, cold and n 8;" in found["remarks"][0]
    with pytest.raises(UserError, match=r"no timed row in common: A has vecadd \(n 4096.* B has"):
        raytracer.compare_records(A, made({"01_slow": 1.0}, n=8))


def test_a_busy_cpu_decides_nothing() -> None:
    quiet, busy = (
        made({"01_slow": 1.0}, device={"device": "CPU", "threads": 4}, load_average=load)
        for load in (4.2, 9.0)
    )
    found = raytracer.compare_records(quiet, busy)
    assert found["rows"][0]["verdict"] == "undecided"
    assert found["remarks"][0].startswith("other programs ran during the bench of B: on a busy")
    assert raytracer.compare_records(quiet, quiet)["rows"][0]["verdict"] == "same"


def test_earlier_records_have_no_turns() -> None:
    before = copy.deepcopy(A)
    for row in before["results"][0]["rows"]:
        del row["groups"]
    row = raytracer.compare_records(before, A)["rows"][0]
    assert row["verdict"] == "same"
    assert row["interval"] == pytest.approx((1, 1), abs=TOLERANCE)


@pytest.fixture
def saved(tmp_path: Path) -> list[str]:
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    for path, each in zip(paths, (A, B), strict=True):
        path.write_text(json.dumps(each))
    return [str(path) for path in paths]


@pytest.mark.parametrize("form", ["table", "markdown", "csv", "json"])
def test_command_line(form: str, saved: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--compare", *saved, "--format", form]) == 0
    said = capsys.readouterr().out
    if form == "json":
        assert [row["verdict"] for row in json.loads(said)["rows"]] == ["faster", "same"]
    elif form == "csv":
        lines = list(csv.DictReader(said.splitlines()))
        assert [line["verdict"] for line in lines] == ["faster", "same"]
        assert float(lines[0]["low"]) < 0.5 < float(lines[0]["high"])
        assert lines[0]["n"] == "4096"
    else:
        assert "0.500" in next(line for line in said.splitlines() if "01_slow" in line)
        assert f"only {saved[0]} has vecadd" in said
        assert "1 faster, 1 same" in said


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[]", "is no record of `raytracer bench --save` (it is not a JSON object)"),
        ("{", "(it is not JSON)"),
        ("[" * 100_000, "(it is not JSON)"),
        ("{}", "(format: is missing)"),
        (
            json.dumps(A).replace("0.004,", "-1,"),
            "(results.0.rows.0.samples.0: must be above 0, not -1)",
        ),
        (json.dumps(A).replace("0.004,", "NaN,"), "samples.0: must be a finite number, not nan)"),
        (
            json.dumps(A | {"device": {"ceilings": {"copy_gbps": 0}}}),
            "ceilings.copy_gbps: must be above 0, not 0)",
        ),
        (
            json.dumps(A | {"device": {"peak": {"mma_tflops": -1}}}),
            "peak.mma_tflops: must be above 0, not -1)",
        ),
        (json.dumps(A | {"format": 2}), "(format: must be 1, not 2)"),
        (json.dumps(A | {"backend": "x"}), "(backend: must be 'cpu' or 'cuda', not 'x')"),
        (json.dumps(A | {"versions": {"numpy": 2}}), "(versions.numpy: 2 is not text)"),
        (json.dumps(A | {"results": {}}), "(results: {} is not a list)"),
        (json.dumps(A | {"device": {"threads": 1.5}}), "threads: 1.5 is not a whole number)"),
        (None, "there is no such file"),
    ],
)
def test_files_that_are_no_records(
    text: str | None, words: str, saved: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    other = Path(saved[1])
    other.unlink() if text is None else other.write_text(text)
    assert main(["bench", "--compare", *saved]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert len(said.splitlines()) == 1


def test_a_comparison_runs_nothing(saved: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "vecadd", "--size", "8", "--compare", *saved]) == 2
    assert "--compare runs nothing: leave out vecadd, --size" in capsys.readouterr().err
