"""Fixtures for tests that open windows.

Where something for them is missing, they skip with the reason: see `support.display.missing`.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support import display as displays
from support.display import Display, missing
from support.remote import Remote
from support.window_scene import write_scene

Open = Callable[..., Remote]


@pytest.fixture(scope="session")
def xvfb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Display | str]:
    """A private display, or why there is none."""
    if reason := displays.tools_missing():
        yield reason
        return
    display = displays.start(tmp_path_factory.mktemp("xvfb"))
    try:
        yield displays.drawing_missing(display.environment, headless=False) or display
    finally:
        display.stop()


@pytest.fixture(scope="session")
def display(xvfb: Display | str) -> Display:
    """A private display; skips where there is none."""
    missing(xvfb if isinstance(xvfb, str) else "")
    assert isinstance(xvfb, Display)
    return xvfb


@pytest.fixture
def open_window(display: Display, tmp_path: Path) -> Iterator[Open]:
    """Opens previews of the test's own; they are ended after it."""
    opened: list[Remote] = []

    def open_one(*options: str, scene: str | Path = "", ratio: float = 1.0) -> Remote:
        path = scene or write_scene(tmp_path)
        arguments = ["preview", str(path), "--backend", "cpu", *options]
        opened.append(Remote(arguments, tmp_path, display.environment, ratio))
        return opened[-1]

    yield open_one
    for one in opened:
        one.stop()


@pytest.fixture(scope="session")
def shared_window(
    display: Display, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Remote, Path]]:
    """One window for all tests that need no other, and the path of its scene."""
    folder = tmp_path_factory.mktemp("window")
    path = write_scene(folder)
    remote = Remote(["preview", path.name, "--backend", "cpu"], folder, display.environment)
    try:
        remote.rest()
        yield remote, path
    finally:
        remote.stop()


@pytest.fixture
def scene_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The scene in the working directory."""
    monkeypatch.chdir(tmp_path)
    return write_scene(tmp_path)


@pytest.fixture
def window(shared_window: tuple[Remote, Path]) -> Remote:
    """The shared window, as when it was opened."""
    remote, _ = shared_window
    remote.fresh()
    return remote


@pytest.fixture
def scene(shared_window: tuple[Remote, Path]) -> Path:
    """The scene that `window` shows."""
    return shared_window[1]
