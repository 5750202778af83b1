"""Description of the kernels of an operation: idea, registers, shared memory, occupancy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from textwrap import wrap

from raytracer.backends.cuda import compile as compiler
from raytracer.backends.cuda import probe, ptxas
from raytracer.benchmark.operations.base import Axes, Op
from raytracer.benchmark.products.model import Choice, proposals
from raytracer.benchmark.products.skinny import SkinnyTile
from raytracer.benchmark.products.tiles import has_clusters
from raytracer.errors import RaytracerError
from raytracer.variants import Kernel, Launch, Variant, split_architecture

WIDTH = 96
DEFAULT_ARCHITECTURE = "sm_90a"
MULTIPROCESSORS = 132  # of an H200
REGISTERS = 65536  # per multiprocessor, on all architectures below
# Threads, blocks and KiB of shared memory per multiprocessor, by compute capability:
# CUDA programming guide, table of technical specifications.
LIMITS = {75: (1024, 16, 64), 80: (2048, 32, 164), 86: (1536, 16, 100), 89: (1536, 24, 100),
          90: (2048, 32, 228), 100: (2048, 32, 228), 120: (1536, 24, 100)}  # fmt: skip


def architecture() -> str:
    """Return the architecture of the first GPU, or DEFAULT_ARCHITECTURE without a GPU."""
    devices = probe.devices()
    return str(devices[0]["architecture"]) if devices else DEFAULT_ARCHITECTURE


def explain(op: Op, axes: Axes, dtype: str, ladder: list[Variant], arch: str) -> str:
    """Describe variants of an operation, compiled for `arch` to tell registers and spills."""
    work = op.work(axes, dtype)
    sizes = ", ".join(f"{name} {size}" for name, size in axes.items())
    lines = [
        f"{op.name}: {op.summary}",
        f"  at {sizes}, {dtype}: {work.flop:.4g} FLOP, {work.bytes_read:.4g} bytes read, "
        f"{work.bytes_written:.4g} written, {work.flop / max(work.bytes, 1):.3g} FLOP a byte",
        *([f"  {op.note}"] if op.note else []),
    ]
    for variant in ladder:
        chosen, names = None, op.launch_names(axes, dtype)
        if variant.sizes:
            problem, clusters = op.problem(axes, dtype, lambda _: 0), has_clusters(arch)
            (chosen,) = proposals(problem, MULTIPROCESSORS, clusters=clusters)
        lines += ["", *rung(variant, arch, names, op.macros(axes, dtype), chosen)]
    return "\n".join(lines) + "\n"


def rung(
    variant: Kernel,
    arch: str,
    axes: Axes,
    macros: Mapping[str, str],
    chosen: Choice | None = None,
) -> Iterator[str]:
    """Yield the lines that describe one kernel, compiled for `arch` with `macros`.

    chosen: the tile of a variant that chooses one for these sizes.
    """
    yield f"{variant.label}: {variant.title}"
    yield from wrap(variant.idea, WIDTH, initial_indent="  ", subsequent_indent="  ")
    block = " x ".join(str(size) for size in variant.block if size > 1) or "1"
    grid = f", grid {variant.grid}" if variant.grid else ""
    extra = ""
    if isinstance(variant, Variant):
        fields = (("tile ", variant.tile), ("", variant.layout), ("shows ", variant.shows))
        extra = "".join(f", {word}{value}" for word, value in fields if value)
    if chosen is not None:
        macros, block = chosen.tile.macros(), str(chosen.tile.threads)
        extra = f", grid {chosen.blocks}, tile {chosen.tile.label}"
        if isinstance(chosen.tile, SkinnyTile):
            extra += " of the transpose" * chosen.tile.swapped
            extra += f", k divided among {chosen.tile.parts} blocks" * (chosen.tile.parts > 1)
    yield f"  block {block}{grid}{extra}"
    launch = variant.launch(axes, MULTIPROCESSORS) if variant.grid else Launch((1, 1, 1), 0)
    threads = launch.block[0] if launch.block else variant.threads
    shared = chosen.tile.shared if chosen else launch.shared
    yield f"  {_resources(variant, arch, macros, threads, shared)}"
    yield from wrap(f"source: {variant.source}", WIDTH, initial_indent="  ",
                    subsequent_indent="  ")  # fmt: skip


def _resources(
    variant: Kernel, arch: str, macros: Mapping[str, str], threads: int, dynamic: int
) -> str:
    if not variant.admits(arch):
        needs = ", ".join(map(str, variant.needs))
        return f"needs {needs}, not available on {arch}"
    try:
        cubin = compiler.load(variant.translation_unit, arch, notify=lambda _: None, macros=macros)
    except RaytracerError as error:
        return f"registers unknown: {str(error).splitlines()[0]}"
    usage = ptxas.usage(cubin.log)
    shared = usage.shared + dynamic
    share = occupancy(arch, threads, usage.registers, shared)
    return (
        f"{usage.registers} registers, {shared} bytes of shared memory, {usage.spilled} bytes "
        f"spilled, theoretical occupancy {share:.0%} ({arch}, {cubin.compiler})"
    )


def occupancy(arch: str, threads: int, registers: int, shared: int) -> float:
    """Return the theoretical occupancy: resident threads divided by the maximum."""
    capability = split_architecture(arch)[0]
    generation = max((each for each in LIMITS if each <= capability), default=80)
    max_threads, max_blocks, kilobytes = LIMITS[generation]
    warps = -(-threads // 32)
    per_warp = -(-max(registers, 1) * 32 // 256) * 256  # allocated in units of 256
    fit = [max_blocks, max_threads // (warps * 32), REGISTERS // (per_warp * warps)]
    # The system reserves one KiB per block; allocated in units of 128 bytes.
    fit.append((kilobytes << 10) // (-(-(shared + 1024) // 128) * 128))
    return min(fit) * warps * 32 / max_threads
