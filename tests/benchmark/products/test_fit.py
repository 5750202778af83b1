"""The fit of the model of waves to measured times."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raytracer import variants
from raytracer.benchmark import operations
from raytracer.benchmark.products import constants, fit
from raytracer.benchmark.products.choice import candidates
from raytracer.benchmark.products.measure import described

OPS = {"matmul": False, "matmul_bf16": True}


def timed(op: str, sizes: int, seed: int) -> list[dict[str, Any]]:
    """Return records as measure.py writes them, of times that the model of today predicts."""
    draw = random.Random(seed)
    found, rung = operations.find(op), [v for v in variants.discover(op) if v.tiles][-1]
    records = []
    for _ in range(sizes):
        axes = {name: int(2 ** draw.uniform(8, 13)) // 8 * 8 for name in "mnk"}
        problem = found.problem(axes, found.dtypes[-1], lambda _: 0)
        tiles = [each for each in rung.tiles if not each.form]
        choices = list(candidates(problem, tiles, True, 132, True, True))
        rows = [
            described(choice) | {"seconds": choice.seconds}
            for choice in draw.sample(choices, min(30, len(choices)))
        ]
        records.append({"group": "multiples of 8", **axes, "peer": [1e-4], "rows": rows})
    return records


def model_of(op: str) -> fit.Model:
    if op == "matmul":
        return fit.Model(constants.SIMT, constants.SIMT_TILES, simt=True)
    return fit.Model(constants.TENSOR, constants.TENSOR_TILES, simt=False)


@pytest.mark.parametrize("op", OPS)
def test_times_are_read_with_the_features_that_they_were_predicted_with(op: str) -> None:
    times = fit.read(op, timed(op, 8, 1))
    np.testing.assert_allclose(model_of(op).predict(times), times.seconds, rtol=1e-9)
    assert len(times.peers) == 8
    assert times.fastest.shape == (8,)


@pytest.mark.parametrize(
    ("n", "rung", "tile", "counts"),
    [
        (256, "", "64x64", True),
        (250, "", "64x64", False),  # whole tiles of unaligned rows: only of the rung that exchanges
        (250, "", "64x64 parts 2", True),
        (250, "rows_of_c", "64x64", True),
        (257, "rows_of_c", "64x64", False),  # one column of the last tile, copied by single values
        (257, "rows_of_c", "64x64 copied", True),
    ],
)
def test_times_of_kernels_that_have_changed_do_not_count(
    n: int, rung: str, tile: str, counts: bool
) -> None:
    """A size without a time that counts is left out."""
    copied = tile.endswith("copied")
    row = {"tile": tile.removesuffix(" copied"), "workers": 20, "split": 0, "snap": 1}
    row |= {"copied": [False, copied], "early": False, "seconds": 1e-5}
    size = {"group": "any", "m": 256, "k": 256, "peer": [1e-5], "rows": [row]}
    sizes = [{**size, "n": 256, "rung": ""}, {**size, "n": n, "rung": rung}]
    assert len(fit.read("matmul", sizes).peers) == 1 + counts


@pytest.mark.parametrize("op", OPS)
def test_a_fit_finds_constants_that_choose_the_fastest(op: str) -> None:
    times = fit.read(op, timed(op, 24, 2))
    model = model_of(op)
    wrong = fit.Model(
        model.shared | {"launch": 3 * model.shared["launch"], "split": 9.0}, {}, model.simt
    )
    found = fit.fitted(wrong, times)

    def lost(at: fit.Model) -> float:
        chosen = np.full(len(times.peers), -1)
        order = np.argsort(-at.predict(times), kind="stable")
        chosen[times.size[order]] = order  # the last of each size is that of the least time
        return float(np.mean(times.seconds[chosen] / times.fastest) - 1)

    assert lost(found) < 0.01
    assert lost(found) < lost(wrong)


def test_the_command_reports_and_writes_constants_that_python_reads(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, made = tmp_path / "times.json", tmp_path / "constants.py"
    path.write_text(json.dumps({"op": "matmul_bf16", "sizes": timed("matmul_bf16", 6, 3)}))
    assert fit.main([str(path), "--worst", "1", "-o", str(made)]) == 0
    assert "share 1.000" in capsys.readouterr().out
    names: dict[str, Any] = {}
    exec(made.read_text(), names)
    assert names["SIMT"] == constants.SIMT
    assert set(names["TENSOR"]) == set(constants.TENSOR)
    assert names["TENSOR_TILES"]
