"""`raytracer.preview`: wrong calls, runs without a display, the size of a window."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import raytracer
from raytracer.config.errors import DataFileError, OutputError, SceneError, UserError
from raytracer.viewer import preview
from raytracer.viewer.preview import MARGIN, fit_window_size
from support.previews import balls, pixels_of
from support.window_scene import SIZE, assert_same_but_for_rounding, pasted, python, rendered


@pytest.mark.usefixtures("egl")
def test_json_and_a_screenshot(scene_here: Path) -> None:
    command = f"preview {scene_here.name} --offscreen 5 --json --backend cpu --screenshot a.png"
    done = python("-m", "raytracer", *command.split())
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["frames"] == 5
    assert found["size"] == list(SIZE)
    times = found["latency"]
    assert 0 < times["min"] <= times["median"] <= times["max"]
    assert found["rest"] > 0
    assert all(width <= SIZE[0] for width, _ in found["traced"])
    Path("printed.toml").write_text(pasted(found["toml"]))
    assert_same_but_for_rounding(pixels_of("a.png"), rendered(Path("printed.toml")))


@pytest.mark.parametrize(
    ("display", "words"),
    [(":7133", "the display :7133 does not answer"), ("nonsense", "the display nonsense does not"),
     ("", "there is no display: DISPLAY is not set: start")],
)  # fmt: skip
def test_a_display_that_does_not_answer_is_named(
    scene_here: Path, display: str, words: str
) -> None:
    code = "import sys; from raytracer.commands.cli import main; sys.exit(main(sys.argv[1:]))"
    done = python("-c", f"import os; os.environ['DISPLAY'] = {display!r}; {code}", "preview",
                  scene_here.name)  # fmt: skip
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert words in done.stderr
    assert '"None"' not in done.stderr
    assert "`raytracer serve`" in done.stderr


KINDS = """
import sys, raytracer
for number, offscreen in enumerate((0, 0, None, 0)):
    try:
        raytracer.preview(sys.argv[1], backend="cpu", offscreen=offscreen,
                          screenshot=f"{number}.png")
        print("shown")
    except raytracer.UserError as error:
        print(type(error).__name__, error)
"""


@pytest.mark.usefixtures("egl")
def test_a_process_shows_windows_of_one_kind(scene_here: Path) -> None:
    """The second kind is refused, and the first one goes on to work."""
    done = python("-c", KINDS, scene_here.name)
    shown = done.stdout.splitlines()
    assert [*shown[:2], shown[3]] == ["shown"] * 3, done.stderr
    assert shown[2].startswith("DisplayError after a preview offscreen, this process")
    pictures = [path.read_bytes() for path in sorted(Path().glob("*.png"))]
    assert pictures == pictures[:1] * 3


NO_ROOM = """
import sys, pyglet, raytracer
pyglet.options.headless, pyglet.options.shadow_window = True, False
from pyglet import gl, image

def create(*_, **__):
    raise gl.GLException("out of memory")

image.Texture.create = create
try:
    raytracer.preview(sys.argv[1], backend="cpu", offscreen=0)
except raytracer.UserError as error:
    print(type(error).__name__, error)
"""


@pytest.mark.usefixtures("egl")
def test_a_picture_that_opengl_has_no_room_for_ends_with_a_sentence(scene_here: Path) -> None:
    done = python("-c", NO_ROOM, scene_here.name)
    assert "DisplayError OpenGL: out of memory: make the window smaller" in done.stdout, done.stderr


@pytest.mark.parametrize(
    ("options", "kind", "sentence"),
    [
        ({"watch": True}, DataFileError, "has no file to watch"),
        ({"offscreen": -1}, UserError, "offscreen: must be at least 0"),
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

    monkeypatch.setattr(preview, "open_display", opened)
    with pytest.raises(kind, match=sentence):
        raytracer.preview(balls(), **options)


SIDES = st.integers(1, 10_000)


@given(size=st.tuples(SIDES, SIDES), screen=st.tuples(SIDES, SIDES))
def test_a_window_fits_the_screen_in_the_shape_of_the_picture(
    size: tuple[int, int], screen: tuple[int, int]
) -> None:
    found = fit_window_size(size, SimpleNamespace(width=screen[0], height=screen[1]))
    for side, wanted, room in zip(found, size, screen, strict=True):
        assert 1 <= side <= max(wanted, 1)
        assert side <= max(MARGIN * room, 1.0)
    factor = min(1.0, *(MARGIN * s / w for s, w in zip(screen, size, strict=True)))
    for side, wanted in zip(found, size, strict=True):
        assert abs(side - factor * wanted) <= 1.0
