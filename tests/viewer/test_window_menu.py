"""The menu of the right button and the rims of a selection, by the mouse and the keys of a user."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from raytracer.viewer.marks import RIM
from support.display import Display
from support.remote import Remote

WIDTH, HEIGHT = 480, 320
ATOMS = """5
Lattice="9 0 0 0 9 0 0 0 9" Properties=species:S:1:pos:R:3
O 0 0 0
H 2.5 0 0
H -2.5 0 0
C 0 2 0
I 0 -2 0
"""
MIDDLE = (WIDTH // 2, HEIGHT // 2)
BESIDE = (WIDTH - 6, 6)


@pytest.fixture(scope="module")
def opened(display: Display, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Remote]:
    """A window with five atoms, the first in the middle, seen along z."""
    folder = tmp_path_factory.mktemp("menu")
    (folder / "atoms.xyz").write_text(ATOMS)
    options = ["--backend", "cpu", "--size", f"{WIDTH}x{HEIGHT}", "--samples", "2", "--view", "z"]
    remote = Remote(["preview", "atoms.xyz", *options], folder, display.environment)
    try:
        display.xdotool("windowfocus", remote.rest().xid)
        yield remote
    finally:
        remote.stop()


@pytest.fixture
def window(opened: Remote) -> Remote:
    """The window, as when it was opened."""
    opened.fresh()
    settled(opened)
    return opened


def settled(window: Remote) -> None:
    window.until(lambda s: not s.shown["busy"] and s.rest, "the content")


def right_click(window: Remote, display: Display, place: tuple[int, int]) -> list[str]:
    """Click with the right button; gives the labels of the menu."""
    display.xdotool("mousemove", *place, "click", 3)
    window.until(lambda s: s.shown["menu"], "the menu")
    labels: list[str] = window.ask("menu")[0]
    return labels


def rims(pixels: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Which pixels are of the colour of a rim, more or less."""
    return np.asarray((np.abs(pixels.astype(int) - RIM) < 60).all(axis=2))


def test_the_menu_of_an_atom_picks_it_and_hides_it_by_keys(
    window: Remote, display: Display
) -> None:
    labels = right_click(window, display, MIDDLE)
    assert labels[0] == "O 0"
    assert "select all O" in labels
    assert window.state.shown["picks"] == [0]
    steps = labels.index("hide it")  # the first row is a heading
    display.xdotool("key", *["Down"] * steps, "Return")
    window.until(lambda s: s.shown["hidden"] == 1 and not s.shown["menu"], "the hidden atom")
    settled(window)
    display.xdotool("key", "ctrl+z")
    window.until(lambda s: s.shown["hidden"] == 0, "the atom again")


def test_a_style_is_chosen_by_the_mouse_in_a_menu_of_its_own(
    window: Remote, display: Display
) -> None:
    def click(label: str) -> None:
        labels, (left, bottom, width, height) = window.ask("menu")
        row = bottom + height * (1 - (labels.index(label) + 0.5) / len(labels))
        display.xdotool("mousemove", left + width // 2, HEIGHT - round(row), "click", 1)

    right_click(window, display, BESIDE)
    click("style")
    window.until(lambda s: "licorice" in window.ask("menu")[0], "the styles")
    click("licorice")
    window.until(lambda s: s.shown["style"].get("style") == "licorice", "the style")
    settled(window)
    assert window.state.shown["picks"] == [], "the click was for the menu alone"
    assert "--style licorice" in window.ask("toml")


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
    from raytracer.viewer.session import Session
    from support.previews import wait_for

    head = "Properties=species:S:1:pos:R:3:shapex:R:1:shapey:R:1:shapez:R:1"
    rows = [f"A {4 * n} 0 0 {1 + 0.1 * n} 0.6 0.4" for n in range(4)]
    path = tmp_path / "rods.xyz"
    path.write_text("\n".join(["4", head, *rows]) + "\n")
    with Session.open(path, size=(64, 48), samples=1, backend="cpu") as session:
        session.do("select", "x > 5")
        session.do("set-shape", "ellipsoid")
        wait_for(lambda: session.picture(1.0) and not session.state()["loading"])
        loaded = session.viewer.loaded_scene
        assert loaded.scene.counts() == {"sphere": 0, "ellipsoid": 4}
        assert loaded.marked is not None
        assert loaded.marked.tolist() == [False, False, True, True, False]
