"""The histogram: its reference against a loop, its declarations against the kernels' headers."""

from __future__ import annotations

import numpy as np
import pytest

from raytracer.benchmark.operations.base import DISTRIBUTIONS, FEW
from raytracer.benchmark.operations.histogram import OP, count


def test_reference_against_a_loop() -> None:
    keys = np.random.default_rng(3).integers(0, 256, 3001, dtype=np.uint8)
    bins = [0] * 256
    for key in keys.tolist():
        bins[key] += 1
    assert OP.reference({"keys": keys})["bins"].tolist() == bins
    assert OP.cpu({"keys": keys})["bins"].tolist() == bins


def test_count_goes_on_over_pieces() -> None:
    keys = np.zeros((1 << 24) + 5, np.uint8)
    keys[-3:] = 255
    counts = count(keys)
    assert (counts[0], counts[255], counts.sum()) == (len(keys) - 3, 3, len(keys))


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_inputs_are_what_they_are_called(distribution: str) -> None:
    keys = OP.inputs({"n": 5000}, "uint8", distribution, 1)["keys"]
    assert keys.dtype == np.uint8
    assert keys.shape == (5000,)
    if distribution == "sorted":
        assert (np.diff(keys.astype(int)) >= 0).all()
        assert len(np.unique(keys)) > 50
    elif distribution == "few":
        assert len(np.unique(keys)) == FEW
        assert np.count_nonzero(np.diff(keys.astype(int))) > 3000  # not in runs
    elif distribution in ("constant", "zeros"):
        assert len(np.unique(keys)) == 1
    elif distribution == "normal":
        assert abs(keys.mean() - 110) < 3
        assert abs(keys.std() - 25) < 3
    else:
        assert len(np.unique(keys)) == 256
