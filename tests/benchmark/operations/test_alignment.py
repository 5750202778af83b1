"""Arrays at any address: which rungs take them, and where the bench puts arrays."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from raytracer.benchmark import operations as ops
from raytracer.benchmark import runner
from raytracer.benchmark.cuda.kernel import SizeError
from raytracer.variants import discover


class Kernel:
    def __init__(self, variant: Any) -> None:
        self.variant = variant


@pytest.mark.parametrize("name", ["vecadd", "matrixadd"])
def test_the_last_rung_takes_any_address_and_others_say_that_they_do_not(name: str) -> None:
    op = ops.find(name)
    assert discover(name)[-1].alignment == "any"
    axes = op.resolve({"offset": 1})
    plan = runner.Plan(op, axes, "float32")
    for variant in discover(name):
        if variant.alignment != "any":
            kernel: Any = Kernel(variant)
            nothing: Any = None
            with pytest.raises(SizeError, match="multiples of 16 bytes"):
                runner.launcher(nothing, plan, kernel, nothing, {})


@pytest.mark.parametrize("name", ["histogram", "histogram_bins"])
def test_our_histograms_take_any_address_and_other_kernels_must_say_so(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    op = ops.find(name)
    monkeypatch.setattr(runner, "LoadedKernel", lambda _, variant, *__, **___: Kernel(variant))
    nothing: Any = None
    for dtype in op.dtypes:
        plan = runner.Plan(op, op.resolve({"n": 40, "offset": 1}), dtype)
        for variant in discover(name):
            assert runner.load(nothing, plan, variant).variant.alignment == "any"
            source = replace(variant, folder=Path("own"))
            kernel = runner.load(nothing, plan, source)
            with pytest.raises(SizeError, match="multiples of 16 bytes"):
                runner.launcher(nothing, plan, kernel, nothing, {})
            source = replace(variant, alignment="any", folder=Path("own"))
            assert runner.takes_any_address(op, source)
