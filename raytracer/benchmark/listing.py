"""`raytracer bench --list`, and the architecture that `--explain` compiles for."""

from __future__ import annotations

from collections.abc import Sequence

from raytracer.backends.cuda import probe
from raytracer.benchmark.benchmarks import benchmarks, find

DEFAULT_ARCHITECTURE = "sm_90a"


def listing(names: Sequence[str] = ()) -> str:
    """Benchmarks with axes, types and variants; all by default. Raises UserError."""
    lines = [line for name in names or benchmarks() for line in find(name).listing()]
    return "\n".join(lines) + "\n"


def architecture() -> str:
    """That of the first GPU; where there is none, Hopper's."""
    found = probe.devices()
    return str(found[0]["architecture"]) if found else DEFAULT_ARCHITECTURE
