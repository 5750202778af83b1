"""What is printed of a view: tables of a scene file and a command, which render what was seen."""

import shlex
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer.commands.cli import main
from raytracer.viewer.panel import describe_state
from raytracer.viewer.save_view import format_camera, format_toml, make_camera_table, save
from raytracer.viewer.session import Session
from support.previews import (
    PATIENCE,
    balls,
    loaded_scene_of,
    opened,
    pixels_of,
    viewer_of,
    wait_for,
)

SIZE = (64, 48)
SAMPLES = 16
GLASS = """
[render]
width = 64
height = 48
samples = 16

[materials.drop]
type = "principled"
transmission = 1.0
roughness = 0.0
ior = 1.33
priority = 1

[ground]

[[spheres]]
centers = [[0.0, 0.0, 0.0]]
radius = 1.0
material = "glass"

[[spheres]]
centers = [[1.2, 0.1, 0.3]]
radius = 0.9
material = "drop"

[[spheres]]
centers = [[-1.5, -0.2, 0.8]]
radius = 0.7
color = "#c8452e"
"""
LIT = (
    GLASS
    + """
[ambient]
intensity = 0.3

[[lights]]
type = "directional"
direction = [0.5, -1.0, -0.4]
intensity = 0.8
"""
)
Step = tuple[Any, ...]
STEPS: dict[str, list[Step]] = {
    "nothing": [],
    "paths": [*[("next-integrator",)] * 2],
    "look and paths": [("next-look",), ("next-integrator",)],
    "paths, lights turned": [
        ("turn-light", 0.5, 0.2),
        *[("next-integrator",)] * 2,
        ("orbit", 0.3, 0.1),
    ],
    "shadow catcher": [("next-shadow-catcher",), ("next-background",)],
    "exposure": [("expose", 1.0), ("next-tone",)],
    "lens": [("dolly", -0.2), ("zoom", 0.1)],
    "orthographic": [("orbit", 0.2, 0.1), ("toggle-projection",)],
}


def settled(session: Session) -> None:
    """Wait until what was asked for is shown and finished."""

    def done() -> bool:
        found = session.picture(0.05)
        busy = describe_state(session)["loading"] or session.worker.messages.qsize()
        frame = session.frame
        newest = frame is not None and frame.request is session.worker._request
        assert found is None or found.frame.request.size == SIZE
        return bool(newest and frame is not None and frame.finished and not busy)

    wait_for(done, "the picture")


def saved(session: Session, path: Path) -> np.ndarray:
    """The picture that the session saves."""
    save(session, SIZE, SAMPLES, path)

    def done() -> bool:
        session.picture(0.05)
        return session.worker.save_job is None

    wait_for(done, "the file")
    return pixels_of(path).astype(int)


def rendered(command: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> np.ndarray:
    """The picture of a printed command, run in a folder."""
    monkeypatch.chdir(folder)
    words = shlex.split(command)
    assert words[:2] == ["raytracer", "render"]
    size = ["--size", f"{SIZE[0]}x{SIZE[1]}", "--samples", str(SAMPLES)]
    more = ["-o", "again.png", "--backend", "cpu", "--threads", "1", *size]
    assert main([*words[1:], *more]) == 0
    return pixels_of(folder / "again.png").astype(int)


def command_of(text: str, path: Path) -> str:
    """The command of what was printed; without further options, that of the file."""
    lines = [line for line in text.splitlines() if line.startswith("# ")]
    return lines[-1].removeprefix("# ") if lines else f"raytracer render {path}"


def assert_same_picture(one: np.ndarray, other: np.ndarray) -> None:
    """The camera goes to scene units and back: an edge may fall a hair's breadth elsewhere."""
    difference = np.abs(one - other)
    assert (difference > 2).mean() < 5e-3
    assert difference.mean() < 0.05


@pytest.mark.parametrize(
    ("scene", "steps"), [*((GLASS, steps) for steps in STEPS), (LIT, "paths, lights turned")]
)
def test_tables_in_the_scene_file_and_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scene: str, steps: str
) -> None:
    path = tmp_path / "scene.toml"
    path.write_text(scene)
    with opened(path, samples=SAMPLES) as session:
        for step in STEPS[steps]:
            session.do(*step)
        settled(session)
        seen = saved(session, tmp_path / "seen.png")
        text = format_camera(session)
    heads = ("camera", "ground", "ambient", "lights", "background")
    replaced = [name for name in heads if f"[{name}]" in text]
    kept = {name: table for name, table in tomllib.loads(scene).items() if name not in replaced}
    path.write_text(f"{format_toml(kept)}\n{text}")
    assert_same_picture(rendered(command_of(text, path), tmp_path, monkeypatch), seen)


