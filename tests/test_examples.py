"""Every example scene loads, says what it shows, stays small, and makes a picture."""

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pillow

import raytracer
from raytracer.scene_files import generate

FOLDER = Path(__file__).parents[1] / "scenes"
RENDERS = FOLDER.parent / "renders"
SCENES = sorted(FOLDER.glob("*.toml"))
# Enough spheres to be the scene, few enough for a test.
FEW = 1500
# Mean difference of a tracked picture from what its scene gives, codes of 255.
MEAN_CODES = 0.05
# The same with bloom, where the light from beyond the part that is rendered is missing.
BLOOM_CODES = 2.0
# Pictures made with `--denoise`.
DENOISED = {"crystal", "lamps", "marbles", "pile", "sphereflake", "three_balls", "weekend"}
# The same for means over blocks of such a picture; sides of a block in pixels.
DENOISED_CODES, BLOCK = 3.0, 10

pytestmark = pytest.mark.parametrize("path", SCENES, ids=lambda path: path.stem)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Generators give few spheres; the names that were asked for are kept in the list."""
    asked: list[str] = []
    real: Callable[..., dict[str, Any]] = generate.arrays

    def fewer(name: str, count: int | None = None, seed: int | None = None) -> dict[str, Any]:
        asked.append(name)
        return real(name, min(count or FEW, FEW), seed)

    monkeypatch.setattr(generate, "arrays", fewer)
    return asked


def test_example_makes_a_picture(path: Path, few: list[str]) -> None:
    scene = raytracer.load(path)
    said = tomllib.loads(path.read_text(encoding="utf-8"))
    assert scene.title == said["title"]
    assert len(said["caption"]) > 20
    assert few == [s["generate"]["name"] for s in said["spheres"] if "generate" in s]
    image = raytracer.render(scene, backend="cpu", width=96, height=54, samples=1, threads=1)
    assert image.array.shape == (54, 96, 4)
    assert np.isfinite(image.array).all()
    # Neither empty nor flat: light and dark differ by more than the background's gradient.
    light = image.array[..., :3].mean(axis=2)
    assert np.ptp(light) > 0.2
    assert light.max() < (20.0 if scene.render.integrator == "path" else 4.0)


@pytest.mark.slow
def test_picture_of_an_example_is_what_its_scene_gives(path: Path) -> None:
    """The pixels in the middle; where this fails, render the pictures anew (scenes/README.md)."""
    scene = raytracer.load(path)
    width, height = (80, 40) if scene.render.integrator == "path" else (200, 100)
    x0, y0 = (scene.render.width - width) // 2, (scene.render.height - height) // 2
    crop = (x0, y0, x0 + width, y0 + height)
    around = height if scene.tone.bloom else 0  # most of the light that spreads into the crop
    rendered = (x0 - around, y0 - around, x0 + width + around, y0 + height + around)
    image = raytracer.render(scene, backend="cpu", crop=rendered)
    with Pillow.open(RENDERS / f"{path.stem}.png") as picture:
        kept = np.asarray(picture.crop(crop))
    found = image.to_uint8()[around : around + height, around : around + width]
    if path.stem in DENOISED:
        found, kept = (
            picture.reshape(height // BLOCK, BLOCK, width // BLOCK, BLOCK, 3).mean(axis=(1, 3))
            for picture in (found, kept)
        )
        assert np.abs(found - kept).mean() < DENOISED_CODES
        return
    # Other instruction sets round otherwise: of 64 samples a few fall to the other side of an edge.
    difference = np.abs(found.astype(int) - kept)
    assert difference.mean() < (BLOOM_CODES if around else MEAN_CODES)
    assert np.quantile(difference, 0.99) <= (4 if around else 1)
