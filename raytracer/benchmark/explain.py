"""The ladder of an operation in words: each rung's idea, and what it takes of the GPU."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import wrap

from raytracer.backends.cuda import compile as compiler
from raytracer.backends.cuda import probe, ptxas
from raytracer.benchmark.operations.base import Axes, Op
from raytracer.errors import RaytracerError
from raytracer.variants import Kernel, Variant, split_architecture

WIDTH = 96
DEFAULT_ARCHITECTURE = "sm_90a"
REGISTERS = 65536  # of a multiprocessor, on every architecture here
# Threads, blocks and bytes of shared memory of a multiprocessor, by compute capability:
# CUDA programming guide, table of technical specifications.
LIMITS = {80: (2048, 32, 164), 86: (1536, 16, 100), 89: (1536, 24, 100), 90: (2048, 32, 228),
          100: (2048, 32, 228), 120: (1536, 24, 100)}  # fmt: skip


def architecture() -> str:
    """Return the architecture of the first GPU, or DEFAULT_ARCHITECTURE without a GPU."""
    devices = probe.devices()
    return str(devices[0]["architecture"]) if devices else DEFAULT_ARCHITECTURE


def explain(op: Op, axes: Axes, dtype: str, ladder: list[Variant], arch: str) -> str:
    """The text for an operation. arch: what to compile for, to know registers and spills."""
    work = op.work(axes, dtype)
    sizes = ", ".join(f"{name} {size}" for name, size in axes.items())
    lines = [
        f"{op.name}: {op.summary}",
        f"  at {sizes}, {dtype}: {work.flop:.4g} FLOP, {work.bytes_read:.4g} bytes read, "
        f"{work.bytes_written:.4g} written, {work.flop / max(work.bytes, 1):.3g} FLOP a byte",
        *([f"  {op.note}"] if op.note else []),
    ]
    for variant in ladder:
        lines += ["", *rung(variant, arch, axes, op.macros(axes, dtype))]
    return "\n".join(lines) + "\n"


def rung(variant: Kernel, arch: str, axes: Axes, macros: Mapping[str, str]) -> Iterator[str]:
    """The lines of one kernel. macros: what it is compiled with."""
    yield f"{variant.label}: {variant.title}"
    yield from wrap(variant.idea, WIDTH, initial_indent="  ", subsequent_indent="  ")
    block = " x ".join(str(size) for size in variant.block if size > 1) or "1"
    grid = f", grid {variant.grid}" if variant.grid else ""
    extra = ""
    if isinstance(variant, Variant):
        fields = (("tile ", variant.tile), ("", variant.layout), ("shows ", variant.shows))
        extra = "".join(f", {word}{value}" for word, value in fields if value)
    yield f"  block {block}{grid}{extra}"
    yield f"  {_resources(variant, arch, axes, macros)}"
    yield from wrap(f"source: {variant.source}", WIDTH, initial_indent="  ",
                    subsequent_indent="  ")  # fmt: skip


def _resources(variant: Kernel, arch: str, axes: Axes, macros: Mapping[str, str]) -> str:
    if not variant.admits(arch):
        needs = ", ".join(map(str, variant.needs))
        return f"needs {needs}: not for {arch}"
    try:
        cubin = compiler.load(Path(str(variant.path)), arch, notify=lambda _: None, macros=macros)
    except RaytracerError as error:
        return f"registers unknown: {str(error).splitlines()[0]}"
    usage = ptxas.usage(cubin.log)
    shared = usage.shared + (variant.launch(axes, 132).shared if variant.grid else 0)
    share = occupancy(arch, variant.threads, usage.registers, shared)
    return (
        f"{usage.registers} registers, {shared} bytes of shared memory, {usage.spilled} bytes "
        f"spilled, theoretical occupancy {share:.0%} ({arch})"
    )


def occupancy(arch: str, threads: int, registers: int, shared: int) -> float:
    """Resident threads of a multiprocessor as a share of its most.

    threads, shared: of a block. registers: of a thread.
    """
    capability = split_architecture(arch)[0]
    generation = max((each for each in LIMITS if each <= capability), default=80)
    max_threads, max_blocks, kilobytes = LIMITS[generation]
    warps = -(-threads // 32)
    per_warp = -(-max(registers, 1) * 32 // 256) * 256  # handed out in pieces of 256
    fit = [max_blocks, max_threads // (warps * 32), REGISTERS // (per_warp * warps)]
    # Each block costs a kilobyte besides what it asks for; pieces of 128 bytes.
    fit.append((kilobytes << 10) // (-(-(shared + 1024) // 128) * 128))
    return min(fit) * warps * 32 / max_threads
