"""Colours of named types and of categories are the same in all frames, whichever is read."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer.animation.shots import Renderer
from raytracer.config.inferred import FIRST_PLACE
from raytracer.config.warning import collect_warnings
from raytracer.model.particle_labels import type_color
from raytracer.particles import names
from raytracer.rendering.overrides import SceneOverrides
from raytracer.rendering.pipeline import apply_overrides
from support.particle_files import write

FRAMES = (("Q2", "Q3"), ("Q3", "Q2"), ("Q4", "Q3"), ("Q3", "Q3"), ("Q1", "Q4"))
"""Types of two particles in each frame."""

RIGHT = {name: type_color(place) for place, name in enumerate(("Q1", "Q2", "Q3", "Q4"))}


def xyz(frames: Any, end: str = "\n") -> str:
    return end.join(
        f"{len(each)}{end}c{end}" + end.join(f"{n} {3 * i} 0 0" for i, n in enumerate(each))
        for each in frames
    ) + end  # fmt: skip


def dump(frames: Any) -> str:
    return "".join(
        f"ITEM: TIMESTEP\n{k}\nITEM: NUMBER OF ATOMS\n2\nITEM: BOX BOUNDS pp pp pp\n0 9\n0 9\n0 9\n"
        f"ITEM: ATOMS id type x y z\n1 {a} 0 0 0\n2 {b} 3 0 0\n" for k, (a, b) in enumerate(frames)
    )  # fmt: skip


def table(frames: Any) -> str:
    rows = [f"{k},{i},{name},{3 * i},0,0" for k, each in enumerate(frames)
            for i, name in enumerate(each)]  # fmt: skip
    return "\n".join(["frame,id,type,x,y,z", *rows, ""])


def hdf5(path: Path, frames: Any) -> Path:
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        file["positions"] = np.array([[[0.0, 0, 0], [3, 0, 0]]] * len(frames))
        file["type"] = np.array(frames, "S2")
    return path


def gsd(path: Path, frames: Any) -> Path:
    hoomd = pytest.importorskip("gsd.hoomd")
    with hoomd.open(path, "w") as file:
        for each in frames:
            frame = hoomd.Frame()
            frame.particles.N, frame.particles.types = 2, sorted(set(each))
            frame.particles.position = [[0, 0, 0], [3, 0, 0]]
            frame.particles.typeid = [sorted(set(each)).index(name) for name in each]
            frame.configuration.box = [9, 9, 9, 0, 0, 0]
            file.append(frame)
    return path


def series(folder: Path, frames: Any) -> Path:
    for k, each in enumerate(frames):
        write(folder / f"s_{k}.xyz", xyz([each]))
    return folder / "s_*.xyz"


def scene(folder: Path, frames: Any) -> Path:
    write(folder / "a.xyz", xyz(frames))
    return write(folder / "a.toml", '[[spheres]]\nfile = "a.xyz"\n')


SOURCES: dict[str, Callable[[Path], Path]] = {
    "xyz": lambda folder: write(folder / "a.xyz", xyz(FRAMES)),
    "windows": lambda folder: write(folder / "a.xyz", xyz(FRAMES, "\r\n")),
    "dump": lambda folder: write(folder / "a.dump", dump(FRAMES)),
    "table": lambda folder: write(folder / "a.csv", table(FRAMES)),
    "hdf5": lambda folder: hdf5(folder / "a.h5", FRAMES),
    "gsd": lambda folder: gsd(folder / "a.gsd", FRAMES),
    "series": lambda folder: series(folder, FRAMES),
    "scene": lambda folder: scene(folder, FRAMES),
}


def colors_of(scene: raytracer.Scene) -> dict[str, tuple[float, ...]]:
    """The colour of each type that occurs, checked to be one."""
    found: dict[str, tuple[float, ...]] = {}
    for spheres in scene.spheres:
        assert spheres.labels is not None
        rows = spheres.color if spheres.color_id is None else spheres.color[spheres.color_id]
        rows = rows / 255.0 if rows.dtype == np.uint8 else rows
        rows = np.broadcast_to(rows, (spheres.count, 3))
        for label, row in zip(spheres.labels.ids, rows, strict=True):
            name = spheres.labels.names[label]
            color = tuple(round(float(each), 2) for each in row)
            assert found.setdefault(name, color) == color
    return found


def right(each: tuple[str, ...], known: Any = RIGHT) -> dict[str, tuple[float, ...]]:
    return {name: tuple(round(c, 2) for c in known[name]) for name in each}


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("style", [{}, {"color_by": "type"}])
def test_types_keep_their_colours(kind: str, style: dict[str, Any], tmp_path: Path) -> None:
    """Alone, as `render --frame` reads them in any order, and in a movie."""
    path = SOURCES[kind](tmp_path)
    overrides = SceneOverrides.of(style)
    with collect_warnings():
        for frame in (3, 0, -1, 2, 1, None):
            found = apply_overrides(raytracer.load(path, frame), overrides)
            assert colors_of(found) == right(FRAMES[frame or 0])
        animation = raytracer.animate(path, width=8, height=8, samples=1, backend="cpu", **style)
        with Renderer(animation._plan) as renderer:
            for frame in range(len(FRAMES)):
                assert colors_of(renderer._load(frame)) == right(FRAMES[frame])


@pytest.mark.parametrize("by", ["type", "kind", "number"])
def test_categories_keep_their_colours(by: str, tmp_path: Path) -> None:
    """Of types with a map, other texts, and numbers: by first use, numbers by value."""
    text = "".join(
        "2\nProperties=species:S:1:pos:R:3:kind:S:1:number:I:1\n"
        + "".join(f"{name} {3 * i} 0 0 {name}k {name[1]}\n" for i, name in enumerate(each))
        for each in FRAMES
    )
    path = write(tmp_path / "a.xyz", text)
    order = "1234" if by == "number" else "2341"
    style: dict[str, Any] = {"color_by": by, "color_scale": "categorical", "map": "tab10"}
    overrides = SceneOverrides.of(style)
    palette = [(31, 119, 180), (255, 127, 14), (44, 160, 44), (214, 39, 40)]  # of matplotlib
    known = {f"Q{n}": np.array(c) / 255.0 for n, c in zip(order, palette, strict=True)}
    with collect_warnings():
        for frame in (3, 0, 4, 2, 1):
            found = apply_overrides(raytracer.load(path, frame), overrides)
            assert colors_of(found) == right(FRAMES[frame], known)
        animation = raytracer.animate(path, width=8, height=8, samples=1, backend="cpu", **style)
        with Renderer(animation._plan) as renderer:
            for frame in range(len(FRAMES)):
                assert colors_of(renderer._load(frame)) == right(FRAMES[frame], known)


def test_letters_are_types_in_all_frames_if_they_are_in_one(tmp_path: Path) -> None:
    """A, B, C are types; B and C alone would be boron and carbon."""
    path = write(tmp_path / "a.xyz", xyz([("A", "B", "C"), ("B", "C"), ("C", "B")]))
    with collect_warnings():
        for frame in range(3):
            spheres = raytracer.load(path, frame).spheres[0]
            found = colors_of(raytracer.load(path, frame))
            assert found["B"] == right(("B",), {"B": type_color(1)})["B"]
            assert np.ptp(spheres.radius) == 0.0


def test_files_that_are_shown_together_share_the_colours_of_types(tmp_path: Path) -> None:
    one = write(tmp_path / "a.xyz", xyz(FRAMES))
    other = write(tmp_path / "b.xyz", xyz([("Q4", "Q9")] * 5))
    known = {name: type_color(k) for k, name in enumerate(("Q1", "Q2", "Q3", "Q4", "Q9"))}
    scene = write(tmp_path / "a.toml", '[[spheres]]\nfile = "a.xyz"\n[[spheres]]\nfile = "b.xyz"\n')
    with collect_warnings():
        for frame in (0, 3, 4):
            expected = right((*FRAMES[frame], "Q4", "Q9"), known)
            assert colors_of(raytracer.load([one, other], frame)) == expected
            assert colors_of(raytracer.load(scene, frame)) == expected


def test_types_of_a_long_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Types of its first frame come first; the others have colours by their names."""
    monkeypatch.setattr(names, "MAX_BYTES", 10)
    path = write(tmp_path / "a.xyz", xyz(FRAMES))
    seen: dict[str, tuple[float, ...]] = {}
    with collect_warnings():
        for frame in (4, 2, 1, 0, 3, None):
            for name, color in colors_of(raytracer.load(path, frame)).items():
                assert seen.setdefault(name, color) == color
    first = {name: type_color(place) for place, name in enumerate(FRAMES[0])}
    assert {name: seen[name] for name in FRAMES[0]} == right(FRAMES[0], first)
    assert len(set(seen.values())) == 4
    assert FIRST_PLACE > 4


def test_broken_frames_have_no_names(tmp_path: Path) -> None:
    text = xyz(FRAMES[:2]) + "2\nc\nQ0 0 0\nQ0 0 0 0\n" + xyz(FRAMES[2:])
    path = write(tmp_path / "a.xyz", text)
    with collect_warnings():
        assert colors_of(raytracer.load(path, -1)) == right(FRAMES[-1])


@pytest.mark.parametrize("name", ["resname", "residue", "residue_name", "resnames"])
def test_names_of_residues_have_many_columns(name: str, tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", f"x,y,z,{name}\n0,0,0,HOH\n1,0,0,LYS\n2,0,0,HOH\n")
    chosen = raytracer.load(path).styled(select="resname == 'HOH'")
    assert chosen.spheres[0].centers[:, 0].tolist() == [0.0, 2.0]
