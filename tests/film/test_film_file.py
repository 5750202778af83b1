"""Files of films and pictures: what comes back, what each refuses, and the metadata in them."""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pillow

import raytracer
from raytracer.commands.cli import main
from raytracer.config.errors import DataFileError, UserError
from raytracer.film import film_file, formats
from raytracer.film.film import Film
from support.films import wild
from support.previews import pixels_of

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
    with pytest.raises(UserError, match="scene, camera, settings or version"):
        raytracer.render(scene(), backend="cpu", samples=1, seed=5, film=film)
    other = raytracer.Scene.from_arrays(
        np.ones((1, 3)), np.full(1, 2.0), np.array([[1.0, 0, 0]]), render=scene().render
    )
    with pytest.raises(UserError, match="scene, camera, settings or version"):
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
        ({"about": '{"format": 3, "format": 3}'}, "has the key 'format' twice"),
        ({"about": f'{{"a": {"[" * 900}{"]" * 900}}}'}, "nested too deeply"),
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
    ("part", "value", "words"),
    [
        ("backdrop", False, "damaged"),
        ("backdrop", {"bottom": "", "top": ""}, "backdrop: "),
        ("backdrop", {"bottom": [1, 1, 1], "top": [1, 1, 1, 1]}, "backdrop: "),
        ("backdrop", {"bottom": [1, 1, 1], "top": [1, 1, float("nan")]}, "backdrop: "),
        ("backdrop", {"bottom": [1, 1, 10**400], "top": [1, 1, 1]}, "backdrop: "),
        ("metadata", {"settings": None}, "damaged"),
        ("metadata", {"settings": {"dpi": "x"}}, "dpi: "),
        ("metadata", {"settings": {"dpi": -1}}, "dpi: "),
        ("metadata", {"settings": {"dpi": 1e308}}, "dpi: "),
        ("metadata", {"a": {"b": [[[[]]] * 30] * 3}}, ""),
        ("metadata", {"scene": {"file": "\ud800"}}, ""),
    ],
)
def test_films_with_odd_metadata_are_toned_or_told(
    part: str, value: Any, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    Pillow.new("RGB", (2, 2)).save("a.png")  # of which scene it is, is compared
    film = full()
    about = json.loads(film_file._about(film)) | {part: value}
    np.savez("a.npz", film=np.array(json.dumps(about)), sums=film.sums)
    for arguments in (["-o", "b.png"], []):
        assert main(["tone", "a.npz", *arguments]) == (2 if words else 0)
        said = capsys.readouterr()
        assert (said.err if words else said.out).count("\n") == 1
        assert words in said.err
    assert main(["info", "a.npz"]) == 0


@pytest.mark.parametrize(
    ("part", "value", "says"),
    [
        ("sums", np.zeros((7, 9, 4)), "^sums: "),
        ("backdrop", ((1, 1), (1, 1, 1)), "^backdrop: "),
        ("backdrop", 3, "^backdrop: "),
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


@pytest.fixture(scope="module")
def picture() -> raytracer.Image:
    """A ball before blue, wider than a strip of a TIFF is high."""
    scene = raytracer.Scene.from_arrays([(0, 0, 0)], 1.0, "gold")
    return raytracer.render(scene, background="navy", width=40, height=300, samples=1)


@pytest.fixture(scope="module")
def cut_out() -> raytracer.Image:
    scene = raytracer.Scene.from_arrays([(0, 0, 0)], 1.0, "gold")
    return raytracer.render(scene, transparent=True, width=40, height=30, samples=4)


@pytest.mark.parametrize("name", ["a.png", "a.tiff", "a.TIF"])
def test_formats_that_keep_every_value(
    name: str, picture: raytracer.Image, cut_out: raytracer.Image, tmp_path: Path
) -> None:
    for image in (picture, cut_out):
        assert np.array_equal(pixels_of(image.save(tmp_path / name)), image.to_uint8())


@pytest.mark.parametrize(
    ("name", "quality", "most"),
    [("a.jpg", None, 6), ("a.jpeg", 100, 3), ("a.webp", 100, 0), ("a.avif", 95, 8)],
)
def test_formats_that_lose_some(
    name: str, quality: int | None, most: int, picture: raytracer.Image, tmp_path: Path
) -> None:
    path = picture.save(tmp_path / name, quality=quality)
    off = np.abs(pixels_of(path).astype(int) - picture.to_uint8())
    assert off.max() <= max(most * 8, 0)
    assert off.mean() <= most


@pytest.mark.parametrize("name", ["a.webp", "a.avif"])
def test_alpha_is_kept_where_the_format_has_it(
    name: str, cut_out: raytracer.Image, tmp_path: Path
) -> None:
    found = pixels_of(cut_out.save(tmp_path / name, quality=100))
    assert found.shape == (30, 40, 4)
    assert found[0, 0, 3] == 0
    assert found[15, 20, 3] == 255


@pytest.mark.parametrize("name", ["a.png", "a.tif", "a.jpg", "a.webp", "a.avif", "a.svg"])
def test_every_format_has_the_metadata(
    name: str, picture: raytracer.Image, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = picture.save(tmp_path / name)
    found = formats.read_metadata(path)
    assert found is not None
    assert found["settings"]["width"] == 40
    assert raytracer.Camera(**found["camera"]) == picture.camera
    assert main(["info", str(path)]) == 0
    assert "[camera]" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["a.jpg", "a.tiff"])
def test_the_size_on_paper_is_stated(name: str, tmp_path: Path) -> None:
    scene = raytracer.Scene.from_arrays([(0, 0, 0)], 1.0)
    path = raytracer.render(scene, width=4, height=4, samples=1, dpi=300).save(tmp_path / name)
    with Pillow.open(path) as opened:
        assert opened.info["dpi"] == pytest.approx((300, 300))


def test_an_exr_is_the_linear_picture(picture: raytracer.Image, tmp_path: Path) -> None:
    exr = pytest.importorskip("OpenEXR")
    with exr.File(str(picture.save(tmp_path / "a.exr"))) as file:
        np.testing.assert_array_equal(file.channels()["RGBA"].pixels, picture.film.mean())


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("a.jpg", {}, "JPEG cannot be transparent, and the picture is: give it a background"),
        ("a.tiff", {"bits": 16}, "TIFF has 8 bits per channel, not 16: give a name of a .png"),
        ("a.webp", {"bits": 16}, "WEBP has 8 bits per channel, not 16"),
        ("a.png", {"quality": 50}, "PNG is lossless and has no quality"),
        ("a.gif", {}, "'.gif' is not the suffix of a picture format; known are .png"),
        ("a.webp", {"quality": 101}, "quality: must be at most 100, not 101"),
    ],
)
def test_what_a_format_cannot_hold_is_refused(
    name: str, options: Any, sentence: str, cut_out: raytracer.Image, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match=sentence):
        cut_out.save(tmp_path / name, **options)
    assert not list(tmp_path.iterdir())


def test_a_name_without_a_request_replaces_nothing_of_another_scene(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.xyz").write_text("1\n\nO 0 0 0\n")
    Pillow.new("RGB", (2, 2)).save("b.png")
    (tmp_path / "b.xyz").write_text("1\n\nO 0 0 0\n")

    def written(scene: str, *options: str) -> str:
        size = ["--size", "4x4", "--spp", "1", "--backend", "cpu"]
        assert main(["render", scene, *size, *options]) == 0
        return capsys.readouterr().out.partition("wrote ")[2].partition(":")[0]

    assert written("one/a.xyz") == "a.png"
    (tmp_path / "one" / "a.xyz").write_text("1\nchanged\nO 0 0 1\n")
    assert written("one/a.xyz", "--view", "x") == "a.png"
    assert written("two/a.xyz") == "a-2.png"
    assert written(str(tmp_path / "two" / "a.xyz")) == "a-2.png"  # the same file by another name
    assert written("one/a.xyz") == "a.png"
    assert written("two/a.xyz", "-o", "a.png") == "a.png"  # as was asked
    assert written("one/a.xyz") == "a-3.png"
    assert written("b.xyz") == "b-2.png"
    assert pixels_of(Path("b.png")).shape == (2, 2, 3)
    Path("b-2.png").unlink()
    Path("b-2.png").mkdir()  # whatever it is, it stays
    assert written("b.xyz") == "b-3.png"
