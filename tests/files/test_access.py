"""Files from outside: which may be opened, and what is said of the others."""

import io
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from raytracer import Film, load
from raytracer.commands.cli import main
from raytracer.config.errors import DataFileError, UserError
from raytracer.config.warning import RaytracerWarning
from raytracer.files import access
from raytracer.files.access import MAX_LINE_BYTES, open_file
from raytracer.film import png
from raytracer.scene_files.source import InputSource
from raytracer.trajectory.source import FileSource
from support.particle_files import npz

BALL = b"[[spheres]]\ncenters = [[0, 0, 0]]\nradius = 1.0\n"


def sentence(path: Path) -> str:
    """What `load` says of a file that it refuses."""
    with pytest.raises(UserError) as caught:
        load(path)
    text = str(caught.value)
    assert "\n" not in text
    assert len(text) < 1200
    return text


@pytest.mark.parametrize("name", ["a.toml", "a.npz"])
def test_only_regular_files_are_opened(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / name
    os.mkfifo(path)
    assert "is a pipe, a device or a socket; only regular files" in sentence(path)
    path.unlink()
    path.symlink_to("/dev/zero")
    assert "is a pipe, a device or a socket; only regular files" in sentence(path)
    path.unlink()
    with socket.socket(socket.AF_UNIX) as listener:
        monkeypatch.chdir(tmp_path)  # the name of a socket is short
        listener.bind(name)
        assert "cannot be read (No such device" in sentence(path)
    path.unlink()
    path.mkdir()
    assert "is a folder" in sentence(path)
    path.rmdir()
    path.symlink_to(path)
    assert "cannot be read (Too many levels of symbolic links)" in sentence(path)
    path.unlink()
    assert "there is no such file" in sentence(path)
    assert "too long" in sentence(tmp_path / ("x" * 300 + name))
    assert "too long" in sentence(tmp_path / ("x/" * 3000 + name))
    (tmp_path / "file").touch()
    assert "a part of its path is a file" in sentence(tmp_path / "file" / name)
    assert "not a possible file name" in sentence(Path(f"a\0{name}"))


def test_what_a_scene_names_goes_through_the_same_door(tmp_path: Path) -> None:
    scene = tmp_path / "scene.toml"
    scene.write_text('[[spheres]]\nfile = "data.npz"\nradius = 1.0\n')
    os.mkfifo(tmp_path / "data.npz")
    assert "spheres[0].file: data.npz: is a pipe" in sentence(scene)
    scene.write_text('[[spheres]]\nfile = "-"\nradius = 1.0\n')
    assert "there is no such file" in sentence(scene)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    path.touch(mode=0)
    assert "may not be read" in sentence(path)


@pytest.fixture
def standard_input(monkeypatch: pytest.MonkeyPatch) -> io.BytesIO:
    """Standard input that a test can fill."""
    stream = io.BytesIO()
    monkeypatch.setattr(access, "_spooled", [])
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(stream))
    return stream


@pytest.mark.parametrize(
    ("content", "count"),
    [
        (BALL, 1),
        (b'{"spheres": [{"centers": [[0, 0, 0]], "radius": 1}]}', 1),
        (b"2\nwater\nO 0 0 0\nH 0 0 1\n", 2),
        (b"x,y,z,radius\n0,0,0,1\n1,1,1,1\n2,2,2,1\n", 3),
        (npz(centers=np.zeros((2, 3)), radii=np.ones(2)), 2),
    ],
)
def test_standard_input_is_what_its_start_says(
    content: bytes, count: int, standard_input: io.BytesIO
) -> None:
    standard_input.write(content)
    standard_input.seek(0)
    assert load("-").count == count
    assert load(Path("-")).count == count  # it was kept


def test_hdf5_on_standard_input(
    tmp_path: Path, standard_input: io.BytesIO, capsys: pytest.CaptureFixture[str]
) -> None:
    h5py = pytest.importorskip("h5py")
    points = np.random.default_rng(3).normal(size=(7, 3))
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["PartType0/Coordinates"] = points
        file["PartType0/Density"] = np.arange(7.0)
        file["PartType4/Coordinates"] = points[:2]
    standard_input.write((tmp_path / "a.h5").read_bytes())
    standard_input.seek(0)
    np.testing.assert_array_equal(load("-:PartType0").spheres[0].centers, points)
    assert main(["scene", "check", "-:PartType0"]) == 0
    assert "spheres  7" in " ".join(capsys.readouterr().out.split("\n")).replace(
        "spheres   ", "spheres  "
    )
    assert main(["scene", "check", "-"]) == 0
    said = capsys.readouterr().err
    assert "standard input: its sets of particles are drawn together" in said
    assert "as in '-:PartType0'" in said


