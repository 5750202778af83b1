"""What a benchmark is."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from textwrap import wrap

from raytracer.benchmark.cuda.timing import Session
from raytracer.benchmark.options import BenchOptions, Tell
from raytracer.benchmark.record import Result
from raytracer.errors import UserError
from raytracer.variants import Kernel

WIDTH = 96  # characters of a line of ideas


class Benchmark(ABC):
    """One name of `raytracer bench`: an operation, or a part of the renderer."""

    name: str
    default_on = ""  # the backend on which it runs if no benchmark is named
    takes: tuple[str, ...]  # names of the `BenchOptions` that only some benchmarks have

    @abstractmethod
    def listing(self, ideas: bool) -> Iterator[str]:
        """Yield the lines of `--list`; ideas: those of each kernel too."""

    @abstractmethod
    def check(self, options: BenchOptions) -> None:
        """Validate options before anything runs; raise UserError for invalid ones."""

    @abstractmethod
    def run(self, session: Session | None, options: BenchOptions, tell: Tell) -> list[Result]:
        """Check the outputs, then time them on a GPU, or on the CPU without a session."""

    def profile(self, options: BenchOptions) -> list[str]:
        """Launch each kernel once between profiler marks, and return their labels."""
        raise UserError(f"{self.name} has no kernels of its own; profile render or tone")


def kernel_lines(kernels: Iterable[Kernel], ideas: bool) -> Iterator[str]:
    """Yield the lines of `--list` that describe kernels."""
    for each in kernels:
        yield f"  {each.label:<28} {', '.join(map(str, each.needs)):<10} {each.title}"
        if ideas:
            for text in (each.idea, f"source: {each.source}"):
                yield from wrap(text, WIDTH, initial_indent="    ", subsequent_indent="    ")
