"""Description of kernels without a run: idea, launch, registers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from textwrap import wrap

from raytracer.backends.cuda import compile as compiler
from raytracer.backends.cuda import probe, ptxas
from raytracer.benchmark.operations.base import Axes, Op
from raytracer.errors import RaytracerError
from raytracer.variants import Kernel, Variant

WIDTH = 96
DEFAULT_ARCHITECTURE = "sm_90a"


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
        lines += ["", *rung(variant, arch, op.macros(axes, dtype))]
    return "\n".join(lines) + "\n"


def rung(variant: Kernel, arch: str, macros: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines that describe one kernel, compiled for `arch` with `macros`."""
    yield f"{variant.label}: {variant.title}"
    yield from _indented(variant.idea)
    block = " x ".join(str(size) for size in variant.block if size > 1) or "1"
    grid = f", grid {variant.grid}" if variant.grid else ", a tile for each size"
    shows = f", shows {variant.shows}" if isinstance(variant, Variant) and variant.shows else ""
    yield f"  block {block}{grid}{shows}"
    if variant.grid:
        yield f"  {_resources(variant, arch, macros)}"
    yield from _indented(f"source: {variant.source}")


def _indented(text: str) -> list[str]:
    return wrap(text, WIDTH, initial_indent="  ", subsequent_indent="  ")


def _resources(variant: Kernel, arch: str, macros: Mapping[str, str]) -> str:
    if not variant.admits(arch):
        needs = ", ".join(map(str, variant.needs))
        return f"needs {needs}, not available on {arch}"
    try:
        cubin = compiler.load(variant.translation_unit, arch, notify=lambda _: None, macros=macros)
    except RaytracerError as error:
        return f"registers unknown: {str(error).splitlines()[0]}"
    usage = ptxas.usage(cubin.log)
    return (
        f"{usage.registers} registers, {usage.shared} bytes of static shared memory, "
        f"{usage.spilled} bytes spilled ({arch}, {cubin.compiler})"
    )
