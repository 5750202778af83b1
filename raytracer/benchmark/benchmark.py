"""The protocol of benchmarks, and the machine that they run on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol, cast

from raytracer.benchmark.datasheet import card
from raytracer.benchmark.options import BenchOptions
from raytracer.benchmark.presentation import Presentation
from raytracer.benchmark.record import DataSheet, Device, Result

if TYPE_CHECKING:
    from raytracer.benchmark.cuda.session import Session

Tell = Callable[[str], None]
Backend = Literal["cpu", "cuda"]


class Benchmark(Protocol):
    """One name of `raytracer bench`: an operation, or a part of the renderer."""

    @property
    def name(self) -> str:
        """The name on the command line."""

    @property
    def by_default(self) -> bool:
        """Whether it runs if no benchmark is named."""

    @property
    def takes_kernels(self) -> bool:
        """Whether it accepts a user's kernel (`--with`)."""

    @property
    def is_counted(self) -> bool:
        """Whether it supports the counters of Nsight Compute (`--ncu`)."""

    @property
    def has_random_sizes(self) -> bool:
        """Whether sizes can be drawn at random (`--sizes random:COUNT`)."""

    @property
    def presentation(self) -> Presentation:
        """The form of its results in tables and plots."""

    def listing(self) -> Iterator[str]:
        """Yield the lines of `--list`."""

    def check(self, options: BenchOptions) -> None:
        """Validate options before anything runs; raise UserError for invalid ones."""

    def run(self, machine: Machine, options: BenchOptions, tell: Tell) -> list[Result]:
        """Check the outputs, then time them.

        Args:
            machine: backend and device.
            options: of the run.
            tell: called with a line before each step.
        """

    def explain(self, options: BenchOptions, arch: str) -> str:
        """Describe what is timed.

        Args:
            options: of the run.
            arch: architecture to compile for, for registers and spills.
        """

    def profile(self, options: BenchOptions) -> list[str]:
        """Launch each kernel once between profiler marks.

        Returns:
            The labels of the launched kernels.

        Raises:
            UserError: the benchmark has no kernels.
        """


@dataclass
class Machine:
    """Backend and device of a run."""

    backend: Backend
    device: Device = field(default_factory=Device)

    @contextmanager
    def session(self, tell: Tell) -> Iterator[Session]:
        """Open the GPU; measure its ceilings the first time."""
        from raytracer.backends.cuda.check import translated
        from raytracer.benchmark import ceilings
        from raytracer.benchmark.cuda.session import Session

        with Session() as session:
            if "ceilings" not in self.device:
                self.device.update(session.describe())
                tell("measuring the ceilings of this GPU")
                with translated(session.driver):
                    self.device["ceilings"] = ceilings.measure(session)
                if sheet := card(str(self.device.get("device", ""))):
                    self.device["data_sheet"] = cast(DataSheet, asdict(sheet))
            yield session
