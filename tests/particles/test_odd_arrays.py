"""Arrays of unusual shapes, types and values, in every key of an archive and in every command."""

import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer import load
from raytracer.commands.cli import main
from raytracer.config.errors import UserError
from raytracer.model.data_file import DataFile
from raytracer.particles.read import count_frames, open_source, read

COUNT = 5
POINTS = np.random.default_rng(1).normal(size=(COUNT, 3))
RADII = np.full(COUNT, 0.3)
ARRAYS = {
    "a number": np.array(3.0),
    "a truth value": np.array(True),
    "a text": np.array("a"),
    "one record": np.zeros((), [("x", "f8"), ("y", "f8"), ("z", "f8")]),
    "no rows": np.zeros((0, 3)),
    "no columns": np.zeros((COUNT, 0)),
    "nothing": np.zeros(0),
    "no frames": np.zeros((0, COUNT, 3)),
    "four dimensions": np.zeros((2, 2, COUNT, 3)),
    "records": np.zeros(COUNT, [("x", "f8"), ("y", "f8"), ("z", "f8")]),
    "complex": POINTS + 1j,
    "dates": np.zeros(COUNT, "M8[s]"),
    "texts": np.array(["a"] * COUNT),
    "bytes": np.zeros(COUNT, "V8"),
    "truth values": np.ones((COUNT, 3), bool),
    "halves": POINTS.astype(np.float16),
    "backwards": POINTS[::-1],
    "by column": np.asfortranarray(POINTS),
    "of the other end": POINTS.astype(">f8"),
    "not finite": np.full((COUNT, 3), np.nan),
    "infinite": np.full(COUNT, np.inf),
    "huge": POINTS * 1e308,
    "huge scalars": np.full(COUNT, 1e308),
    "tiny": np.full(COUNT, 1e-320),
    "large integers": np.full(COUNT, 2**64 - 1, np.uint64),
}
KEYS = ("centers", "radius", "color", "box", "velocity", "element")
RENDER = ("--size", "8x6", "--samples", "1", "--backend", "cpu", "-q", "-o", "o.png")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty current folder."""
    monkeypatch.chdir(tmp_path)


def refused_or_done(capsys: pytest.CaptureFixture[str], *words: str) -> None:
    """Run a command that may refuse its input, in sentences; a warning of NumPy is an error."""
    code = main(list(words))
    errors = capsys.readouterr().err.splitlines()
    assert code in (0, 2)
    assert all(line.startswith("raytracer: ") for line in errors)
    assert code == 0 or errors


@pytest.mark.parametrize("key", KEYS)
def test_in_an_archive(key: str, capsys: pytest.CaptureFixture[str]) -> None:
    for array in ARRAYS.values():
        np.savez("a.npz", allow_pickle=False, **{"centers": POINTS, "radius": RADII, key: array})
        refused_or_done(capsys, "render", "a.npz", *RENDER)
        refused_or_done(capsys, "info", "a.npz")


@pytest.mark.parametrize(
    "options",
    [
        ("--color-by", "v", "--legend"),
        pytest.param(
            ("--color-by", "v*v", "--color-scale", "symlog", "--legend"), marks=pytest.mark.slow
        ),
        ("--select", "sqrt(v) > log(v)"),
        ("--radius", "exp(v)", "--ground", "below"),
        ("--opacity", "v**9"),
        ("--arrows", "v,scale=1e300,color=length", "--scale-bar", "--box"),
        ("--arrows", "v,v,v,scale=1e300"),
        ("--labels=v", "--depth-cue", "--bloom", "0.5"),
        ("--shape", "v,v,v"),
        ("--contacts", "touch", "--wrap", "--replicate", "2,1,1"),
    ],
)
def test_in_the_columns_that_options_use(
    options: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    for array in ARRAYS.values():
        np.savez("a.npz", centers=POINTS, radius=np.full(COUNT, 0.3), v=array, box=np.full(3, 4.0))
        refused_or_done(capsys, "render", "a.npz", *RENDER, *options)


@pytest.mark.parametrize("key", ["centers", "radius", "box"])
@pytest.mark.parametrize("size", [1e308, 1e150, 1e-308, np.inf])
def test_sizes_of_everything(key: str, size: float, capsys: pytest.CaptureFixture[str]) -> None:
    arrays = {"centers": POINTS, "radius": np.full(COUNT, 0.3), "box": np.full(3, 4.0)}
    arrays |= {"v": np.ones(COUNT), key: np.full_like(arrays[key], size)}
    np.savez("a.npz", allow_pickle=False, **arrays)
    for options in (("--contacts", "touch"), ("--wrap", "--bonds", "1"), ("--arrows", "v,v,v")):
        refused_or_done(capsys, "render", "a.npz", *RENDER, *options)


def test_in_python() -> None:
    for array in (*ARRAYS.values(), np.array([None] * COUNT), POINTS.astype(np.complex64)):
        for what in ({"centers": array}, {"centers": POINTS, "radius": array}, array):
            with suppress(UserError, raytracer.RaytracerWarning):
                raytracer.render(what, width=8, height=6, samples=1, backend="cpu")
    complex_numbers: Any = np.ones(3, np.complex64)
    with pytest.raises(UserError, match="zoom"):
        raytracer.render(POINTS, zoom=complex_numbers[0])
    with pytest.raises(UserError, match="look_at"):
        raytracer.render(POINTS, look_at=complex_numbers)


def test_a_process_prints_no_warnings_of_numpy() -> None:
    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "raytracer", *words]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    np.savez("scalar.npz", centers=np.array(3.0))
    done = run("render", "scalar.npz")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "array 'centers': has shape (); sphere centres are (N, 3)" in done.stderr
    # So many that several threads compute.
    count = 300_000
    np.savez(
        "huge.npz", centers=np.zeros((count, 3)), radius=1e-3, velocity=np.full((count, 3), 1e300)
    )
    done = run("render", "huge.npz", *RENDER, "--color-by", "speed")
    assert "Warning" not in done.stderr
    assert run("info", "huge.npz").stderr == ""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("width", [2, 3])
@pytest.mark.parametrize("ending", [".npy", ".npz", "packed.npz", ".h5", ".mat", "(N, K, T).mat"])
def test_frames_of_arrays(tmp_path: Path, ending: str, width: int) -> None:
    """(T, N, 2) and (T, N, 3), with other values per particle, of each frame or of all."""
    frames = np.random.default_rng(41).normal(size=(4, 9, width))
    speeds, radii = np.arange(36.0).reshape(4, 9), np.linspace(0.1, 0.2, 9)
    arrays: dict[str, Any] = {"positions": frames, "speed": speeds, "radii": radii}
    path = tmp_path / f"a{ending[-4:]}"
    if ending == ".npy":
        np.save(path, frames)
    elif ending.endswith(".npz"):
        (np.savez if ending == ".npz" else np.savez_compressed)(path, **arrays)
    elif ending == ".h5":
        path = tmp_path / "a.h5"
        with pytest.importorskip("h5py").File(path, "w") as file:
            file.update(arrays)
    else:
        if ending != ".mat":
            arrays |= {"positions": frames.transpose(1, 2, 0), "speed": speeds.T}
        pytest.importorskip("scipy.io").savemat(path, arrays)
    assert count_frames(path) == 4
    with open_source(path) as source:
        assert source.count == 9
    data = read(DataFile(path, frame=2))
    np.testing.assert_array_equal(data.centers[:, :width], frames[2])
    np.testing.assert_array_equal(data.centers[:, width:], 0)
    assert ("has two numbers per particle, so all have z = 0" in str(data.notes)) == (width == 2)
    if ending != ".npy":
        np.testing.assert_array_equal(data.radius, radii)
    if ending.endswith(".mat"):
        assert load(path).describe(5).values == {"speed": 5.0}
