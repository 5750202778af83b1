"""Finished frames of a movie: what is kept comes back, damage is told; YUV as encoders take it."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from raytracer.animation.animate import animate
from raytracer.animation.encoder import planes
from raytracer.animation.frames import Movie
from raytracer.errors import OutputError

DIGEST = "0123456789abcdef"


def expected(pixels: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Planes by the formulas of BT.709, in float64."""
    height, width = pixels.shape[:2]
    padded = np.pad(pixels[..., :3], ((0, height % 2), (0, width % 2), (0, 0)), mode="edge") / 255.0
    weights = np.array([0.2126, 0.7152, 0.0722])
    luma = padded @ weights
    small = padded.reshape(padded.shape[0] // 2, 2, padded.shape[1] // 2, 2, 3).mean(axis=(1, 3))
    y = small @ weights
    blue = (small[..., 2] - y) / (2.0 * (1.0 - 0.0722))
    red = (small[..., 0] - y) / (2.0 * (1.0 - 0.2126))
    parts = [16.0 + 219.0 * luma, 128.0 + 224.0 * blue, 128.0 + 224.0 * red]
    return np.concatenate([part.ravel() for part in parts]).reshape(-1, padded.shape[1])


@pytest.mark.parametrize("shape", [(6, 8, 4), (5, 7, 4), (1, 1, 3), (37, 130, 3)])
def test_planes_are_those_of_bt_709(shape: tuple[int, int, int]) -> None:
    pytest.importorskip("av")
    pixels = np.random.default_rng(5).integers(0, 256, shape, dtype=np.uint8)
    found = planes(pixels).to_ndarray()
    assert found.shape == expected(pixels).shape
    assert np.abs(found - expected(pixels)).max() < 1.0


def test_frames_come_back_and_damage_is_told(tmp_path: Path) -> None:
    kept = Movie(animate(np.zeros((2, 1, 3)))._plan, tmp_path / "a.mp4", DIGEST)
    kept.folder.mkdir()
    frame = np.random.default_rng(2).integers(0, 256, (40, 60, 3), dtype=np.uint8)
    kept.store(1, frame)
    np.testing.assert_array_equal(kept.read(1), frame)
    assert kept.has(1)
    assert not kept.has(0)
    path = kept.path(1)
    whole = path.read_bytes()
    changed = whole[:300] + bytes([whole[300] ^ 1]) + whole[301:]
    for data in (whole[:-1], whole[:10], b"", changed, bytes(len(whole))):
        path.write_bytes(data)
        with pytest.raises(OutputError, match=r"is damaged: run the command again with --fresh"):
            kept.read(1)
    kept.remove()
    assert not kept.folder.exists()
