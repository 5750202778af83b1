"""Annotations in the preview: over saved pictures, and in the window at rest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pillow

import raytracer
from raytracer import Annotations, Axes, Camera, Outline, Scene, TextLabel
from raytracer.film.tone_settings import ToneSettings
from raytracer.viewer import view as moves
from raytracer.viewer.edits import Edits
from raytracer.viewer.messages import RenderRequest
from raytracer.viewer.save_job import PART_SECONDS, SaveJob
from support.previews import balls, loaded_scene_of
from support.workers import Window

SIZE = (160, 120)
CAMERA = Camera(position=(1.0, 2.0, 9.0), look_at=(0.0, 0.0, 0.0))
"""A fitted one has not the same frame in the preview and in a picture."""

DRAWN = Annotations(axes=Axes(), texts=[TextLabel("Title")])


def request_of(scene: Scene, samples: int = 2) -> RenderRequest:
    """The scene's own camera."""
    loaded_scene = loaded_scene_of(scene)
    around = loaded_scene.surroundings(SIZE)
    view = moves.initial_view(scene.camera, loaded_scene.buffers, SIZE[0] / SIZE[1], around)
    buffers = loaded_scene.buffers_for(view, SIZE, Edits())
    return RenderRequest(loaded_scene, buffers, ToneSettings(), samples)


def rendered(scene: Scene, annotations: Any, samples: int = 2) -> np.ndarray[Any, Any]:
    """The picture of `render`."""
    settings: dict[str, Any] = {"width": SIZE[0], "height": SIZE[1], "samples": samples}
    return raytracer.render(scene, backend="cpu", annotations=annotations, **settings).pixels()


def test_a_saved_picture_is_that_of_render(tmp_path: Path) -> None:
    scene = balls()
    scene.camera = CAMERA
    scene.annotations = Annotations(axes=Axes(), outline=Outline(width=2.0))
    job = SaveJob(request_of(scene), tmp_path / "kept.png")
    while job.step(PART_SECONDS / 1e4) is None:
        pass
    found = np.asarray(Pillow.open(tmp_path / "kept.png"))
    np.testing.assert_array_equal(found, rendered(scene, None)[..., :3])


def test_a_window_at_rest_shows_what_lies_over_everything() -> None:
    scene = balls()
    scene.camera = CAMERA
    scene.annotations = Annotations(axes=DRAWN.axes, texts=DRAWN.texts, outline=Outline())
    window = Window()
    try:
        request = request_of(scene)
        window.worker.show(request)
        frame = window.finish(request)
        np.testing.assert_array_equal(frame.picture.pixels, rendered(scene, DRAWN))
    finally:
        window.worker.stop()


@pytest.mark.parametrize("arguments", [["--axes=midle"], ["--legend-file", "a.png"]])
def test_mistakes_of_the_preview_are_told_before_a_window_opens(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from raytracer.cli import main

    (tmp_path / "a.csv").write_text("x,y,z\n0,0,0\n")
    assert main(["preview", str(tmp_path / "a.csv"), *arguments]) == 2
    assert arguments[0].partition("=")[0] in capsys.readouterr().err
