"""Checks and races over a stand-in driver: right kernels are timed, wrong ones never."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any
from unittest.mock import ANY

import numpy as np
import pytest
from numpy.typing import NDArray

from raytracer.backends.cuda import driver as binding
from raytracer.backends.cuda import transfer
from raytracer.backends.cuda.cache import Cubin
from raytracer.backends.kernel_sources import Variant, discover_variants
from raytracer.benchmark import operation_benchmark, record, run
from raytracer.benchmark import operations as ops
from raytracer.benchmark.benchmark import BenchOptions
from raytracer.benchmark.cuda import kernel as bench_kernel
from raytracer.benchmark.cuda import session as device
from raytracer.benchmark.cuda.session import Session
from raytracer.benchmark.operation_benchmark import measure
from raytracer.config.errors import RaytracerError, UserError
from support.fake_cuda import FakeDriver, cleared

# Views of a launch's vectors a, b, c (n,) and n itself.
Compute = Callable[[NDArray[Any], NDArray[Any], Any, int], None]


class BenchDriver(FakeDriver):
    """A driver whose every kernel is `compute`, with the bench's further calls."""

    device_attribute = SimpleNamespace(
        **vars(FakeDriver.device_attribute), L2_CACHE_SIZE=3, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN=4
    )

    def __init__(self, compute: Compute) -> None:
        super().__init__({}, lambda *_: None, 16 << 20)
        self.compute = compute

    def Device(self, ordinal: int) -> Any:  # noqa: N802
        """One GPU of compute capability 9.0 with a small L2 cache."""
        device = super().Device(ordinal)
        known = {1: 0, 2: 132, 3: 1024, 4: 227 << 10}
        device.get_attribute = known.__getitem__
        device.pci_bus_id = lambda: "0000:00:00.0"
        return device

    def _launch(self, grid: Any, block: Any, _stream: Any, *arguments: Any, **more: Any) -> None:
        assert self.depth
        assert len(grid) == 3
        assert len(block) == 3
        assert min(grid) >= 1
        assert list(more) == ["shared_size"]
        if len(arguments) == 2:
            return  # the multiply-adds of kernels/ladders/ceiling: nothing to see
        a, b, c, n = arguments
        self.launches += 1
        first, second = (self.view(each, 4 * n).view(np.float32) for each in (a, b))
        self.compute(first, second, Output(self.view(c - 4, 4 * n + 8).view(np.float32)), n)

    def Graph(self, _stream: Any, work: Callable[[], None]) -> Any:  # noqa: N802
        """Work that is done again by each launch."""
        return SimpleNamespace(launch=work)


class Output:
    """An output with the value before its first one, whose index is -1."""

    def __init__(self, values: NDArray[Any]) -> None:
        self.values = values

    def __setitem__(self, at: int | slice, value: Any) -> None:
        if isinstance(at, slice):
            assert at.start is None
            self.values[1 : at.stop + 1] = value
        else:
            self.values[at + 1] = value


Machine = Callable[[Compute], BenchDriver]
LOG = "4 bytes stack frame, 8 bytes spill stores, 16 bytes spill loads"


def right(a: Any, b: Any, c: Any, n: int) -> None:
    c[:n] = a + b


def lazy(_a: Any, _b: Any, _c: Any, _n: int) -> None:
    """Writes nothing: the poison must show."""


def rough(a: Any, b: Any, c: Any, n: int) -> None:
    c[:n] = (a + b) * np.float32(1.001)


def tailless(a: Any, b: Any, c: Any, n: int) -> None:
    whole = n // 4 * 4
    c[:whole] = (a + b)[:whole]


def greedy(a: Any, b: Any, c: Any, n: int) -> None:
    c[:n] = a + b
    c[n] = 1.0


