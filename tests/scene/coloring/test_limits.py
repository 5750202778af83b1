"""Ranges of scales: percentiles are those of NumPy."""

import numpy as np
import pytest

from raytracer.scene.coloring import by_scale as limits
from raytracer.scene.coloring.scale_types import limit_of


def test_percentiles_of_parts_with_missing_values() -> None:
    values, percents = np.random.default_rng(3).normal(size=1000), [0.0, 37.5, 100.0]
    parts = [np.append(values[:10], np.nan), np.append(values[10:], [np.inf, np.nan])]
    assert limits.percentiles(parts, percents) == pytest.approx(np.percentile(values, percents))


def test_limits() -> None:
    parts = [np.array([1.0, np.nan, 3.0]), np.array([-5.0, np.inf])]
    assert limits.limits_of((None, None), parts) == (-5.0, 3.0)
    assert limits.limits_of((0.0, None), parts) == (0.0, 3.0)
    assert limits.limits_of(("p0", "p50"), parts) == (-5.0, 1.0)
    assert limits.limits_of((None, None), [np.array([np.nan])]) == (np.inf, -np.inf)
    assert [limit_of(v) for v in ("", "max", " p1% ", "2e3", 4)] == [
        None, None, "p1", 2000.0, 4.0,
    ]  # fmt: skip
