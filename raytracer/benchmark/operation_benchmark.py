"""`raytracer bench OPERATION`: its variants on a GPU, checked, and timed beside libraries."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.backends.cuda.probe import explain_missing
from raytracer.backends.kernel_sources import Variant, discover_variants
from raytracer.benchmark import record
from raytracer.benchmark.benchmark import (
    Benchmark,
    BenchOptions,
    Tell,
    WrongError,
    kernel_lines,
    list_names,
    matching,
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
from raytracer.benchmark.op import Arrays, Op, Peer
from raytracer.benchmark.peers import LoadedPeer, PeerFile, find_peers
from raytracer.benchmark.products import kernel as products
from raytracer.benchmark.products.tiles import ALIGNMENT, make_problem
from raytracer.benchmark.record import Clock, Resources, Result, Row
from raytracer.benchmark.report import figures
from raytracer.benchmark.statistics import Turn, in_turns, timed
from raytracer.benchmark.user_kernel import adopt
from raytracer.benchmark.verification import Expected
from raytracer.config.errors import BackendError, MemoryNeedError, RaytracerError, UserError

PIECE, SAMPLED = 1 << 22, 16  # bytes of an input that are compared at once, and such pieces
ABOVE = 0.10  # of the ceiling: what is faster is no measurement of this work
MAX_QUEUED = 5000  # launches
LOAD_TIME = 0.6  # seconds of queued work during which nvidia-smi reads the clock


class OperationBenchmark(Benchmark):
    """Variants of an operation, checked against its reference and timed beside libraries."""

    default_on = "cuda"
    takes = ("variant", "axes", "sizes", "dtype", "user_kernel", "distribution", "mode")

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

    def run(self, session: Session | None, options: BenchOptions, tell: Tell) -> Iterator[Result]:
        if session is None:
            raise BackendError(
                f"the kernels of {self.name} need an NVIDIA GPU: "
                f"{explain_missing() or 'leave out --backend cpu'}; render, tone, build and live "
                "run on the CPU, too"
            )
        with collect_kernels(self.op, options) as kernels:
            for op in options.points(self.op):
                found = record.result(self.name, op.axes, [], options.mode, op.distribution)
                found |= {"dtype": op.dtype, "note": op.note, "work": op.work}
                try:
                    measure(session, op, kernels, options, tell, found)
                except RaytracerError as error:  # memory is insufficient, for instance
                    found["failed"] = str(error)
                yield found

    def sources(self, backend: str, options: BenchOptions) -> list[Path]:
        variants = [variant.translation_unit for variant in select(self.op, options.variant)]
        return variants + [peer.path for peer in find_peers(self.name) if options.peers]

    def launches(self, session: Session, options: BenchOptions) -> Iterator[tuple[str, Enqueue]]:
        op = options.points(self.op)[0]
        with collect_kernels(op, options) as kernels, loaded(session, op, op.values()) as memory:
            for variant in kernels:
                with suppress(RefusedError):
                    yield variant.label, launcher(session, op, variant, memory)[0]


class Alternating:
    """Launches of the same work on different inputs, in turns."""

    def __init__(self, launches: Sequence[Enqueue]) -> None:
        self._launches = launches
        self.count = 0

    @property
    def last(self) -> int:
        """The number of the inputs of the last launch."""
        return (self.count - 1) % len(self._launches)

    def __call__(self) -> None:
        launch = self._launches[self.count % len(self._launches)]
        self.count += 1
        launch()


@dataclass
class Trial:
    """The arrays of the timed launches: several sets of inputs at different addresses, which take
    turns, and one set of outputs."""

    session: Session
    op: Op
    memories: list[Memory]  # the first has the outputs too
    expected: list[Expected]
    swapped: list[str]  # inputs whose values change places between the sets
    checks_guards: bool = True
    parity: int = 0

    def __post_init__(self) -> None:
        outputs = self.op.output_arrays
        self._found = {name: np.empty(a.shape, a.dtype) for name, a in outputs.items()}

    @property
    def flush(self) -> bool:
        """Whether the L2 cache is flushed before cold launches: larger arrays do it themselves."""
        return record.moved(self.op.work) < 4 * self.session.l2_bytes

    def poison(self) -> None:
        for name in self.op.outputs:
            self.memories[0].poison(name)

    def swap(self) -> None:
        """Exchange the values of the inputs, so that none stay where they were."""
        if len(self.memories) == 2:
            for name in self.swapped:
                self.memories[0].swap(name, self.memories[1])
            self.parity ^= 1

    def fault(self, number: int, complete: bool = True) -> str:
        """Return what is wrong with the outputs for inputs of a number; complete:
        False compares some blocks."""
        memory, expected = self.memories[0], self.expected[number ^ self.parity]
        blocks = None if complete else expected.draw_blocks()
        for name, array in self._found.items():
            row_bytes = array.nbytes // len(array)
            for rows in [slice(0, len(array))] if blocks is None else blocks:
                memory.download(name, array[rows], rows.start * row_bytes)
            if self.checks_guards and (where := memory.overrun(name)):
                return f"writes {where} {name}"
        return expected.fault(self._found, blocks)

    def upload(self) -> None:
        """Upload the inputs, with poisoned guards."""
        for number, memory in enumerate(self.memories):
            for name, array in self.expected[number ^ self.parity].inputs.items():
                memory.poison(name)
                memory.upload(name, array)

    def changed_input(self, complete: bool = True) -> str:
        """Return the name of an input that a kernel has changed, or beside which it wrote; "".
        complete: False compares some pieces."""
        for number, memory in enumerate(self.memories):
            for name, array in self.expected[number ^ self.parity].inputs.items():
                known = array.reshape(-1).view(np.uint8)
                for begin in _places(len(known), complete):
                    part = known[begin : begin + PIECE]
                    found = np.empty_like(part)
                    memory.download(name, found, begin)
                    if not np.array_equal(found, part):
                        return name
                if memory.overrun(name):
                    return name
        return ""


@dataclass
class Entry:
    """A kernel or library during the measurement: its row, and its launch while it has one."""

    row: Row
    launch: Alternating | None = None
    sampler: Turn | None = None
    turns: int = 0
    is_checked: bool = True  # PyTorch has outputs of its own

    def turn(self, trial: Trial, options: BenchOptions, seconds: float) -> list[float]:
        """Take samples, and check what the last timed launch wrote; none after an error."""
        with reported(self.row):
            if self.launch:
                is_checked = self.is_checked and options.checks("timed runs")
                if is_checked:
                    trial.swap()
                    if options.checks("poison"):
                        trial.poison()
                before = trial.poison if is_checked and options.checks("poison") else lambda: None
                self.sampler = self.sampler or trial.session.sampler(
                    self.launch, options.mode, trial.flush, before
                )
                samples = self.sampler(seconds)
                # All values after the first group of runs, some of them after each other one.
                if is_checked and (fault := trial.fault(self.launch.last, self.turns == 0)):
                    raise WrongError(f"{fault}, after {self.launch.count} launches, when timed")
                self.turns += 1
                return samples
        self.launch = None
        return []


def _places(size: int, complete: bool) -> list[int]:
    """Return where pieces of some bytes begin: all, or the first, the last and some others."""
    every = range(0, size, PIECE)
    if complete or len(every) <= SAMPLED:
        return list(every)
    drawn = np.random.default_rng().integers(0, len(every), SAMPLED - 2)
    return [every[place] for place in (0, len(every) - 1, *drawn.tolist())]


SETS = 2  # of inputs in the timed launches


def choose_slack(op: Op, options: BenchOptions) -> float:
    """Return the factor of permitted errors: where rounding is not checked, half of the digits."""
    if options.checks("rounding"):
        return 1.0
    return 2.0**40 if op.dtype == "float64" else 2.0**16


@contextmanager
def prepare_trial(
    session: Session, op: Op, variants: Sequence[Variant], options: BenchOptions
) -> Iterator[Trial]:
    """Upload the inputs of the timed launches, as many sets as fit into memory. Those that
    variants have in constant memory are the same in all sets."""
    constant = {name for variant in variants for name in variant.constant.split()}
    count = SETS if options.checks("two inputs") else 1
    with ExitStack() as stack:
        memories, expected = list[Memory](), list[Expected]()
        for number in range(count):
            drawn = op.at({}, seed=op.seed + 1000 * number)
            arrays = drawn.values()
            if expected:
                arrays |= {name: expected[0].inputs[name] for name in constant & {*arrays}}
            try:
                others = memories[0] if memories else None
                memories.append(stack.enter_context(loaded(session, op, arrays, others)))
            except MemoryNeedError:
                if not memories:
                    raise
                break
            slack = choose_slack(op, options)
            expected.append(Expected(drawn, arrays, slack=slack))
        swapped = [name for name in op.inputs if name not in constant]
        yield Trial(session, op, memories, expected, swapped, options.checks("guards"))


@contextmanager
def loaded(
    session: Session, op: Op, arrays: Arrays, others: Memory | None = None
) -> Iterator[Memory]:
    """Upload inputs and poison outputs; yield the memory. others: has the outputs."""
    outputs = op.output_arrays if others is None else {}
    sizes = {name: each.nbytes for name, each in (op.input_arrays | outputs).items()}
    with Memory(session, sizes, op.offsets, others) as memory:
        for name in sizes:
            memory.poison(name)
        for name, array in arrays.items():
            memory.upload(name, array)
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
        return products.bind(session, variant, make_problem(op, memory.address))
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
        overruns = [f"{where} {name}" for name in results if (where := memory.overrun(name))]
    return results, ", ".join(overruns)


def wrong(
    session: Session, op: Op, variant: Variant, options: BenchOptions = BenchOptions()  # noqa: B008
) -> str:  # fmt: skip
    """Compare a variant with the reference at the sizes of an operation; "" if it agrees."""
    arrays = op.values()
    results, overruns = compute(session, op, variant, arrays)
    where = ", ".join(f"{name}={size}" for name, size in op.axes.items())
    if overruns and options.checks("guards"):
        return f"writes {overruns} at {where}"
    fault = Expected(op, arrays, slack=choose_slack(op, options)).fault(results)
    return f"{fault} at {where}" if fault else ""


def checks(op: Op) -> list[Op]:
    """Return small sizes at which a variant is checked, with the machine code that is timed."""
    distribution = "sorted" if op.distribution == "sorted" else "normal"
    checked = [op.at(axes, distribution=distribution) for axes in op.awkward]
    macros = op.macros(op.axes, op.dtype)
    compiled_alike = [each for each in checked if op.macros(each.axes, op.dtype) == macros]
    if not compiled_alike:  # sizes that are macros (points of an element) stay those that are timed
        timed_sizes = {name: op.axes[name] for name in op.macro_sizes}
        compiled_alike = [each.at(timed_sizes) for each in checked]
    return compiled_alike


def measure(
    session: Session, op: Op, variants: list[Variant], options: BenchOptions, tell: Tell,
    into: Result,
) -> None:  # fmt: skip
    """Check the variants, then time the correct ones and the libraries in turns.

    `into` gets the rows, the memory in use, and the clock of the device during the runs.
    """
    entries, session.resets_lines = [], options.checks("persisting lines")
    for variant in variants:
        tell(f"checking {op.name} {variant.label}")
        entries.append(_checked(session, op, variant, options))
    with prepare_trial(session, op, variants, options) as trial, ExitStack() as stack:
        for variant, entry in zip(variants, entries, strict=True):
            if entry.row["status"] == "ok":
                tell(f"checking {op.name} {variant.label} at the timed size")
                with reported(entry.row):
                    _prepare(trial, entry, options, partial(_bound, trial, variant, entry.row))
        for peer in op.peers if options.peers else ():
            if op.dtype in (peer.dtypes or op.dtypes):
                tell(f"preparing {peer.name}")
                entries.append(_peer(trial, peer))
        for file in find_peers(op.name) if options.peers else ():
            if file.supports(op.dtype):
                tell(f"preparing {file.title}")
                entries.append(_file_peer(trial, file, options, stack))
        free, total = session.driver.mem_get_info()
        into["memory_used"], into["input_sets"] = int(total - free), len(trial.expected)
        tell(f"timing {op.name}")
        turns = [partial(entry.turn, trial, options) for entry in entries]
        for entry, groups in zip(entries, in_turns(turns, options.min_time), strict=True):
            if entry.launch:
                timed(entry.row, groups)
                _judge(session, entry.row, into, trial, options)
        if options.checks("inputs") and (name := trial.changed_input()):
            raise BackendError(
                f"{name}, an input, was changed by a kernel that was timed: bench them one by one"
            )
        for entry in entries:
            if "time" in entry.row:
                entry.row["clock"] = _clock_under_load(session, entry)
    into["rows"] = [entry.row for entry in entries]


def _bound(trial: Trial, variant: Variant, row: Row, memory: Memory) -> Enqueue:
    """Load a variant for one set of inputs."""
    launch, row["resources"] = launcher(trial.session, trial.op, variant, memory)
    return launch


def _prepare(
    trial: Trial, entry: Entry, options: BenchOptions, bind: Callable[[Memory], Enqueue]
) -> None:
    """Make launches for each set of inputs, and check their results at the timed size."""
    launches = []
    for number, memory in enumerate(trial.memories):
        launch = bind(memory)
        launches.append(launch)
        if options.checks("timed size"):
            trial.poison()
            launch()
            trial.session.wait()
            if fault := trial.fault(number, complete=number == 0):
                raise WrongError(f"{fault} at the timed size")
    if options.checks("inputs") and (name := trial.changed_input(complete=False)):
        trial.upload()
        raise WrongError(f"changes {name}, an input, or writes beside it")
    entry.launch = Alternating(launches)


def _judge(
    session: Session, row: Row, result: Result, trial: Trial, options: BenchOptions
) -> None:  # fmt: skip
    """Refuse a time that is not possible. Caches may hold smaller arrays than those of a trial
    that needs no flush."""
    if row["kind"] == "peer" or not options.checks("ceiling"):
        return
    ceilings = dict(session.ceilings)
    if trial.flush or options.mode == "hot":
        ceilings.pop("copy_gbps", None)
    share = figures(row, result, {"ceilings": ceilings}).get("of_ceiling") or 0.0  # type: ignore[typeddict-item]
    if share > 1.0 + ABOVE + row["time"]["noise"]:
        row["status"] = "wrong"
        row["reason"] = (
            f"reaches {share:.0%} of the ceiling of this GPU: it cannot have done all of its work"
        )
        del row["time"], row["samples"], row["groups"]


def select(op: Op, words: Sequence[str]) -> list[Variant]:
    """Return variants of an operation by label, name or number; all if there are no words."""
    return matching(discover_variants(op.name), words, list_names, op.name)


@contextmanager
def collect_kernels(op: Op, options: BenchOptions) -> Iterator[list[Variant]]:
    """Yield the kernels to run, the user's kernel last, which is copied to a temporary folder."""
    kernels = select(op, options.variant)
    with TemporaryDirectory(prefix="raytracer-bench-") as folder:
        if options.user_kernel:
            kernels.append(adopt(op, options.user_kernel, Path(folder)))
        yield kernels


