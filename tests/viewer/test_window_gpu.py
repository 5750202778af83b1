"""The window's loop on CUDA, without a display: frames by interop and by way of the host."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

import raytracer
from support.window_scene import SAMPLES, SIZE, write_scene

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("cuda", "egl")]

LIMIT = 180.0  # seconds after which something hangs
INTEROP = "CUDA-OpenGL interop"
HOST = "page-locked memory"


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write_scene(tmp_path)


def python(*arguments: str) -> str:
    """Standard output of a process of its own, which must end well."""
    root = str(Path(raytracer.__file__).parents[1])
    paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, *arguments], text=True, capture_output=True, timeout=LIMIT, check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def preview(scene: Path, frames: int, *options: str) -> tuple[dict[str, Any], NDArray[np.uint8]]:
    """The record of an offscreen preview and its last picture."""
    out = python(
        "-m", "raytracer", "preview", scene.name, "--backend", "cuda", "--json",
        "--offscreen", str(frames), "--screenshot", "shown.png", *options,
    )  # fmt: skip
    return json.loads(out), picture("shown.png")


def picture(path: str) -> NDArray[np.uint8]:
    return np.asarray(Image.open(path))


@pytest.fixture(scope="module")
def works(tmp_path_factory: pytest.TempPathFactory) -> bool:
    """Whether cuda-bindings is installed; the driver then has to take an EGL window."""
    done = subprocess.run([sys.executable, "-c", "import cuda.bindings.driver"], check=False)
    return done.returncode == 0


@pytest.mark.parametrize(
    "options",
    [(), ("--tone", "agx", "--exposure", "-0.5"), ("--exposure", "auto")],
    ids=["linear", "agx", "auto"],
)
def test_both_ways_show_what_render_writes(
    scene: Path, options: tuple[str, ...], works: bool
) -> None:
    # The command develops on the GPU too; pictures of both sides may differ by one code value.
    width, height = map(str, SIZE)
    python(
        "-m", "raytracer", "render", scene.name, "--backend", "cuda", "-o", "expected.png",
        "--width", width, "--height", height, "--samples", str(SAMPLES), *options,
    )  # fmt: skip
    expected = picture("expected.png")
    through, pixels = preview(scene, 0, *options)
    if works:
        assert through["presenter"] == INTEROP
    around, others = preview(scene, 0, "--no-interop", *options)
    assert around["presenter"] == f"{HOST} (interop is turned off)"
    np.testing.assert_array_equal(pixels, expected)
    np.testing.assert_array_equal(others, expected)
