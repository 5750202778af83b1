"""Measure what a view costs the simulation that it shows: steps with and without a view in turns.

    python docs/research/view_bench.py [--spheres 10000] [--backend cuda] [--turns 32]

The simulation moves particles in a well, in NumPy, or in PyTorch on a GPU, and logs each step. The
processor time tells what the view costs where others use the machine, too.
"""

from __future__ import annotations

import argparse
from importlib import import_module
from statistics import median
from time import perf_counter, thread_time
from typing import Any

from raytracer.benchmark.sphere_kinds import spheres
from raytracer.in_situ.live_view import LiveView, _spare_core, live
from raytracer.in_situ.sinks import ProcessRunner, ViewSink

TURN, WARM = 0.2, 0.1  # seconds of a turn, and before it, in which the view draws and rests
STEP = 0.01  # time of a step, in units in which all lengths and forces are about 1


class Simulation:
    """Particles in an anharmonic well: semi-implicit Euler steps."""

    def __init__(self, count: int, backend: str) -> None:
        self._torch = import_module("torch") if backend.startswith("cuda") else None
        centers, radii = spheres("uniform", count)
        self.radius = float(radii.min())
        self.positions: Any = centers
        if self._torch is not None:
            self.positions = self._torch.as_tensor(centers, device=backend)
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


def unseen(**settings: Any) -> LiveView:
    """Return a view that is rendered but not shown; arguments are those of `live`."""
    view = live(open=None, **settings)
    settings = {**view._settings, **_spare_core(0)}
    view._open(ViewSink(ProcessRunner("memory", settings, view._gpu), view._logged))
    return view


def turn(simulation: Simulation, view: LiveView | None) -> tuple[float, float]:
    """Return seconds per step of a turn, and those of the processor in this thread."""
    for length in (WARM, TURN):
        start, processor, count = perf_counter(), thread_time(), 0
        while (spent := perf_counter() - start) < length:
            simulation.step()
            if view is not None:
                view.log_points("particles", simulation.positions, radii=simulation.radius)
            count += 1
        simulation.wait()
        spent, processor = perf_counter() - start, thread_time() - processor
    return spent / count, processor / count


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="view_bench.py")
    parser.add_argument("--spheres", type=int, default=10_000)
    parser.add_argument("--backend", default="cpu", help="cpu, or cuda:0")
    parser.add_argument("--turns", type=int, default=32, help="of each kind")
    options = parser.parse_args()
    simulation = Simulation(options.spheres, options.backend)
    size = {"width": 640, "height": 480} if options.backend == "cpu" else {}
    with unseen(backend=options.backend, samples=1, **size) as view:
        pairs = [
            [turn(simulation, each) for each in (view, None)] for _ in range(options.turns + 1)
        ][1:]  # the first pair opens the view
    wall, processor = (median(seen[k] / alone[k] for seen, alone in pairs) for k in (0, 1))
    alone = median(each[0] for _, each in pairs)
    print(f"a step alone takes {1e6 * alone:.4g} µs; with a view {wall:.3f} times as long,")
    print(f"and {processor:.3f} times the processor time")


if __name__ == "__main__":
    main()
