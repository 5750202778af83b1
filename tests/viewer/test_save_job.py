"""A picture kept from the window is the one that `render` gives."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pictures

import raytracer
from raytracer import Annotations, Axes, Camera, Outline, Scene, TextLabel
from raytracer.config.errors import OutputError, UserError
from raytracer.config.tone_settings import ToneSettings
from raytracer.model.settings import MAX_SIDE
from raytracer.viewer.save_view import parse_size
from raytracer.viewer.worker import SaveJob
from support.previews import balls, first_camera, loaded_scene_of
from support.workers import Window, request_of


def saved(job: SaveJob) -> SaveJob:
    """Render and write a picture."""
    job.run(lambda: None)
    return job


@pytest.mark.parametrize("size", [(37, 101), (1, 1)])
def test_it_is_the_picture_of_render(tmp_path: Path, size: tuple[int, int]) -> None:
    """With a fitted camera at any shape."""
    scene, samples = balls(), 5
    tone = ToneSettings(exposure="auto", tone="agx", dither=True)
    request = request_of(loaded_scene_of(scene), samples=samples, tone=tone, size=size)
    saved(SaveJob(request, tmp_path / "kept.png"))
    raytracer.render(
        scene, camera=first_camera(scene, size), backend="cpu", tone=tone, width=size[0],
        height=size[1], samples=samples,
    ).save(tmp_path / "rendered.png")  # fmt: skip
    kept, rendered = (np.array(Pictures.open(tmp_path / f"{n}.png")) for n in ("kept", "rendered"))
    np.testing.assert_array_equal(kept, rendered)


def test_what_cannot_be_written_is_refused_before_it_is_rendered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = request_of(loaded_scene_of(balls()))
    with pytest.raises(OutputError, match="there is no folder"):
        SaveJob(request, tmp_path / "nowhere" / "kept.png")
    with pytest.raises(OutputError, match="PNG"):
        SaveJob(request, tmp_path / "kept.jpg")
    monkeypatch.setattr("raytracer.system.memory.available_memory", lambda: 1000)
    with pytest.raises(UserError, match="of memory to be rendered"):
        SaveJob(request, tmp_path / "kept.png")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "why"),
    [
        *((text, "is not a size") for text in ("64", "²x20", "9" * 5000 + "x20")),
        ("0x20", "width: must be at least 1"),
        (f"{MAX_SIDE + 1}x10", "width: must be at most"),
    ],
)
def test_sizes_that_are_refused(text: str, why: str) -> None:
    with pytest.raises(UserError, match=why):
        parse_size(text, (64, 48), 16)


SIZE = (160, 120)
CAMERA = Camera(position=(1.0, 2.0, 9.0), look_at=(0.0, 0.0, 0.0))
"""A fitted one has not the same frame in the preview and in a picture."""

DRAWN = Annotations(axes=Axes(), texts=[TextLabel("Title")])


def rendered(scene: Scene, annotations: Any, samples: int = 2) -> np.ndarray[Any, Any]:
    """The picture of `render`."""
    settings: dict[str, Any] = {"width": SIZE[0], "height": SIZE[1], "samples": samples}
    return raytracer.render(scene, backend="cpu", annotations=annotations, **settings).pixels()


def test_a_window_at_rest_shows_what_lies_over_everything() -> None:
    scene = balls()
    scene.camera = CAMERA
    scene.annotations = Annotations(axes=DRAWN.axes, texts=DRAWN.texts, outline=Outline())
    window = Window()
    try:
        request = request_of(loaded_scene_of(scene), samples=2, size=SIZE)
        window.worker.show(request)
        frame = window.finish(request)
        np.testing.assert_array_equal(frame.picture.pixels, rendered(scene, DRAWN))
    finally:
        window.worker.stop()
