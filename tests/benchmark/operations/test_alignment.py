"""Arrays at any address: which rungs take them, and where the bench puts arrays."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from raytracer.benchmark import operations as ops
from raytracer.benchmark import runner
from raytracer.benchmark.cuda.guarded_memory import GUARD, Memory
from raytracer.benchmark.cuda.kernel import SizeError
from raytracer.errors import UserError
from raytracer.variants import discover


class Driver:
    """Allocations at multiples of 1,024."""

    Error = RuntimeError
    LogicError = RuntimeError
    MemoryError = MemoryError

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def mem_alloc(self, size: int) -> int:
        self.sizes.append(size)
        return 1024 * len(self.sizes)


class Session:
    def __init__(self) -> None:
        self.driver = Driver()


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


def test_offsets_are_whole_numbers() -> None:
    offsets = {
        (op.name, dtype): list(op.offsets(op.resolve({"offset": 7}), dtype).values())
        for op in (ops.find("vecadd"), ops.find("histogram"), ops.find("histogram_bins"))
        for dtype in op.dtypes
    }
    assert offsets == {
        ("vecadd", "float32"): [28, 56, 84],
        ("histogram", "uint8"): [7, 56],
        ("histogram_bins", "float32"): [28, 56, 84],
        ("histogram_bins", "uint32"): [28, 56, 84],
        ("histogram_bins", "uint16"): [14, 28, 84],
    }
    with pytest.raises(UserError, match="no axis 'offset'"):
        ops.find("matmul").resolve({"offset": 1})


def test_memory_begins_behind_the_offset(monkeypatch: pytest.MonkeyPatch) -> None:
    session: Any = Session()
    monkeypatch.setattr(
        "raytracer.benchmark.cuda.guarded_memory.translated", lambda _: nullcontext()
    )
    memory = Memory(session, {"a": 100, "b": 300}, {"b": 12})
    assert memory.address("a") == 1024
    assert memory.address("b") == 2048 + 12
    assert session.driver.sizes == [256 + GUARD, 512 + GUARD + 12]
