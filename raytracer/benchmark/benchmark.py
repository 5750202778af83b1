"""What every benchmark can do, and what it runs on."""

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
        """As it is called on the command line."""

    @property
    def by_default(self) -> bool:
        """Whether it runs where no name is given."""

    @property
    def takes_kernels(self) -> bool:
        """Whether a user's kernel can be ranked among its own (`--with`)."""

    @property
    def is_counted(self) -> bool:
        """Whether Nsight Compute's counters can be added (`--ncu`)."""

    @property
    def presentation(self) -> Presentation:
        """How its results look in tables and plots."""

    def listing(self) -> Iterator[str]:
        """The lines of `--list`."""

    def check(self, options: BenchOptions) -> None:
        """Raise UserError for a options that makes no sense here, before anything runs."""

    def run(self, machine: Machine, options: BenchOptions, tell: Tell) -> list[Result]:
        """Check and time it. tell: called with a line before each step."""

    def explain(self, options: BenchOptions, arch: str) -> str:
        """What is timed, in words. arch: what to compile for, to know registers and spills."""

    def profile(self, options: BenchOptions) -> list[str]:
        """Launch each kernel once between profiler marks; the labels of those that ran.

        Raises UserError where there is none to launch.
        """


@dataclass
class Machine:
    """What a run of the bench runs on, and what is known of it so far."""

    backend: Backend
    device: Device = field(default_factory=Device)

    @contextmanager
    def session(self, tell: Tell) -> Iterator[Session]:
        """The GPU; what it gives at best is measured the first time."""
        from raytracer.backends.cuda.context import translated
        from raytracer.benchmark import ceilings
        from raytracer.benchmark.cuda.session import Session

        with Session() as session:
            if "ceilings" not in self.device:
                self.device.update(session.describe())
                tell("measuring the ceilings of this card")
                with translated(session.driver):
                    self.device["ceilings"] = ceilings.measure(session)
                if sheet := card(str(self.device.get("device", ""))):
                    self.device["data_sheet"] = cast(DataSheet, asdict(sheet))
            yield session
