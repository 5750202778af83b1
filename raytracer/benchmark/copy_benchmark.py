"""`raytracer bench copy`: copies between host and device, from pageable and from pinned memory."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.benchmark import record, statistics
from raytracer.benchmark.benchmark import Benchmark, BenchOptions, Tell
from raytracer.benchmark.cuda.session import Memory, Session
from raytracer.benchmark.op import draw
from raytracer.benchmark.record import Result
from raytracer.config.arguments import check_whole
from raytracer.config.errors import BackendError, RaytracerError
from raytracer.system.memory import require_room

Copy = Callable[[], Any]

SIZE = 1 << 28  # bytes
MOST = 1 << 40
ARRAYS = 4  # of the host: two pageable, two pinned
NOTE = (
    "Pinned memory (cudaMallocHost) stays where it is, so that the copy engine reads it by itself; "
    "pageable memory is copied to a pinned buffer of the driver first. Wall-clock time until the "
    "copy is complete. A byte counts once."
)


class CopyBenchmark(Benchmark):
    """Copies to a GPU and back."""

    name = "copy"
    default_on = "cuda"
    takes = ("sizes",)

    def listing(self, ideas: bool) -> Iterator[str]:
        yield "copy: host to device and back, from pageable and pinned memory"
        yield f"  size {SIZE} bytes"
        yield from [f"  {NOTE}"] if ideas else ()

    def check(self, options: BenchOptions) -> None:
        _sizes(options)

    def sources(self, backend: str, options: BenchOptions) -> list[Path]:
        return []  # the driver copies

    def run(self, session: Session | None, options: BenchOptions, tell: Tell) -> Iterator[Result]:
        if session is None:
            raise BackendError("copy needs an NVIDIA GPU: leave out --backend cpu")
        for size in _sizes(options):
            require_room("bench copy", ARRAYS * size, f"for {size} bytes", "give smaller sizes")
            tell(f"copying {size} bytes")
            with _copies(session, size) as copies:
                rows = [
                    statistics.timed(record.row(label), statistics.clocked(copy, options.min_time))
                    for label, copy in copies.items()
                ]
            made = record.result(self.name, {"n": size}, rows, "host", "uniform")
            made["dtype"], made["note"] = "uint8", NOTE
            made["work"]["bytes_read"] = size
            yield made

    def launches(self, session: Session, options: BenchOptions) -> Iterator[tuple[str, Copy]]:
        with _copies(session, _sizes(options)[0]) as copies:
            yield from copies.items()


def _sizes(options: BenchOptions) -> list[int]:
    """Return the bytes of each copy; raise UserError for impossible ones."""
    return [check_whole(size, "size", 1, MOST) for size in options.counts((SIZE,))]


@contextmanager
def _copies(session: Session, size: int) -> Iterator[dict[str, Copy]]:
    """Yield the copies by label, each complete when it returns; raise RaytracerError if they bring
    other bytes."""
    driver = session.driver
    pageable = draw((size,), "uint8", "uniform", 1)
    pinned: NDArray[np.uint8] = driver.pagelocked_empty(size, np.uint8)
    pinned[:] = pageable[::-1]
    back: dict[str, NDArray[np.uint8]] = {
        "pageable": np.zeros(size, np.uint8), "pinned": driver.pagelocked_empty(size, np.uint8)
    }  # fmt: skip
    with Memory(session, {"a": size}) as memory:
        place = memory.address("a")

        def complete(copy: Copy) -> None:
            copy()
            session.wait()

        to_device, to_host = driver.memcpy_htod_async, driver.memcpy_dtoh_async
        copies: dict[str, Copy] = {}
        for name, source in (("pageable", pageable), ("pinned", pinned)):
            copies[f"host to device, {name}"] = partial(
                complete, partial(to_device, place, source, session.stream)
            )
            copies[f"device to host, {name}"] = partial(
                complete, partial(to_host, back[name], place, session.stream)
            )
            for copy in list(copies.values())[-2:]:
                copy()
            if not np.array_equal(back[name], source):
                raise RaytracerError(f"copy: {name} memory came back with other bytes")
        yield copies
