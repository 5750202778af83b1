"""A window by real events: every gesture, frames, colours, selections and rims."""

from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from raytracer.viewer.selection_overlay import RIM
from support.display import LIMIT, Display
from support.previews import opened, wait_for
from support.remote import Remote
from support.window_scene import SIZE

MIDDLE = (SIZE[0] // 2, SIZE[1] // 2)
Calls = list[tuple[str, tuple[Any, ...], dict[str, Any]]]


@pytest.fixture
def recorded(window: Remote, display: Display) -> Iterator[Remote]:
    """A window that tells which actions it would run."""
    display.xdotool("windowfocus", window.state.xid, "mousemove", *MIDDLE)
    window.ask("record", True)
    yield window
    window.ask("record", False)


def calls(window: Remote, what: str) -> Calls:
    """The actions since the last call, as soon as there are some."""
    end = monotonic() + LIMIT
    while not (found := window.ask("recorded")):
        assert monotonic() < end, what
    return list(found)


@pytest.mark.parametrize(
    ("button", "modifiers", "action"),
    [(1, (), "orbit"), (1, ("shift",), "pan"), (2, (), "pan"), (3, (), "pan"),
     (1, ("ctrl",), "turn-light"), (1, ("ctrl", "shift"), "select-box")],
)  # fmt: skip
def test_drags(
    recorded: Remote, display: Display, button: int, modifiers: tuple[str, ...], action: str
) -> None:
    down = [word for each in modifiers for word in ("keydown", each)]
    up = [word for each in modifiers for word in ("keyup", each)]
    x, y = MIDDLE
    display.xdotool(*down, "mousedown", button, "mousemove", x + 16, y - 8, "mousemove", x + 32,
                    y - 16, "mouseup", button, *up)  # fmt: skip
    found = calls(recorded, action)
    assert {name for name, _, _ in found} == {action}
    signs = {"orbit": (-1, -1), "pan": (-1, -1), "turn-light": (1, 1)}.get(action, (1, 1))
    assert all(value * sign >= 0 for sign, value in zip(signs, found[0][1], strict=False))


@pytest.mark.parametrize(
    ("button", "modifiers", "action", "sign"),
    [(4, (), "dolly", -1), (5, (), "dolly", 1), (4, ("shift",), "zoom", -1), (6, (), "orbit", -1),
     (7, (), "orbit", 1)],
)  # fmt: skip
def test_the_wheel(
    recorded: Remote, display: Display, button: int, modifiers: tuple[str, ...], action: str,
    sign: int,
) -> None:  # fmt: skip
    down = [word for each in modifiers for word in ("keydown", each)]
    up = [word for each in modifiers for word in ("keyup", each)]
    display.xdotool(*down, "click", button, *up)
    ((name, values, _),) = calls(recorded, action)
    assert (name, values[0] * sign > 0) == (action, True)


def test_clicks(recorded: Remote, display: Display) -> None:
    display.xdotool("click", 1)
    ((name, values, named),) = calls(recorded, "a click")
    assert (name, values, named["go"], named["add"]) == ("pick", MIDDLE, False, False)
    display.xdotool("mousemove", 20, 30, "keydown", "shift", "click", 1, "keyup", "shift")
    ((name, values, named),) = calls(recorded, "a click with Shift")
    assert (name, values, named["add"]) == ("pick", (20, 30), True)
    display.xdotool("mousemove", 60, 50, "click", "--repeat", 2, "--delay", 20, 1)
    found = calls(recorded, "a double click")
    while len(found) < 2:
        found += calls(recorded, "the second click")
    assert [named["go"] for _, _, named in found] == [False, True]


def test_a_key_is_forgotten_when_another_window_gets_the_keyboard(window: Remote) -> None:
    before = window.state
    window.ask("key", "press", "LEFT")
    window.until(lambda s: s.camera != before.camera, "a held key")
    window.ask("event", "on_deactivate")
    window.until(lambda s: s.camera == window.state.camera, "the end of the movement")
    window.rest()


FRAMES = 4
BOX = 'Lattice="9 0 0 0 9 0 0 0 9"'
WIDTH, HEIGHT = 480, 320
PAD = 6  # pixels around the lines of the panel


@pytest.fixture(scope="module")
def trajectory(display: Display, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Remote]:
    """A window with a trajectory of five atoms."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "run.xyz").write_text("".join(frame(number) for number in range(FRAMES)))
    options = ["--backend", "cpu", "--size", f"{WIDTH}x{HEIGHT}", "--samples", "1"]
    options += ["--background", "white"]
    remote = Remote(["preview", "run.xyz", *options], folder, display.environment)
    try:
        remote.until(lambda s: s.shown["count"] == FRAMES, "the number of frames")
        yield remote
    finally:
        remote.stop()


def frame(number: int) -> str:
    """Five atoms, the first in the middle, that move apart."""
    rows = ["O 0 0 0 1.0"]
    for place, (element, mass) in enumerate(zip("HCHI", (2.0, 3.0, 6.0, 7.0), strict=True)):
        angle = place * np.pi / 2
        x, y = 2.0 * np.cos(angle) * (1 + number), 2.0 * np.sin(angle) * (1 + number)
        rows.append(f"{element} {x:.4f} {y:.4f} {0.1 * number:.4f} {mass}")
    return "\n".join(["5", f"{BOX} Properties=species:S:1:pos:R:3:mass:R:1", *rows]) + "\n"


@pytest.fixture
def window(trajectory: Remote) -> Remote:
    """The window, as when it was opened."""
    trajectory.fresh()
    for call in (("frame", 0), ("view", "z")):
        trajectory.ask("act", "do", *call)
    settled(trajectory)
    return trajectory


def settled(window: Remote) -> dict[str, Any]:
    """What is shown, when nothing is being loaded any more."""
    return window.until(lambda s: not s.shown["busy"] and s.rest, "the content").shown


def test_the_time_line_is_dragged_and_its_button_plays(window: Remote, display: Display) -> None:
    eye = window.state.eye
    drag(window, display, (200, HEIGHT - 23), (WIDTH - 30, HEIGHT - 23))
    window.until(lambda s: s.shown["number"] == FRAMES - 1, "the last frame")
    assert np.allclose(window.state.eye, eye)
    display.xdotool("mousemove", 24, HEIGHT - 23, "click", 1)
    window.until(lambda s: s.shown["playing"], "the button")
    display.xdotool("click", 1)
    window.until(lambda s: not s.shown["playing"], "the button again")


def test_a_box_selects_what_is_in_it(window: Remote, display: Display) -> None:
    camera = window.state.camera
    drag(window, display, (5, 5), (WIDTH // 2 - 20, HEIGHT - 60), "ctrl", "shift")
    shown = window.until(lambda s: s.shown["selected"], "a selection").shown
    assert 1 <= shown["selected"] < 5
    assert window.state.camera == camera


def test_rows_of_the_panel_are_clicked(window: Remote, display: Display) -> None:
    window.press("TAB")
    (left, bottom, _, height), lines = window.ask("panel")
    rows = [line.split()[0] for line in lines]
    assert lines[rows.index("By")].split()[-1] == "M"

    def click(label: str, button: int = 1) -> None:
        middle = PAD + (rows.index(label) + 0.5) * (height - 2 * PAD) / len(lines)
        y = HEIGHT - bottom - height + int(middle)
        display.xdotool("mousemove", left + 40, y, "click", button)

    window.ask("record", True)
    click("Colour")  # a title covers the particles too
    click("Tone")
    window.until(lambda _: window.ask("recorded") == [("next-tone", (), {"step": 1})], "a row")
    window.ask("record", False)
    click("By")
    window.until(lambda s: s.shown["style"].get("color_by") == "mass", "the next column")
    click("Map", 5)
    window.until(lambda s: s.shown["style"].get("map") == "magma", "the next map")
    click("Map", 4)
    window.until(lambda s: s.shown["style"].get("map") == "viridis", "the map before")
    click("Where")
    window.until(lambda s: s.prompt is not None, "a question")
    window.press("ESCAPE")
    window.press("TAB")
    assert window.ask("panel")[0] is None


def test_the_legend_is_sharp_over_drafts(window: Remote) -> None:
    assert (window.ask("over_draft") == 255).all()
    window.ask("act", "do", "color-by", "mass")
    settled(window)
    drawn = window.ask("over_draft")
    where = np.nonzero((drawn != 255).any(axis=2))
    assert where[1].min() > WIDTH / 2  # at the right, as in the picture at rest
    (top, bottom), (left, right) = ((each.min(), each.max() + 1) for each in where)
    window.ask("act", "request_render")
    rest = np.asarray(window.until(lambda s: s.rest, "a picture") and window.shot())
    same = (drawn[top:bottom, left:right] == rest[top:bottom, left:right]).all(axis=2)
    assert same.mean() > 0.9


def drag(
    window: Remote, display: Display, start: tuple[int, int], end: tuple[int, int], *keys: str
) -> None:
    """Drag with the left button and some keys, from the upper left."""
    down = [word for key in keys for word in ("keydown", key)]
    up = [word for key in keys for word in ("keyup", key)]
    middle = ((start[0] + end[0]) // 2, (start[1] + end[1]) // 2)
    display.xdotool("windowfocus", window.state.xid, "mousemove", *start, *down, "mousedown", 1)
    display.xdotool("mousemove", *middle, "mousemove", *end, "mouseup", 1, *up)


def rims(pixels: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Which pixels are of the colour of a rim, more or less."""
    return np.asarray((np.abs(pixels.astype(int) - RIM) < 60).all(axis=2))


def test_a_selection_has_rims_and_keeps_its_colours(window: Remote) -> None:
    plain = window.shot()
    assert not rims(plain).any()
    window.ask("act", "do", "select", "type == 'I'")
    settled(window)
    marked = window.shot()
    found = rims(marked)
    rows, columns = np.nonzero(found)
    changed = (marked != plain).any(axis=2)
    disc = np.zeros_like(changed)
    disc[rows.min() - 4 : rows.max() + 5, columns.min() - 4 : columns.max() + 5] = True
    assert not changed[~disc].any(), "what is not selected is as before"
    middle = (rows.min() + rows.max()) // 2, (columns.min() + columns.max()) // 2
    assert np.array_equal(marked[middle], plain[middle]), "iodine is as violet as before"
    assert changed.mean() < 0.03
    # The finished picture of a file has no marks: selecting is no part of it.
    window.press("S")
    window.press("RETURN")
    saved = Path(window.until(lambda s: "saved" in s.notice, "the file").notice.split()[-1])
    with Image.open(window._folder / saved) as image:
        assert np.array_equal(np.asarray(image.convert("RGB")), plain)


def test_marks_are_those_of_ellipsoids_too(tmp_path: Path) -> None:
    head = "Properties=species:S:1:pos:R:3:shapex:R:1:shapey:R:1:shapez:R:1"
    rows = [f"A {4 * n} 0 0 {1 + 0.1 * n} 0.6 0.4" for n in range(4)]
    path = tmp_path / "rods.xyz"
    path.write_text("\n".join(["4", head, *rows]) + "\n")
    with opened(path, shape="ellipsoid") as session:
        session.do("select", "x > 5")
        wait_for(lambda: [session.picture(0.1)] and session.loaded_scene.marked is not None)
        loaded = session.loaded_scene
        assert loaded.scene.counts() == {"sphere": 0, "ellipsoid": 4}
        assert loaded.marked is not None
        assert loaded.marked.tolist() == [False, False, True, True, False]