def test_the_format_may_be_stated(tmp_path: Path, standard_input: io.BytesIO) -> None:
    standard_input.write(b"0 0 0\n1 0 0\n2 0 0\n")  # the start of it could be anything
    standard_input.seek(0)
    with pytest.warns(RaytracerWarning, match="columns 1, 2 and 3 are taken as x, y and z"):
        scene = load("-", format="txt")
    assert scene.spheres[0].centers[:, 0].tolist() == [0, 1, 2]
    path = tmp_path / "a.xyz"
    path.write_text("x,y,z,mass\n0,0,0,5\n1,0,0,7\n")
    assert load(path, format=".CSV").columns["mass"].tolist() == [5, 7]
    path.write_bytes(BALL)
    assert load(path, format="toml").count == 1


def test_standard_input_that_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "_spooled", [])
    monkeypatch.setattr(sys, "stdin", None)
    assert "standard input: is closed" in sentence(Path("-"))


@pytest.mark.parametrize("head", ["x,y,z,radius\n", "1\n", "1\ncomment\nC 0 0 "])
def test_a_line_without_end_is_refused(head: str, tmp_path: Path) -> None:
    path = tmp_path / ("a.csv" if head.startswith("x") else "a.xyz")
    path.write_text(head + "1" * (3 * MAX_LINE_BYTES))
    text = sentence(path)
    assert "has more than 1 MiB" in text


def test_lines_end_as_in_text_files(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    for content in (b"one\ntwo\n", b"one\rtwo\r", b"one\r\ntwo", b"\xef\xbb\xbfone\ntwo"):
        path.write_bytes(content)
        with open_file(path) as file:
            assert [line.strip() for line in file.lines(3)] == ["one", "two", ""]
    path.write_bytes(b"x" * 4095 + b"\r\ntwo")  # the end lies across two windows
    with open_file(path) as file:
        assert file.lines(2) == ["x" * 4095 + "\r\n", "two"]
    path.write_bytes(b"one\n\xff\n")
    with open_file(path) as file, pytest.raises(DataFileError, match="line 2 is not text in UTF-8"):
        file.lines(2)


def spread(folder: Path) -> list[Path]:
    """Files with much text of every kind."""
    long, lines = "a" * 50_000, "b\n" * 1000
    toml = folder / "a.toml"
    toml.write_text(
        f'title = "{long}"\ncaption = """{long}\n{lines}"""\n'
        f"{BALL.decode()}material = '{long}'\n[materials.{long}]\nmirror = 0.5\n"
        + "".join(f"[materials.m{n}]\n" for n in range(1000))
    )
    sets = folder / "sets.toml"
    sets.write_text(BALL.decode() * 1000)
    about = {
        "title": long, long: long, "list": [long] * 3, "numbers": [1.5] * 10_000,
        "tables": [{f"{n}{long}": long for n in range(3)}], "lines": "b\n" * 10_000,
        "many": {str(n): n for n in range(2000)}, "deep": {"a": {"b": {long: [[long]]}}},
    }  # fmt: skip
    picture = folder / "a.png"
    picture.write_bytes(png.encode(np.zeros((1, 1, 3), np.uint8), {png.KEY: json.dumps(about)}))
    return [toml, sets, picture]


def test_long_text_of_files_is_cut(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path in spread(tmp_path):
        command = ["info"] if path.suffix == ".png" else ["scene", "check"]
        assert main([*command, str(path)]) == 0
        said = capsys.readouterr().out
        assert max(map(len, said.splitlines())) <= 1000
        assert said.partition("\n\n[camera]")[0].count("\n") <= 401  # the camera comes last
        assert len(said) < 50_000
        assert "--json prints all" in said or path.name == "a.toml"
        assert main([*command, str(path), "--json"]) == 0
        json.loads(capsys.readouterr().out)


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="no such file here")
@pytest.mark.parametrize("name", ["a.toml", "a.json", "a.csv", "a.xyz", "a.npy", "a.npz", "f.npz"])
def test_a_file_that_fails_while_it_is_read(name: str, tmp_path: Path) -> None:
    """As disks and network file systems do; this one of the kernel looks like a regular file."""
    path = tmp_path / name
    path.symlink_to("/proc/self/clear_refs")
    with pytest.raises(UserError) as caught:
        (Film.load if name == "f.npz" else load)(path)
    assert str(caught.value).startswith(f"{path}: ")


def test_frames_of_standard_input(standard_input: io.BytesIO) -> None:
    standard_input.write(b"1\n\nO 0 0 0\n" * 3)
    standard_input.seek(0)
    frames = FileSource(InputSource.of("-"))
    assert (frames.count, frames.load(2).count) == (3, 1)


def test_standard_error_may_be_closed_while_libraries_are_silenced() -> None:
    code = (
        "import os, sys\n"
        "from raytracer.files.access import silence_stderr\n"
        "os.close(2)\n"
        "with silence_stderr(): print('inside')\n"
        "print('after')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["inside", "after"]
