"""Frames of trajectories: each is the file that holds it alone, in every format."""

import gzip
import os
import re
import stat
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from numpy.typing import NDArray

import raytracer
from raytracer.commands.cli import main
from raytracer.config.inferred import InferredDefaults, infer_defaults
from raytracer.config.warning import collect_warnings
from raytracer.files.access import open_file
from raytracer.particles import compressed, frames, lines
from raytracer.particles.read import count_frames
from support.particle_files import write

RNG = np.random.default_rng(23)
COUNTS = (5, 7, 3, 6)
"""Particles of each frame: some come, some go."""

Points = NDArray[np.float64]


def points_of(frame: int, count: int | None = None) -> Points:
    """Three decimals: what all formats keep."""
    rng = np.random.default_rng(frame)
    return np.round(rng.uniform(0.0, 9.0, (count or COUNTS[frame], 3)), 3)


def rows(points: Points, before: str = "H ") -> str:
    return "".join(f"{before}{x:.3f} {y:.3f} {z:.3f}\n" for x, y, z in points.tolist())


def xyz(points: Points, frame: int) -> str:
    return f"{len(points)}\nframe {frame}\n{rows(points)}"


def dump(points: Points, frame: int) -> str:
    """With units and time, as `dump_modify units yes time yes` writes them."""
    units = "ITEM: UNITS\nlj\n" if frame == 0 else ""
    return (
        f"{units}ITEM: TIME\n{frame / 10}\nITEM: TIMESTEP\n{frame * 100}\n"
        f"ITEM: NUMBER OF ATOMS\n{len(points)}\nITEM: BOX BOUNDS pp pp pp\n0 9\n0 9\n0 9\n"
        f"ITEM: ATOMS type x y z\n{rows(points, '1 ')}"
    )


def gro(points: Points, frame: int) -> str:
    lines = "".join(
        f"    1WAT    OW{i + 1:5d}{x / 10:9.4f}{y / 10:9.4f}{z / 10:9.4f}\n"
        for i, (x, y, z) in enumerate(points.tolist())
    )
    return f"water t= {frame}\n{len(points)}\n{lines}   0.9   0.9   0.9\n"


def pdb(points: Points, frame: int) -> str:
    head = "CRYST1    9.000    9.000    9.000  90.00  90.00  90.00 P 1           1\n"
    atoms = "".join(
        f"ATOM  {i + 1:5d}  O   HOH A{i + 1:4d}    {x:8.3f}{y:8.3f}{z:8.3f}{'O':>24}\n"
        for i, (x, y, z) in enumerate(points.tolist())
    )
    return f"{head if frame == 0 else ''}MODEL     {frame + 1:4d}\n{atoms}ENDMDL\n"


TEXTS: dict[str, Callable[[Points, int], str]] = {
    "a.xyz": xyz,
    "a.dump": dump,
    "a.gro": gro,
    "a.pdb": pdb,
}


def centers(path: Path | str, frame: int | None = None) -> Points:
    scene = raytracer.load(path, frame)
    return np.asarray(scene.spheres[0].centers, np.float64)


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_frame_is_the_file_that_holds_it_alone(tmp_path: Path, name: str, ending: str) -> None:
    pieces = [TEXTS[name](points_of(k), k).replace("\n", ending) for k in range(4)]
    path = write(tmp_path / name, "".join(pieces))
    assert count_frames(path) == 4
    for k in (2, 0, 3, 1):
        (tmp_path / f"{k}").mkdir()
        alone = write(tmp_path / f"{k}" / name, pieces[k])
        np.testing.assert_array_equal(centers(path, k), centers(alone))
        np.testing.assert_allclose(centers(path, k - 4), points_of(k), atol=1e-9)


@pytest.mark.parametrize("pattern", ["snap_*.xyz", "snap_%d.xyz", "."])
def test_series_of_files(tmp_path: Path, pattern: str) -> None:
    for k in (0, 1, 2, 10):
        write(tmp_path / f"snap_{k}.xyz", xyz(points_of(min(k, 3)), k))
    path = tmp_path / pattern
    assert count_frames(path) == 4
    np.testing.assert_array_equal(centers(path, 3), points_of(3))
    np.testing.assert_array_equal(centers(path, -2), points_of(2))
    with pytest.warns(raytracer.RaytracerWarning, match="4 frames; the first is shown"):
        np.testing.assert_array_equal(centers(path), points_of(0))


