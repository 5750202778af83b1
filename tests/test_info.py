"""What `raytracer info` tells of data files, scenes and films."""

import json
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raytracer.commands.cli import main
from raytracer.commands.info import WHOLE_BYTES
from support.commands import python

POINTS = np.array([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
XYZ = (
    '2\nLattice="5 0 0 0 6 0 0 0 7" Properties=species:S:1:pos:R:3:q:R:1\n'
    "C 0 1 2 0.5\nO 3 4 5 0.25\n"
)
RUN = """
import sys
from raytracer.commands.cli import main
code = main(sys.argv[1:])
read = next(line for line in open("/proc/self/io") if line.startswith("rchar"))
print(read.split()[1], file=sys.stderr)
sys.exit(code)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def info(*words: str) -> Any:
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
        assert main(["info", *words, "--json"]) == 0
    assert err.getvalue() == ""
    return json.loads(out.getvalue())


def written(name: str) -> str:
    """A file of two particles in the format of a name; returns the name."""
    path = Path(name)
    if path.suffix == ".npz":
        np.savez(path, centers=POINTS, radius=np.array([0.5, 0.25]))
    elif path.suffix == ".npy":
        np.save(path, np.column_stack([POINTS, [0.5, 0.25]]))
    elif path.suffix == ".h5":
        h5py = pytest.importorskip("h5py")
        with h5py.File(path, "w") as file:
            file.create_group("PartType0")["Coordinates"] = POINTS
    else:
        table = "x,y,z,q\n0,1,2,0.5\n3,4,5,0.25\n"
        path.write_text(XYZ if path.suffix == ".xyz" else table, encoding="utf-8")
    return name


NAMES = {"a.xyz": "XYZ", "a.csv": "table", "a.npz": "NumPy archive", "a.npy": "NumPy array",
         "a.h5": "HDF5"}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_every_format_that_is_rendered(name: str) -> None:
    found = info(written(name))
    data = found["data"][name]
    assert data["format"] == NAMES[name]
    assert (data["particles"], data["frames"]) == (2, 1)
    assert {row["name"]: row for row in data["columns"] + data["derived"]}["z"]["high"] == 5
    assert found["read"] == "all of it"
    assert found["files"] == [
        {"file": str(Path(name).absolute()), "bytes": Path(name).stat().st_size}
    ]
    assert found["drawn"]["spheres"] == 2
    least, most = found["drawn"]["bounds"]["radii"]
    assert 0 < least <= most
    if "box" in data:
        assert np.diag(data["box"]["edges"]).tolist() == [5, 6, 7]


def test_a_scene_and_the_groups_and_frames_of_files() -> None:
    scene = f"[[spheres]]\nfile = '{written('a.csv')}'\n[[spheres]]\ncenters = [[9, 9, 9]]\n"
    Path("a.toml").write_text(scene)
    found = info("a.toml")
    assert [Path(each["file"]).name for each in found["files"]] == ["a.toml", "a.csv"]
    assert found["drawn"]["spheres"] == 3
    assert found["data"]["a.csv"]["format"] == "table"
    assert info(f"{written('a.h5')}:PartType0")["drawn"]["spheres"] == 2
    Path("b.xyz").write_text(XYZ + XYZ.replace("3 4 5", "3 4 50"))
    (second,) = info("b.xyz", "--frame", "-1")["data"].values()
    assert (second["frames"], second["columns"][1]["high"]) == (2, 50)
    Path("atoms").write_text(XYZ)  # whose name says nothing
    assert info("atoms", "--format", "xyz")["data"]["atoms"]["format"] == "XYZ"


def test_several_files_are_described_one_by_one(capsys: pytest.CaptureFixture[str]) -> None:
    names = [written("a.csv"), written("a.xyz")]
    assert [list(each["data"]) for each in info(*names)] == [["a.csv"], ["a.xyz"]]
    assert main(["info", *names]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith("a.")] == ["a.csv:", "a.xyz:"]
    assert main(["info", names[0], "missing.xyz"]) == 2
    done = capsys.readouterr()
    assert done.out == ""
    assert "missing.xyz: there is no such file" in done.err
    Path("no.npz").write_text("nothing")
    assert main(["info", "no.npz"]) == 2
    assert "no.npz: is not an .npz file, or is incomplete" in capsys.readouterr().err


def test_of_a_large_file_only_the_headers_are_read() -> None:
    count = WHOLE_BYTES // 24 + 1
    np.savez("a.npz", centers=np.zeros((count, 3)), mass=np.zeros(count, np.float32))
    Path("a.toml").write_text("[[spheres]]\nfile = 'a.npz'\n")
    for name in ("a.npz", "a.toml"):
        done = python("-c", RUN, "info", name, "--json")
        found = json.loads(done.stdout)
        assert f"`raytracer scene check {name}` reads all" in found["read"]
        (data,) = found["data"].values()
        assert (data["particles"], data["frames"]) == (count, 1)
        assert data["columns"] == [
            {"name": "centers", "type": "3 numbers"}, {"name": "mass", "type": "number"}
        ]  # fmt: skip
        assert int(done.stderr) < WHOLE_BYTES  # modules of Python are among it
