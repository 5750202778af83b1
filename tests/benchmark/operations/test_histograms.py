"""Histograms: their references against loops."""

from typing import Any

import numpy as np
import pytest

from raytracer.benchmark.operations import OPERATIONS, histograms

OP = OPERATIONS["histogram_bins"]
RNG = np.random.default_rng(5)


def count(keys: Any, edges: Any) -> Any:
    return OP.compute({"keys": keys, "edges": edges})["counts"].astype(int)


def test_bytes_against_a_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(histograms, "PIECE", 1000)
    keys = np.random.default_rng(3).integers(0, 256, 3001, dtype=np.uint8)
    bins = [keys.tolist().count(value) for value in range(256)]
    assert OPERATIONS["histogram"].reference({"keys": keys})["bins"].tolist() == bins


@pytest.mark.parametrize("dtype", OP.dtypes)
@pytest.mark.parametrize("distribution", OP.distributions)
def test_sizes_at_random_against_a_loop(dtype: str, distribution: str) -> None:
    for _ in range(3):
        axes = {"n": int(2 ** RNG.uniform(0, 11)), "bins": int(2 ** RNG.uniform(0, 12))}
        inputs = OP.values(axes, dtype, distribution, 7)
        keys, edges = inputs["keys"], inputs["edges"]
        bins = [0] * axes["bins"]
        lower, upper = edges[0], edges[-1]
        for key in keys:
            if lower <= key < upper:
                if dtype == "float32":
                    at = int((key - lower) * (np.float32(axes["bins"]) / (upper - lower)))
                else:
                    at = (int(key) - int(lower)) // (int(edges[1]) - int(lower))
                bins[min(at, axes["bins"] - 1)] += 1
        assert OP.reference(inputs)["counts"].tolist() == bins


def test_values_that_are_no_numbers_or_outside_are_not_counted() -> None:
    keys = np.array([np.nan, np.inf, -np.inf, -3.0, 3.0, 0.0], "f4")
    assert count(keys, np.array([-3, 0, 3], "f4")).tolist() == [1, 1]