def write_atoms(path: Path) -> Path:
    """Two frames of atoms with a charge and a velocity, in a box."""
    rng = np.random.default_rng(5)
    frames = []
    for frame in range(2):
        rows = [
            f"{'CO'[n % 2]} {x:.3f} {y:.3f} {z:.3f} {n % 7} {0.5 * x:.3f} {0.4:.3f} {0.2 * frame}"
            for n, (x, y, z) in enumerate(rng.uniform(0.0, 8.0, (40, 3)))
        ]
        head = 'Lattice="8 0 0 0 8 0 0 0 8" Properties=species:S:1:pos:R:3:charge:R:1:velo:R:3'
        frames.append("\n".join(["40", head, *rows]))
    path.write_text("\n".join(frames) + "\n")
    return path


OF_DATA: dict[str, list[Step]] = {
    "nothing": [],
    "colours": [("color-by", "charge"), ("map", "plasma"), ("range", "1,5")],
    "colours without legend": [("color-by", "charge * 2"), ("next-legend",)],
    "selection": [
        ("select", "charge > 2"),
        ("hide-rest",),
        ("select", "z > 6"),
        ("hide-selected",),
    ],
    "faded": [("select", "type == 'O'"), ("fade-rest",)],
    "slice": [("slice", "x", 0.4)],
    "solids": [("style", "ball-and-stick"), ("next-box",), ("arrows", "velo")],
    "bonds": [("style", "licorice"), ("next-bonds",), ("next-box",), ("next-box",)],
    "no arrows": [("arrows", "velo"), ("arrows", "")],
    "frame": [("step", 1)],
    "background": [("background", "black"), ("orbit", 0.3, 0.2)],
    "light": [("turn-light", 0.4, 0.2), ("orbit", 0.7, 0.2), ("background", "transparent")],
    "paths": [("next-integrator",), ("next-look",), ("next-integrator",)],
}


@pytest.mark.parametrize("steps", OF_DATA)
def test_a_file_of_particles_takes_the_camera_and_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: str
) -> None:
    path = write_atoms(tmp_path / "run of atoms.xyz")
    with opened(path, samples=SAMPLES) as session:
        wait_for(
            lambda: session.picture(PATIENCE) and describe_state(session)["frame"]["count"] == 2
        )
        for step in OF_DATA[steps]:
            session.do(*step)
            settled(session)
        seen = saved(session, tmp_path / "seen.png")
        text = format_camera(session)
    (tmp_path / "view.toml").write_text(text)
    assert_same_picture(rendered(command_of(text, path), tmp_path, monkeypatch), seen)


def table_of(camera: raytracer.Camera) -> str:
    return format_toml({"camera": make_camera_table(camera)})


def test_numbers_are_rounded_beside_what_the_camera_shows() -> None:
    """Not beside themselves: what is left of zero is zero; what is small in a close-up is kept."""
    camera = raytracer.Camera(position=(3.0, 2.5, 8.1), look_at=(2e-15, -3e-16, 4e-15))
    text = table_of(camera)
    assert "look_at = [0.0, 0.0, 0.0]\n" in text
    assert "position = [3.0, 2.5, 8.1]\n" in text
    turned = raytracer.Camera(position=(2.0 / 3.0, 1e-14, 8.0), look_at=(0, 0, 0))
    assert "position = [0.666666667, 0.0, 8.0]\n" in table_of(turned)
    close = raytracer.Camera(position=(500.0, 0.0, 2e-6), look_at=(500.0, 0.0, 1.2345678e-6))
    table = tomllib.loads(table_of(close))["camera"]
    assert table["look_at"][2] == pytest.approx(1.2345678e-6, rel=1e-6)


def test_the_shutter_of_a_scene_stays_though_views_show_moments() -> None:
    scene = balls(velocity=(1.0, 0.0, 0.0), camera=raytracer.Camera(shutter=0.25))
    viewer = viewer_of(loaded_scene_of(scene))
    assert viewer.loaded_scene.job.blur is None
    table = tomllib.loads(format_camera(viewer))["camera"]
    assert table["shutter"] == 0.25
    assert raytracer.Camera(**table).shutter == 0.25


@pytest.mark.parametrize(
    "name", ['a"b', "a\\b", "a\nb", "a\x7fb", "", "\u00e4", "\U0001f600", "a b"]
)
def test_names_are_values_of_toml(name: str) -> None:
    tables = {"one": {"file": name, "list": [name]}, "more": [{"a": 1.5}, {"b": [{"c": name}]}]}
    assert tomllib.loads(format_toml(tables)) == tables
