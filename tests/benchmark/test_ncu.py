"""Nsight Compute's counters: its CSV read, rows filled, and what is said where it cannot count."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest

from raytracer.benchmark import ncu
from raytracer.errors import BackendError

HEAD = ["ID", "Kernel Name", ncu.METRICS["occupancy"]]
HEAD += [ncu.METRICS["load_passes"], ncu.METRICS["loads"]]
HEAD += [ncu.STALL.format("long_scoreboard"), ncu.STALL.format("barrier")]


def quoted(cells: list[str]) -> str:
    return ",".join(f'"{cell}"' for cell in cells)


PAGE = [
    "==PROF== Connected to process 17",
    "vecadd: launched 01_one, 02_two",
    quoted(HEAD),
    quoted(["", "", "%", "", "inst", "", ""]),
    quoted(["0", "vecadd", "12.5", "1,024", "512", "7.25", "0.5"]),
    quoted(["1", "vecadd", "93", "n/a", "0", "0.1", "2.5"]),
    quoted(["2", "vecadd_2", "50", "0", "4", "0.1", "0.2"]),
]


def test_rows_get_the_kernels_they_launched() -> None:
    rows: list[Any] = [
        {"label": "01_one"},
        {"label": "02_two"},
        {"label": "PyTorch add"},
    ]
    result: Any = {"rows": rows}
    ncu.add(result, {"01_one": 1, "02_two": 2}, ncu.parse(PAGE))
    assert [len(row.get("ncu", [])) for row in rows] == [1, 2, 0]
    (line,) = ncu.cells(rows[0])
    assert line == [
        "01_one", "12%", "", "", "", "", "2.00", "", "global memory 7.2, barrier 0.5",
    ]  # fmt: skip
    assert [cells[0] for cells in ncu.cells(rows[1])] == ["02_two 1", "02_two 2"]


def fake(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    program = folder / "ncu"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def test_counters_come_from_a_process_under_ncu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "page").write_text("\n".join(PAGE), encoding="utf-8")
    fake(tmp_path, monkeypatch, f'echo "$@" > {tmp_path}/asked; cat {tmp_path}/page')
    assert len(ncu.profile("vecadd", ["--axis", "n=4"])) == 3
    asked = (tmp_path / "asked").read_text(encoding="utf-8")
    assert "--profile-from-start off" in asked
    assert asked.rstrip().endswith("-m raytracer bench vecadd --profile --axis n=4")


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        ("echo '==ERROR== ERR_NVGPUCTRPERM'; exit 1", "only administrators"),
        ("echo '==ERROR== The application crashed'; exit 1", "The application crashed"),
        ("exit 0", "gave no counters: it printed nothing"),
    ],
)
def test_what_goes_wrong_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, sentence: str
) -> None:
    fake(tmp_path, monkeypatch, script)
    with pytest.raises(BackendError, match=sentence):
        ncu.profile("vecadd", [])