def test_frames_of_a_scene_file(tmp_path: Path) -> None:
    """The frame of the call goes before that of a set, and leaves files of one frame alone."""
    write(tmp_path / "a.xyz", "".join(xyz(points_of(k), k) for k in range(4)))
    write(tmp_path / "still.xyz", xyz(points_of(1), 1))
    scene = write(
        tmp_path / "a.toml",
        '[[spheres]]\nfile = "a.xyz"\nframe = 2\n[[spheres]]\nfile = "still.xyz"\n',
    )
    for frame, shown in ((None, 2), (0, 0), (-1, 3)):
        sets = raytracer.load(scene, frame).spheres
        np.testing.assert_array_equal(sets[0].centers, points_of(shown))
        np.testing.assert_array_equal(sets[1].centers, points_of(1))
    assert raytracer.load(scene, 3).describe(4).values["species"] == "H"


def test_a_set_with_a_frame_stands_still_beside_others(tmp_path: Path) -> None:
    write(tmp_path / "a.xyz", "".join(xyz(points_of(k), k) for k in range(4)))
    text = '[[spheres]]\nfile = "a.xyz"\n[[spheres]]\nfile = "a.xyz"\nframe = 2\n'
    scene = write(tmp_path / "a.toml", text)
    sets = raytracer.load(scene, 3).spheres
    np.testing.assert_array_equal(sets[0].centers, points_of(3))
    np.testing.assert_array_equal(sets[1].centers, points_of(2))
    assert len(raytracer.animate(scene)) == 4
    write(tmp_path / "b.xyz", "".join(xyz(points_of(k), k) for k in range(3)))
    write(scene, '[[spheres]]\nfile = "a.xyz"\n[[spheres]]\nfile = "b.xyz"\n')
    with pytest.raises(
        raytracer.UserError, match=r"different numbers of frames \(a.xyz 4, b.xyz 3\)"
    ):
        raytracer.animate(scene)


