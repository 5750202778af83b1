"""Exposure, statistics and films on the command line."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pillow

import raytracer
from raytracer.commands.cli import main
from raytracer.film import formats
from raytracer.film.film import Film
from raytracer.film.statistics import FIRST
from support.commands import error_of, run_json
from support.films import natural
from support.previews import pixels_of

SCENE = """
[render]
width = 16
height = 12
samples = 2
[background]
transparent = true
[[spheres]]
centers = [[0, 0, 0], [2, 0, 0]]
radii = [1.0, 0.5]
color = "crimson"
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current folder with a scene and a film."""
    monkeypatch.chdir(tmp_path)
    Path("balls.toml").write_text(SCENE)
    natural(33, 22).save("a.npz")
    return tmp_path


def run(*words: str) -> None:
    more = ["--backend", "cpu"] if words[0] == "render" else []
    assert main([*words, *more]) == 0


def test_statistics_are_in_json_and_in_the_picture(capsys: pytest.CaptureFixture[str]) -> None:
    found = run_json(capsys, "render", "balls.toml", "--exposure", "auto", "--tone", "agx")
    assert found["tone"]["tone"] == "agx"
    assert found["statistics"]["exposure"] == found["statistics"]["metered"] != 0
    assert sum(found["statistics"]["bins"]) == 16 * 12
    assert sum(found["statistics"]["bins"][FIRST:]) == found["statistics"]["covered"]
    kept = formats.read_metadata(Path("balls.png"))
    assert kept is not None
    assert kept["statistics"]["key"] == found["statistics"]["key"]
    assert kept["tone"]["exposure"] == "auto"


def test_exposure_and_curve_change_the_picture_as_the_film_does() -> None:
    words = ["--exposure", "-1.5", "--tone", "reinhard", "--white", "2", "--dither"]
    run("render", "balls.toml", "-q", "--film", "f.npz", "-o", "a.png", *words)
    settings: Any = {"exposure": -1.5, "tone": "reinhard", "white": 2.0, "dither": True}
    assert np.array_equal(pixels_of("a.png"), Film.load("f.npz").tonemap(**settings))
    run("tone", "f.npz", "-q", "-o", "b.png", *words)
    assert np.array_equal(pixels_of("a.png"), pixels_of("b.png"))


def test_a_film_is_resumed_bit_for_bit() -> None:
    run("render", "balls.toml", "-q", "--film", "f.npz", "--aov", "id,samples", "--samples", "3")
    run("render", "balls.toml", "-q", "--resume", "f.npz", "--film", "f.npz", "--samples", "4")
    run("render", "balls.toml", "-q", "--film", "g.npz", "--samples", "7", "-o", "g.png")
    resumed, whole = Film.load("f.npz"), Film.load("g.npz")
    assert resumed.sums.tobytes() == whole.sums.tobytes()
    assert (resumed.samples, whole.samples) == (7, 7)
    assert set(resumed.aovs) == {"id", "samples"}
    assert (resumed.aovs["samples"] == 7).all()
    assert np.array_equal(pixels_of("balls.png"), pixels_of("g.png"))


def test_tone_of_a_film(capsys: pytest.CaptureFixture[str]) -> None:
    run("tone", "a.npz", "--exposure", "auto", "--tone", "aces", "--stats")
    said = capsys.readouterr().out
    assert said.startswith("wrote a.png: 33x22, 3 samples per pixel, aces, exposure ")
    assert "metered" in said
    wanted = Film.load("a.npz").tonemap(exposure="auto", tone="aces")
    assert np.array_equal(pixels_of("a.png"), wanted)
    found = run_json(capsys, "tone", "a.npz", "--bits", "16", "-o", "b.png")
    assert found["films"][0]["output"] == "b.png"
    assert Path("b.png").read_bytes()[24] == 16


@pytest.mark.parametrize("words", [["tone", "f.npz"], ["render", "white.toml"]])
@pytest.mark.parametrize(("quality", "step"), [(None, 2), (20, 40), (50, 16), (100, 1)])
def test_the_quality_of_jpeg(words: list[str], quality: int | None, step: int) -> None:
    """The first step of libjpeg's table: 16 at 50, times 50 / q below it and (100 - q) / 50 above;
    95 is the default."""
    Path("white.toml").write_text(SCENE.replace("transparent = true", 'color = "white"'))
    run("render", "white.toml", "-q", "--film", "f.npz", "-o", "a.png")
    run(*words, "-q", "-o", "a.jpg", *(["--quality", str(quality)] if quality else []))
    with Pillow.open("a.jpg") as picture:
        tables: Any = picture.quantization  # type: ignore[attr-defined]
        assert tables[0][0] == step


def test_pixels_that_are_not_finite_are_reported(capsys: pytest.CaptureFixture[str]) -> None:
    film = natural(33, 22)
    film.sums[4, 9] = np.nan
    film.save("bad.npz")
    run("tone", "bad.npz")
    captured = capsys.readouterr()
    assert "1 pixels are NaN or infinite, the first of them 9,4" in captured.err
    assert run_json(capsys, "tone", "bad.npz")["films"][0]["statistics"]["non_finite"] == 1
    run("tone", "a.npz", "-q")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["tone", "a.npz", "--bits", "16", "--dither"], "dither is for 8 bits"),
        (["tone", "a.exr"], "OpenEXR is for other programs: give the film that"),
        (["tone", "a.npz", "b.npz", "-o", "x.png"], "is for a single film"),
        (["render", "balls.toml", "--aov", "id"], "give --film FILE too"),
        (["tone", "a.npz", "a.npz"], "the same name"),
        (["render", "balls.toml", "--time", "nan"], "--time: must be a finite number"),
        (["render", "balls.toml", "--repeat", "2", "--noise", "1"], "give either it or --noise"),
        (["render", "balls.toml", "--resume", "a.npz"], "use the same size and crop"),
    ],
)
def test_mistakes_are_one_sentence(
    capsys: pytest.CaptureFixture[str], words: list[str], sentence: str
) -> None:
    assert sentence in error_of(capsys, *words)


def test_bloom_and_denoising_of_a_film(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from raytracer.film import denoise

    asked: list[Any] = []

    def filtered(color: Any, guides: Any, **_: Any) -> Any:
        asked.append(guides)
        return color * 0

    monkeypatch.setattr(denoise, "filter_color", filtered)
    monkeypatch.setattr(denoise, "require_denoiser", lambda: None)
    run("tone", "a.npz", "--denoise", "-o", "black.png", "--bloom", "0.1")
    assert pixels_of("black.png").max() == 0
    assert asked == [None, None]
    assert "no albedo and normal" in capsys.readouterr().err
    run("render", "balls.toml", "--film", "b.npz", "--aov", "denoising_albedo,denoising_normal")
    run("tone", "b.npz", "--denoise", "--exposure", "auto")
    assert asked[2][0].shape == (12, 16, 3)
    assert "no albedo" not in capsys.readouterr().err
    run("render", "balls.toml", "--denoise", "-o", "also_black.png", "--film", "c.npz")
    assert pixels_of("also_black.png").max() == 0
    assert Film.load("c.npz").sums.max() > 0


def test_noise_and_time(capsys: pytest.CaptureFixture[str]) -> None:
    record = run_json(capsys, "render", "balls.toml", "--noise", "0.05")
    assert 0 < record["noise"] <= 0.05
    run("render", "balls.toml", "--time", "0.001", "--noise", "1e-9")
    assert re.search(r"\d samples? per pixel", capsys.readouterr().out)
    run("render", "balls.toml", "--noise", "0.1")
    assert "noise 0.0" in capsys.readouterr().out


def test_a_scene_has_its_own_exposure_and_tone_curve(capsys: pytest.CaptureFixture[str]) -> None:
    own = '[tone]\nexposure = "auto"\ntone = "agx"\nbloom = 0.2\nmeter_range = [5, 90.5]\n'
    Path("own.toml").write_text(SCENE.replace("[background]", own + "[background]"))
    tone = run_json(capsys, "render", "own.toml")["tone"]
    assert tone["exposure"] == "auto"
    assert (tone["tone"], tone["bloom"], tone["meter_range"]) == ("agx", 0.2, [5.0, 90.5])
    tone = run_json(capsys, "render", "own.toml", "--exposure", "1.5", "--bloom", "0")["tone"]
    assert (tone["exposure"], tone["tone"], tone["bloom"]) == (1.5, "agx", 0.0)
    scene = raytracer.load("own.toml")
    assert scene.tone == raytracer.ToneSettings("auto", "agx", bloom=0.2, meter_range=(5, 90.5))
    assert raytracer.render(scene).settings == scene.tone
    assert raytracer.render(scene, tone={"white": 2.0}).settings.tone == "agx"
    plain = raytracer.ToneSettings()
    assert raytracer.render(scene, tone=plain).settings == plain
    with pytest.raises(raytracer.UserError, match=r"tone: .*bloom"):
        raytracer.render(scene, tone={"blom": 0.1})
    with pytest.raises(raytracer.UserError, match="tone: give ToneSettings or a dictionary"):
        raytracer.render(scene, tone="agx")  # type: ignore[arg-type]
