"""Times of kernels and libraries that take turns on a GPU."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from raytracer.backends.cuda.check import translated
from raytracer.benchmark import nvml, timing
from raytracer.benchmark.cuda.kernel import Enqueue
from raytracer.benchmark.cuda.session import Session
from raytracer.benchmark.record import Clock, Row
from raytracer.errors import RaytracerError

if TYPE_CHECKING:
    from raytracer.benchmark.benchmark import Tell
    from raytracer.benchmark.runner import Plan

MAX_QUEUED = 5000  # launches
LOAD_TIME = 0.3  # seconds of queued work during which NVML is read


@dataclass
class Entry:
    """A kernel or library during the measurement: its row and its samples."""

    row: Row
    launch: Enqueue | None = None
    samples: list[float] = field(default_factory=list)
    duration: float = 0.0  # seconds of device time so far


def time_in_turns(session: Session, plan: Plan, entries: list[Entry], tell: Tell) -> None:
    """Time all entries in turns (A B B A) until the median of each has settled."""
    footprint = plan.op.work(plan.axes, plan.dtype).bytes
    flush = footprint < 4 * session.l2_bytes
    estimates = {}
    for entry in entries:
        tell(f"timing {plan.op.name} {entry.row['label']}")
        with _watched(session, entry):
            (first,) = session.cold(_launch(entry), 1, False)  # includes lazy loading
            again = session.cold(_launch(entry), 3, False) if first < 0.2 else [first]
            estimates[id(entry)] = max(min(again), 1e-6)
    slice_time = plan.min_time / 4

    def sample(entry: Entry) -> None:
        estimate = estimates[id(entry)]
        samples = session.turn(_launch(entry), plan.mode, slice_time, estimate, flush)
        entry.samples += samples
        # A sample of a short kernel is the mean of a batch, so the sum underestimates.
        entry.duration += max(slice_time / 2, sum(samples))

    def settled(entry: Entry) -> bool:
        return timing.settled(entry.samples, entry.duration, plan.min_time)

    _take_turns(session, [entry for entry in entries if id(entry) in estimates], sample, settled)


def _take_turns(
    session: Session,
    entries: list[Entry],
    sample: Callable[[Entry], None],
    settled: Callable[[Entry], bool],
) -> None:
    """Sample entries in turns (A B B A) until all have settled.

    Those that have settled keep their turns: entries that went on alone would run hotter, and at
    lower clocks where the power limit decides, than those beside which they are reported.
    """
    while any(entry.launch and not settled(entry) for entry in entries):
        for entry in (*entries, *reversed(entries)):
            if entry.launch:
                with _watched(session, entry):
                    sample(entry)


def clock_under_load(session: Session, entries: list[Entry]) -> Clock:
    """Read NVML while the last variant runs for a sampling period of NVML."""
    ours = [entry for entry in entries if entry.samples and entry.row["kind"] != "peer"]
    if not ours:
        return {}
    with _watched(session, ours[-1]):
        launches = max(1, int(LOAD_TIME / min(ours[-1].samples)))
        for _ in range(min(MAX_QUEUED, launches)):
            _launch(ours[-1])()
        time.sleep(0.7 * LOAD_TIME)
        clock = nvml.read(session.bus_id)
        if launches > MAX_QUEUED:  # shorter than a sampling period of NVML
            clock.pop("gpu_percent", None)
            clock.pop("memory_percent", None)
        session.wait()
        return clock
    return {}


def _launch(entry: Entry) -> Enqueue:
    assert entry.launch is not None
    return entry.launch


@contextmanager
def _watched(session: Session, entry: Entry) -> Iterator[None]:
    """End an entry, not the run, if a launch fails."""
    try:
        with translated(session.driver):
            yield
    except Exception as error:
        if entry.row["kind"] != "peer" and not isinstance(error, RaytracerError):
            raise  # a defect of the bench; errors of libraries are reported in their row
        entry.launch, entry.samples = None, []
        entry.row["status"], entry.row["reason"] = "failed", str(error).split("\n")[0]


def finish(entry: Entry) -> None:
    if entry.samples:
        entry.row["time"] = timing.statistics(entry.samples)
        entry.row["samples"] = entry.samples
