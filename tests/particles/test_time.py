"""The time of a frame, as the files of many programs state it."""

import struct
from pathlib import Path

import numpy as np
import pytest

from raytracer import Annotations, load
from raytracer.animation.animate import animate
from raytracer.annotations.texts import collect_values, fill_in
from raytracer.commands.cli import main
from raytracer.config.errors import SceneError
from raytracer.model.annotations import TextLabel
from raytracer.particles.read import read_frame_times
from support.particle_files import write

pytestmark = pytest.mark.filterwarnings("ignore")

XYZ = "1\nProperties=species:S:1:pos:R:3 {}\nO 0 0 0\n"
GRO = "water t= {} step= 7\n    1\n    1SOL     OW    1   0.126   1.624   1.679\n 1.8 1.8 1.8\n"
DUMP = (
    "{}ITEM: TIMESTEP\n400\nITEM: NUMBER OF ATOMS\n1\nITEM: BOX BOUNDS pp pp pp\n0 1\n0 1\n0 1\n"
    "ITEM: ATOMS id type x y z\n1 1 0.5 0.5 0.5\n"
)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.xyz", XYZ.format("Time=0.25"), "0.25 "),
        ("a.xyz", XYZ.format('time="1e-3" Step=7'), "0.001 "),
        ("a.xyz", XYZ.format("Step=1200"), "1200 steps"),
        ("a.xyz", "1\nAtoms. Timestep: 5000\n1 0 0 0\n", "5000 steps"),
        ("a.gro", GRO.format("12.50000"), "12.5 ps"),
        ("a.dump", DUMP.format(""), "400 steps"),
        ("a.dump", DUMP.format("ITEM: UNITS\nmetal\nITEM: TIME\n0.4\n"), "0.4 ps"),
        ("a.dump", DUMP.format("ITEM: TIME\n0.4\n"), "0.4 "),
        ("a.xyz", XYZ.format("Time=soon"), None),
        ("a.xyz", XYZ.format("Time=nan"), None),
    ],
)
def test_the_time_of_a_text(tmp_path: Path, name: str, text: str, expected: str | None) -> None:
    scene = load(write(tmp_path / name, text))
    values = collect_values(scene)
    if expected is None:
        with pytest.raises(SceneError, match="the file does not state the time of its frame"):
            fill_in("{time}", values)
    else:
        assert fill_in("{time} {time_unit}", values) == expected


def _times(tmp_path: Path, name: str, frames: int) -> list[str]:
    scenes = [load(tmp_path / name, number) for number in range(frames)]
    return [fill_in("{time} {time_unit}", collect_values(scene)) for scene in scenes]


def test_the_time_of_trajectories(tmp_path: Path) -> None:
    chemfiles = pytest.importorskip("chemfiles")
    for suffix in ("xtc", "trr"):
        with chemfiles.Trajectory(str(tmp_path / f"a.{suffix}"), "w") as file:
            for number in range(2):
                frame = chemfiles.Frame()
                frame.add_atom(chemfiles.Atom("X"), [0.0, 1.0, 2.0])
                frame["time"] = 2.5 * number
                file.write(frame)
        assert _times(tmp_path, f"a.{suffix}", 2) == ["0 ps", "2.5 ps"]


def test_the_time_of_dcd(tmp_path: Path) -> None:
    pytest.importorskip("chemfiles")

    def record(content: bytes) -> bytes:
        length = struct.pack("<i", len(content))
        return length + content + length

    numbers = [2, 100, 50, 0, 0, 0, 0, 0, 0]  # frames, first step, distance
    head = b"CORD" + struct.pack("<9if10i", *numbers, 2.0, *[0] * 9, 24)
    title = struct.pack("<i80s", 1, b"title")
    axis = record(struct.pack("<f", 1.0))
    content = record(head) + record(title) + record(struct.pack("<i", 1)) + 6 * axis
    write(tmp_path / "a.dcd", content)
    assert _times(tmp_path, "a.dcd", 2) == ["9.77764 ps", "14.6665 ps"]


def test_the_time_of_snapshots(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    points = np.random.default_rng(1).normal(size=(2, 5, 3))
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["particles/all/position/value"] = points
        file["particles/all/position/time"] = [0.5, 0.75]
        file["particles/all/position/time"].attrs["unit"] = "ps"
    assert _times(tmp_path, "a.h5", 2) == ["0.5 ps", "0.75 ps"]
    with h5py.File(tmp_path / "b.hdf5", "w") as file:
        file["PartType1/Coordinates"] = points[0]
        file.create_group("Header").attrs["Time"] = 0.125
    assert fill_in("{time}", collect_values(load(tmp_path / "b.hdf5"))) == "0.125"
    with h5py.File(tmp_path / "c.h5", "w") as file:
        file.attrs["openPMD"] = "1.1.0"
        for number in (0, 100):
            step = file.create_group(f"data/{number}")
            step.attrs["time"], step.attrs["timeUnitSI"] = float(number), 1e-15
            for axis, key in enumerate("xyz"):
                step[f"particles/ions/position/{key}"] = points[0][:, axis]
    assert _times(tmp_path, "c.h5", 2) == ["0 s", "1e-13 s"]


def test_the_time_in_pictures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "a.xyz", "".join(XYZ.format(f"Time={0.5 * n}") for n in range(3)))
    assert main(["scene", "check", str(path), "--frame", "2"]) == 0
    assert "time       1\n" in capsys.readouterr().out
    labels = Annotations(texts=[TextLabel("{time} {seconds} {frame}")])
    plan = animate(path, annotations=labels, fps=2)._plan
    assert [shot.frame for shot in plan.shots] == [0, 1, 2]
    size = ("--size", "64x48", "--samples", "1", "-q", "-o", str(tmp_path / "a.png"))
    assert main(["render", str(path), "--frame", "0", "--title", "{time:.2f}", *size]) == 0
    balls = ("render", "three_balls", "--title", "{time}", *size)
    assert main([*balls]) == 2
    assert "the file does not state the time of its frame" in capsys.readouterr().err
    turn = (*size[:-1], str(tmp_path / "a####.png"), "--turntable", "1s", "--fps", "1")
    assert main(["animate", "three_balls", "--title", "{time} {seconds}", *turn]) == 0


def test_a_series_may_have_one_file(tmp_path: Path) -> None:
    write(tmp_path / "a_7.xyz", "1\nTime=2.5 Properties=species:S:1:pos:R:3\nH 0 0 0\n")
    (time,) = read_frame_times(tmp_path / "a_*.xyz")
    assert time is not None
    assert time.value == 2.5
