"""`raytracer.bench`: runs benchmarks on a GPU or the CPU and returns a record."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from raytracer._version import __version__
from raytracer.arguments import function, one_of
from raytracer.backends.cpu import processor
from raytracer.backends.cuda.compile import find_nvcc, nvcc_version, version
from raytracer.backends.cuda.probe import why_not
from raytracer.backends.cuda.sources import digest, include_closure, kernels_root
from raytracer.benchmark import registry
from raytracer.benchmark.benchmark import Benchmark, Machine
from raytracer.benchmark.options import BenchOptions, Tell, texts, validated
from raytracer.benchmark.record import FORMAT, Record, Result
from raytracer.errors import BackendError, UserError
from raytracer.variants.discovery import discover, operations, products

BACKENDS = ("auto", "cpu", "cuda")


def bench(
    *names: str,
    variant: str | Sequence[str] = (),
    axes: Mapping[str, int | Sequence[int]] | None = None,
    size: int | Sequence[int] = (),
    dtype: str | None = None,
    backend: str = "auto",
    input: str = "normal",  # noqa: A002 - the name of the option
    mode: str = "cold",
    min_time: float = 0.5,
    peers: bool = True,
    with_file: str | Path | None = None,
    scene: str | Sequence[str] = (),
    progress: Tell | None = None,
) -> Record:
    """Check and time benchmarks; kernels with wrong results are not timed.

    Args:
        *names: of operations; "render" for the example scenes, "tone" for film statistics and
            tone mapping, "build" for trees over spheres, "live" for pictures of spheres that move.
            By default all operations, without a GPU "tone" and "build".
        variant: labels, names or numbers of variants; all by default.
        axes: sizes by name, each a number or several.
        size: sizes of the largest axes.
        dtype: one of the operation's; its first by default.
        backend: "auto" (a GPU if there is one, else the CPU), "cuda" or "cpu".
        input: "normal", "uniform", "constant", "few" (four values), "sorted" or "zeros"; affects
            the results.
        mode: "cold" (L2 cache flushed before each launch) or "hot" (back to back).
        min_time: minimum seconds of measurement for each row.
        peers: whether libraries are timed too.
        with_file: a .cu file to check and time with the variants of one operation.
        scene: example scenes for "render", kinds of spheres for "build" and "live"; all by default.
        progress: called with a line before each step.

    Returns:
        The record as JSON types: device, versions, and results with their rows; see
        `benchmark.record.Record`.

    Raises:
        UserError: an argument is invalid.
        BackendError: there is no usable GPU, and "cuda" or an operation requires one.
    """
    options = validated(locals())
    names = texts(names, "names")
    one_of(backend, "backend", BACKENDS, "backend", UserError)
    function(progress, "progress")
    reason = why_not() if backend != "cpu" else ""
    used: Literal["cpu", "cuda"] = "cpu" if reason or backend == "cpu" else "cuda"
    selection = registry.selected(names, used)
    for each in selection if names else ():
        each.check(options)
    _check_extras(selection, options)
    if reason and backend == "cuda":
        raise BackendError(f"the cuda backend cannot run here: {reason}")
    machine, results = Machine(used), list[Result]()
    for each in selection:
        results += each.run(machine, options, progress or (lambda _: None))
    return _record(machine, results)


def _check_extras(selection: Sequence[Benchmark], options: BenchOptions) -> None:
    """Raise UserError if an option is not supported by the benchmarks."""
    names = ", ".join(each.name for each in selection)
    if options.user_kernel is not None and not (len(selection) == 1 and selection[0].takes_kernels):
        raise UserError("--with needs one operation: raytracer bench matmul --with kernel.cu")
    if options.scenes and not any(each.takes_scenes for each in selection):
        raise UserError(f"scene: {names}: no scenes; render, build and live have some")


def _record(machine: Machine, results: list[Result]) -> Record:
    import numpy

    nvcc = find_nvcc()
    return {
        "format": FORMAT,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": "",
        "backend": machine.backend,
        "device": machine.device or {"device": processor()},
        "why_no_gpu": (why_not() or "") if machine.backend == "cpu" else "",
        "compiler": nvcc_version(nvcc).splitlines()[-1] if nvcc else version() or "none",
        "kernel_digest": kernel_digest(),
        "load_average": round(os.getloadavg()[0], 2),
        "versions": {
            "raytracer": __version__,
            "python": platform.python_version(),
            "numpy": numpy.__version__,
        },
        "results": results,
    }


def kernel_digest() -> str:
    """Return the digest of all sources of CUDA kernels: equal digests mean equal code."""
    root = kernels_root()
    kernels = [*products(root), *(v for op in operations(root) for v in discover(op, root))]
    closure: dict[str, bytes] = {}
    for kernel in kernels:
        closure |= include_closure(Path(str(kernel.path)), root)
    return digest(dict(sorted(closure.items())))
