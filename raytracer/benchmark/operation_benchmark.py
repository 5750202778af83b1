"""`raytracer bench OPERATION`: its variants on a GPU, checked, and timed beside PyTorch."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from raytracer.backends.cuda.probe import why_not
from raytracer.benchmark import record
from raytracer.benchmark.benchmark import (
    Benchmark,
    BenchOptions,
    Tell,
    kernel_lines,
    matching,
    names_of,
    reported,
)
from raytracer.benchmark.cuda.kernel import LoadedKernel
from raytracer.benchmark.cuda.session import (
    Enqueue,
    Memory,
    RefusedError,
    Session,
    SizeError,
    clock,
)
from raytracer.benchmark.op import Arrays, Op, Peer, relative_error
from raytracer.benchmark.products import kernel as products
from raytracer.benchmark.products.tiles import ALIGNMENT, problem_of
from raytracer.benchmark.record import Clock, Resources, Result, Row
from raytracer.benchmark.statistics import Turn, in_turns, timed
from raytracer.benchmark.user_kernel import adopt
from raytracer.errors import BackendError, RaytracerError, UserError
from raytracer.variants import Variant, discover

# The timed sizes are checked too if NumPy computes them in about a second.
CHECKED_BYTES, CHECKED_FLOP = 128 << 20, 4e9
MAX_QUEUED = 5000  # launches
LOAD_TIME = 0.6  # seconds of queued work during which nvidia-smi reads the clock


class OperationBenchmark(Benchmark):
    """Variants of an operation, checked against its reference and timed beside libraries."""

    default_on = "cuda"
    takes = ("variant", "axes", "sizes", "dtype", "user_kernel")

    def __init__(self, op: Op) -> None:
        self.op, self.name = op, op.name

    def listing(self, ideas: bool) -> Iterator[str]:
        op = self.op
        axes = ", ".join(f"{axis} {size}" for axis, size in op.axes.items())
        yield f"{op.name}: {op.summary}"
        yield f"  axes {axes}; {', '.join(op.dtypes)}; input {', '.join(op.distributions)}"
        yield from [f"  {op.note}"] if ideas and op.note else ()
        yield from kernel_lines(select(op, ()), ideas)

    def check(self, options: BenchOptions) -> None:
        if options.distribution not in self.op.distributions:
            raise UserError(f"{self.name} takes the inputs {', '.join(self.op.distributions)}")
        options.points(self.op)
        select(self.op, options.variant)

    def run(self, session: Session | None, options: BenchOptions, tell: Tell) -> list[Result]:
        if session is None:
            raise BackendError(
                f"the kernels of {self.name} need an NVIDIA GPU: "
                f"{why_not() or 'leave out --backend cpu'}; render, tone, build and live run "
                "on the CPU, too"
            )
        results = []
        with kernels_of(self.op, options) as kernels:
            for op in options.points(self.op):
                found = record.result(self.name, op.axes, [], options.mode, op.distribution)
                found |= {"dtype": op.dtype, "note": op.note, "work": op.work}
                results.append(found)
                try:
                    measure(session, op, kernels, options, tell, found)
                except RaytracerError as error:  # memory is insufficient, for instance
                    found["failed"] = str(error)
        return results

    def launches(self, session: Session, options: BenchOptions) -> Iterator[tuple[str, Enqueue]]:
        op = options.points(self.op)[0]
        with kernels_of(op, options) as kernels, loaded(session, op, op.values()) as memory:
            for variant in kernels:
                with suppress(RefusedError):
                    yield variant.label, launcher(session, op, variant, memory)[0]


@dataclass
class Entry:
    """A kernel or library during the measurement: its row, and its launch while it has one."""

    row: Row
    launch: Enqueue | None = None
    sampler: Turn | None = None

    def turn(self, session: Session, mode: str, flush: bool, seconds: float) -> list[float]:
        """Take samples; none after an error."""
        with reported(self.row):
            if self.launch:
                self.sampler = self.sampler or session.sampler(self.launch, mode, flush)
                return self.sampler(seconds)
        self.launch = None
        return []


@contextmanager
def loaded(session: Session, op: Op, arrays: Arrays) -> Iterator[Memory]:
    """Upload inputs and poison outputs; yield the memory."""
    sizes = {name: each.nbytes for name, each in op.arrays.items()}
    with Memory(session, sizes, op.offsets) as memory:
        for name, array in arrays.items():
            memory.upload(name, array)
        for name in op.outputs:
            memory.poison(name)
        session.wait()
        yield memory


def launcher(
    session: Session, op: Op, variant: Variant, memory: Memory
) -> tuple[Enqueue, Resources]:
    """Load a variant for an operation; return a function that queues it, and its resources.

    Outputs to which it adds are cleared each time. Raises RefusedError if it cannot run.
    """
    if not variant.supports(op.dtype):
        raise RefusedError(f"computes {variant.dtypes}, not {op.dtype}")
    if not variant.admits(session.arch):
        raise RefusedError(f"needs {', '.join(variant.needs)}; this GPU is {session.arch}")
    if variant.sizes:
        return products.bind(session, variant, problem_of(op, memory.address))
    if variant.alignment != "any" and any(each % ALIGNMENT for each in op.offsets.values()):
        raise SizeError(f"needs arrays that begin at multiples of {ALIGNMENT} bytes")
    kernel = LoadedKernel(session, variant, op.macros(op.axes, op.dtype))
    arrays = {
        name: (memory.address(name), array.shape, array.itemsize)
        for name, array in op.arrays.items()
    }
    kernel.fill(arrays)
    launch = kernel.bind(op.launch_names, [a for a, *_ in arrays.values()], op.sizes)

    def cleared() -> None:
        for name in op.outputs:
            memory.clear(name)
        launch()

    return cleared if op.clears else launch, kernel.resources


def compute(session: Session, op: Op, variant: Variant, arrays: Arrays) -> tuple[Arrays, str]:
    """Launch a variant once; return its outputs, and the names of outputs with overruns."""
    with loaded(session, op, arrays) as memory:
        launch, _ = launcher(session, op, variant, memory)
        launch()
        session.wait()
        results = {name: np.empty(a.shape, a.dtype) for name, a in op.output_arrays.items()}
        for name, result in results.items():
            memory.download(name, result)
        overruns = [name for name in results if memory.overrun(name)]
    return results, ", ".join(overruns)


def wrong(session: Session, op: Op, variant: Variant) -> str:
    """Compare a variant with the reference at the sizes of an operation; "" if it agrees."""
    arrays = op.values()
    results, overruns = compute(session, op, variant, arrays)
    where = ", ".join(f"{name}={size}" for name, size in op.axes.items())
    if overruns:
        return f"writes past the end of {overruns} at {where}"
    for name, expected in op.reference(arrays).items():
        error = relative_error(results[name], expected)
        if not error <= op.tolerance:
            return f"{name} is off by {error:.2g} (at most {op.tolerance:.2g}) at {where}"
    return ""


def checks(op: Op) -> list[Op]:
    """Return the sizes at which a variant is checked, with the machine code that is timed."""
    distribution = "sorted" if op.distribution == "sorted" else "normal"
    checked = [op.at(axes, distribution=distribution) for axes in op.awkward]
    macros = op.macros(op.axes, op.dtype)
    compiled_alike = [each for each in checked if op.macros(each.axes, op.dtype) == macros]
    if not compiled_alike:  # sizes that are macros (points of an element) stay those that are timed
        timed_sizes = {name: op.axes[name] for name in op.macro_sizes}
        compiled_alike = [each.at(timed_sizes) for each in checked]
    if record.moved(op.work) <= CHECKED_BYTES and op.work["flop"] <= CHECKED_FLOP:
        compiled_alike.append(replace(op, distribution=distribution))
    return compiled_alike


def measure(
    session: Session, op: Op, variants: list[Variant], options: BenchOptions, tell: Tell,
    into: Result,
) -> None:  # fmt: skip
    """Check the variants, then time the correct ones and the libraries in turns.

    `into` gets the rows, the memory in use, and the clock of the device during the runs.
    """
    entries = []
    for variant in variants:
        tell(f"checking {op.name} {variant.label}")
        entries.append(_checked(session, op, variant))
    arrays = op.values()
    with loaded(session, op, arrays) as memory:
        for variant, entry in zip(variants, entries, strict=True):
            if entry.row["status"] == "ok":
                with reported(entry.row):
                    found = launcher(session, op, variant, memory)
                    entry.launch, entry.row["resources"] = found
        for peer in op.peers if options.peers else ():
            if op.dtype in (peer.dtypes or op.dtypes):
                tell(f"preparing {peer.name}")
                entries.append(_peer(session, peer, arrays))
        free, total = session.driver.mem_get_info()
        into["memory_used"] = int(total - free)
        tell(f"timing {op.name}")
        flush = record.moved(op.work) < 4 * session.l2_bytes
        turns = [partial(entry.turn, session, options.mode, flush) for entry in entries]
        for entry, samples in zip(entries, in_turns(turns, options.min_time), strict=True):
            if entry.launch:
                timed(entry.row, samples)
        into["clock"] = _clock_under_load(session, entries)
    into["rows"] = [entry.row for entry in entries]


def select(op: Op, words: Sequence[str]) -> list[Variant]:
    """Return variants of an operation by label, name or number; all if there are no words."""
    return matching(discover(op.name), words, names_of, op.name)


@contextmanager
def kernels_of(op: Op, options: BenchOptions) -> Iterator[list[Variant]]:
    """Yield the kernels to run, the user's kernel last, which is copied to a temporary folder."""
    kernels = select(op, options.variant)
    with TemporaryDirectory(prefix="raytracer-bench-") as folder:
        if options.user_kernel:
            kernels.append(adopt(op, options.user_kernel, Path(folder)))
        yield kernels


