"""Pictures while something moves: rays through the pixels' centres, enlarged by interpolation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

import raytracer
from raytracer.settings import RenderSettings
from raytracer.viewer.worker import MIN_IDLE_SAMPLES
from support.previews import balls, first_camera, loaded_scene_of
from support.remote import Remote
from support.window_scene import SIZE, rendered
from support.workers import Window, assert_rendered, request_of

HALF = SIZE[0] // 2, SIZE[1] // 2
SETTINGS = RenderSettings(width=64, height=48, samples=8)


def error(one: NDArray[Any], two: NDArray[Any]) -> float:
    """Mean absolute difference, of 255."""
    return float(np.abs(one[..., :3].astype(float) - two[..., :3].astype(float)).mean())


@pytest.mark.parametrize("adaptive", [True, False])
@pytest.mark.parametrize("filter_name", ["gaussian", "box"])
def test_drafts_take_the_centres_of_pixels(adaptive: bool, filter_name: str) -> None:
    loaded_scene = loaded_scene_of(balls(render=SETTINGS.override(filter=filter_name)))
    window, request = Window(adaptive), request_of(loaded_scene)
    window.worker.show(request)
    assert_rendered(window.finish(request))
    window.worker.stop()
    drafts = [shown for shown in window.shown if shown.draft]
    assert drafts
    assert drafts[0].size == ((16, 12) if adaptive else (64, 48))
    assert all(shown.samples == 1 and not shown.finished for shown in drafts)
    assert window.shown[: len(drafts)] == drafts
    assert all(shown.samples >= MIN_IDLE_SAMPLES for shown in window.shown[len(drafts) :])
    last = drafts[-1].size
    settings: Any = {"width": last[0], "height": last[1], "backend": "cpu"}
    settings["camera"] = first_camera(loaded_scene.scene, SIZE)
    expected = raytracer.render(loaded_scene.scene, **settings, samples=1, filter="point")
    rerun = Window(adaptive)
    rerun.worker.show(request)
    while not (frame := rerun.look()) or frame.size != last:
        pass
    if filter_name == "box":
        np.testing.assert_array_equal(frame.picture.pixels, expected.pixels(8))
    else:  # which spreads the samples of a pixel over its neighbours
        truth = raytracer.render(loaded_scene.scene, **settings, samples=256).pixels(8)
        assert error(frame.picture.pixels, truth) < 0.7 * error(expected.pixels(8), truth)
    rerun.worker.stop()


def test_a_scene_with_the_point_filter_keeps_its_first_sample() -> None:
    loaded_scene = loaded_scene_of(balls(render=SETTINGS.override(filter="point")))
    window, request = Window(adaptive=False), request_of(loaded_scene)
    window.worker.show(request)
    assert_rendered(window.finish(request))
    window.worker.stop()
    assert not any(shown.draft for shown in window.shown)


def test_a_single_sample_at_rest_is_that_of_the_filter() -> None:
    loaded_scene = loaded_scene_of(balls())
    window, request = Window(), request_of(loaded_scene, samples=1)
    window.worker.show(request)
    assert_rendered(window.finish(request), 1)
    window.worker.stop()


def bilinear(pixels: NDArray[np.uint8], size: tuple[int, int]) -> NDArray[np.float64]:
    """The definition: values between the centres of pixels, and the border's beyond them."""
    found = pixels[..., :3].astype(float)
    for axis, count in ((1, size[0]), (0, size[1])):
        have = found.shape[axis]
        place = np.clip((np.arange(count) + 0.5) * have / count - 0.5, 0, have - 1)
        low = np.minimum(place.astype(int), max(have - 2, 0))
        shape = [1, 1, 1]
        shape[axis] = count
        part = (place - low).reshape(shape)
        high = np.minimum(low + 1, have - 1)
        found = np.take(found, low, axis) * (1 - part) + np.take(found, high, axis) * part
    return found


@pytest.mark.parametrize("factor", [2, 4, 5])
def test_a_coarse_picture_is_enlarged_by_interpolation(window: Remote, factor: int) -> None:
    size = SIZE[0] // factor, SIZE[1] // factor
    pixels = np.random.default_rng(2).integers(0, 256, (size[1], size[0], 4), np.uint8)
    pixels[..., 3] = 255
    window.rest()
    shown = window.ask("enlarged", pixels).astype(float)
    expected = bilinear(pixels, SIZE)
    assert np.abs(shown - expected).max() < 6.0  # OpenGL's weights have 8 bits


def test_a_picture_of_the_windows_size_is_shown_as_it_is(window: Remote) -> None:
    pixels = np.random.default_rng(2).integers(0, 256, (SIZE[1], SIZE[0], 4), np.uint8)
    pixels[..., 3] = 255
    window.rest()
    np.testing.assert_array_equal(window.ask("enlarged", pixels), pixels[..., :3])


def test_a_moving_picture_is_near_to_the_finished_one(window: Remote, scene: Path) -> None:
    """Nearer by half than the scene's filter with one sample, its pixels repeated."""
    window.rest()
    finished = rendered(scene, samples=64)
    coarse = Image.fromarray(rendered(scene, HALF, samples=1))
    repeated = np.asarray(coarse.resize(SIZE, Image.Resampling.NEAREST))
    moving = error(window.ask("draft", HALF), finished)
    assert moving < 0.5 * error(repeated, finished)
    assert moving < 3.0
