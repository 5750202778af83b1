"""Index of frames: the bytes at which the frames of large files begin, kept between calls.

An index is a file of the user's cache folder, an array of int64 as NumPy saves it. Its name holds
for one path, size and time of change.
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

KEPT_BYTES = 1 << 24
"""Size from which the index of a file is kept: smaller files are looked through in 10 ms."""

MAX_KEPT = 500
"""Most indices in the folder; the oldest are removed."""


def cache_folder() -> Path:
    """Where indices are kept: $RAYTRACER_CACHE, else the user's cache folder."""
    if chosen := os.environ.get("RAYTRACER_CACHE"):
        return Path(chosen).expanduser() / "frames"
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "raytracer" / "frames"


def starts_of(source: ParticleSource, file: OpenFile) -> NDArray[np.int64]:
    """Return the starts of the frames of a source, and where the last one ends, (F + 1,).

    Args:
        source: of the file, open.
        file: as it was opened, before it was unpacked.

    Raises:
        DataFileError: the file is damaged.
    """
    path = None
    if file.size >= KEPT_BYTES and not file.is_standard_input:
        with suppress(OSError, RuntimeError, ValueError):  # there may be no home folder
            path = _path_of(file, type(source).__module__)
    if path is not None:
        with suppress(OSError, ValueError, EOFError):
            starts = np.load(path, allow_pickle=False)
            if _is_index(starts, source.file.size):
                return np.asarray(starts)
    starts = np.asarray(source.frame_starts(), np.int64)
    if path is not None:
        _write(path, starts)
    return starts


def _path_of(file: OpenFile, format_name: str) -> Path:
    """Return the path of a file's index."""
    text = f"{file.path.absolute()}\0{format_name}\0{file.size}\0{file.modified}"
    name = hashlib.blake2b(text.encode("utf-8", "surrogateescape"), digest_size=16)
    return cache_folder() / f"{name.hexdigest()}.npy"


def _is_index(starts: NDArray[Any], size: int) -> bool:
    """Whether an array may be the index of a content of so many bytes."""
    right = starts.dtype == np.int64 and starts.ndim == 1 and len(starts) > 1
    return right and starts[0] >= 0 and starts[-1] <= size and bool((np.diff(starts) >= 0).all())


def _write(path: Path, starts: NDArray[np.int64]) -> None:
    """Keep an index; whoever reads it gets all of it or nothing. Without room it is not kept."""
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
