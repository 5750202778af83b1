"""Kernels that do not do the work are refused, each by the checks that it names, and by no other.

The kernels lie in `cheats/`. On a GPU they run at the default sizes of their operation; most of
them also run on the CPU, at small sizes.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from raytracer.backends.cuda import driver as binding
from raytracer.backends.cuda import transfer
from raytracer.backends.cuda.cache import Cubin
from raytracer.backends.kernel_sources import Variant
from raytracer.benchmark import operation_benchmark, record
from raytracer.benchmark import operations as ops
from raytracer.benchmark.benchmark import CHECKS, BenchOptions
from raytracer.benchmark.cuda import kernel as bench_kernel
from raytracer.benchmark.cuda import session as device
from raytracer.benchmark.cuda.kernel import ceilings
from raytracer.benchmark.cuda.session import Session
from raytracer.benchmark.op import Op
from raytracer.benchmark.operation_benchmark import measure
from raytracer.benchmark.user_kernel import adopt
from support.bench_driver import CompiledDriver, aligned_memory
from support.fake_cuda import cleared
from support.libraries import library_path

CHEATS = sorted((Path(__file__).parent / "cheats").glob("*.cu"))
# Threads of the CPU take turns, and its sizes are small: no race, no overflow.
GPU_ALONE = {"no_atomics", "int_overflow"}
SMALL: dict[str, tuple[dict[str, int], tuple[dict[str, int], ...]]] = {
    "vecadd": ({"n": 2048}, ({"n": 1}, {"n": 1027})),
    "matmul": ({"m": 40, "n": 96, "k": 64}, ({"m": 3, "n": 5, "k": 30},)),
    "matmul_bf16": ({"m": 40, "n": 96, "k": 64}, ({"m": 3, "n": 5, "k": 30},)),
    "contraction": ({"elements": 24, "n": 4}, ({"elements": 3, "n": 4},)),
    "histogram": ({"n": 4096}, ({"n": 1}, {"n": 1025})),
}
LIMITS = {"first_launches": 12, "later_nothing": 4, "kept_output": 4, "few_elements": 20}


def operation_of(path: Path) -> tuple[Op, set[str]]:
    """The operation of a kernel, with its type, and the checks that catch it."""
    text = path.read_text()
    (name,) = re.findall(r"__global__ void (\w+)\(", text)
    (caught,) = re.findall(r"// Caught by: (.*)\.\n", text)
    dtype = re.findall(r"// dtypes: (\w+)\n", text)
    return ops.OPERATIONS[name].at({}, *dtype), {*caught.split(", ")}


def result_of(session: Session, op: Op, variant: Variant, without: set[str]) -> Any:
    """The row of a kernel."""
    into = record.result(op.name, op.axes, [], "cold", "normal")
    into |= {"work": op.work, "dtype": op.dtype}
    options = BenchOptions(min_time=0.002, peers=False, without=frozenset(without))
    measure(session, op, [variant], options, lambda _: None, into)
    return into["rows"][0]


def test_there_are_cheats_for_every_check() -> None:
    assert len(CHEATS) >= 20
    named = set[str]().union(*(operation_of(path)[1] for path in CHEATS))
    # What a kernel asks the L2 cache to keep makes it faster and no result wrong.
    assert named == {*CHECKS} - {"persisting lines"}


@pytest.fixture
def on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    monkeypatch.setattr(binding, "format_label", lambda: "fake 1.0")
    monkeypatch.setattr(device, "explain_missing", lambda _: None)
    monkeypatch.setattr(device, "call", lambda _: None)
    monkeypatch.setattr(device, "SCRATCH", 4096)
    monkeypatch.setattr(operation_benchmark, "LOAD_TIME", 0.0)
    cubin = Cubin(b"", "", compiler="nvcc 13.0.88")
    monkeypatch.setattr(bench_kernel.compiler, "load_cubin", lambda *_, **__: cubin)  # type: ignore[attr-defined]
    with cleared(binding.get_primary_context, transfer.get_staging):
        yield monkeypatch


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", [p for p in CHEATS if p.stem not in GPU_ALONE], ids=lambda path: path.stem
)
def test_a_cheat_is_caught_by_the_check_that_it_names(
    path: Path, on_the_cpu: pytest.MonkeyPatch, tmp_path: Path, libraries: Path
) -> None:
    op, caught = operation_of(path)
    axes, awkward = SMALL[op.name]
    op = replace(op.at(axes), awkward=awkward)
    (tmp_path / "sources").mkdir()
    variant = adopt(op, path, tmp_path / "sources")
    macros = op.macros(op.axes, op.dtype)
    limit = LIMITS.get(path.stem, 1030)
    text = (
        '#include "cuda_on_cpu.h"\n'
        f'#include "{variant.path}"\n'
        'extern "C" void go(unsigned x, unsigned, unsigned threads, const std::uint64_t* given) {\n'
        f"  launch({op.name}, x, threads, given);\n}}\n"
    )
    flags = ["-pthread", "-ffp-contract=off", "-DSTATIC_SHARED", f"-DLIMIT={limit}"]
    flags += [f"-D{name}={macros[name]}" for name in macros]
    built = library_path(tmp_path, "cheat", text, *flags)

    def row(without: set[str]) -> Any:
        driver = CompiledDriver(built, tmp_path)
        aligned_memory(driver)
        on_the_cpu.setattr(binding, "load", lambda: driver)
        on_the_cpu.setattr(device, "load_bindings", lambda: driver)
        binding.get_primary_context.cache_clear()
        transfer.get_staging.cache_clear()
        with Session() as session:
            # A launch takes 0.1 ms: of the products, 16 terms of 64 would not.
            flop = op.work["flop"] / 1e-4 * 1e-12
            session.ceilings = {"fma_tflops": 0.5 * flop if "ceiling" in caught else 10 * flop}
            return result_of(session, op, variant, without)

    found = row(set())
    assert found["status"] == "wrong", found
    assert found["reason"]
    assert "time" not in found
    if "ceiling" not in caught:
        found = row(caught)
    else:
        assert row(caught - {"ceiling"})["reason"].startswith("reaches 200% of the ceiling")
        found = row(caught)
    assert found["status"] == "ok", found["reason"]


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    from conftest import backend_missing

    if reason := backend_missing("cuda"):
        pytest.skip(f"cuda: {reason}")
    with Session() as opened:
        opened.ceilings = ceilings(opened)
        yield opened


@pytest.mark.gpu
@pytest.mark.parametrize("path", CHEATS, ids=lambda path: path.stem)
def test_a_cheat_is_refused_at_the_default_sizes(
    path: Path, session: Session, tmp_path: Path
) -> None:
    op, caught = operation_of(path)
    variant = adopt(op, path, tmp_path)
    found = result_of(session, op, variant, set())
    assert found["status"] == "wrong", found
    print(f"{path.stem}: {found['reason']}")
    found = result_of(session, op, variant, caught)
    assert found["status"] == "ok", found["reason"]
