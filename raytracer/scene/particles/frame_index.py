"""Index of frames: the bytes at which the frames of large files begin, kept between calls.

An index is a file of the user's cache folder: a fixed header, one int64 for each frame, and a
digest of both. It holds for one path, size and time of change.
"""

from __future__ import annotations

import hashlib
import os
import struct
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from raytracer.files.access import OpenFile
    from raytracer.scene.particles.source import ParticleSource

KEPT_BYTES = 1 << 24
"""Size from which the index of a file is kept: smaller files are looked through in 10 ms."""

MOST_KEPT = 500
"""Most indices in the folder; the oldest are removed."""

_HEADER = struct.Struct("<8sqqq")
_MAGIC = b"rtframe1"
_DIGEST = 16


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
    import numpy as np

    kept = file.size >= KEPT_BYTES and not file.is_standard_input
    path = _path_of(file, type(source).__module__) if kept else None
    if path is not None and (found := _read(path, file, source.file.size)) is not None:
        return found
    starts = np.asarray(source.frame_starts(), np.int64)
    if path is not None:
        _write(path, file, starts)
    return starts


def _path_of(file: OpenFile, format_name: str) -> Path | None:
    """Return the path of a file's index; None where there is no home folder."""
    try:
        text = f"{file.path.absolute()}\0{format_name}"
        name = hashlib.blake2b(text.encode("utf-8", "surrogateescape"), digest_size=16)
        return cache_folder() / f"{name.hexdigest()}.frames"
    except (OSError, RuntimeError, ValueError):
        return None


def _read(path: Path, file: OpenFile, size: int) -> NDArray[np.int64] | None:
    """Return the starts from an index; None if there is none, or not of this file as it is.

    size: of the content, unpacked.
    """
    import numpy as np

    try:
        data = path.read_bytes()
    except OSError:
        return None
    body, digest = data[:-_DIGEST], data[-_DIGEST:]
    if len(body) < _HEADER.size or hashlib.blake2b(body, digest_size=_DIGEST).digest() != digest:
        return None
    magic, bytes_, modified, count = _HEADER.unpack_from(body)
    if (magic, bytes_, modified) != (_MAGIC, file.size, file.modified) or count < 1:
        return None
    starts = np.frombuffer(body, "<i8", offset=_HEADER.size).astype(np.int64)
    right = len(starts) == count + 1 and starts[0] >= 0 and starts[-1] <= size
    return starts if right and bool((np.diff(starts) >= 0).all()) else None


def _write(path: Path, file: OpenFile, starts: NDArray[np.int64]) -> None:
    """Keep an index; whoever reads it sees all of it or nothing. Without room it is not kept."""
    header = _HEADER.pack(_MAGIC, file.size, file.modified, len(starts) - 1)
    body = header + starts.astype("<i8").tobytes()
    new = path.with_name(f"{path.name}.{os.getpid()}.new")
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _remove_old(path.parent)
        try:
            new.write_bytes(body + hashlib.blake2b(body, digest_size=_DIGEST).digest())
            new.replace(path)
        except OSError:
            new.unlink(missing_ok=True)


def _remove_old(folder: Path) -> None:
    """Remove the oldest indices where there are too many."""
    kept = sorted(folder.glob("*.frames*"), key=lambda path: path.stat().st_mtime)
    for path in kept[: max(len(kept) - MOST_KEPT + 1, 0)]:
        path.unlink(missing_ok=True)
