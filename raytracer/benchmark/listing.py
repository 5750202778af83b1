"""`raytracer bench --list`, and the architecture that `--explain` compiles for."""

from __future__ import annotations

from collections.abc import Sequence

from raytracer.backends.cuda import probe
from raytracer.benchmark import operations, renders
from raytracer.benchmark.choice import select

DEFAULT_ARCHITECTURE = "sm_90a"


def listing(names: Sequence[str] = ()) -> str:
    """Operations with axes, types and variants; all by default. Raises UserError."""
    lines: list[str] = []
    for name in names or [*operations.names(), "render", "tone", "preview"]:
        if name == "render":
            lines += renders.listing()
            continue
        if name == "tone":
            lines.append("tone: statistics and picture of a 4K film, on the CPU or a GPU")
            continue
        if name == "preview":
            lines.append("preview: from a camera event to its picture, on the CPU or a GPU")
            continue
        op = operations.find(name)
        axes = ", ".join(f"{axis} {size}" for axis, size in op.axes.items())
        lines.append(f"{op.name}: {op.summary}")
        lines.append(f"  axes {axes}; {', '.join(op.dtypes)}; input {', '.join(op.distributions)}")
        for variant in select(op, ()):
            needs = ", ".join(map(str, variant.needs))
            lines.append(f"  {variant.label:<28} {needs:<10} {variant.title}")
    return "\n".join(lines) + "\n"


def architecture() -> str:
    """That of the first GPU; where there is none, Hopper's."""
    found = probe.devices()
    return str(found[0]["architecture"]) if found else DEFAULT_ARCHITECTURE