@pytest.mark.parametrize("name", TEXTS)
def test_small_pieces_of_text_find_the_same_frames(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / name, "".join(TEXTS[name](points_of(k), k) for k in range(4)))
    whole = [centers(path, k) for k in range(4)]
    for size in (1, 7, 64):
        for module, names in ((lines, ("BLOCK_BYTES",)), (frames, ("PIECE",))):
            for each in names:
                monkeypatch.setattr(module, each, size)
        for k in range(4):
            np.testing.assert_array_equal(centers(path, k), whole[k])


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of indices, of files of any size."""
    monkeypatch.setenv("RAYTRACER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(frames, "MIN_BYTES", 1)
    return tmp_path / "cache" / "raytracer-frames"


@pytest.fixture
def look(monkeypatch: pytest.MonkeyPatch) -> Mock:
    """What finds the frames of an .xyz file."""
    mock = Mock(side_effect=lines.find_counted_frames)
    monkeypatch.setattr("raytracer.particles.formats.xyz.find_counted_frames", mock)
    return mock


def test_an_index_is_kept_until_the_file_changes(tmp_path: Path, cache: Path, look: Mock) -> None:
    path = write(tmp_path / "a.xyz", "".join(xyz(points_of(k), k) for k in range(3)))
    assert count_frames(path) == 3
    (kept,) = cache.iterdir()
    assert (cache.lstat().st_mode & 0o777, kept.lstat().st_mode & 0o777) == (0o700, 0o600)
    look.reset_mock()
    np.testing.assert_array_equal(centers(path, 2), points_of(2))
    assert not look.called
    write(path, "".join(xyz(points_of(k), k) for k in range(4)))
    np.testing.assert_array_equal(centers(path, -1), points_of(3))
    assert look.call_count == 1


def test_a_file_that_keeps_its_size_and_time_has_a_new_index(tmp_path: Path, cache: Path) -> None:
    """As after `cp -p`, or an edit within the resolution of times."""
    path = write(tmp_path / "a.xyz", xyz(points_of(0, 2), 0) + xyz(points_of(1, 6), 1))
    times = path.stat().st_atime_ns, path.stat().st_mtime_ns
    np.testing.assert_array_equal(centers(path, 1), points_of(1, 6))
    write(path, xyz(points_of(1, 6), 0) + xyz(points_of(0, 2), 1))
    os.utime(path, ns=times)
    np.testing.assert_array_equal(centers(path, 1), points_of(0, 2))
    np.testing.assert_array_equal(centers(path, 0), points_of(1, 6))


def spoil(index: Path, way: str, elsewhere: Path) -> None:
    """Put something else in the place of an index."""
    content = index.read_bytes()
    starts = np.load(index)
    pieces = {"truncated": content[:-1], "empty": b"", "changed": content[:-40] + bytes(40)}
    if way in pieces:
        index.write_bytes(pieces[way])
    elif way == "planted":  # without its second frame
        np.save(index, np.delete(starts, 1))
    elif way == "of another file":
        (other,) = elsewhere.iterdir()
        index.write_bytes(other.read_bytes())
    elif way == "zip":
        with index.open("wb") as file:
            np.savez(file, starts=starts)
    elif way == "writable":
        index.chmod(0o666)
    else:
        index.rename(elsewhere / "moved")
        {"pipe": os.mkfifo, "folder": os.mkdir,
         "link": lambda name: name.symlink_to(elsewhere / "moved")}[way](index)  # fmt: skip


@pytest.mark.parametrize("way", ["truncated", "empty", "changed", "planted", "of another file",
                                 "zip", "writable", "pipe", "link", "folder"])  # fmt: skip
def test_an_index_that_is_not_of_this_file_is_made_anew(
    tmp_path: Path, cache: Path, look: Mock, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    other = write(tmp_path / "b.xyz", "".join(xyz(points_of(k, 4), k) for k in range(4)))
    assert count_frames(other) == 4
    elsewhere = cache.rename(tmp_path / "elsewhere")
    path = write(tmp_path / "a.xyz", "".join(xyz(points_of(k, 4), k) for k in range(4)))
    assert path.stat().st_size == other.stat().st_size
    assert count_frames(path) == 4
    (index,) = cache.iterdir()
    spoil(index, way, elsewhere)
    look.reset_mock()
    np.testing.assert_array_equal(centers(path, 2), points_of(2, 4))
    assert look.call_count == (2 if way == "folder" else 1)  # nothing is kept in its place
    if way != "folder":
        np.testing.assert_array_equal(centers(path, 3), points_of(3, 4))
        assert look.call_count == 1  # it is sound again
        assert index.lstat().st_mode == stat.S_IFREG | 0o600


@pytest.mark.parametrize("way", ["writable", "link", "file", "foreign"])
def test_indices_are_kept_in_a_folder_of_this_user_alone(
    tmp_path: Path, cache: Path, look: Mock, way: str
) -> None:
    path = write(tmp_path / "a.xyz", "".join(xyz(points_of(k), k) for k in range(4)))
    cache.parent.mkdir()
    if way == "file":
        cache.touch()
    elif way == "link":
        (tmp_path / "other").mkdir(0o700)
        cache.symlink_to(tmp_path / "other")
    elif way == "writable":
        cache.mkdir()
        cache.chmod(0o775)
    elif os.geteuid() == 0:
        cache.mkdir(0o700)
        os.chown(cache, 12345, 12345)
    else:
        pytest.skip("needs root, to make a folder of another user")
    for count in (1, 2):
        assert count_frames(path) == 4
        assert look.call_count == count
    assert cache.is_file() or not list(cache.iterdir())


def test_files_of_the_user_are_not_removed(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cache may be a folder of a project, with arrays of its own."""
    monkeypatch.setattr(frames, "MAX_KEPT", 3)
    cache.mkdir(0o700, parents=True)
    names = [f"frame_{k:04d}.npy" for k in range(6)]
    names += ["0123456789abcdef.npy", f"{'0' * 32}.npz", f"{'A' * 32}.npy", f"{'0' * 33}.npy"]
    (cache.parent / "frames").mkdir()
    mine = [folder / name for folder in (cache, cache.parent / "frames") for name in names]
    for each in mine:
        each.write_bytes(b"mine")
        os.utime(each, (0, 0))
    (cache / f"{'1' * 32}.npy").symlink_to("nowhere")
    for k in range(5):
        assert count_frames(write(tmp_path / f"{k}.xyz", xyz(points_of(0), 0) * 2)) == 2
    assert all(each.read_bytes() == b"mine" for each in mine)
    assert len(list(cache.iterdir())) == len(names) + 3


