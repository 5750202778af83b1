"""Arguments of `raytracer.preview` that are refused before a display is opened; its results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import raytracer
from raytracer.commands.preview import record, summary
from raytracer.errors import DataFileError, DisplayError, OutputError, SceneError, UserError
from raytracer.viewer import opening
from raytracer.viewer.preview import PreviewResult
from support.previews import balls

CAMERA = raytracer.Camera(position=(0, 0, 9), look_at=(0, 0, 0))


@pytest.mark.parametrize(
    ("options", "kind", "sentence"),
    [
        ({"watch": True}, DataFileError, "has no file to watch"),
        ({"offscreen": -1}, UserError, "give a number of frames"),
        ({"screenshot": "x.jpg"}, OutputError, "PNG"),
        ({"screenshot": "nowhere/x.png"}, OutputError, "there is no folder"),
        ({"look": "foo"}, SceneError, r"render\.look: there is no look 'foo'"),
        ({"view": "fornt"}, UserError, "view: there is no view 'fornt'; did you mean 'front'"),
        ({"veiw": "front"}, TypeError, "'veiw'; did you mean 'view'"),
        ({"width": 0}, SceneError, r"render\.width"),
    ],
)
def test_mistakes_are_said_before_a_display_is_opened(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], kind: type, sentence: str
) -> None:
    def opened(_: bool) -> None:
        pytest.fail("a display was opened")

    monkeypatch.setattr(opening, "open_display", opened)
    with pytest.raises(kind, match=sentence):
        raytracer.preview(balls(), **options)


def test_without_a_display_no_scene_is_loaded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def closed(_: bool) -> None:
        raise DisplayError("there is no display: go elsewhere")

    monkeypatch.setattr(opening, "open_display", closed)
    path = tmp_path / "broken.toml"
    path.write_text("spheres =")
    with pytest.raises(DisplayError, match="go elsewhere"):
        raytracer.preview(path)


def result(**more: Any) -> PreviewResult:
    return PreviewResult(CAMERA, "[camera]\n", (1280, 720), "texture upload", **more)


def test_what_was_measured_is_reported() -> None:
    measured = result(
        latency=[0.02, 0.01, 0.03, 0.04, 0.02], traced=[(640, 360)] * 4 + [(1280, 720)], rest=0.25
    )
    assert measured.spread() == {"median": 0.02, "min": 0.01, "q95": 0.03, "max": 0.04}
    assert summary(measured) == (
        "5 frames, traced at 640x360 or more in a window of 1280x720: 50.0 frames/s, event to "
        "fence 20.0 ms (95% 30.0, max 40.0), full size 250 ms after the last event; "
        "texture upload"
    )
    found = record(Path("a.toml"), measured)
    assert found["frames"] == 5
    assert found["traced"] == [[640, 360], [1280, 720]]
    assert found["rest"] == 0.25
    assert raytracer.Camera(**found["camera"]) == CAMERA


def test_a_window_that_somebody_sat_before_has_no_figures() -> None:
    found = record(Path("a.toml"), result())
    assert set(found) == {"scene", "size", "presenter", "camera", "toml"}
    assert found["scene"] == "a.toml"
