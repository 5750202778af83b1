"""`raytracer.bench`: runs benchmarks on a GPU or the CPU and returns a record."""

import os
import platform
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, cast

import numpy as np

from raytracer._version import __version__
from raytracer.backends.base import CpuDevice
from raytracer.backends.cuda.cache import collect_includes, compute_digest
from raytracer.backends.cuda.compile import describe_compiler
from raytracer.backends.cuda.probe import describe_device, explain_missing
from raytracer.backends.kernel_sources import (
    discover_variants,
    list_operations,
    read_production_kernels,
)
from raytracer.benchmark.benchmark import Benchmark, BenchOptions, Tell, texts, validated
from raytracer.benchmark.build_benchmark import BUILD
from raytracer.benchmark.copy_benchmark import CopyBenchmark
from raytracer.benchmark.cuda.kernel import ceilings
from raytracer.benchmark.cuda.session import Session
from raytracer.benchmark.data_sheets import find_sheet, peak_rates
from raytracer.benchmark.operation_benchmark import OperationBenchmark
from raytracer.benchmark.operations import OPERATIONS
from raytracer.benchmark.peers import find_peers
from raytracer.benchmark.record import FORMAT, Device, Record, Result
from raytracer.benchmark.render_benchmark import RenderBenchmark
from raytracer.benchmark.sources import digests
from raytracer.benchmark.tone_benchmark import ToneBenchmark
from raytracer.benchmark.tree_benchmark import LIVE
from raytracer.config.arguments import check_function, check_word
from raytracer.config.errors import BackendError, UserError, suggest
from raytracer.system.resources import kernels_folder

BACKENDS = ("auto", "cpu", "cuda")

OF_RENDERER = (RenderBenchmark(), ToneBenchmark(), BUILD, LIVE)
BENCHMARKS: dict[str, Benchmark] = {
    each.name: each
    for each in (*map(OperationBenchmark, OPERATIONS.values()), CopyBenchmark(), *OF_RENDERER)
}
"""All benchmarks by name: operations, sorted, then parts of the renderer."""


def find(name: str) -> Benchmark:
    """Return a benchmark by name; raise UserError for an unknown one."""
    if name not in BENCHMARKS:
        hint = suggest(name, list(BENCHMARKS))
        raise UserError(f"there is no operation {name!r} to bench; {hint}")
    return BENCHMARKS[name]


def selected(names: tuple[str, ...], backend: str = "cuda") -> list[Benchmark]:
    """Return benchmarks by name, each once; without names those of a backend."""
    if not names:
        return [each for each in BENCHMARKS.values() if each.default_on == backend]
    return [find(name) for name in dict.fromkeys(names)]


def listing(names: Sequence[str] = ()) -> str:
    """Return the text of `--list`: axes, types and variants; of named benchmarks the ideas, too."""
    lines = [line for name in names or BENCHMARKS for line in find(name).listing(bool(names))]
    return "\n".join(lines) + "\n"


