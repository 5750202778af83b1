"""The registry of benchmarks."""

from collections.abc import Sequence
from functools import cache

from raytracer.benchmark.benchmark import Benchmark
from raytracer.benchmark.operation_benchmark import OperationBenchmark
from raytracer.benchmark.operations import OPERATIONS
from raytracer.benchmark.render_benchmark import RenderBenchmark
from raytracer.benchmark.tone_benchmark import ToneBenchmark
from raytracer.benchmark.tree_benchmark import BuildBenchmark, LiveBenchmark
from raytracer.errors import UserError, suggestion

REMOVED = {
    "preview": "`raytracer preview SCENE --offscreen 400 --json` prints the latency of its frames",
    "copy": "nvbandwidth measures copies over the bus",
    "matrixadd": "vecadd adds contiguous matrices",
    **dict.fromkeys(
        ("advection", "contraction_x", "contraction_y", "contraction_z", "diffusion", "mass"),
        "of the operators on elements, contraction is left",
    ),
}
"""Operations that were removed, and what to use."""


@cache
def benchmarks() -> dict[str, Benchmark]:
    """Return all benchmarks by name: operations, sorted, then parts of the renderer."""
    every: list[Benchmark] = [OperationBenchmark(op) for op in OPERATIONS.values()]
    every += [RenderBenchmark(), ToneBenchmark(), BuildBenchmark(), LiveBenchmark()]
    return {each.name: each for each in every}


def find(name: str) -> Benchmark:
    """Return a benchmark by name; raise UserError for an unknown one."""
    if name not in benchmarks():
        hint = REMOVED.get(name) or suggestion(name, list(benchmarks()))
        raise UserError(f"there is no operation {name!r} to bench; {hint}")
    return benchmarks()[name]


def selected(names: tuple[str, ...], backend: str = "cuda") -> list[Benchmark]:
    """Return benchmarks by name, each once; without names those of a backend."""
    if not names:
        return [each for each in benchmarks().values() if each.default_on == backend]
    return [find(name) for name in dict.fromkeys(names)]


def listing(names: Sequence[str] = ()) -> str:
    """Return the text of `--list`: axes, types and variants; of named benchmarks the ideas, too."""
    lines = [line for name in names or benchmarks() for line in find(name).listing(bool(names))]
    return "\n".join(lines) + "\n"