def _checked(session: Session, op: Op, variant: Variant, options: BenchOptions) -> Entry:
    """Check a variant at small sizes; return its row with the status ok, wrong, skipped or
    failed."""
    row = record.row(variant.label, variant.title, "mine" if variant.folder else "variant")
    with reported(row):
        for each in checks(op) if options.checks("small sizes") else ():
            with suppress(SizeError):  # raised again if it concerns the timed size
                if reason := wrong(session, each, variant, options):
                    row["status"], row["reason"] = "wrong", reason
                    break
    return Entry(row)


def _peer(trial: Trial, peer: Peer) -> Entry:
    """Prepare an implementation by PyTorch, on copies of the inputs and the stream of the bench."""
    entry = Entry(record.row(peer.name, peer.name, "peer"), is_checked=False)
    with reported(entry.row):
        torch: Any = import_module("torch")
        if not torch.cuda.is_available():
            raise ImportError("this PyTorch has no CUDA")
        stream = torch.cuda.ExternalStream(int(trial.session.stream.handle))
        works = []
        for expected in trial.expected:
            tensors = {
                name: _tensor(torch, array, trial.op.offsets[name])
                for name, array in expected.inputs.items()
            }
            torch.cuda.synchronize()
            with torch.cuda.stream(stream):
                works.append(peer.make(torch, tensors))
                works[-1]()
            stream.synchronize()

        def enqueue(work: Enqueue) -> None:
            with torch.cuda.stream(stream):
                work()

        entry.launch = Alternating([partial(enqueue, work) for work in works])
        entry.row["version"] = str(torch.__version__)
    return entry


