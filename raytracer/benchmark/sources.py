"""The sources whose code a benchmark measures: a record has a digest of each.

A digest covers all files that a source includes, and no others: a record stays one of today's
kernels while code elsewhere changes.
"""

from collections.abc import Iterable
from pathlib import Path

from raytracer.backends.cuda.cache import collect_includes, compute_digest
from raytracer.system.resources import kernels_folder

RENDERER: dict[tuple[str, str], str] = {
    ("cpu", "direct"): "cpu/render_isa.cpp",
    ("cpu", "path"): "cpu/path_isa.cpp",
    ("cpu", "build"): "cpu/bvh/build.cpp cpu/bvh/split.cpp cpu/bvh/quantize.cpp",
    ("cpu", "refit"): "cpu/moving_spheres.cpp cpu/bvh/refit.cpp cpu/bvh/quantize.cpp",
    ("cpu", "move"): "cpu/place_spheres.cpp",
    ("cpu", "tone"): "cpu/tone.cpp cpu/tone_isa.cpp",
    ("cuda", "direct"): "cuda/render_thread.cu cuda/render_packet.cu",
    ("cuda", "path"): "cuda/render_path.cu",
    ("cuda", "build"): "cuda/build_tree.cu",
    ("cuda", "refit"): "cuda/build_tree.cu",
    ("cuda", "move"): "cuda/pack_spheres.cu",
    ("cuda", "tone"): "cuda/film_histogram.cu cuda/tone.cu",
}
"""The sources of each part of the renderer on a backend, below `kernels`."""


def list_sources(backend: str, *parts: str) -> list[Path]:
    """Return the sources of parts of the renderer, each once."""
    names = [name for part in parts for name in RENDERER[backend, part].split()]
    return [kernels_folder() / name for name in dict.fromkeys(names)]


def digests(sources: Iterable[Path]) -> dict[str, str]:
    """Return the digest of each source with all that it includes, by its path in the repository."""
    root = kernels_folder()
    return {
        f"kernels/{path.relative_to(root).as_posix()}": compute_digest(collect_includes(path, root))
        for path in dict.fromkeys(sources)
    }
