"""A window while its file is loaded: it is there, says so, and can be closed; real commands."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep

import pytest

from support import display as displays
from support.display import LIMIT, Display
from test_interrupt import PATIENCE

ATOMS = 3_000_000


@pytest.fixture(scope="module")
def display(xvfb: Display | str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Display]:
    """A display without any other window; skips where there is none."""
    displays.missing(xvfb if isinstance(xvfb, str) else "")
    own = displays.start(tmp_path_factory.mktemp("display"))
    yield own
    own.stop()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a file that takes seconds to load, and broken ones."""
    tmp_path = tmp_path_factory.mktemp("loading")
    (tmp_path / "many.xyz").write_text(f"{ATOMS}\nmany\n" + "C 1.0 2.0 3.0\n" * ATOMS)
    (tmp_path / "broken.xyz").write_text("3\nbroken\nC 0 0 0\nC 1 0 0\nC 1 one 0\n")
    (tmp_path / "broken.toml").write_text("render = 3\n")
    (tmp_path / "broken.json").write_text("[1, 2]")
    return tmp_path


class Running:
    """A preview that was started by its command."""

    def __init__(self, display: Display, folder: Path, *words: str) -> None:
        command = [sys.executable, "-m", "raytracer", "preview", *words, "--backend", "cpu"]
        self._display = display
        self.process = subprocess.Popen(
            command, cwd=folder, env=display.environment, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
            # A job in the background starts with SIGINT ignored, and so would the command.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL) and None,
        )  # fmt: skip

    def window(self) -> str:
        """X's name of its window, as soon as that is on the screen."""
        words = ["xdotool", "search", "--onlyvisible", "--name", "raytracer"]
        end = monotonic() + LIMIT
        while monotonic() < end and self.process.poll() is None:
            done = subprocess.run(
                words, env=self._display.environment, capture_output=True, text=True, check=False
            )
            if found := done.stdout.split():
                return found[0]
            sleep(0.02)
        raise AssertionError(f"there is no window: {self.process.communicate()}")

    def ends(self) -> tuple[int, str]:
        """Its exit code, and what it said on standard error."""
        _, said = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, said


@pytest.fixture
def run(display: Display, folder: Path) -> Iterator[list[Running]]:
    """Previews that are ended after the test."""
    running: list[Running] = []
    yield running
    for each in running:
        each.process.kill()
        each.process.communicate()


def test_it_says_what_it_loads_and_is_closed_by_its_key(
    display: Display, folder: Path, run: list[Running]
) -> None:
    run.append(Running(display, folder, "many.xyz"))
    window = run[0].window()
    end = monotonic() + LIMIT
    while display.pixels((1280, 720)).max() < 200:  # of the text
        assert monotonic() < end
        sleep(0.02)
    assert display.pixels((600, 300)).max() < 60, "the text is in the middle, and nothing else"
    display.xdotool("windowsize", window, 700, 500, "windowfocus", window, "key", "q")
    code, said = run[0].ends()
    assert code == 0
    assert said == "raytracer: the window was closed before many.xyz was loaded\n"