def _file_peer(trial: Trial, file: PeerFile, options: BenchOptions, stack: ExitStack) -> Entry:
    """Prepare a library of the CUDA toolkit, which is checked as a kernel is. stack: ends it."""
    entry = Entry(record.row(file.title, file.title, "peer"))
    with reported(entry.row):
        loaded_peer = LoadedPeer(trial.session, file, trial.op, trial.memories[0])
        stack.enter_context(loaded_peer)
        entry.row["version"] = loaded_peer.version
        _prepare(trial, entry, options, loaded_peer.bind)
    return entry


def _tensor(torch: Any, array: NDArray[Any], offset: int) -> Any:
    """Return a copy on the GPU that begins some bytes behind an aligned address, as the array of
    our kernels does."""
    # int16 in place of uint16: PyTorch has few unsigned types.
    signed = torch.from_numpy(array.view("i2") if array.dtype == "u2" else array)
    room = torch.empty(offset + array.nbytes, dtype=torch.uint8, device="cuda")
    return room[offset:].view(signed.dtype).reshape(signed.shape).copy_(signed)


def _clock_under_load(session: Session, entry: Entry) -> Clock:
    """Read the clock while a kernel that was timed runs for a sampling period of the driver."""
    assert entry.launch is not None
    for _ in range(min(MAX_QUEUED, int(LOAD_TIME / entry.row["time"]["min"]) + 1)):
        entry.launch()
    time.sleep(0.3 * LOAD_TIME)
    found = clock(session.bus_id)
    session.wait()
    return found
