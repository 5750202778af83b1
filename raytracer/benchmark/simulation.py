"""A simulation that a view follows, and what the view costs it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from statistics import median
from time import perf_counter, thread_time
from typing import TYPE_CHECKING, Any

from raytracer.benchmark import record, timing
from raytracer.benchmark.record import Row
from raytracer.in_situ.live_view import LiveView, unseen

if TYPE_CHECKING:
    from raytracer.backends.base import Device
    from raytracer.benchmark.sphere_kinds import Array

LABEL, ALONE = "simulation with a view", "simulation alone"

TURN = 0.2
"""Seconds of a turn with or without a view."""

WARM = 0.1
"""Seconds before each turn, in which the view draws what was logged last, and rests."""

MIN_TURNS = 32
"""Fewest turns of each kind."""

STEP = 0.01
"""Time of a step, in units in which all lengths and forces are about 1."""


class Simulation:
    """Particles in an anharmonic well: semi-implicit Euler steps in NumPy, or PyTorch on a GPU."""

    def __init__(self, device: Device, centers: Array) -> None:
        self._torch = import_module("torch") if device.has_own_memory else None
        if self._torch is None:
            self.positions: Any = centers.copy()
        else:
            self.positions = self._torch.as_tensor(centers, device=f"cuda:{device.number}")
        self._velocities = 0.0 * self.positions

    def step(self) -> None:
        """Compute a step."""
        squares = (self.positions * self.positions).sum(1)
        self._velocities -= STEP * (1.0 + squares)[:, None] * self.positions
        self.positions += STEP * self._velocities

    def wait(self) -> None:
        """Wait until all steps are computed."""
        if self._torch is not None:
            self._torch.cuda.synchronize(self.positions.device)


def rows(
    device: Device, centers: Array, radius: float, settings: Mapping[str, Any], min_time: float
) -> Iterator[Row]:
    """Yield rows of the seconds of a step, alone and with a view, which take turns.

    The processor time tells what the view costs where others use the machine, too.
    """
    has_torch = find_spec("torch") is not None and import_module("torch").cuda.is_available()
    if device.has_own_memory and not has_torch:
        yield record.row(LABEL, "", "variant", "skipped", "PyTorch with CUDA is not installed")
        return
    simulation, turns = Simulation(device, centers), max(int(min_time / TURN), MIN_TURNS)
    with unseen(**settings) as view:
        pairs = [
            [_turn(simulation, each, radius) for each in (view, None)] for _ in range(turns + 1)
        ][1:]  # the first pair opens the view
    wall, processor = (median(seen[k] / alone[k] for seen, alone in pairs) for k in (0, 1))
    title = f"{wall:.3f} of the time alone, {processor:.3f} of the processor time"
    yield timing.row(LABEL, [seen[0] for seen, _ in pairs], title)
    yield timing.row(ALONE, [alone[0] for _, alone in pairs], kind="stage")


def _turn(simulation: Simulation, view: LiveView | None, radius: float) -> tuple[float, float]:
    """Return seconds per step of a turn, and those of the processor in this thread."""
    for length in (WARM, TURN):
        start, processor, count = perf_counter(), thread_time(), 0
        while (spent := perf_counter() - start) < length:
            simulation.step()
            if view is not None:
                view.log_points("particles", simulation.positions, radii=radius)
            count += 1
        simulation.wait()
        spent, processor = perf_counter() - start, thread_time() - processor
    return spent / count, processor / count
