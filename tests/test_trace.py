"""The path of a scene: the trace of modules, and how many of them there are."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import trace_modules

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / "tests" / "trace_modules.py"


def run(*arguments: str) -> list[str]:
    """The lines that the script prints; in a process of its own, where modules are not loaded."""
    command = [sys.executable, str(SCRIPT), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_a_scene_passes_through_few_modules() -> None:
    """`docs/contributing.md` gives the numbers; a change that adds a module says why there."""
    *lines, units, total = run(str(ROOT / "scenes" / "three_balls.toml"))
    numbers = [int(word) for word in total.replace(":", " ").split() if word.isdigit()]
    entered, with_data, passing, without = numbers
    assert entered == len(lines) - 1 == with_data + without
    assert with_data <= 14
    assert int(units.split()[3]) <= 8
    assert passing <= 6
    assert entered <= 50
    rows = {line.split()[1]: line for line in lines[1:]}
    assert "file" in rows["scene.load"]
    assert "image" in rows["film.png"]
    assert "scene.pack" in rows["pipeline"]


def test_kinds_of_data_are_recognised() -> None:
    import numpy as np

    import raytracer

    scene = raytracer.Scene.from_arrays(np.zeros((1, 3)), 1.0)
    trace = trace_modules.Trace(b"[render]\nwidth = 8\n")
    assert trace._stage(scene) == trace._stage(scene.spheres) == "scene"
    assert trace._stage(raytracer.Film.blank(4, 4)) == "film"
    assert trace._stage({"render": {"width": 8}}) == trace._stage("[render]\nwidth = 8\n") == "file"
    assert trace._stage(np.zeros((2, 2, 4), np.uint8)) == "image"
    others: list[object] = [
        8,
        "render",
        [],
        np.zeros(3),
        np.zeros((2, 2, 4)),
        raytracer.RenderSettings(),
    ]
    for other in others:
        assert trace._stage(other) == ""
