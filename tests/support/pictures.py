"""Compare pictures; a failure leaves them behind as PNG files with the pixel to replay."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reference.curves import srgb_encode
from reference.scene import Array

AMPLIFY = 16.0


def save_png(path: Path, linear: NDArray[Any]) -> None:
    """Write the RGB of a linear picture (h, w, >= 3) as an 8-bit sRGB PNG."""
    from PIL import Image

    pixels = np.round(srgb_encode(np.nan_to_num(linear[..., :3])) * 255).astype(np.uint8)
    Image.fromarray(pixels).save(path)


@dataclass(frozen=True)
class Bench:
    """Where a failing comparison leaves its pictures."""

    folder: Path

    def fail(
        self, reference: NDArray[Any], picture: NDArray[Any], wrong: NDArray[np.bool_], what: str
    ) -> None:
        """Save both pictures and their amplified difference, then fail naming the first pixel."""
        y, x = (int(v) for v in np.argwhere(wrong)[0])
        files = {}
        shown = {
            "reference": reference,
            "picture": picture,
            "difference": np.abs(picture[..., :3] - reference[..., :3]) * AMPLIFY,
        }
        for name, pixels in shown.items():
            files[name] = self.folder / f"{name}.png"
            save_png(files[name], pixels)
        raise AssertionError(
            f"{what}: {int(wrong.sum())} of {wrong.size} pixels differ; first ({x}, {y}): "
            f"reference {np.round(reference[y, x], 6).tolist()}, "
            f"picture {np.round(picture[y, x], 6).tolist()}. "
            f"Replay it with `raytracer render SCENE --only {x},{y},0`. "
            + " ".join(f"{name}: {file}" for name, file in files.items())
        )

    def agree(
        self,
        reference: NDArray[Any],
        picture: NDArray[Any],
        *,
        tolerance: float = 0.0,
        share: float = 0.0,
        mean: float | None = None,
        srgb: bool = False,
        what: str = "pictures",
    ) -> None:
        """Assert that two pictures agree.

        At most `share` of the pixels may differ by more than `tolerance` in any channel, and the
        mean difference may be at most `mean`; `srgb` compares encoded values (0..1).
        """
        assert reference.shape == picture.shape, (reference.shape, picture.shape)
        a, b = (np.asarray(p, np.float64) for p in (reference, picture))
        assert np.isfinite(b).all(), f"{what}: the picture holds values that are not finite"
        if srgb:
            a, b = (np.concatenate([srgb_encode(p[..., :3]), p[..., 3:]], axis=-1) for p in (a, b))
        difference = np.abs(a - b)
        wrong = np.asarray((difference > tolerance).any(axis=-1))
        average = float(difference.mean())
        if wrong.mean() > share:
            self.fail(reference, picture, wrong, what)
        if mean is not None and average > mean:
            worst = np.asarray(difference.max(axis=-1) == difference.max())
            self.fail(reference, picture, worst, f"{what}: mean difference {average:.3g} > {mean}")

    def within(
        self,
        bounds: tuple[Array, Array],
        picture: NDArray[Any],
        *,
        tolerance: float = 5e-4,
        share: float = 0.0,
        what: str = "picture",
    ) -> None:
        """Assert that every pixel lies between the reference's bounds, but for `share` of them."""
        low, high = bounds
        assert np.isfinite(picture).all(), f"{what}: the picture holds values that are not finite"
        outside = (picture < low - tolerance) | (picture > high + tolerance)
        wrong = np.asarray(outside.any(axis=-1))
        if wrong.mean() > share:
            self.fail((low + high) / 2, picture, wrong, what)
