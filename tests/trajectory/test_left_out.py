"""Frames without particles, that are broken, or with particles nowhere, in movies and pictures."""

import bz2
import gzip
import lzma
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer.animation.shots import Renderer
from raytracer.commands.cli import main
from raytracer.config.warning import collect_warnings
from raytracer.files.access import open_file
from raytracer.model.data_file import DataFile
from raytracer.particles.read import open_frame, read
from support.particle_files import write

Points = Sequence[tuple[float, float, float]]
SMALL: dict[str, Any] = {"width": 16, "height": 12, "samples": 1, "backend": "cpu"}
NAN, INF = float("nan"), float("inf")
A: Points = [(1.0, 1.0, 1.0), (3.0, 3.0, 3.0)]
B: Points = [(1.5, 1.0, 1.0), (3.0, 3.5, 3.0)]
C: Points = [(2.0, 1.0, 1.0), (3.0, 4.0, 3.0)]
HALF: Points = [(5.0, 5.0, 5.0)]


def xyz(points: Points, k: int, count: int | None = None) -> str:
    rows = "".join(f"H {x} {y} {z}\n" for x, y, z in points)
    return f"{len(points) if count is None else count}\nstep {k}\n{rows}"


def dump(points: Points, k: int, count: int | None = None) -> str:
    rows = "".join(f"{i + 1} 1 {x} {y} {z}\n" for i, (x, y, z) in enumerate(points))
    return (
        f"ITEM: TIMESTEP\n{k}\nITEM: NUMBER OF ATOMS\n{len(points) if count is None else count}\n"
        f"ITEM: BOX BOUNDS pp pp pp\n0 9\n0 9\n0 9\nITEM: ATOMS id type x y z\n{rows}"
    )


def gro(points: Points, k: int, count: int | None = None) -> str:
    rows = "".join(f"    1WAT    OW{i + 1:5d}{x / 10:9.4f}{y / 10:9.4f}{z / 10:9.4f}\n"
                   for i, (x, y, z) in enumerate(points))  # fmt: skip
    box = "" if count else "   0.9   0.9   0.9\n"
    return f"water t= {k}\n{len(points) if count is None else count}\n{rows}{box}"


TEXTS: dict[str, Callable[..., str]] = {"a.xyz": xyz, "a.dump": dump, "a.gro": gro}


def drawn(path: Path | str, **settings: Any) -> tuple[list[list[list[float]]], list[str]]:
    """The places of the spheres in each frame of a movie, and its warnings."""
    places = []
    with collect_warnings() as said:
        animation = raytracer.animate(path, **SMALL, **settings)
        with Renderer(animation._plan) as renderer:
            for _ in renderer.render_shots(animation._plan.shots, None):
                pass
            for shot in animation._plan.shots:
                centers = renderer._load(shot.frame).spheres[0].centers
                places.append(np.round(np.asarray(centers, float), 3).tolist())
    return places, said


