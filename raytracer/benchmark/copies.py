"""The rows of the `copy` operation: over the bus and on the device."""

from __future__ import annotations

from typing import Any

from raytracer.benchmark import noise
from raytracer.benchmark.cuda.guarded import Memory
from raytracer.benchmark.cuda.session import Session
from raytracer.benchmark.gpu import Plan

COUNT = 12


def rows(session: Session, plan: Plan) -> list[dict[str, Any]]:
    """Each way to copy, checked, then timed by events."""
    import numpy as np

    size = plan.axes["n"]
    pageable = plan.op.inputs(plan.axes, plan.dtype, plan.distribution, plan.seed)["a"]
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
        made = []
        for label, launch in ways.items():
            session.cold(launch, 2, False)
            samples = session.cold(launch, COUNT, False)
            made.append(_row(label, samples, size * (2 if label == "on the device" else 1)))
        ok = bool((back == pageable).all() and (locked_back == pageable).all())
    for row in made:
        row |= {"status": "ok"} if ok else {"status": "wrong", "reason": "bytes differ"}
    return made


def _row(label: str, samples: list[float], moved: int) -> dict[str, Any]:
    row = {"label": label, "title": label, "kind": "copy", "status": "ok", "reason": ""}
    return row | {"bytes": moved, "time": noise.statistics(samples), "samples": samples}
