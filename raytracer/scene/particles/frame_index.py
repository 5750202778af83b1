"""Index of frames: the bytes at which the frames of large files begin, kept between calls.

An index is a file of the user's cache folder, an array of int64 as NumPy saves it. Its name holds
for one path, size and time of change.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path

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
    kept = file.size >= KEPT_BYTES and not file.is_standard_input
    path = _path_of(file, type(source).__module__) if kept else None
    if path is not None and (starts := _read(path, source.file.size)) is not None:
        return starts
    starts = np.asarray(source.frame_starts(), np.int64)
    if path is not None:
        _write(path, starts)
    return starts


def _path_of(file: OpenFile, format_name: str) -> Path | None:
    """Return the path of a file's index; None where there is no home folder."""
    try:
        text = f"{file.path.absolute()}\0{format_name}\0{file.size}\0{file.modified}"
        name = hashlib.blake2b(text.encode("utf-8", "surrogateescape"), digest_size=16)
        return cache_folder() / f"{name.hexdigest()}.npy"
    except (OSError, RuntimeError, ValueError):
        return None


def _read(path: Path, size: int) -> NDArray[np.int64] | None:
    """Return the starts from an index; None if there is none, or it is damaged.

    size: of the content, unpacked.
    """
    try:
        starts = np.load(path, allow_pickle=False)
        right = starts.dtype == np.int64 and starts.ndim == 1 and len(starts) > 1
        right = right and starts[0] >= 0 and starts[-1] <= size and (np.diff(starts) >= 0).all()
    except (OSError, ValueError, EOFError):
        return None
    return starts if right else None


def _write(path: Path, starts: NDArray[np.int64]) -> None:
    """Keep an index; whoever reads it sees all of it or nothing. Without room it is not kept."""
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
