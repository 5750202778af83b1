"""Arrays at any address: which rungs take them, and where the bench puts arrays."""

from __future__ import annotations

from contextlib import nullcontext
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
    (given,) = [each for each in op.awkward if each.get("offset") == 1]
    axes = op.resolve(given)
    places = [each % 16 for each in op.offsets(axes, "float32").values()]
    assert places == [4, 8, 12]
    assert op.sizes(axes) == tuple(axes[each] for each in op.axes)
    plan = runner.Plan(op, axes, "float32")
    for variant in discover(name):
        if variant.alignment != "any":
            kernel: Any = Kernel(variant)
            nothing: Any = None
            with pytest.raises(SizeError, match="multiples of 16 bytes"):
                runner.launcher(nothing, plan, kernel, nothing, {})


def test_without_an_offset_arrays_are_aligned() -> None:
    op = ops.find("vecadd")
    assert "offset" not in op.resolve({"n": 5})
    assert set(op.offsets(op.resolve({}), "float32").values()) == {0}
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
