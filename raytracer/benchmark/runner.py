"""Checks and timings of the variants of an operation and of libraries on a GPU."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from raytracer.backends.cuda.check import translated
from raytracer.backends.cuda.compile import NoCompilerError
from raytracer.benchmark import peers, record
from raytracer.benchmark.cuda.guarded_memory import Memory
from raytracer.benchmark.cuda.kernel import LoadedKernel, Matrix, RefusedError, SizeError
from raytracer.benchmark.cuda.session import Session
from raytracer.benchmark.operations.base import Arrays, Op, relative_error
from raytracer.benchmark.products.kernel import ProductKernel
from raytracer.benchmark.record import Result
from raytracer.benchmark.turns import (
    Entry,
    clock_under_load,
    finish,
    time_in_turns,
)
from raytracer.errors import RaytracerError
from raytracer.variants import Variant

if TYPE_CHECKING:
    from raytracer.benchmark.benchmark import Tell

# The timed sizes are checked too if NumPy computes them in about a second.
CHECKED_BYTES, CHECKED_FLOP = 128 << 20, 4e9
ALIGNMENT = 16  # bytes; of arrays for kernels without `alignment: any`


@dataclass(frozen=True)
class Plan:
    """Parameters of a measurement of one operation at one size."""

    op: Op
    axes: dict[str, int]
    dtype: str
    distribution: str = "normal"
    mode: str = "cold"
    min_time: float = 0.5
    peers: bool = True
    seed: int = 1
    transposed: frozenset[str] = frozenset()  # inputs of a product whose arrays are the transposes
    timed: bool = False  # whether a product times the choices that its model puts first


@contextmanager
def loaded(session: Session, plan: Plan, arrays: Arrays) -> Iterator[tuple[Memory, dict[str, int]]]:
    """Upload inputs and poison outputs; yield the memory and the bytes of the outputs."""
    outputs = {
        name: out.nbytes for name, out in plan.op.output_arrays(plan.axes, plan.dtype).items()
    }
    sizes = {name: int(array.nbytes) for name, array in arrays.items()} | outputs
    with Memory(session, sizes, plan.op.offsets(plan.axes, plan.dtype)) as memory:
        for name, array in arrays.items():
            memory.upload(name, array)
        for name in outputs:
            memory.poison(name)
        session.wait()
        yield memory, outputs


def load(session: Session, plan: Plan, variant: Variant) -> LoadedKernel | ProductKernel:
    """Load a variant for the type and the sizes of a plan.

    Raises:
        RefusedError: the device cannot run it, or it does not compute with the type.
    """
    if not variant.supports(plan.dtype):
        raise RefusedError(f"computes {variant.dtypes}, not {plan.dtype}")
    if variant.sizes:
        return ProductKernel(session, variant, plan.timed)
    if takes_any_address(plan.op, variant):
        variant = replace(variant, alignment="any")
    macros = plan.op.macros(plan.axes, plan.dtype)
    return LoadedKernel(session, variant, macros)


def takes_any_address(op: Op, variant: Variant) -> bool:
    """Whether a kernel takes arrays that begin at the address of any number.

    Its header says so, or it is ours and all of the operation do.
    """
    return variant.alignment == "any" or (op.any_address and variant.folder is None)


def launcher(
    session: Session,
    plan: Plan,
    kernel: LoadedKernel | ProductKernel,
    memory: Memory,
    arrays: Arrays,
) -> Any:
    """Return a function that queues the kernel, after clearing the outputs that it adds to."""
    if isinstance(kernel, ProductKernel):
        return kernel.bind(plan.op.problem(plan.axes, plan.dtype, memory.address, plan.transposed))
    offsets = plan.op.offsets(plan.axes, plan.dtype)
    if kernel.variant.alignment != "any" and any(each % ALIGNMENT for each in offsets.values()):
        raise SizeError(f"needs arrays that begin at multiples of {ALIGNMENT} bytes")
    outputs = plan.op.output_arrays(plan.axes, plan.dtype)
    pointers = [memory.address(name) for name in (*arrays, *outputs)]
    kernel.fill_constants({name: (memory.address(name), a.nbytes) for name, a in arrays.items()})
    if kernel.variant.maps:
        kernel.fill_maps(matrices(plan, memory))
    names = plan.op.launch_names(plan.axes, plan.dtype)
    run = kernel.bind(names, pointers, plan.op.sizes(plan.axes))
    cleared = list(outputs) if plan.op.clears else []

    def enqueue() -> None:
        for name in cleared:
            memory.clear(name)
        run()

    return enqueue if cleared else run


def matrices(plan: Plan, memory: Memory) -> dict[str, Matrix]:
    """Return address, shape and type of the two-dimensional inputs and outputs."""
    op, axes, dtype = plan.op, plan.axes, plan.dtype
    arrays = op.input_arrays(axes, dtype) | op.output_arrays(axes, dtype)
    return {
        # uint16 arrays hold the bits of bfloat16
        name: (memory.address(name), a.shape, "bfloat16" if a.dtype == "uint16" else a.dtype)
        for name, a in arrays.items()
        if len(a.shape) == 2
    }


def compute(session: Session, plan: Plan, variant: Variant, arrays: Arrays) -> tuple[Arrays, str]:
    """Launch a variant once; return its outputs, and the names of outputs with overruns."""
    import numpy as np

    kernel = load(session, plan, variant)
    with loaded(session, plan, arrays) as (memory, sizes), translated(session.driver):
        launcher(session, plan, kernel, memory, arrays)()
        session.wait()
        results = {}
        for name, output in plan.op.output_arrays(plan.axes, plan.dtype).items():
            results[name] = np.empty(output.shape, output.dtype)
            memory.download(name, results[name])
        overruns = [name for name in sizes if memory.overrun(name)]
    return results, ", ".join(overruns)


def wrong(session: Session, plan: Plan, variant: Variant) -> str:
    """Compare a variant with the reference at the sizes of a plan; "" if it agrees."""
    arrays = plan.op.values(plan.axes, plan.dtype, plan.distribution, plan.seed)
    results, overruns = compute(session, plan, variant, arrays)
    where = ", ".join(f"{name}={size}" for name, size in plan.axes.items())
    if overruns:
        return f"writes past the end of {overruns} at {where}"
    limit = plan.op.tolerance(plan.axes, plan.dtype)
    for name, expected in plan.op.reference(arrays).items():
        error = relative_error(results[name], expected)
        if not error <= limit:
            return f"{name} is off by {error:.2g} (at most {limit:.2g}) at {where}"
    return ""


def checks(plan: Plan) -> Iterator[Plan]:
    """Yield the plans at which a variant is checked, with the machine code that is timed."""
    op, macros = plan.op, plan.op.macros(plan.axes, plan.dtype)
    work = op.work(plan.axes, plan.dtype)
    sizes = [op.resolve(axes) for axes in op.awkward]
    compiled_alike = [axes for axes in sizes if op.macros(axes, plan.dtype) == macros]
    small = work.bytes <= CHECKED_BYTES and work.flop <= CHECKED_FLOP
    if not compiled_alike:  # sizes that are macros (points of an element) stay those that are timed
        names = [name for name in op.axes if name not in op.macro_sizes]
        compiled_alike = [{**plan.axes, **{name: axes[name] for name in names}} for axes in sizes]
    for axes in [*compiled_alike, *([plan.axes] if small else [])]:
        yield Plan(op, dict(axes), plan.dtype, _checked_input(plan), seed=plan.seed)


def _checked_input(plan: Plan) -> str:
    return plan.distribution if plan.distribution in ("few", "sorted") else "normal"


def measure(
    session: Session, plan: Plan, variants: list[Variant], tell: Tell, into: Result
) -> None:
    """Check the variants, then time the correct ones and the libraries in turns.

    The result gets the rows, and memory and clock of the device meanwhile.
    """
    entries = []
    for variant in variants:
        tell(f"checking {plan.op.name} {variant.label}")
        entries.append(_checked(session, plan, variant))
    arrays = plan.op.values(plan.axes, plan.dtype, plan.distribution, plan.seed)
    with loaded(session, plan, arrays) as (memory, _):
        for variant, entry in zip(variants, entries, strict=True):
            if entry.row["status"] == "ok":
                _make_ready(session, plan, variant, entry, memory, arrays)
        if plan.peers:
            entries += _peer_entries(session, plan, memory, arrays, tell)
        into["memory_used"] = session.total_memory() - session.free_memory()
        time_in_turns(session, plan, [entry for entry in entries if entry.launch], tell)
        into["clock"] = clock_under_load(session, entries)
    for entry in entries:
        finish(entry)
    into["rows"] = [entry.row for entry in entries]


def _checked(session: Session, plan: Plan, variant: Variant) -> Entry:
    """Check a variant; return its row with the status ok, wrong, skipped or failed."""
    row = record.row(variant.label, variant.title, "mine" if variant.folder else "variant")
    try:
        for each in checks(plan):
            with suppress(SizeError):  # raised again if it concerns the timed size
                if reason := wrong(session, each, variant):
                    row["status"], row["reason"] = "wrong", reason
                    break
    except RaytracerError as error:
        refused = isinstance(error, (RefusedError, NoCompilerError))
        row["status"] = "skipped" if refused else "failed"
        row["reason"] = str(error).split("\n")[0]
    return Entry(row)


def _make_ready(
    session: Session,
    plan: Plan,
    variant: Variant,
    entry: Entry,
    memory: Memory,
    arrays: Arrays,
) -> None:
    try:
        kernel = load(session, plan, variant)
        entry.launch = launcher(session, plan, kernel, memory, arrays)
        entry.row["resources"] = kernel.resources()
    except RaytracerError as error:
        entry.row["status"], entry.row["reason"] = "skipped", str(error)


def _peer_entries(
    session: Session, plan: Plan, memory: Memory, arrays: Arrays, tell: Tell
) -> list[Entry]:
    entries = []
    for peer in plan.op.peers:
        if peer.dtypes and plan.dtype not in peer.dtypes:
            continue
        tell(f"preparing {peer.name}")
        entry = Entry(record.row(peer.name, peer.name, "peer"))
        try:
            entry.launch = peers.prepare(peer, session, plan, memory, arrays)
            entry.row["version"] = peers.version(peer.package)
        except Exception as error:  # an error of a library must not end the run
            entry.row["status"], entry.row["reason"] = "skipped", str(error).split("\n")[0]
        entries.append(entry)
    return entries