def test_a_frame_that_is_still_being_written_is_left_out(tmp_path: Path) -> None:
    for name, cut in (
        ("a.xyz", 9),
        ("a.xyz", 40),
        ("a.dump", 9),
        ("a.dump", 200),
        ("a.gro", 40),
        ("a.gro", 8),
    ):
        text = "".join(TEXTS[name](points_of(k), k) for k in range(4))
        path = write(tmp_path / name, text[:-cut])
        with pytest.warns(raytracer.RaytracerWarning, match="frame 3 is incomplete and left out"):
            np.testing.assert_allclose(centers(path, -1), points_of(2), atol=1e-9)


@pytest.mark.parametrize("name", ["a.xyz", "a.gro"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("blank", ["\n", "\n \t\n\n", "\n" * 9000])
def test_blank_lines_between_frames(tmp_path: Path, name: str, ending: str, blank: str) -> None:
    text = blank.join(TEXTS[name](points_of(k), k) for k in range(4)) + blank
    path = write(tmp_path / name, text.replace("\n", ending))
    assert count_frames(path) == 4
    for k in range(4):
        np.testing.assert_allclose(centers(path, k), points_of(k), atol=1e-9)


@pytest.mark.parametrize("name", ["a.xyz", "a.gro", "a.dump"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("broken", [1, 2])
@pytest.mark.parametrize("lost", [2, 3, 4, 5, 6])
def test_frames_after_half_a_frame(
    tmp_path: Path, name: str, ending: str, broken: int, lost: int
) -> None:
    """As of runs that were killed and continued; comments are numbers, as some programs write."""
    texts = [TEXTS[name](points_of(k, 5), k).replace("frame ", "") for k in range(4)]
    lost -= name != "a.gro"  # its last line is the box
    texts[broken] = "".join(texts[broken].splitlines(keepends=True)[:-lost])
    path = write(tmp_path / name, "".join(texts).replace("\n", ending))
    assert count_frames(path) == 4
    for k in {*range(4)} - {broken}:
        np.testing.assert_allclose(centers(path, k), points_of(k, 5), atol=1e-9)
    with pytest.raises(raytracer.UserError, match=f"frame {broken}: .*(atoms, but|incomplete)"):
        centers(path, broken)


def test_a_half_frame_before_smaller_ones_and_other_text(tmp_path: Path) -> None:
    half = "".join(xyz(points_of(1, 900), 1).splitlines(keepends=True)[:300])
    text = xyz(points_of(0), 0) + half + xyz(points_of(2), 2) + "Killed by signal 9\n"
    path = write(tmp_path / "a.xyz", text + xyz(points_of(3), 3) + "0\nnone\n" + "and so on\n")
    assert count_frames(path) == 5
    left = r"frame 5 is incomplete and left out, from 'and so on' on; there are 5 complete frames"
    for k in (0, 2, 3):
        with collect_warnings() as said:
            np.testing.assert_array_equal(centers(path, k), points_of(k))
        assert any(re.search(left, each) for each in said)
        ignored = "further lines are ignored, the first is 'Killed by signal 9'"
        assert any(ignored in each for each in said) is (k == 2)


def test_a_file_of_broken_frames_is_refused_before_long(tmp_path: Path) -> None:
    path = write(tmp_path / "a.xyz", "90000\nc\nH 0 0 0\n" * 20_000)
    with pytest.raises(raytracer.UserError, match="more than 1,000 frames are incomplete"):
        count_frames(path)


@pytest.mark.parametrize(
    ("name", "text", "arguments", "words"),
    [
        ("a.xyz", xyz(points_of(0), 0) * 3, ["--frame", "3"],
         "there is no frame 3: it has 3 frames, 0 to 2, or -3 to -1 from the end"),
        ("a.xyz", xyz(points_of(0), 0) + "x\n\n" * 5, ["--frame", "1"],
         "there is no frame 1: it has 1 frame, number 0"),
        ("a.toml", "[[spheres]]\ncenters = [[0, 0, 0]]\n", ["--frame", "1"],
         "no file of this scene has several frames, so there is no frame 1"),
        ("a.toml", "[[spheres]]\ncenters = [[0, 0, 0]]\nframe = 1\n", [],
         "spheres[0].frame: is for a data file, but the set has no file"),
        ("a.toml", '[[spheres]]\nfile = "b_*.xyz"\n', [], "b_*.xyz: no file matches this pattern"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, text: str,
    arguments: list[str], words: str,
) -> None:  # fmt: skip
    path = write(tmp_path / name, text)
    picture = tmp_path / "a.png"
    assert main(["render", str(path), "-o", str(picture), *arguments]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1
    assert not picture.exists()


def test_check_says_how_many_frames(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for k in range(3):
        write(tmp_path / f"a_{k}.xyz", xyz(points_of(k), k))
    path = write(tmp_path / "b.xyz", "".join(xyz(points_of(k), k) for k in range(4)))
    for name, count in ((str(path), 4), (str(tmp_path / "a_*.xyz"), 3)):
        assert main(["scene", "check", name, "--frame", "1"]) == 0
        said = capsys.readouterr().out
        assert f"frames {count}" in " ".join(said.split())
        assert "particles 7" in " ".join(said.split())


def test_a_compressed_trajectory_is_unpacked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "".join(xyz(points_of(k), k) for k in range(4))
    path = write(tmp_path / "a.xyz.gz", gzip.compress(text.encode()))
    copy = Mock(side_effect=compressed._copy)
    monkeypatch.setattr(compressed, "_copy", copy)
    with compressed.keep_decompressed():
        for k in (3, 0, 2):
            np.testing.assert_array_equal(centers(path, k), points_of(k))
    assert copy.call_count == 1
    assert len(list(raytracer.animate(path, width=8, height=8, samples=1, backend="cpu"))) == 4
    assert copy.call_count == 3  # to count the frames, and to read them


FRAMES = ((1.0, 3.0), (2.0, 9.0))


def radius_of(spheres: raytracer.SphereSet) -> float:
    return float(np.ravel(spheres.radius)[0])


def frames_of(path: Path, spacing: int) -> None:
    """Write a file of two frames with particles in two rows."""
    text = ""
    for steps in FRAMES:
        text += "8\n\n" + "".join(f"X {i * steps[spacing]} {i % 2} 0\n" for i in range(8))
    path.write_text(text)


@pytest.mark.parametrize("order", [("near", "far"), ("far", "near")])
@pytest.mark.filterwarnings("ignore::raytracer.RaytracerWarning")
def test_each_set_keeps_the_radius_of_its_own_first_frame(
    tmp_path: Path, order: tuple[str, str]
) -> None:
    for spacing, name in enumerate(("near", "far")):
        frames_of(tmp_path / f"{name}.xyz", spacing)
    path = tmp_path / "a.toml"
    path.write_text("".join(f'[[spheres]]\nfile = "{name}.xyz"\n' for name in order))
    alone = [raytracer.load(path, frame) for frame in (0, 1)]
    held = InferredDefaults()
    loaded = []
    for frame in (0, 1):
        with infer_defaults(held):
            loaded.append(raytracer.load(path, frame))
    first, second = ([radius_of(s) for s in scene.spheres] for scene in loaded)
    assert first == second == [radius_of(s) for s in alone[0].spheres]
    assert second != [radius_of(s) for s in alone[1].spheres]
    assert first[0] != first[1]


@pytest.mark.parametrize("size", [1, 7, 0])
def test_what_is_appended_to_an_open_file_is_not_read(tmp_path: Path, size: int) -> None:
    """A simulation may write on: what was counted and what is read are of one state."""
    text = "".join(TEXTS["a.xyz"](points_of(k), k) for k in range(2))
    path = write(tmp_path / "a.xyz", text)
    with open_file(path) as file:
        with path.open("a") as more:
            more.write("9" * 20)
        for place in (0, 5, len(text), len(text) + 3):
            assert b"".join(lines.read_pieces(file, place, size)) == text.encode()[place:]
