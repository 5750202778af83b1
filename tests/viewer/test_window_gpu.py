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
from reference.hit import closest_hit
from support.window_scene import CENTERS, RADII, SAMPLES, SIZE, pasted, rendered, write_scene

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("cuda", "egl")]

LIMIT = 180.0  # seconds after which something hangs
INTEROP = "CUDA-OpenGL interop"
HOST = "page-locked memory"

# Drags, picks a pixel, saves a picture and ends; prints what came of it.
SESSION = """
import faulthandler, json, sys
faulthandler.dump_traceback_later(150, exit=True)
from pathlib import Path
import raytracer
from raytracer.viewer import opening

opening.open_display(offscreen=True)
from raytracer.viewer import window
from raytracer.viewer.keep import save
from raytracer.viewer.offscreen import Player

places, found, interop = json.loads(sys.argv[2]), [], sys.argv[3] == "1"
done, shown = [], Player._shown

def then(self, frame):
    viewer = self._window.viewer
    if not frame.finished or len(self.latency) < self._left:
        return shown(self, frame)
    if not done:
        done.append(viewer.camera)
        receive = window.receive

        def hearing(viewer, message):
            receive(viewer, message)
            kind = type(message).__name__
            if kind == "Picked":
                found.append(None if message.sphere is None else message.sphere.id)
                if len(found) == len(places):
                    save(viewer, (96, 64), 7, Path("saved.png"))
            elif kind == "Saved":
                viewer.do("close")

        window.receive = hearing
        for x, y in places:
            viewer.do("pick", x, y, reach=0)

Player._shown = then
result = raytracer.preview(sys.argv[1], backend="cuda", offscreen=20, interop=interop,
                           screenshot="shown.png", text=False, say=lambda _: None)
print(json.dumps({"picked": found, "presenter": result.presenter, "toml": result.toml,
                  "frames": len(result.latency), "traced": result.traced,
                  "position": result.camera.position, "look_at": result.camera.look_at,
                  "fov": result.camera.vertical_fov}))
"""


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


def same_but_for_rounding(shown: NDArray[np.uint8], expected: NDArray[np.uint8]) -> None:
    """The camera went through scene units, so that a ray at an edge may meet another sphere."""
    assert (shown != expected).any(axis=-1).mean() < 0.002


@pytest.fixture(scope="module")
def works(tmp_path_factory: pytest.TempPathFactory) -> bool:
    """Whether cuda-bindings is installed; the driver then has to take an EGL window."""
    done = subprocess.run([sys.executable, "-c", "import cuda.bindings.driver"], check=False)
    return done.returncode == 0


@pytest.mark.parametrize(
    "options",
    [("--tone", "agx", "--exposure", "-0.5"), ("--exposure", "auto")],
    ids=["agx", "auto"],
)
def test_both_ways_show_what_render_writes(
    scene: Path, options: tuple[str, ...], works: bool
) -> None:
    # The command develops on the GPU too; pictures of both sides may differ by one code value.
    # A window fits another view than the command, so the scene has a camera.
    camera = (
        "[camera]\nposition = [3.8, 2.8, 5.5]\nlook_at = [0.0, 0.1, 0.1]\nvertical_fov = 40.0\n"
    )
    scene.write_text(f"{scene.read_text()}\n{camera}")
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


@pytest.mark.parametrize("options", [(), ("--no-interop",)], ids=["interop", "host"])
def test_moving_frames(scene: Path, options: tuple[str, ...]) -> None:
    record, pixels = preview(scene, 30, "--full", *options)
    assert record["frames"] == 30
    assert record["traced"] == [list(SIZE)]
    assert record["rest"] > 0
    Path("printed.toml").write_text(pasted(record["toml"]))
    same_but_for_rounding(pixels, rendered(Path("printed.toml"), backend="cuda"))


@pytest.mark.parametrize("interop", [True, False], ids=["interop", "host"])
def test_picking_and_saving(scene: Path, interop: bool) -> None:
    places = [(x, y) for y in range(8, SIZE[1], 24) for x in range(8, SIZE[0], 24)]
    out = python("-c", SESSION, scene.name, json.dumps(places), "1" if interop else "0")
    found = json.loads(out)
    assert found["frames"] == 20
    hits = brute_force(found, np.array(places, np.float64))
    assert [-1 if each is None else each for each in found["picked"]] == hits
    assert len(set(hits)) > 3
    Path("printed.toml").write_text(pasted(found["toml"]))
    saved = rendered(Path("printed.toml"), (96, 64), samples=7, backend="cuda")
    same_but_for_rounding(picture("saved.png"), saved)
    same_but_for_rounding(picture("shown.png"), rendered(Path("printed.toml"), backend="cuda"))


def brute_force(found: dict[str, Any], pixels: NDArray[np.float64]) -> list[int]:
    """The spheres that the centres of pixels show, in float64; -1 for none."""
    eye = np.array(found["position"])
    forward = found["look_at"] - eye
    forward /= np.linalg.norm(forward)
    right = np.cross(forward, (0.0, 1.0, 0.0))
    right /= np.linalg.norm(right)
    half = np.tan(np.radians(found["fov"]) / 2)
    x = (2 * (pixels[:, :1] + 0.5) / SIZE[0] - 1) * half * SIZE[0] / SIZE[1]
    y = (1 - 2 * (pixels[:, 1:] + 0.5) / SIZE[1]) * half
    direction = forward + x * right + y * np.cross(right, forward)
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    centers = np.concatenate(
        [CENTERS, [[0.0, 0.0, 0.0], [1.5, 0.9, -0.5]]]
    )  # as the scene has them
    radii = np.concatenate([RADII, [0.8, 0.5]])
    _, index = closest_hit(centers, radii, np.broadcast_to(eye, direction.shape), direction)
    return [int(each) for each in index]
