"""What tests of a newcomer's first minutes share: the picture of a failure, and contrast."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

SCENES = Path(__file__).resolve().parents[2] / "scenes"

CONTRAST = 8.0
"""Least standard deviation of a picture in which there is something to see, of 255; a flat one with
the noise of a few samples has less than 3."""


@contextmanager
def left_behind(save: Callable[[Path], object], folder: Path) -> Iterator[None]:
    """Leave a picture of what is shown if the block fails, and name its file in the failure."""
    try:
        yield
    except BaseException as error:
        path = folder / "shown.png"
        save(path)
        error.add_note(f"what was shown then: {path}")
        raise


def contrast(pixels: NDArray[Any]) -> float:
    """The largest standard deviation of a channel of a picture (h, w, 3 or 4)."""
    return float(np.asarray(pixels, np.float64)[..., :3].std(axis=(0, 1)).max())
