"""Measured ceilings of the GPU: copy bandwidth and multiply-add rate."""

import statistics
from functools import partial

from raytracer.benchmark.cuda.guarded_memory import Memory
from raytracer.benchmark.cuda.kernel import LoadedKernel
from raytracer.benchmark.cuda.timing import Enqueue, Session
from raytracer.benchmark.record import Ceilings
from raytracer.errors import RaytracerError
from raytracer.variants import discover

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
        memory.clear("a")
        target, source = memory.address("b"), memory.address("a")
        copy = partial(session.driver.memcpy_dtod_async, target, source, nbytes, session.stream)
        return 2 * nbytes / _seconds(session, copy) * 1e-9


def _multiply_adds(session: Session) -> float:
    variant = discover("ceiling")[0]
    with Memory(session, {"out": 256}) as memory:
        memory.clear("out")
        launch = LoadedKernel(session, variant, {}).bind({}, [memory.address("out")], (ROUNDS,))
        threads = variant.launch({}, session.multiprocessors).grid[0] * variant.threads
        return 16.0 * ROUNDS * threads / _seconds(session, launch) * 1e-12


def _seconds(session: Session, launch: Enqueue) -> float:
    session.cold(launch, 4, False)
    return statistics.median(session.cold(launch, TIMES, False))
