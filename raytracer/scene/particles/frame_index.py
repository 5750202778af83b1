"""Index of frames: cached offsets of the frames in large files.

An index is a NumPy file of int64 in the user's cache folder. Its name is a hash of path, size and
time of change.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.files.access import OpenFile
from raytracer.scene.particles.source import ParticleSource

MIN_BYTES = 1 << 24  # size from which an index is cached: scanning smaller files takes 10 ms
MAX_KEPT = 500  # most indices in the folder; the oldest are removed


def cache_folder() -> Path:
    """Return the cache folder: $RAYTRACER_CACHE, else the user's."""
    if chosen := os.environ.get("RAYTRACER_CACHE"):
        return Path(chosen).expanduser() / "frames"
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "raytracer" / "frames"


def starts_of(source: ParticleSource, file: OpenFile) -> NDArray[np.int64]:
    """Return the start of each frame of a source, and the end of the last, (F + 1,).

    Args:
        source: source of the file, open.
        file: the file before decompression.

    Raises:
        DataFileError: the file is damaged.
    """
    path = None
    if file.size >= MIN_BYTES and not file.is_standard_input:
        state = (file.path.absolute(), type(source).__module__, file.size, file.modified)
        name = "\0".join(map(str, state)).encode("utf-8", "surrogateescape")
        with suppress(OSError, RuntimeError, ValueError):  # there may be no home folder
            path = cache_folder() / f"{hashlib.blake2b(name, digest_size=16).hexdigest()}.npy"
    if path is not None:
        with suppress(OSError, ValueError, EOFError):
            starts = np.load(path, allow_pickle=False)
            if _is_index(starts, source.file.size):
                return np.asarray(starts)
    starts = np.asarray(source.frame_starts(), np.int64)
    if path is not None:
        _write(path, starts)
    return starts


def _is_index(starts: NDArray[Any], size: int) -> bool:
    """Whether an array can be the index of a file of this size."""
    right = starts.dtype == np.int64 and starts.ndim == 1 and len(starts) > 1
    return right and starts[0] >= 0 and starts[-1] <= size and bool((np.diff(starts) >= 0).all())


def _write(path: Path, starts: NDArray[np.int64]) -> None:
    """Write an index atomically; failures, such as a full disk, are ignored."""
    new = path.with_name(f"{path.stem}.{os.getpid()}.new.npy")
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        kept = sorted(path.parent.glob("*.npy"), key=lambda each: each.stat().st_mtime)
        for old in kept[: max(len(kept) - MAX_KEPT + 1, 0)]:
            old.unlink(missing_ok=True)
        try:
            np.save(new, starts)
            new.replace(path)
        except OSError:
            new.unlink(missing_ok=True)
