"""Every benchmark by name."""

from __future__ import annotations

from functools import cache

from raytracer.benchmark import operations
from raytracer.benchmark.benchmark import Benchmark
from raytracer.benchmark.copies import CopyBenchmark
from raytracer.benchmark.operation_bench import OperationBenchmark
from raytracer.benchmark.presentation import Presentation
from raytracer.benchmark.previews import PreviewBenchmark
from raytracer.benchmark.renders import RenderBenchmark
from raytracer.benchmark.tones import ToneBenchmark
from raytracer.errors import UserError, suggestion


@cache
def benchmarks() -> dict[str, Benchmark]:
    """The operations, sorted, then the parts of the renderer."""
    copy = CopyBenchmark()
    found: list[Benchmark] = [
        copy if op.name == copy.name else OperationBenchmark(op)
        for op in operations.modules().values()
    ]
    found += [RenderBenchmark(), ToneBenchmark(), PreviewBenchmark()]
    return {each.name: each for each in found}


def find(name: str) -> Benchmark:
    """A benchmark by name; raises UserError for an unknown one."""
    try:
        return benchmarks()[name]
    except KeyError:
        hint = suggestion(name, list(benchmarks()))
        raise UserError(f"there is no operation {name!r} to bench; {hint}") from None


def chosen(names: tuple[str, ...]) -> list[Benchmark]:
    """The benchmarks of these names, each once; those that run by default if there are none."""
    if not names:
        return [each for each in benchmarks().values() if each.by_default]
    return [find(name) for name in dict.fromkeys(names)]


def presentation(op: str) -> Presentation:
    """How a result of a record looks. op: as the record has it, "matmul" or "tone picture"."""
    known = benchmarks().get(op.split(" ")[0])
    return known.presentation if known else Presentation()
