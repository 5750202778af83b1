"""The window's loop on CUDA, without a display: frames by interop and by way of the host."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from raytracer.viewer.save_view import format_camera, save
from raytracer.viewer.session import Session
from reference.hit import closest_hit
from support.previews import hit_id, pixel_ray, pixels_of, wait_for
from support.window_scene import (
    SAMPLES,
    SIZE,
    assert_same_but_for_rounding,
    pasted,
    python,
    rendered,
)

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("cuda", "egl")]

INTEROP = "CUDA-OpenGL interop"
HOST = "page-locked memory"


def raytracer_of(*arguments: str) -> str:
    """Standard output of the command line, which must end well."""
    done = python("-m", "raytracer", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def preview(scene: Path, frames: int, *options: str) -> tuple[dict[str, Any], NDArray[np.uint8]]:
    """The record of an offscreen preview and its last picture."""
    command = f"preview {scene.name} --backend cuda --json --offscreen {frames}"
    out = raytracer_of(*command.split(), "--screenshot", "shown.png", *options)
    return json.loads(out), pixels_of("shown.png")


@pytest.fixture(scope="module")
def works() -> bool:
    """Whether cuda-bindings is installed; the driver then has to take an EGL window."""
    return python("-c", "import cuda.bindings.driver").returncode == 0


@pytest.mark.parametrize(
    "options",
    [("--tone", "agx", "--exposure", "-0.5"), ("--exposure", "auto")],
    ids=["agx", "auto"],
)
def test_both_ways_show_what_render_writes(
    scene_here: Path, options: tuple[str, ...], works: bool
) -> None:
    # The command develops on the GPU too; pictures of both sides may differ by one code value.
    # A window fits another view than the command, so the scene has a camera.
    camera = (
        "[camera]\nposition = [3.8, 2.8, 5.5]\nlook_at = [0.0, 0.1, 0.1]\nvertical_fov = 40.0\n"
    )
    scene_here.write_text(f"{scene_here.read_text()}\n{camera}")
    size = f"{SIZE[0]}x{SIZE[1]}"
    command = f"render {scene_here.name} --backend cuda -o expected.png --size {size}"
    raytracer_of(*command.split(), "--samples", str(SAMPLES), *options)
    expected = pixels_of("expected.png")
    through, pixels = preview(scene_here, 0, *options)
    if works:
        assert through["presenter"] == INTEROP
    around, others = preview(scene_here, 0, "--no-interop", *options)
    assert around["presenter"] == f"{HOST} (interop is turned off)"
    np.testing.assert_array_equal(pixels, expected)
    np.testing.assert_array_equal(others, expected)


@pytest.mark.parametrize("options", [(), ("--no-interop",)], ids=["interop", "host"])
def test_moving_frames(scene_here: Path, options: tuple[str, ...]) -> None:
    record, pixels = preview(scene_here, 30, "--full", *options)
    assert record["frames"] == 30
    assert record["traced"] == [list(SIZE)]
    assert record["rest"] > 0
    Path("printed.toml").write_text(pasted(record["toml"]))
    assert_same_but_for_rounding(pixels, rendered(Path("printed.toml"), backend="cuda"))


def test_picking_and_saving(scene_here: Path) -> None:
    size: dict[str, Any] = {"width": SIZE[0], "height": SIZE[1]}
    with Session.open(scene_here, backend="cuda", say=lambda _: None, **size) as session:
        viewer, loaded, found = session, session.loaded_scene, list[Any]()
        places = [(x, y) for y in range(8, SIZE[1], 24) for x in range(8, SIZE[0], 24)]

        session.worker.run_task(
            lambda: found.extend(hit_id(loaded, viewer.requested, x, y) for x, y in places)
        )
        save(viewer, (96, 64), 7, Path("saved.png"))
        wait_for(lambda: [session.picture(0.05)] and found and session.worker.save_job is None)
        rays = np.array([pixel_ray(viewer.view, x + 0.5, y + 0.5, SIZE) for x, y in places])
        buffers = loaded.buffers
        centers = buffers.centers.astype(np.float64)
        radius = buffers.radius.astype(np.float64)
        _, hits = closest_hit(centers, radius, rays[:, 0], rays[:, 1])
        text = format_camera(viewer)
    assert [-1 if each is None else each for each in found] == hits.tolist()
    assert len(set(found)) > 3
    Path("printed.toml").write_text(pasted(text))
    saved = rendered(Path("printed.toml"), (96, 64), samples=7, backend="cuda")
    assert_same_but_for_rounding(pixels_of("saved.png"), saved)