def listed(*frames: Points) -> list[list[list[float]]]:
    return [[list(map(float, each)) for each in points] for points in frames]


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_frame_without_particles_is_an_empty_picture(
    name: str, ending: str, place: int, tmp_path: Path
) -> None:
    frames = [A, B, C]
    frames[place] = []
    text = "".join(TEXTS[name](points, k) for k, points in enumerate(frames))
    path = write(tmp_path / name, text.replace("\n", ending))
    places, said = drawn(path)
    assert places == listed(*frames)
    words = f"{path}: of 3 frames, 1 holds no particles and is empty (frame {place})"
    assert said == [words]
    with collect_warnings() as said:
        assert [raytracer.load(path, k).count for k in range(3)] == [len(f) for f in frames]
    assert said == [f"{path}: frame {place}: holds no particles"]


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("is_scene", [False, True])
def test_a_broken_frame_is_shown_as_the_one_next_to_it(
    name: str, place: int, is_scene: bool, tmp_path: Path
) -> None:
    """The one before, or after the first ones; the number of frames stays."""
    frames = [A, B, C]
    texts = [TEXTS[name](points, k) for k, points in enumerate(frames)]
    texts[place] = TEXTS[name](HALF, place, 2)
    path = write(tmp_path / name, "".join([*texts, TEXTS[name](A, 3)]))
    shown = write(tmp_path / "s.toml", f'[[spheres]]\nfile = "{name}"\n') if is_scene else path
    frames[place] = frames[place - 1] if place else B
    places, said = drawn(shown)
    assert places == listed(*frames, A)
    (sentence,) = said
    start = f"{shown}: of 4 frames, 1 cannot be read, so a frame next to it is shown (frame {place}"
    assert sentence.startswith(start)
    assert "incomplete" in sentence
    with pytest.raises(raytracer.UserError, match=f"frame {place}: .*incomplete"):
        raytracer.load(path, place)


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("bad", [[NAN], [INF], [-INF], [NAN, NAN]])
def test_particles_nowhere_are_left_out(
    name: str, place: int, bad: list[float], tmp_path: Path
) -> None:
    """One, or all of a frame; values of the others stay theirs."""
    frames: list[Points] = [A, B, C]
    kept = frames[place][len(bad) :]
    frames[place] = [*((each, 1.0, 1.0) for each in bad), *kept]
    path = write(tmp_path / name, "".join(TEXTS[name](p, k) for k, p in enumerate(frames)))
    frames[place] = kept
    places, said = drawn(path)
    assert places == listed(*frames)
    lost = "1 particle" if len(bad) == 1 else "2 particles"
    assert said == [
        f"{path}: of 3 frames, 1 has particles whose positions are not finite, which are left out "
        f"({lost}, frame {place})"
    ]
    with collect_warnings() as said:
        scene = raytracer.load(path, place)
    assert len(said) == 1
    assert f"{len(bad)} of 2 particles" in said[0]
    assert scene.count == len(kept)
    if kept:
        assert scene.columns["index"].tolist() == [1]
        np.testing.assert_allclose(scene.columns["x"], [kept[0][0]], rtol=1e-5)