def bench(
    *names: str,
    variant: str | Sequence[str] = (),
    axes: Mapping[str, int | str | Sequence[int]] | None = None,
    size: int | str | Sequence[int] = (),
    dtype: str | None = None,
    backend: str = "auto",
    input: str = "normal",  # noqa: A002 - the name of the option
    mode: str = "cold",
    min_time: float = 0.5,
    peers: bool = True,
    with_file: str | Path | None = None,
    scene: str | Sequence[str] = (),
    seed: int | None = None,
    progress: Tell | None = None,
    on_result: Callable[[Record], object] | None = None,
) -> Record:
    """Check and time benchmarks; kernels with wrong results are not timed.

    Args:
        *names: of operations; "render" for the example scenes, "tone" for film statistics and
            tone mapping, "build" for trees over spheres, "live" for pictures of spheres that move.
            By default all operations, without a GPU "tone" and "build".
        variant: labels, names or numbers of variants; all by default.
        axes: sizes by name, each a number, several, or a text like "1e6,2^20". "random:20" are 20
            sizes that are drawn log-uniformly between a 1,024th of the default size and this size,
            "random:20:1e3:1e6" between 1e3 and 1e6; those of several axes are drawn together.
        size: sizes of the largest axes.
        dtype: one of the operation's; its first by default.
        backend: "auto" (a GPU if there is one, else the CPU), "cuda" or "cpu".
        input: "normal", "uniform", "constant", "sorted" or "zeros"; affects the results.
        mode: "cold" (L2 cache flushed before each launch, unless the arrays are at least four times
            as large) or "hot" (back to back).
        min_time: minimum seconds of measurement for each row.
        peers: whether libraries are timed too.
        with_file: a .cu file to check and time with the variants of one operation.
        scene: example scenes for "render", kinds of spheres for "build" and "live"; all by default.
        seed: of random sizes; 1 by default.
        progress: called with a line before each step.
        on_result: called with the record so far after each result, so that a run that is stopped
            loses the last one alone.

    Returns:
        The record as JSON types: device, versions, and results with their rows; see
        `benchmark.record.Record`.

    Raises:
        UserError: an argument is invalid.
        BackendError: there is no usable GPU, and "cuda" or an operation requires one.
    """
    options = validated(locals())
    names = texts(names, "names")
    check_word(backend, "backend", BACKENDS, "backend")
    check_function(progress, "progress")
    check_function(on_result, "on_result")
    reason = explain_missing() if backend != "cpu" else ""
    used: Literal["cpu", "cuda"] = "cpu" if reason or backend == "cpu" else "cuda"
    selection = selected(names, used)
    _check_taken(selection, options)
    for each in selection if names else ():
        each.check(options)
    if reason and backend == "cuda":
        raise BackendError(f"the cuda backend cannot run here: {reason}")
    tell, results = progress or (lambda _: None), list[Result]()
    with Session() if used == "cuda" else nullcontext() as session:
        device = describe_backend(used)
        if session:
            tell("measuring the ceilings of this GPU")
            device["ceilings"] = session.ceilings = ceilings(session)
        record = _record(used, device, results, options)
        for each in selection:
            measured = digests(each.sources(used, options))
            for found in each.run(session, options, tell):
                results.append(found | {"kernels": measured})
                if on_result:
                    on_result(record)
    return record


OF_SOME = {
    "variant": "--variant", "axes": "--axis", "sizes": "--size", "dtype": "--dtype",
    "user_kernel": "--with", "scenes": "--scene", "distribution": "--input", "mode": "--hot",
}  # fmt: skip
"""Options that only some benchmarks take (`Benchmark.takes`), with their names."""
DEFAULTS = BenchOptions()


def _check_taken(selection: Sequence[Benchmark], options: BenchOptions) -> None:
    """Raise UserError if an option is not taken by any of the benchmarks."""
    names = ", ".join(each.name for each in selection)
    for option, word in OF_SOME.items():
        is_given = getattr(options, option) != getattr(DEFAULTS, option)
        if is_given and not any(option in each.takes for each in selection):
            raise UserError(f"{word} is not an option of {names}: leave it out")
    if options.user_kernel is not None and len(selection) > 1:
        raise UserError("--with needs one operation: raytracer bench matmul --with kernel.cu")


def _record(
    backend: Literal["cpu", "cuda"], device: Device, results: list[Result], options: BenchOptions
) -> Record:
    record: Record = {
        "format": FORMAT,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": "",
        "backend": backend,
        "device": device,
        "why_no_gpu": (explain_missing() or "") if backend == "cpu" else "",
        "compiler": describe_compiler() or "none",
        "kernel_digest": kernel_digest(),
        "load_average": round(os.getloadavg()[0], 2),
        "versions": {
            "raytracer": __version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
        },
        "results": results,
    }
    if options.is_random:
        record["seed"] = options.seed
    return record


def describe_backend(backend: str) -> Device:
    """Return what is known of the device, without the memory that happens to be free."""
    details = describe_device(0) if backend == "cuda" else CpuDevice().describe()
    known = {k: v for k, v in details.items() if k != "memory_free" and v is not None}
    if backend == "cuda" and (sheet := find_sheet(str(known.get("device", "")))):
        known |= {"peak": peak_rates(sheet), "peak_source": sheet.source}
    return cast(Device, known)


def kernel_digest() -> str:
    """Return the digest of all sources of CUDA kernels: equal digests mean equal code."""
    closure: dict[str, bytes] = {}
    paths = [kernel.path for kernel in read_production_kernels()]
    paths += [rung.path for op in list_operations() for rung in discover_variants(op)]
    paths += [peer.path for op in OPERATIONS for peer in find_peers(op)]
    for path in paths:
        closure |= collect_includes(path, kernels_folder())
    return compute_digest(dict(sorted(closure.items())))
