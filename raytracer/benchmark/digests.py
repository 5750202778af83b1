"""Digests of the sources, stored in records: equal digests mean equal code."""

from __future__ import annotations

from pathlib import Path

from raytracer.backends.cuda.sources import digest, include_closure, kernels_root
from raytracer.variants import discover, operations, products

SUFFIXES = (".h", ".cpp", ".cu", ".cuh")


def kernel_digest(root: Path | None = None) -> str:
    """Return the digest of all sources of CUDA kernels, those of the ladders included."""
    root = root or kernels_root()
    kernels = [*products(root), *(v for op in operations(root) for v in discover(op, root))]
    closure: dict[str, bytes] = {}
    for kernel in kernels:
        closure |= include_closure(Path(str(kernel.path)), root)
    return digest(dict(sorted(closure.items())))


def sources_digest() -> str:
    """Return the digest of all C++ and CUDA sources."""
    root = kernels_root()
    paths = sorted(path for path in root.rglob("*") if path.suffix in SUFFIXES)
    return digest({path.relative_to(root).as_posix(): path.read_bytes() for path in paths})