def test_one_warning_of_all_that_is_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of many frames; parts say what is left out of theirs."""
    texts = [dump([], 0), dump(A, 1), dump(HALF, 2, 2), dump([(NAN, 0.0, 0.0), *A], 3)] * 5
    path = write(tmp_path / "a.dump", "".join(texts))
    options = ["--size", "16x12", "--samples", "1", "--backend", "cpu", "-o", f"{tmp_path}/a.gif"]
    assert main(["animate", str(path), *options]) == 0
    said = capsys.readouterr().err
    assert said.count("raytracer: warning: ") == 1
    assert "of 20 frames, 5 cannot be read, so frames next to them are shown (frames 2, 6," in said
    assert (
        "; 5 have particles whose positions are not finite, which are left out (5 particles" in said
    )
    assert "; 5 hold no particles and are empty (frames 0, 4, 8, 12, 16)" in said
    assert main(["animate", str(path), *options, "--part", "3/4"]) == 0
    assert "of 20 frames, 5 cannot be read" in capsys.readouterr().err


def test_smoothing_and_trails_go_on(tmp_path: Path) -> None:
    texts = [dump(A, 0), dump(HALF, 1, 2), dump(B, 2), dump([(NAN, 0, 0), C[1]], 3), dump(C, 4)]
    path = write(tmp_path / "a.dump", "".join(texts))
    for settings in ({"smoothing": 3}, {"unwrap": True}, {"trails": "4"}):
        with collect_warnings() as said:
            assert len(list(raytracer.animate(path, **SMALL, **settings))) == 5
        assert sum("of 5 frames, 1 cannot be read" in each for each in said) == 1


def test_files_of_broken_frames_alone_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a.dump", dump(HALF, 0, 2) * 3)
    with pytest.raises(raytracer.UserError, match="frame 0: line 4 states 2 atoms"):
        list(raytracer.animate(path, **SMALL))
    one = write(tmp_path / "a.xyz", xyz([(NAN, 0.0, 0.0)], 0))
    with pytest.raises(raytracer.UserError, match="must be finite"):
        raytracer.load(one)


@pytest.mark.parametrize("name", TEXTS)
def test_the_last_complete_frame_of_a_file_that_is_cut_anywhere(name: str, tmp_path: Path) -> None:
    frames = [TEXTS[name](points, k) for k, points in enumerate((A, B, C))]
    ends = np.cumsum([len(each) for each in frames])
    for cut in range(ends[0] + 1, ends[2] + 1):
        path = write(tmp_path / name, "".join(frames)[:cut])
        number = int(np.searchsorted(ends, cut, side="right")) - 1
        right = [number, number + 1] if cut + 1 in ends else [number]  # but for the line end
        with collect_warnings():
            found = raytracer.load(path, -1).spheres[0].centers
        centers = np.round(np.asarray(found, float), 3).tolist()
        assert [centers] in [listed((A, B, C)[each]) for each in right], cut


@pytest.mark.parametrize("name", TEXTS)
def test_a_file_that_grows_while_it_is_read(name: str, tmp_path: Path) -> None:
    """What is appended after it was opened is not looked at: a frame in part, or many."""
    frames = [TEXTS[name](points, k) for k, points in enumerate((A, B, C))]
    for cut in (1, 20, len(frames[2]) - 3):
        path = write(tmp_path / name, "".join(frames[:2]) + frames[2][:cut])
        with open_file(path) as stream:
            with path.open("a") as more:
                more.write(frames[2][cut:] + "".join(frames) * 3 + frames[0][:-4])
            with open_frame(DataFile(path, frame=-1), stream) as source, collect_warnings():
                values = source.particles({}).centers
        assert np.round(values, 3).tolist() == listed(B)[0]


def zst(data: bytes) -> bytes:
    library = pytest.importorskip("zstandard")
    packed: bytes = library.ZstdCompressor().compress(data)
    return packed


PACK = {".gz": gzip.compress, ".bz2": lambda data: bz2.compress(data, 1), ".xz": lzma.compress,
        ".zst": zst}  # fmt: skip


@pytest.mark.parametrize("ending", PACK)
@pytest.mark.parametrize("share", [0.6, 0.9, 1.0])
def test_compressed_trajectories_that_are_cut(ending: str, share: float, tmp_path: Path) -> None:
    """The frames before the end are those of the plain file."""
    rng = np.random.default_rng(4)
    text = "".join(xyz(rng.uniform(0, 9, (50, 3)).tolist(), k) for k in range(400))
    data = PACK[ending](text.encode())
    cut = data[: int(share * len(data)) - (share == 1.0)]
    plain = write(tmp_path / "a.xyz", text)
    path = write(tmp_path / f"a.xyz{ending}", cut)
    with collect_warnings() as said:
        found = read(DataFile(path, frame=-1))
        frame = int(found.time.value) if found.time else -1
        count = len(raytracer.animate(path))
        last = read(DataFile(plain, frame=count - 1))
    assert frame in (-1, count - 1)
    assert 0 < count <= 400
    np.testing.assert_array_equal(found.centers, last.centers)
    notes = [*said, *(note for _, note in found.notes)]
    assert sum("is incomplete (" in each for each in notes) == 1
    whole = write(tmp_path / f"b.xyz{ending}", data)
    assert not any("incomplete" in note for _, note in read(DataFile(whole, frame=-1)).notes)
    table = write(tmp_path / f"a.csv{ending}", PACK[ending](b"x,y,z\n1,2,3\n" * 3000)[:-3])
    with pytest.raises(raytracer.UserError, match=f"cannot be read as {ending}"):
        raytracer.load(table)


def test_files_with_the_same_number_of_frames_move_together(tmp_path: Path) -> None:
    for name, frames in (("a", (A, B)), ("b", (B, C)), ("c", (A, B, C))):
        write(tmp_path / f"{name}.xyz", "".join(xyz(each, k) for k, each in enumerate(frames)))
    scene = tmp_path / "scene.toml"
    for names, count in (("ab", 2), ("ac", None)):
        sets = "".join(f'[[spheres]]\nfile = "{name}.xyz"\nradius = 0.3\n' for name in names)
        write(scene, sets)
        if count is None:
            with pytest.raises(raytracer.UserError, match="different numbers of frames"):
                raytracer.animate(scene, **SMALL)
        else:
            assert drawn(scene)[0] == listed(A, B)
