"""Arguments of `raytracer.preview` that are refused before a display is opened; its results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import raytracer
from raytracer.errors import DataFileError, DisplayError, OutputError, SceneError, UserError
from raytracer.viewer import opening
from support.previews import balls


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
