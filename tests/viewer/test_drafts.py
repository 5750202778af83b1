"""Pictures while something moves: rays through the pixels' centres, enlarged by interpolation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import raytracer
from raytracer.settings import RenderSettings
from raytracer.viewer.worker import MIN_IDLE_SAMPLES
from support.previews import balls, first_camera, loaded_scene_of
from support.window_scene import SIZE
from support.workers import Window, assert_rendered, request_of

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