def early(a: Any, b: Any, c: Any, n: int) -> None:
    c[:n] = a + b
    c[-1] = 1.0


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    def make(compute: Compute) -> BenchDriver:
        driver = BenchDriver(compute)
        monkeypatch.setattr(binding, "load", lambda: driver)
        monkeypatch.setattr(binding, "format_label", lambda: "fake 1.0")
        monkeypatch.setattr(device, "explain_missing", lambda _: None)
        monkeypatch.setattr(device, "load_bindings", lambda: driver)
        monkeypatch.setattr(device, "call", lambda _: None)  # marks of a profiler
        monkeypatch.setattr(device, "SCRATCH", 4096)
        monkeypatch.setattr(operation_benchmark, "LOAD_TIME", 0.0)
        cubin = Cubin(b"", LOG, compiler="nvcc 13.0.88")
        monkeypatch.setattr(bench_kernel.compiler, "load_cubin", lambda *_, **__: cubin)  # type: ignore[attr-defined]
        return driver

    with cleared(binding.get_primary_context, transfer.get_staging):
        yield make


def variant(number: int = 2) -> Variant:
    return next(each for each in discover_variants("vecadd") if each.number == number)


def measured(session: Session, kernels: list[Variant], mode: str = "cold") -> list[Any]:
    op = ops.OPERATIONS["vecadd"].at({"n": 1000})
    into = record.result(op.name, op.axes, [], mode, "normal") | {"work": op.work}
    options = BenchOptions(min_time=0.01, peers=False, mode=mode)
    measure(session, op, kernels, options, lambda _: None, into)
    return list(into["rows"])


def row(driver: BenchDriver, mode: str = "cold") -> dict[str, Any]:
    with Session() as session:
        made = measured(session, [variant()], mode)
    assert driver.depth == 0
    assert not driver.live
    (found,) = made
    return dict(found)


def test_a_record_has_what_is_known_of_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """WSL has no /proc/driver/nvidia/version; a record with None is refused when it is read."""
    details = {"device": "GPU", "driver": None, "memory_free": 5}
    monkeypatch.setattr(run, "describe_device", lambda _: details)
    assert run.describe_backend("cuda") == {"device": "GPU"}


@pytest.mark.parametrize(("mode", "seconds"), [("cold", 1e-4), ("hot", 1e-4), ("hot", 1e-5)])
def test_a_right_kernel_is_timed(
    machine: Machine,
    monkeypatch: pytest.MonkeyPatch,
    mode: str,
    seconds: float,  # of a launch: short ones are replayed from a graph
) -> None:
    monkeypatch.setattr(ops.OPERATIONS["vecadd"], "awkward", ({"n": 1}, {"n": 1025}))
    driver = machine(right)
    driver.seconds_per_launch = seconds
    found = row(driver, mode)
    assert found["status"] == "ok"
    assert found["time"]["count"] >= 10
    assert found["time"]["median"] > 0
    assert found["resources"]["registers"] == 40
    assert found["resources"]["spilled"] == 24
    assert found["resources"]["threads"] > 0
    assert found["resources"]["dynamic_shared"] >= 0


@pytest.mark.parametrize(
    ("compute", "words"),
    [(lazy, r"c\[0\] is nan instead of"), (rough, r"c\[0\] is \S+ instead of"),
     (tailless, r"c\[1024\] is nan instead of"), (greedy, "writes past the end of c"),
     (early, "writes before the start of c")],
)  # fmt: skip
def test_a_wrong_kernel_is_shown_and_never_timed(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, compute: Compute, words: str
) -> None:
    monkeypatch.setattr(ops.OPERATIONS["vecadd"], "awkward", ({"n": 1027},))
    driver = machine(compute)
    found = row(driver)
    assert found["status"] == "wrong"
    assert re.search(words, found["reason"])
    assert "time" not in found
    assert driver.launches <= 2


