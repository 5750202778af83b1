"""Film files: what is saved comes back bit for bit, what cannot be used is one sentence."""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer.errors import DataFileError, UserError
from raytracer.film import film_file
from raytracer.film.film import Film
from support.films import wild

exr_only = pytest.mark.skipif(
    find_spec("OpenEXR") is None, reason="the extra `exr` is not installed"
)


def full() -> Film:
    """A crop with everything that a film can have."""
    rng = np.random.default_rng(3)
    sums = wild(9, 7).sums
    shape = sums.shape[:2]
    aovs: dict[str, Any] = {
        "depth": rng.random(shape, np.float32),
        "normal": rng.random((*shape, 3), np.float32),
        "albedo": rng.random((*shape, 3), np.float32),
        "id": rng.integers(0, 2**32, shape, dtype=np.uint32),
        "position": rng.normal(size=(*shape, 3)).astype(np.float32),
        "samples": np.full(shape, 3, np.uint32),
    }
    aovs["depth"][0, 0] = np.inf
    return Film(sums, 3, 4, 2, 20, 12, aovs, {"digest": "0123", "settings": {"width": 20}})


def scene() -> raytracer.Scene:
    return raytracer.Scene.from_arrays(
        np.zeros((1, 3)), np.ones(1), render=raytracer.RenderSettings(width=16, height=12)
    )


def test_output_variables_that_are_not_asked_for_are_left_out(tmp_path: Path) -> None:
    path = full().save(tmp_path / "a.npz")
    assert set(Film.load(path, ("depth", "id")).aovs) == {"depth", "id"}
    assert Film.load(path, ()).aovs == {}


def test_everything_comes_back(tmp_path: Path) -> None:
    film = full()
    found = Film.load(film.save(tmp_path / "a.npz"))
    assert found.sums.tobytes() == film.sums.tobytes()
    assert (found.samples, found.crop, found.width, found.height) == (3, (4, 2, 13, 9), 20, 12)
    assert found.metadata == film.metadata
    assert set(found.aovs) == set(film.aovs)
    for name, array in film.aovs.items():
        assert found.aovs[name].dtype == array.dtype, name
        assert found.aovs[name].tobytes() == array.tobytes(), name
    assert [path.name for path in tmp_path.iterdir()] == ["a.npz"]


def test_a_film_of_another_picture_is_refused() -> None:
    film = raytracer.render(scene(), backend="cpu", samples=1).film
    with pytest.raises(UserError, match="seed is 0 there and 5 here"):
        raytracer.render(scene(), backend="cpu", samples=1, seed=5, film=film)
    other = raytracer.Scene.from_arrays(
        np.ones((1, 3)), np.full(1, 2.0), np.array([[1.0, 0, 0]]), render=scene().render
    )
    with pytest.raises(UserError, match="scene, camera or version"):
        raytracer.render(other, backend="cpu", samples=1, film=film)


@exr_only
def test_other_programs_find_the_mean_and_the_layers(tmp_path: Path) -> None:
    import OpenEXR

    film = full()
    film.sums = np.abs(np.nan_to_num(film.sums, posinf=1.0, neginf=0.0)).clip(0, 100)
    path = film.save(tmp_path / "a.exr")
    with OpenEXR.File(str(path), separate_channels=True) as file:
        channels = {name: channel.pixels.copy() for name, channel in file.channels().items()}
        header = dict(file.header())
    assert set(channels) >= {"R", "G", "B", "A", "depth.Z", "normal.X", "id.I"}
    assert np.array_equal(channels["G"], film.mean()[..., 1])
    assert channels["id.I"].dtype == np.uint32
    assert np.array(header["dataWindow"]).tolist() == [[4, 2], [12, 8]]
    assert np.array(header["displayWindow"]).tolist() == [[0, 0], [19, 11]]


def test_what_was_hit_and_the_background_are_kept(tmp_path: Path) -> None:
    film = raytracer.render(scene(), backend="cpu", samples=3).film
    assert film.backdrop is not None
    found = Film.load(film.save(tmp_path / "a.npz"))
    assert found.backdrop == film.backdrop
    assert found.sums.tobytes() == film.sums.tobytes()
    assert 0 < found.statistics().covered < found.statistics().pixels
    more = raytracer.render(scene(), backend="cpu", samples=2, film=found).film
    assert more.backdrop == film.backdrop


def test_files_that_are_no_films_are_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match="there is no such file"):
        Film.load(tmp_path / "a.npz")
    with pytest.raises(DataFileError, match=r"films are \.npz files"):
        Film.load(tmp_path / "a.png")
    with pytest.raises(DataFileError, match="OpenEXR is for other programs"):
        Film.load(tmp_path / "a.exr")
    (tmp_path / "text.npz").write_text("no film")
    with pytest.raises(DataFileError, match=r"is not an \.npz file, or is incomplete"):
        Film.load(tmp_path / "text.npz")
    np.savez(tmp_path / "particles.npz", centers=np.zeros((3, 3)))
    with pytest.raises(DataFileError, match="is not a film: it has centers"):
        Film.load(tmp_path / "particles.npz")
    full().save(tmp_path / "whole.npz")
    data = (tmp_path / "whole.npz").read_bytes()
    (tmp_path / "half.npz").write_bytes(data[: len(data) // 2])
    with pytest.raises(DataFileError, match=r"is not an \.npz file, or is incomplete"):
        Film.load(tmp_path / "half.npz")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"about": "{"}, "damaged"),
        ({"about": json.dumps({"format": 99})}, "format 99"),
        ({"about": json.dumps({"format": 1})}, "damaged"),
        ({"sums": np.zeros((3, 3, 4))}, "is not a valid film"),
        ({"sums": np.zeros((300, 3, 4), np.float32)}, "is not a valid film"),
        ({"aov_depth": np.zeros((2, 2), np.float32)}, "output variable depth is float32"),
    ],
)
def test_damaged_films_are_one_sentence(
    tmp_path: Path, changes: dict[str, Any], words: str
) -> None:
    film = full()
    arrays = {"film": np.array(film_file._about(film)), "sums": film.sums} | changes
    if "about" in arrays:
        arrays["film"] = np.array(arrays.pop("about"))
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(DataFileError, match=words):
        Film.load(tmp_path / "a.npz")


@pytest.mark.parametrize(
    ("part", "value", "says"),
    [
        ("sums", np.zeros((7, 9, 4)), "^sums: "),
        ("sums", np.zeros((99, 9, 4), np.float32), "reach beyond the picture"),
        ("samples", "2", "^samples: "),
        ("metadata", {"a": object()}, "^metadata: "),
        ("aovs", {"depth": np.zeros((2, 2), np.float32)}, "the output variable depth is"),
    ],
)
def test_a_film_with_odd_parts_is_neither_saved_nor_developed(
    part: str, value: Any, says: str, tmp_path: Path
) -> None:
    film = full()
    setattr(film, part, value)
    with pytest.raises(UserError, match=says):
        film.save(tmp_path / "a.npz")
    assert not list(tmp_path.iterdir())
    if part not in ("metadata", "aovs"):
        with pytest.raises(UserError, match=says):
            film.tonemap()
        with pytest.raises(UserError, match=says):
            film.statistics()
