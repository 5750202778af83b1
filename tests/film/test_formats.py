"""Formats of pictures: what is read back, what each refuses, and the metadata in them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pillow

import raytracer
from raytracer.cli import main
from raytracer.errors import UserError
from raytracer.film import png


@pytest.fixture(scope="module")
def picture() -> raytracer.Image:
    """A ball before blue, wider than a strip of a TIFF is high."""
    scene = raytracer.Scene.from_arrays([(0, 0, 0)], 1.0, "gold")
    return raytracer.render(scene, background="navy", width=40, height=300, samples=1)


@pytest.fixture(scope="module")
def cut_out() -> raytracer.Image:
    scene = raytracer.Scene.from_arrays([(0, 0, 0)], 1.0, "gold")
    return raytracer.render(scene, transparent=True, width=40, height=30, samples=4)


def shown(path: Path) -> Any:
    with Pillow.open(path) as opened:
        opened.load()
        return np.asarray(opened)


@pytest.mark.parametrize("name", ["a.png", "a.tiff", "a.TIF"])
def test_formats_that_keep_every_value(
    name: str, picture: raytracer.Image, cut_out: raytracer.Image, tmp_path: Path
) -> None:
    for image in (picture, cut_out):
        assert np.array_equal(shown(image.save(tmp_path / name)), image.to_uint8())


@pytest.mark.parametrize(
    ("name", "quality", "most"),
    [("a.jpg", None, 6), ("a.jpeg", 100, 3), ("a.webp", 100, 0), ("a.avif", 95, 8)],
)
def test_formats_that_lose_some(
    name: str, quality: int | None, most: int, picture: raytracer.Image, tmp_path: Path
) -> None:
    path = picture.save(tmp_path / name, quality=quality)
    off = np.abs(shown(path).astype(int) - picture.to_uint8())
    assert off.max() <= max(most * 8, 0)
    assert off.mean() <= most


@pytest.mark.parametrize("name", ["a.webp", "a.avif"])
def test_alpha_is_kept_where_the_format_has_it(
    name: str, cut_out: raytracer.Image, tmp_path: Path
) -> None:
    found = shown(cut_out.save(tmp_path / name, quality=100))
    assert found.shape == (30, 40, 4)
    assert found[0, 0, 3] == 0
    assert found[15, 20, 3] == 255


@pytest.mark.parametrize("name", ["a.png", "a.tif", "a.jpg", "a.webp", "a.avif", "a.svg"])
def test_every_format_has_the_metadata(
    name: str, picture: raytracer.Image, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = picture.save(tmp_path / name)
    found = png.read_metadata(path)
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
    assert shown(Path("b.png")).shape == (2, 2, 3)
    Path("b-2.png").unlink()
    Path("b-2.png").mkdir()  # whatever it is, it stays
    assert written("b.xyz") == "b-3.png"
