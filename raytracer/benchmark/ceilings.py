"""Measured ceilings of the GPU: copy bandwidth and multiply-add rate."""

from __future__ import annotations

import statistics
from typing import Any

from raytracer.benchmark.cuda.guarded_memory import Memory
from raytracer.benchmark.cuda.kernel import LoadedKernel
from raytracer.benchmark.cuda.session import Session
from raytracer.benchmark.record import Ceilings
from raytracer.errors import RaytracerError
from raytracer.variants.discovery import discover

COPY_BYTES = 1 << 30
ROUNDS = 1 << 14  # of 16 FLOP per thread: some milliseconds
TIMES = 12


def measure(session: Session) -> Ceilings:
    """Measure the copy rate (GB/s, read + written) and FP32 multiply-adds (TFLOP/s).

    Ceilings that cannot be measured (no free memory, no compiler) are omitted.
    """
    ceilings: Ceilings = {}
    try:
        ceilings["copy_gbps"] = _copy(session)
        ceilings["fma_tflops"] = _multiply_adds(session)
    except RaytracerError:
        pass
    return ceilings


def _copy(session: Session) -> float:
    nbytes = min(COPY_BYTES, int(session.driver.mem_get_info()[0]) // 8 // 256 * 256)
    with Memory(session, {"a": nbytes, "b": nbytes}) as memory:
        source, target = memory.address("a"), memory.address("b")
        memory.clear("a")

        def launch() -> Any:
            session.driver.memcpy_dtod_async(target, source, nbytes, session.stream)

        session.cold(launch, 2, False)
        duration = statistics.median(session.cold(launch, TIMES, False))
    return 2 * nbytes / duration * 1e-9


def _multiply_adds(session: Session) -> float:
    variant = discover("ceiling")[0]
    with Memory(session, {"out": 256}) as memory:
        memory.clear("out")
        launch = LoadedKernel(session, variant, {}).bind({}, [memory.address("out")], (ROUNDS,))
        session.cold(launch, 4, False)
        duration = statistics.median(session.cold(launch, TIMES, False))
    threads = variant.launch({}, session.multiprocessors).grid[0] * variant.threads
    return 16.0 * ROUNDS * threads / duration * 1e-12
