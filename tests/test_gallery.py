"""The pictures of the gallery are those of its scripts and of the commands on the pages."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from raytracer.film import png
from support import gallery

pytestmark = pytest.mark.slow

NEEDS = {"web": "h5py", "dam": "vtkmodules", "colloids": "gsd", "valley": "laspy",
         "perovskite": "gemmi"}  # fmt: skip

CROP = (700, 420, 900, 540)
"""The part that is rendered again, in pixels of the picture."""


@pytest.mark.parametrize("name", gallery.NAMES)
def test_picture_is_that_of_its_script_and_command(name: str, tmp_path: Path) -> None:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    kept, part = gallery.FOLDER / f"{name}.png", tmp_path / "part.png"
    gallery.make(name, part, 4, "--crop", ",".join(map(str, CROP)))
    said, made = png.read_metadata(kept), png.read_metadata(part)
    assert said is not None
    assert made is not None
    assert said["spheres"] == made["spheres"]
    for place in ("position", "look_at"):
        assert said["camera"][place] == pytest.approx(made["camera"][place], rel=1e-6, abs=1e-6)
    assert said["samples"] == gallery.SAMPLES
    whole = Image.open(kept).convert("RGB")
    assert whole.size == gallery.SIZE
    coarse = [
        np.asarray(image.resize((10, 6), Image.Resampling.BOX), float)
        for image in (whole.crop(CROP), Image.open(part).convert("RGB"))
    ]
    assert np.abs(coarse[0] - coarse[1]).mean() < 10.0
    assert np.ptp(np.asarray(whole)) > 200


def test_every_script_is_in_the_gallery() -> None:
    text = (gallery.FOLDER / "index.md").read_text(encoding="utf-8")
    for name in gallery.NAMES:
        assert f"({name}.py)" in text
        assert f"({name}.png)" in text
