"""Arrays at any address: which rungs take them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from raytracer.benchmark import operations as ops
from raytracer.benchmark import runner
from raytracer.benchmark.cuda.kernel import SizeError
from raytracer.variants import discover


@pytest.mark.parametrize("name", ["vecadd", "matrixadd", "histogram", "histogram_bins"])
def test_the_last_rung_takes_any_address_and_others_may_refuse_it(name: str) -> None:
    op = ops.find(name)
    nothing: Any = None
    assert discover(name)[-1].alignment == "any"
    plan = runner.Plan(op, op.resolve({"offset": 1}), op.dtypes[0])
    aligned = [each for each in discover(name) if each.alignment != "any"]
    assert bool(aligned) == (name == "vecadd")
    for variant in aligned:
        kernel: Any = SimpleNamespace(variant=variant)
        with pytest.raises(SizeError, match="multiples of 16 bytes"):
            runner.launcher(nothing, plan, kernel, nothing, {})
