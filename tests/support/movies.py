"""Movies: their frames, and whether two have the same."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image as Pillow

SMALL: dict[str, Any] = {"width": 32, "height": 18, "samples": 1, "backend": "cpu"}
FRAMES = 6


def decoded(path: Path) -> list[NDArray[np.uint8]]:
    """The frames of a movie, (h, w, 3)."""
    if path.suffix in (".gif", ".webp"):
        found = []
        with Pillow.open(path) as picture:
            for index in range(picture.n_frames):  # type: ignore[attr-defined]
                picture.seek(index)
                found.append(np.asarray(picture.convert("RGB")))
        return found
    av = pytest.importorskip("av")
    with av.open(str(path)) as container:
        return [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]


def assert_same_movie(path: Path, other: Path) -> None:
    """Assert that two movies show the same frames.

    x264 does not always write the same bytes for the same pictures, in one process either: 10 of
    1,120 movies differed from the others, though the pictures given to it were equal.
    """
    if path.read_bytes() == other.read_bytes():
        return
    frames, others = decoded(path), decoded(other)
    assert len(frames) == len(others)
    differences = np.abs(np.array(frames, np.int16) - np.array(others, np.int16))
    assert differences.mean() < 0.5
    assert differences.max() <= 16
