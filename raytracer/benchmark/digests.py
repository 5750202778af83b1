"""The digest of the kernels, stored in records: equal digests mean equal code."""

from __future__ import annotations

from pathlib import Path

from raytracer.backends.cuda.sources import digest, include_closure, kernels_root
from raytracer.variants import discover, operations, products


def kernel_digest(root: Path | None = None) -> str:
    """Return the digest of all sources of CUDA kernels, those of the ladders included."""
    root = root or kernels_root()
    kernels = [*products(root), *(v for op in operations(root) for v in discover(op, root))]
    closure: dict[str, bytes] = {}
    for kernel in kernels:
        closure |= include_closure(Path(str(kernel.path)), root)
    return digest(dict(sorted(closure.items())))
