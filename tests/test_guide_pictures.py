"""Scenes of pictures in the guides: they load, and the tracked pictures are theirs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import raytracer
from raytracer.film import png
from raytracer.scene.packing.pack import pack
from support.pages import DOCS

SCENES = sorted((DOCS / "guide" / "pictures").glob("*.toml"))


@pytest.mark.parametrize("path", SCENES, ids=lambda path: path.stem)
def test_picture_is_that_of_its_scene(path: Path) -> None:
    kept = png.read_metadata(path.with_suffix(".png"))
    assert kept is not None
    scene = raytracer.load(path)
    assert kept["scene"]["digest"] == pack(scene).digest()
    assert kept["samples"] == scene.render.samples


@pytest.mark.parametrize("path", SCENES, ids=lambda path: path.stem)
def test_scene_renders(path: Path) -> None:
    image = raytracer.render(raytracer.load(path), backend="cpu", width=96, height=54, samples=4)
    light = image.array[..., :3].mean(axis=2)
    assert np.isfinite(light).all()
    assert np.ptp(light) > 0.2
