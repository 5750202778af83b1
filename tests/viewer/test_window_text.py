"""Long sentences in a window can be read: as large as other text, within the window, apart."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from time import perf_counter

import numpy as np
import pytest
from numpy.typing import NDArray

from raytracer.viewer.overlay import MARGIN
from support.display import Display
from support.remote import Remote

Open = Callable[..., Remote]
Box = tuple[int, int, int, int]

ADVANCE, LINE = 8, 15  # pixels of a letter of 10 points at 96 dots an inch, at least
PATH = "simulation/" + "a_long_name_of_a_folder_" * 6 + "/particles.npz"
SENTENCE = (
    "balls.toml: spheres[0].file: there is no file snapshots/of/the/last/run/particles.npz; did "
    "you mean 'particle.npz'? known are old.npz, older.npz, oldest.npz, eldest.npz, first.npz"
)
FOREVER = 1e6  # seconds


@pytest.fixture(params=[(240, 160), (640, 400), (1280, 720)], ids=str)
def sized(request: pytest.FixtureRequest, open_window: Open) -> Remote:
    """A window of a size."""
    width, height = (str(side) for side in request.param)
    remote = open_window("--width", width, "--height", height, "--samples", "1")
    remote.rest()
    remote.ask("put", {"overlay": False})
    return remote


def changed(remote: Remote) -> NDArray[np.bool_]:
    """Where text is, with its paper."""
    return np.asarray((remote.shot() != remote.shot(text=True)).any(axis=-1))


def box(differs: NDArray[np.bool_]) -> Box:
    """Left, top, right, bottom."""
    rows, columns = np.nonzero(differs)
    return int(columns.min()), int(rows.min()), int(columns.max()), int(rows.max())


def put(remote: Remote, reload_error: str = "", notice: str = "") -> NDArray[np.bool_]:
    """Show sentences; gives where they are."""
    remote.ask("put", {"reload_error": reload_error, "_notice": (notice, perf_counter() + FOREVER)})
    return changed(remote)


@pytest.mark.parametrize("text", [SENTENCE, f"{PATH}: there is no such file"], ids=["", "path"])
@pytest.mark.parametrize("what", ["reload_error", "notice"])
def test_a_long_sentence_is_wrapped_at_full_size(sized: Remote, text: str, what: str) -> None:
    (width, height), differs = sized.state.size, put(sized, **{what: text})
    left, top, right, bottom = box(differs)
    near = 0.4 * MARGIN - 1
    assert near <= left
    assert right < width - near
    assert bottom < height - near
    assert top >= near
    assert (right - left + 1) * (bottom - top + 1) >= len(text) * ADVANCE * LINE
    assert bottom - top + 1 >= (len(text) * ADVANCE // width) * LINE


def test_a_short_one_takes_no_more_than_its_line(sized: Remote) -> None:
    left, top, right, bottom = box(put(sized, notice="tone agx"))
    assert right - left < 12 * ADVANCE
    assert bottom - top < 2.5 * LINE


def test_a_notice_lies_below_an_error(sized: Remote) -> None:
    alone = put(sized, notice="exposure +0.33")
    both = put(sized, reload_error=SENTENCE, notice="exposure +0.33")
    error = put(sized, reload_error=SENTENCE)
    notice = box(alone)
    assert box(both)[3] == notice[3]
    raised = box(both & ~alone)
    assert raised[3] < notice[1]
    assert raised[1] > 0
    if sized.state.size[1] >= 400:  # it becomes smaller where there is no room for both
        assert raised[3] - raised[1] == box(error)[3] - box(error)[1]


def test_the_prompt_can_be_read_in_a_small_window(sized: Remote) -> None:
    sized.press("S")
    left, top, right, bottom = box(changed(sized))
    assert right < sized.state.size[0]
    assert (right - left) * (bottom - top) >= 70 * ADVANCE * LINE


@pytest.mark.parametrize("sized", [(640, 400), (1280, 720)], indirect=True, ids=str)
def test_help_shrinks_to_fit(sized: Remote) -> None:
    width, height = sized.state.size
    sized.press("H")
    left, top, right, bottom = box(changed(sized))
    assert left > 0
    assert top > 0
    assert right < width - 1
    assert bottom < height - 1


def test_a_notice_goes_without_any_event(window: Remote, display: Display) -> None:
    """It came from a thread: nobody touches the window afterwards."""
    window.ask("put", {"overlay": False})
    plain = window.shot(text=True)
    window.ask("put", {"_notice": ("saved a.png", perf_counter() + 1.5)})
    assert (window.shot(text=True) != plain).any()
    window.ask("put", {"_notice": ("saved b.png", perf_counter() + 2.0)})
    assert display.shows(plain)
    assert window.state.notice == ""


SIZES = [(320, 240), (480, 320), (640, 400), (960, 540), (1280, 720), (1500, 900)]


def assert_apart(remote: Remote, at_least: int) -> None:
    """No panel is on another one, or beyond the window's edge."""
    (width, height), boxes = remote.state.size, remote.ask("papers")
    assert len(boxes) >= at_least
    for x, y, wide, high in boxes:
        assert min(x, y) >= 0
        assert x + wide <= width
        assert y + high <= height
    for (x, y, wide, high), (x2, y2, wide2, high2) in combinations(boxes, 2):
        assert x + wide <= x2 or x2 + wide2 <= x or y + high <= y2 or y2 + high2 <= y


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_panels_do_not_overlap(open_window: Open, size: tuple[int, int]) -> None:
    """With everything that there can be at once, on displays of either density."""
    remote = open_window("--width", str(size[0]), "--height", str(size[1]), "--samples", "1")
    middle = [side // 2 for side in remote.rest().size]
    remote.ask("act", "pick", *middle)
    remote.until(lambda s: s.picked is not None, "the picked sphere")
    for scale in (1.0, 2.0):
        remote.ask("event", "on_scale", scale, int(96 * scale))
        fits = size[0] >= 480 * scale and size[1] >= 320 * scale
        for reload_error, notice in (("", ""), ("", "exposure +0.33"), (SENTENCE, "not saved")):
            message = {"reload_error": reload_error, "_notice": (notice, perf_counter() + FOREVER)}
            for overlay in (1, 2):
                remote.ask("put", message | {"overlay": overlay, "help": 0})
                assert_apart(remote, 2 if fits and not reload_error else 1)
            remote.ask("put", {"help": 1})
            assert_apart(remote, 1)
