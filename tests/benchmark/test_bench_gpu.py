"""The bench on a real GPU: from the names of operations to a record. No timing is asserted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import raytracer
from raytracer.cli import main
from raytracer.variants import discover

pytestmark = pytest.mark.gpu

WRONG = """\
// title: Forgets b
// idea: wrong on purpose
// block: 256
// grid: ceil(n / 256)
// needs: sm_80+
// source: none
extern "C" __global__ void __launch_bounds__(256)
vecadd(const float* a, const float* b, float* c, long long n) {
  const long long i = blockIdx.x * 256ll + threadIdx.x;
  if (i < n) c[i] = a[i];
}
"""


@pytest.mark.parametrize("mode", ["cold", "hot"])
@pytest.mark.parametrize("n", [1000, 1 << 22])
def test_vecadd_gives_a_row_for_each_variant(cuda: str, mode: str, n: int) -> None:
    record = raytracer.bench("vecadd", backend=cuda, axes={"n": n}, mode=mode, min_time=0.05)
    (result,) = record["results"]
    rows = {row["label"]: row for row in result["rows"]}
    for variant in discover("vecadd"):
        row = rows[variant.label]
        assert row["status"] == "ok", row
        assert 1e-7 < row["time"]["median"] < 1
        assert row["resources"]["registers"] > 0
    assert record["device"]["ceilings"]["copy_gbps"] > 1
    assert record["device"]["ceilings"]["fma_tflops"] > 0.1


def test_copy_moves_every_byte(cuda: str) -> None:
    record = raytracer.bench("copy", backend=cuda, axes={"n": 1 << 20}, min_time=0.05)
    rows = record["results"][0]["rows"]
    assert [row["status"] for row in rows] == ["ok"] * 5


def test_own_kernel_is_ranked_and_a_wrong_one_is_shown(cuda: str, tmp_path: Path) -> None:
    wrong, right = tmp_path / "forgets.cu", tmp_path / "right.cu"
    wrong.write_text(WRONG)
    right.write_text(WRONG.replace("a[i];", "a[i] + b[i];"))
    states = {}
    for path in (wrong, right):
        record = raytracer.bench(
            "vecadd", variant="02", axes={"n": 4096}, min_time=0.02, with_file=path, backend=cuda
        )
        row = next(row for row in record["results"][0]["rows"] if row["kind"] == "mine")
        states[path.stem] = row["status"], "time" in row
    assert states == {"forgets": ("wrong", False), "right": ("ok", True)}


def test_command_line_saves_compares_and_profiles(
    cuda: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = tmp_path / "a.json"
    words = ["bench", "matrixadd", "--backend", cuda, "--size", "512", "--min-time", "0.02"]
    assert main([*words, "--save", str(saved)]) == 0
    assert "03_coalesced" in capsys.readouterr().out
    assert json.loads(saved.read_text())["backend"] == "cuda"
    assert main([*words, "--compare", str(saved)]) in (0, 1)
    assert "matrixadd rows=512" in capsys.readouterr().out
    assert main(["bench", "matrixadd", "--profile", "--size", "512"]) == 0
    assert "launched 01_by_rows" in capsys.readouterr().out
