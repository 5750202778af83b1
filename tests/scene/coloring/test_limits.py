"""Ranges of scales: percentiles are those of NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from raytracer.scene.coloring import limits
from raytracer.scene.coloring.kinds import limit_of


@pytest.mark.parametrize("percent", [0.0, 1.0, 37.5, 50.0, 99.99, 100.0])
def test_percentiles(percent: float) -> None:
    rng = np.random.default_rng(3)
    values: dict[str, Any] = {
        "normal": rng.normal(size=400_000),
        "sorted": np.sort(rng.normal(size=400_000)).astype(np.float32),
        "same": np.zeros(400_000),
        "few": rng.integers(0, 4, 400_000),
        "odd first": np.where(np.arange(400_000) % 6 == 0, 100.0, rng.normal(size=400_000)),
        "short": rng.normal(size=10),
    }
    values["normal"][::7] = np.nan
    values["normal"][1::7] = np.inf
    for name, column in values.items():
        finite = column[np.isfinite(column)].astype(np.float64)
        found = limits.percentile([column], percent)
        assert found == pytest.approx(np.percentile(finite, percent), rel=1e-6, abs=1e-9), name


def test_limits() -> None:
    parts = [np.array([1.0, np.nan, 3.0]), np.array([-5.0, np.inf])]
    assert limits.limits_of((None, None), parts) == (-5.0, 3.0)
    assert limits.limits_of((0.0, None), parts) == (0.0, 3.0)
    assert limits.limits_of(("p0", "p50"), parts) == (-5.0, 1.0)
    assert limits.limits_of((None, None), [np.array([np.nan])]) == (np.inf, -np.inf)
    assert limits.least_positive(parts) == 1.0
    assert [limit_of(v) for v in ("", "max", " p1% ", "2e3", 4)] == [
        None, None, "p1", 2000.0, 4.0,
    ]  # fmt: skip


@pytest.mark.parametrize("value", ["p101", "x", "inf", float("nan"), "p-1"])
def test_what_is_no_limit(value: Any) -> None:
    with pytest.raises(ValueError, match=r"nan|inf|p|x"):
        limit_of(value)
