"""The scene that the window's tests look at, and a scene file with what a window printed."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import raytracer
from support.previews import first_camera

LIMIT = 180.0  # seconds after which something hangs
SIZE = (240, 160)
SAMPLES = 3

SCENE = """title = "Balls"

[render]
width = 240
height = 160
samples = 3

[materials.gloss]
specular = 0.6
shininess = 20.0

[[spheres]]
file = "balls.npz"

[[spheres]]
material = "gloss"
centers = [[0.0, 0.0, 0.0], [1.5, 0.9, -0.5]]
radii = [0.8, 0.5]
colors = ["crimson", "steelblue"]
"""

CENTERS = np.array([[-1.5, 0.2, 0.3], [0.9, -0.8, 0.9], [-0.6, 1.1, -0.2]])
RADII = np.array([0.6, 0.4, 0.3])
MASSES = np.array([2.5, 7.25, 11.0])


def write_scene(folder: Path) -> Path:
    write_balls(folder)
    path = folder / "balls.toml"
    path.write_text(SCENE)
    return path


def write_balls(folder: Path, factor: float = 1.0) -> None:
    """The data file. factor: by which its balls are larger."""
    colors = np.array([[200, 180, 40], [40, 160, 90], [230, 230, 230]], np.uint8)
    np.savez(
        folder / "balls.npz", centers=CENTERS, radii=RADII * factor, colors=colors, mass=MASSES
    )


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a process of its own, without a display."""
    kept = {name: value for name, value in os.environ.items() if name != "DISPLAY"}
    paths = filter(None, [str(Path(raytracer.__file__).parents[1]), kept.get("PYTHONPATH")])
    return subprocess.run(
        [sys.executable, *arguments], text=True, timeout=LIMIT, capture_output=True, check=False,
        env=kept | {"PYTHONPATH": os.pathsep.join(paths)},
    )  # fmt: skip


def pasted(printed: str, scene: str = SCENE) -> str:
    """A scene file with the tables that a window printed in the place of its own."""
    shown = _tables(printed)
    kept = []
    for head, body in _tables(scene):
        ours = [text for name, text in shown if name == head]
        if head.startswith("[materials.") and ours:
            changed = {line.split(" = ")[0]: line for line in ours[0].splitlines()}
            lines = [changed.pop(line.split(" = ")[0], line) for line in body.splitlines()]
            body = "\n".join([*lines, *changed.values()]) + "\n"
        elif ours:
            continue
        kept.append(f"{head}\n{body}")
    known = [head for head, _ in _tables(scene) if head.startswith("[materials.")]
    kept += [f"{head}\n{body}" for head, body in shown if head not in known]
    return "\n".join(kept)


def _tables(text: str) -> list[tuple[str, str]]:
    """Heads and bodies of the tables of a TOML text; the first head is empty."""
    parts = re.split(r"^(\[.*\])\n", text, flags=re.MULTILINE)
    return [("", parts[0]), *zip(parts[1::2], parts[2::2], strict=True)]


def rendered(path: Path, size: tuple[int, int] = SIZE, **options: object) -> NDArray[np.uint8]:
    """What `raytracer.render` makes of a scene as a preview begins, uint8 (h, w, 3 or 4)."""
    width, height = size
    settings: dict[str, object] = {"backend": "cpu", "samples": SAMPLES} | options
    settings["camera"] = first_camera(path, size)
    return raytracer.render(path, width=width, height=height, **settings).to_uint8()  # type: ignore[arg-type]


def assert_same_but_for_rounding(shown: NDArray[np.uint8], expected: NDArray[np.uint8]) -> None:
    """The camera went through scene units, so that a ray at an edge may meet another sphere."""
    differs = (shown != expected).any(axis=-1)
    assert differs.mean() < 0.002, f"{differs.sum()} of {differs.size} pixels differ"
