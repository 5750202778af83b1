"""Arrays in a page: deflated, and written in base64.

Each array is stored byte plane by byte plane (all low bytes, then all next ones), as it is or as
differences from the row before, whichever deflates better.
"""

import zlib
from base64 import b64encode
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

LEVEL, FAST_LEVEL = 9, 5  # of deflation
LARGE = 8 << 20  # bytes from which arrays are deflated fast
SAMPLE = 1 << 18  # rows that tell which form deflates better


@dataclass(frozen=True)
class Section:
    """An array encoded as text; about: what a reader needs: "rows", "planes", "delta"."""

    about: dict[str, Any]
    text: bytes


def section_of(array: NDArray[Any]) -> Section:
    """Return one number a row, of 1, 2 or 4 bytes, as a section; (N,)."""
    words = np.ascontiguousarray(array)
    words = words.view(f"u{words.dtype.itemsize}")
    sample = words[: min(len(words), SAMPLE)]
    delta = bool(
        array.dtype.kind in "iu"
        and len(zlib.compress(_planes(_differences(sample)), FAST_LEVEL))
        < len(zlib.compress(_planes(sample), FAST_LEVEL))
    )
    planes = _planes(_differences(words) if delta else words)
    data = zlib.compress(planes, FAST_LEVEL if len(planes) > LARGE else LEVEL)
    count = len(words)
    about = {"rows": count, "planes": len(planes) // max(count, 1), "delta": delta}
    return Section(about, b64encode(data))


def _differences(words: NDArray[Any]) -> NDArray[np.uint32]:
    """Return differences from the row before, small ones of both signs as small numbers."""
    step = np.diff(words.astype(np.uint32), prepend=np.uint32(0)).view(np.int32)
    return ((step << 1) ^ (step >> 31)).view(np.uint32)


def _planes(words: NDArray[Any]) -> bytes:
    """Return the bytes of numbers, plane by plane from the lowest, without empty high planes."""
    width = words.dtype.itemsize
    planes = words.astype(f"<u{width}").view(np.uint8).reshape(-1, width)
    most = int(words.max()) if len(words) else 0
    used = max((most.bit_length() + 7) // 8, 1)
    return b"".join(planes[:, k].tobytes() for k in range(used))
