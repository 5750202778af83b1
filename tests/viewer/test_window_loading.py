"""A window while its file is loaded: it is there, says so, and can be closed."""

import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep

from support import display as displays
from support.display import LIMIT, Display
from system.test_interrupt import PATIENCE

ATOMS = 3_000_000  # which take seconds to load


def test_it_says_what_it_loads_and_is_closed_by_its_key(
    xvfb: Display | str, tmp_path: Path
) -> None:
    displays.missing(xvfb if isinstance(xvfb, str) else "")
    (tmp_path / "many.xyz").write_text(f"{ATOMS}\nmany\n" + "C 1.0 2.0 3.0\n" * ATOMS)
    display = displays.start(tmp_path)  # without any other window
    process = subprocess.Popen(
        [sys.executable, "-m", "raytracer", "preview", "many.xyz", "--backend", "cpu"],
        cwd=tmp_path, env=display.environment, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        end = monotonic() + LIMIT
        while display.pixels((1280, 720)).max() < 200:  # of the text
            assert monotonic() < end
            assert process.poll() is None
            sleep(0.02)
        assert display.pixels((600, 300)).max() < 60, "the text is in the middle, and nothing else"
        (window,) = display.xdotool("search", "--onlyvisible", "--name", "raytracer").split()
        display.xdotool("windowsize", window, 700, 500, "windowfocus", window, "key", "q")
        _, said = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
        display.stop()
    assert process.returncode == 0
    assert said == "raytracer: the window was closed before many.xyz was loaded\n"