def _checked(session: Session, op: Op, variant: Variant) -> Entry:
    """Check a variant; return its row with the status ok, wrong, skipped or failed."""
    row = record.row(variant.label, variant.title, "mine" if variant.folder else "variant")
    with reported(row):
        for each in checks(op):
            with suppress(SizeError):  # raised again if it concerns the timed size
                if reason := wrong(session, each, variant):
                    row["status"], row["reason"] = "wrong", reason
                    break
    return Entry(row)


def _peer(session: Session, peer: Peer, arrays: Arrays) -> Entry:
    """Prepare an implementation by PyTorch, on copies of the inputs and the stream of the bench."""
    entry = Entry(record.row(peer.name, peer.name, "peer"))
    with reported(entry.row):
        torch: Any = import_module("torch")
        if not torch.cuda.is_available():
            raise ImportError("this PyTorch has no CUDA")
        stream = torch.cuda.ExternalStream(int(session.stream.handle))
        # int16 in place of uint16: PyTorch has few unsigned types.
        signed = {k: a.view("i2") if a.dtype == "u2" else a for k, a in arrays.items()}
        tensors = {name: torch.from_numpy(array).cuda() for name, array in signed.items()}
        torch.cuda.synchronize()
        with torch.cuda.stream(stream):
            work = peer.make(torch, tensors)
            work()
        stream.synchronize()

        def enqueue() -> None:
            with torch.cuda.stream(stream):
                work()

        entry.launch, entry.row["version"] = enqueue, str(torch.__version__)
    return entry


def _clock_under_load(session: Session, entries: list[Entry]) -> Clock:
    """Read the clock while the last variant runs for a sampling period of the driver."""
    for entry in reversed(entries):
        if entry.launch and entry.row["kind"] != "peer":
            for _ in range(min(MAX_QUEUED, int(LOAD_TIME / entry.row["time"]["min"]) + 1)):
                entry.launch()
            time.sleep(0.3 * LOAD_TIME)
            found = clock(session.bus_id)
            session.wait()
            return found
    return {}