def test_kernels_take_turns_until_the_noisiest_has_settled(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine(right)
    monkeypatch.setattr(ops.OPERATIONS["vecadd"], "awkward", ())
    turns = list[int]()
    numbers = iter(range(2))

    def turn(number: int, _seconds: float) -> list[float]:
        turns.append(number)
        return [1e-3] if number == 0 else [1e-3 + 1e-4 * (len(turns) % 3)]

    def sampler(_session: Session, launch: Any, *_: Any) -> Any:
        take = partial(turn, next(numbers))
        return lambda seconds: (launch(), take(seconds))[1]

    monkeypatch.setattr(Session, "sampler", sampler)
    sources = [variant(2), variant(3)]
    with Session() as session:
        steady, noisy = measured(session, sources)
    assert noisy["time"]["noise"] > 0.05 > steady["time"]["noise"]
    assert steady["time"]["count"] == noisy["time"]["count"] > 10
    assert turns == [0, 1, 1, 0] * (len(turns) // 4)


def test_a_kernel_for_another_architecture_is_listed_with_the_reason(machine: Machine) -> None:
    driver = machine(right)
    other = replace(variant(), needs=("sm_120+",))
    with Session() as session:
        (found,) = measured(session, [other])
    assert found["status"] == "skipped"
    assert found["reason"] == "needs sm_120+; this GPU is sm_90a"
    assert driver.launches == 0


@pytest.mark.parametrize(
    ("arch", "loops"),
    [("sm_75", {"fma"}), ("sm_80", {"fma", "mma"}), ("sm_89", {"fma", "mma"}),
     ("sm_90a", {"fma", "mma", "wgmma"}), ("sm_100a", {"fma"}), ("sm_120", {"fma", "mma"})],
)  # fmt: skip
def test_the_rate_of_tensor_cores_is_measured_where_its_instructions_are_the_fastest(
    arch: str, loops: set[str]
) -> None:
    assert {each.name for each in discover_variants("ceiling") if each.admits(arch)} == loops
    assert loops <= {*bench_kernel.LOOPS}


def test_a_whole_run(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    from raytracer.benchmark import report
    from raytracer.benchmark.run import find

    driver = machine(right)
    monkeypatch.setattr(run, "explain_missing", lambda *_: None)
    monkeypatch.setattr(ops.OPERATIONS["vecadd"], "awkward", ({"n": 1}, {"n": 77}))
    options = BenchOptions(axes={"n": [500]}, min_time=0.01, peers=False)
    made = run.bench("vecadd", axes={"n": 500}, min_time=0.01, peers=False)
    rows = [row for result in made["results"] for row in result["rows"]]
    assert [row["status"] for row in rows] == ["ok"] * len(discover_variants("vecadd"))
    assert made["device"]["device"] == "Fake GPU"
    # In 0.1 ms: 2^18 FLOP of each of 132 x 8 x 256 threads; on tensor cores 2^24 of 132 x 256.
    ceilings = {"fma_tflops": 2**18 * 132 * 2048e-8, "mma_tflops": 2**24 * 132 * 256e-8}
    assert made["device"]["ceilings"] == pytest.approx({"copy_gbps": ANY} | ceilings)
    assert "07_one_piece" in report.format_record(made, "table")
    assert find("vecadd").profile(options) == [v.label for v in discover_variants("vecadd")]
    assert not driver.live
    assert driver.depth == 0


def test_copies_between_host_and_device(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    from raytracer.benchmark import report
    from raytracer.benchmark.run import find

    driver = machine(right)
    monkeypatch.setattr(run, "explain_missing", lambda *_: None)
    made = run.bench("copy", size="1000,2^12", min_time=0.001)
    assert [result["axes"] for result in made["results"]] == [{"n": 1000}, {"n": 4096}]
    for result in made["results"]:
        assert [row["label"] for row in result["rows"]] == [
            "host to device, pageable", "device to host, pageable",
            "host to device, pinned", "device to host, pinned",
        ]  # fmt: skip
        assert all(row["time"]["median"] > 0 for row in result["rows"])
        assert result["work"]["bytes_read"] == result["axes"]["n"]
    assert "host to device, pinned" in report.format_record(made, "table")
    assert len(find("copy").profile(BenchOptions(sizes=[64]))) == 4
    assert not driver.live

    monkeypatch.setattr(driver, "memcpy_dtoh_async", lambda *_: None)
    with pytest.raises(RaytracerError, match="pageable memory came back with other bytes"):
        run.bench("copy", size=1000)
    with pytest.raises(UserError, match="size: must be at least 1"):
        run.bench("copy", size=0)
