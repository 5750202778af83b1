"""What a benchmark is, and the machine that it runs on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from textwrap import wrap
from typing import TYPE_CHECKING, Literal

from raytracer.benchmark.explain import WIDTH
from raytracer.benchmark.options import BenchOptions
from raytracer.benchmark.record import DataSheet, Device, Result
from raytracer.errors import UserError

if TYPE_CHECKING:
    from raytracer.benchmark.cuda.session import Session

Tell = Callable[[str], None]
Backend = Literal["cpu", "cuda"]

# By a part of the name that the driver reports, longer names first: memory in GB/s, TFLOP/s of
# float32, float64 and bfloat16 (dense, on tensor cores), and the source.
CARDS = {
    "H200 NVL": (4800, 60.3, 30.2, 835.5, "NVIDIA H200 data sheet"),
    "H200": (4800, 66.9, 33.5, 989.5, "NVIDIA H200 data sheet (SXM)"),
    "H100 PCIe": (2039, 51.2, 25.6, 756.5, "NVIDIA H100 data sheet (PCIe)"),
    "H100": (3350, 66.9, 33.5, 989.5, "NVIDIA H100 data sheet (SXM)"),
    "A100-SXM4-80GB": (2039, 19.5, 9.7, 312, "NVIDIA A100 data sheet (80 GB SXM)"),
    "A100": (1555, 19.5, 9.7, 312, "NVIDIA A100 data sheet (40 GB)"),
    "RTX PRO 6000": (1792, 126, 1.97, 503.8, "NVIDIA RTX Blackwell PRO architecture paper"),
    "RTX 5090": (1792, 104.8, 1.64, 209.5, "NVIDIA RTX Blackwell architecture paper"),
    "RTX 3090": (936, 35.6, 0.56, 71, "NVIDIA GA102 architecture paper"),
}


class Benchmark(ABC):
    """One name of `raytracer bench`: an operation, or a part of the renderer."""

    name: str
    by_default = False  # whether it runs if no benchmark is named
    takes_kernels = False  # whether it accepts a user's kernel (`--with`)
    takes_scenes = False  # whether it has scenes to choose from (`--scene`)
    note = ""  # what is timed

    @abstractmethod
    def listing(self) -> Iterator[str]:
        """Yield the lines of `--list`."""

    @abstractmethod
    def check(self, options: BenchOptions) -> None:
        """Validate options before anything runs; raise UserError for invalid ones."""

    @abstractmethod
    def run(self, machine: Machine, options: BenchOptions, tell: Tell) -> list[Result]:
        """Check the outputs, then time them; `tell` is called with a line before each step."""

    def explain(self, options: BenchOptions, arch: str) -> str:
        """Describe what is timed; kernels are compiled for `arch` to tell registers and spills."""
        return "\n".join([*self.listing(), *wrap(self.note, WIDTH)]) + "\n"

    def profile(self, options: BenchOptions) -> list[str]:
        """Launch each kernel once between profiler marks; return the labels.

        Raises:
            UserError: the benchmark has no kernels.
        """
        raise UserError(f"{self.name} has no kernels of its own; profile render or tone")


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
                    self.device["data_sheet"] = sheet
            yield session


def card(device: str) -> DataSheet | None:
    """Return the entry for a device name; None if there is none."""
    for name, (memory, float32, float64, bfloat16, source) in CARDS.items():
        if name in device:
            return DataSheet(
                name=name, memory=memory, float32=float32, float64=float64, bfloat16=bfloat16,
                source=source,
            )  # fmt: skip
    return None
