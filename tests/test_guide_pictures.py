"""Scenes of pictures in the guides: they load, and the tracked pictures are theirs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import raytracer
from raytracer.film import png
from support.pages import DOCS

SCENES = sorted((DOCS / "guide" / "pictures").glob("*.toml"))


@pytest.mark.parametrize("path", SCENES, ids=lambda path: path.stem)
def test_picture_is_that_of_its_scene(path: Path) -> None:
    kept = png.read_metadata(path.with_suffix(".png"))
    assert kept is not None
    settings = raytracer.load(path).render
    assert kept["samples"] == settings.samples
    assert kept["crop"] == [0, 0, settings.width, settings.height]
    size = settings.width // 10, settings.height // 10
    image = raytracer.render(path, backend="cpu", width=size[0], height=size[1], samples=8)
    with Image.open(path.with_suffix(".png")) as picture:
        coarse = np.asarray(picture.convert("RGB").resize(size, Image.Resampling.BOX), float)
    difference = np.abs(image.to_uint8()[..., :3] - coarse)
    assert difference.mean() < 5.0  # 10 and more for another side of it
    assert np.ptp(coarse) > 50
