"""`raytracer bench copy`: copies over the bus and on the device."""

from __future__ import annotations

from raytracer.benchmark import timing
from raytracer.benchmark.benchmark import Tell
from raytracer.benchmark.cuda.guarded_memory import Memory
from raytracer.benchmark.cuda.session import Session
from raytracer.benchmark.operation_benchmark import OperationBenchmark
from raytracer.benchmark.operations.elementwise import COPY
from raytracer.benchmark.options import BenchOptions
from raytracer.benchmark.record import Result, Row
from raytracer.benchmark.runner import Plan
from raytracer.errors import UserError
from raytracer.variants import Variant

COUNT = 12


class CopyBenchmark(OperationBenchmark):
    """Copies by the driver; there are no kernels."""

    takes_kernels = False
    is_counted = False

    def __init__(self) -> None:
        """Create the benchmark of the operation `copy`."""
        super().__init__(COPY)

    def profile(self, options: BenchOptions) -> list[str]:
        """Raise UserError: there are no kernels."""
        raise UserError("copy has no kernels to profile")

    def measure(
        self, session: Session, plan: Plan, kernels: list[Variant], tell: Tell, into: Result
    ) -> None:
        """Measure one size."""
        tell("timing copies")
        into["rows"] = rows(session, plan)


def rows(session: Session, plan: Plan) -> list[Row]:
    """Check and time each kind of copy."""
    import numpy as np

    size = plan.axes["n"]
    pageable = plan.values()["a"]
    locked = session.driver.pagelocked_empty(size, np.uint8)
    locked[:] = pageable
    back, locked_back = np.zeros_like(pageable), session.driver.pagelocked_empty(size, np.uint8)
    with Memory(session, {"a": size, "b": size}) as memory:
        a, b = memory.address("a"), memory.address("b")
        driver, stream = session.driver, session.stream
        ways = {
            "host to device, pageable": lambda: driver.memcpy_htod_async(a, pageable, stream),
            "host to device, page-locked": lambda: driver.memcpy_htod_async(a, locked, stream),
            "device to host, pageable": lambda: driver.memcpy_dtoh_async(back, a, stream),
            "device to host, page-locked": lambda: driver.memcpy_dtoh_async(locked_back, a, stream),
            "on the device": lambda: driver.memcpy_dtod_async(b, a, size, stream),
        }
        rows = []
        for label, launch in ways.items():
            session.cold(launch, 2, False)
            samples = session.cold(launch, COUNT, False)
            rows.append(timing.row(label, samples, label, "copy"))
            rows[-1]["bytes"] = size * (2 if label == "on the device" else 1)
        ok = bool((back == pageable).all() and (locked_back == pageable).all())
    for row in rows:
        if not ok:
            row["status"], row["reason"] = "wrong", "bytes differ"
    return rows
