"""Frames of TNG and TRR trajectories that hold positions, beside others that do not."""

import os
import signal
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer.commands.cli import main
from raytracer.config.warning import collect_warnings
from raytracer.model.data_file import DataFile
from raytracer.particles import isolated
from raytracer.particles.read import open_source, read
from support.tng import BOX, POSITIONS, VELOCITIES, every, tng

pytest.importorskip("chemfiles")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file in one folder, which one process may read."""
    return tmp_path_factory.mktemp("tng") / "a.tng"


ALL = {BOX: range(12), VELOCITIES: range(12)}
CASES: dict[str, tuple[bytes, list[int]]] = {
    "every step": (every(12, 5, {**ALL, POSITIONS: range(12)}), [*range(12)]),
    "every second step": (every(12, 100, {**ALL, POSITIONS: range(0, 12, 2)}), [0, 2, 4, 6, 8, 10]),
    "some frame sets": (every(12, 2, {**ALL, POSITIONS: range(0, 12, 4)}), [0, 4, 8]),
    "one frame in a set": (every(12, 1, {**ALL, POSITIONS: range(0, 12, 3)}), [0, 3, 6, 9]),
    "not at the start": (every(12, 2, {**ALL, POSITIONS: range(4, 12)}), [*range(4, 12)]),
    "not at the end": (every(12, 2, {**ALL, POSITIONS: range(6)}), [*range(6)]),
    "with gaps": (every(12, 3, {**ALL, POSITIONS: [3, 4, 5, 9, 10, 11]}), [3, 4, 5, 9, 10, 11]),
    "big-endian": (every(12, 4, {**ALL, POSITIONS: range(0, 12, 4)}, ">"), [0, 4, 8]),
    "last step beside the stride": (  # as mdrun writes it
        tng([(0, 10, {BOX: (0, 10, [0]), POSITIONS: (0, 10, [0])}),
             (10, 3, {BOX: (10, 10, [10]), POSITIONS: (12, 10, [12])})]), [0, 12],
    ),
    "stride above the frame set": (  # as trjconv writes it
        tng([(k, 1, {BOX: (k, 100, [k]), POSITIONS: (k, 100, [k])}) for k in range(4)]),
        [0, 1, 2, 3],
    ),
}  # fmt: skip
"""By name: the file, and the steps with positions."""

WITHOUT_OTHERS = ("every step", "stride above the frame set")


@pytest.mark.parametrize("name", CASES)
def test_frames_are_those_with_positions(
    name: str, path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content, steps = CASES[name]
    path.write_bytes(content)
    assert len(raytracer.animate(path)) == len(steps)
    for frame, step in enumerate(steps):
        for number in (frame, frame - len(steps)):
            found = read(DataFile(path, frame=number))
            np.testing.assert_allclose(found.centers[0], [10.0 * step, 1.0, 2.0], atol=1e-4)
            assert found.time is not None
            assert found.time.value == pytest.approx(step)
    assert found.box is not None
    last_box = 10 if name.startswith("last step") else steps[-1]
    assert found.box.edges[2][2] == pytest.approx(10.0 * (9 + last_box))
    said = f"{len(steps)} frames with positions counted from 0"
    with collect_warnings() as told:
        raytracer.load(path, frame=-1)
    assert sum(said in each for each in told) == (name not in WITHOUT_OTHERS)
    with pytest.raises(raytracer.UserError, match=f"it has {len(steps)} frames"):
        raytracer.load(path, frame=len(steps))
    assert main(["info", str(path)]) == 0
    output = capsys.readouterr()
    assert f"frames     {len(steps)}\n" in output.out
    assert output.err.count(said) == (name not in WITHOUT_OTHERS)


def test_velocities_are_those_of_the_step(path: Path) -> None:
    """Frames without them have none."""
    path.write_bytes(every(12, 12, {POSITIONS: range(0, 12, 2), VELOCITIES: range(0, 12, 4)}))
    for frame in range(6):
        scene = raytracer.load(path, frame)
        assert ("speed" in scene.columns) == (frame % 2 == 0)


def test_a_movie_says_once_what_it_leaves_out(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path.write_bytes(CASES["not at the start"][0])
    options = [
        "--size",
        "16x12",
        "--samples",
        "1",
        "--backend",
        "cpu",
        "-o",
        f"{path.parent}/a.gif",
    ]
    assert main(["animate", str(path), *options]) == 0
    output = capsys.readouterr()
    assert "8 frames, 8 of them rendered" in output.out
    assert output.err.count("without positions are left out: 8 frames") == 1


@pytest.mark.parametrize("cut", [1, 100])
def test_an_incomplete_frame_set_is_left_out(cut: int, path: Path) -> None:
    path.write_bytes(every(6, 3, {POSITIONS: range(6)})[:-cut])
    with collect_warnings() as told:
        assert len(raytracer.animate(path)) == 3
        raytracer.load(path)
    assert sum("its last frame set is incomplete and left out" in each for each in told) == 1


BROKEN: list[tuple[Any, str]] = [
    (every(4, 2, {BOX: range(4), VELOCITIES: range(4)}), "holds no frame with positions"),
    (every(4, 2, {POSITIONS: range(4)})[:500], "no frame with positions in the part that is"),
    (b"\1" + bytes(100), "byte 0 starts no block"),
    (b"\x3d" + bytes(7), "is incomplete or damaged"),
    (tng([(0, 4, {POSITIONS: (0, 0, [0])})]), "from 0 on, every 0, in the frame set from 0 to 3"),
    (tng([(5, 4, {POSITIONS: (2, 1, [2])})]), "from 2 on, every 1, in the frame set from 5 to 8"),
    (
        tng([(0, 10**9, {POSITIONS: (0, 1, [0])})]),
        "every 1, in the frame set from 0 to 999,999,999",
    ),
    (tng([(0, 2**62, {POSITIONS: (0, 1, [0])})]), "is damaged: data of frames from 0 on"),
]


@pytest.mark.parametrize(("content", "words"), BROKEN)
def test_broken_files_are_refused(content: bytes, words: str, path: Path) -> None:
    path.write_bytes(content)
    with pytest.raises(raytracer.UserError, match=words):
        raytracer.load(path)


def trr(frames: str, kind: str = "f") -> bytes:
    """A trajectory of two atoms; each frame has the parts of its letters: b, x, v, f."""
    parts, size = [], struct.calcsize(kind)
    for step, letters in enumerate(frames.split()):
        sizes = [9 * size * ("b" in letters), *(6 * size * (each in letters) for each in "xvf")]
        header = (0, 0, sizes[0], 0, 0, 0, 0, *sizes[1:], 2, step, 0)
        parts.append(
            struct.pack(f">iii12s13i2{kind}", 1993, 13, 12, b"GMX_trn_file", *header, step, 0)
        )
        if "b" in letters:
            parts.append(struct.pack(f">9{kind}", 3, 0, 0, 0, 3, 0, 0, 0, 3 + step))
        parts += [struct.pack(f">6{kind}", step, 0.1, 0.2, step, 0.3, 0.4)
                  for each in "xvf" if each in letters]  # fmt: skip
    return b"".join(parts)


@pytest.mark.parametrize("kind", ["f", "d"])
@pytest.mark.parametrize(
    ("frames", "steps"),
    [("bx bx bxv", [0, 1, 2]), ("bxv bv bvf xvf v", [0, 3]), ("bv b x f bx v", [2, 4]),
     ("v v v v v x", [5])],
)  # fmt: skip
def test_frames_of_trr(frames: str, steps: list[int], kind: str, path: Path) -> None:
    path = path.with_name("a.trr")
    path.write_bytes(trr(frames, kind))
    for frame, step in enumerate(steps):
        found = read(DataFile(path, frame=frame))
        np.testing.assert_allclose(found.centers[0], [10.0 * step, 1.0, 2.0], atol=1e-4)
        assert found.time is not None
        assert found.time.value == step
    with pytest.raises(raytracer.UserError, match=f"it has {len(steps)} frame"):
        raytracer.load(path, frame=len(steps))
    with collect_warnings() as told:
        raytracer.load(path)
    said = f"left out: {len(steps)} frame"
    assert sum(said in each for each in told) == (len(steps) < len(frames.split()))


def test_trr_without_positions(path: Path) -> None:
    path = path.with_name("a.trr")
    path.write_bytes(trr("bv v"))
    with pytest.raises(raytracer.UserError, match="holds no frame with positions"):
        raytracer.load(path)
    path.write_bytes(trr("bx v x")[:90])
    with pytest.raises(raytracer.UserError, match="cannot be read as TRR"):
        raytracer.load(path)
    path.write_bytes(trr("bx v x")[:-3])
    assert read(DataFile(path)).centers[0].tolist() == pytest.approx([0.0, 1.0, 2.0])


@pytest.mark.parametrize("others", [0, 1])
def test_a_frame_is_read_again_after_a_crash(others: int, path: Path) -> None:
    """In a new process, which goes to the frame, if the one that crashed had read other files."""
    path = path.with_name("a.trr")
    path.write_bytes(trr("x bx v x"))
    isolated._end_all()
    for _ in range(others):
        read(DataFile(path))
    with open_source(DataFile(path, frame=1)) as source:
        assert isinstance(source, isolated.SubprocessSource)
        os.kill(source._worker._process.pid, signal.SIGABRT)
        if others:
            assert source.particles({}).centers[0].tolist() == pytest.approx([10.0, 1.0, 2.0])
            assert source.time is not None
            assert source.time.value == 1
        else:
            with pytest.raises(raytracer.UserError, match=r"its library crashed \(SIGABRT\)"):
                source.particles({})
