"""The command line: what it prints, what it writes, how it ends."""

import errno
import io
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pillow

import raytracer
from raytracer.backends.base import CpuFilm
from raytracer.commands.cli import main
from raytracer.commands.report import print_warnings
from support.commands import error_of, run_json

SCENE = """
title = "Two balls"
[render]
width = 16
height = 12
samples = 2
[[spheres]]
centers = [[0, 0, 0], [2, 0, 0]]
radii = [1.0, 0.5]
color = "crimson"
"""


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("balls.toml").write_text(SCENE)
    return "balls.toml"


def test_render_writes_a_picture_and_says_so(
    scene: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["render", scene, "--backend", "cpu"]) == 0
    captured = capsys.readouterr()
    assert re.match(
        r"wrote balls\.png: 2 kB, 16x12, 2 samples per pixel, 2 spheres, cpu \(.*\), "
        r"frame .*s, total .*s\n$",
        captured.out,
    )
    assert captured.err == ""
    with Pillow.open("balls.png") as picture:
        assert picture.size == (16, 12)
        assert picture.mode == "RGB"
    assert sorted(path.name for path in Path().iterdir()) == ["balls.png", scene]


@pytest.mark.parametrize("words", [["render", "balls.toml"], ["tone", "a.npz"]])
def test_a_picture_on_standard_output(scene: str, words: list[str]) -> None:
    command = [sys.executable, "-m", "raytracer"]
    film = raytracer.render(scene, backend="cpu").film
    film.save("a.npz")
    done = subprocess.run([*command, *words, "-o", "-"], capture_output=True, check=True)
    with Pillow.open(io.BytesIO(done.stdout)) as picture:
        assert picture.format == "PNG"
        np.testing.assert_array_equal(np.asarray(picture), film.tonemap()[..., :3])
    assert done.stderr.startswith(b"wrote standard output: ")
    assert not Path("-").exists()
    for more, says in (
        (["--json"], b"--json and `-o -` both write to standard output: give -o a file"),
        (["--quality", "9"], b"standard output: PNG is lossless and has no quality"),
    ):
        done = subprocess.run([*command, *words, "-o", "-", *more], capture_output=True)
        assert (done.returncode, done.stdout) == (2, b"")
        assert says in done.stderr


def test_a_terminal_gets_no_picture(
    scene: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert "standard output is a terminal" in error_of(capsys, "render", scene, "-o", "-")


def test_json_says_everything(scene: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = run_json(capsys, "render", scene, "--backend", "cpu", "--repeat", "3", "--threads", "1")
    assert found["output"] == "balls.png"
    assert found["spheres"] == 2
    assert found["backend"]["name"] == "cpu"
    assert found["backend"]["threads"] == 1
    assert {"load", "build", "frame", "tone", "write", "total"} < set(found["timings"])
    frames = found["frames"]
    assert frames["count"] == 3
    assert frames["min"] <= frames["q1"] <= frames["median"] <= frames["q3"]
    assert found["timings"]["frame"] == frames["median"]
    assert found["memory"]["bvh"] > 0
    assert found["samples"] == 2
    assert len(found["scene"]["digest"]) >= 16


@pytest.mark.parametrize(("target", "warned"), [([0, 0, 20], True), ([0, 0, 0], False)])
def test_a_camera_that_sees_no_sphere(
    target: list[int],
    warned: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Of a picture of the background alone a warning says so, in the JSON too."""
    monkeypatch.chdir(tmp_path)
    camera = f"[camera]\nposition = [0, 0, 10]\nlook_at = {target}\n"
    Path("away.toml").write_text(f"{camera}[[spheres]]\ncenters = [[0, 0, 0]]\n")
    size = ["--width", "16", "--height", "12", "--samples", "1", "--backend", "cpu"]
    assert main(["render", "away.toml", *size]) == 0
    seen = capsys.readouterr()
    assert ("raytracer: warning: no camera ray hit a sphere" in seen.err) == warned
    assert "1 sample per pixel, 1 sphere, cpu" in seen.out
    found = run_json(capsys, "render", "away.toml", *size)
    assert ["no camera ray hit a sphere" in each for each in found["warnings"]] == [True] * warned
    # A part of the picture may well be empty.
    assert run_json(capsys, "render", "away.toml", *size, "--crop", "0,0,1,1")["warnings"] == []


def test_options_override_the_scene(scene: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = run_json(
        capsys, "render", scene, "--width", "9", "--samples", "1", "--filter", "tent",
        "--filter-radius", "2", "--seed", "7", "--depth", "1", "--no-shadows",
        "--crop", "1,2,5,6",
    )  # fmt: skip
    settings = found["settings"]
    assert (settings["width"], settings["height"], settings["seed"]) == (9, 12, 7)
    assert (settings["filter"], settings["filter_radius"]) == ("tent", 2.0)
    assert (settings["max_depth"], settings["shadows"]) == (1, False)
    assert found["crop"] == [1, 2, 5, 6]
    assert main(["render", scene, "--backend", "cpu", "--crop", "1,2,5,6"]) == 0
    assert " kB, 4x4 at 1,2 of 16x12, 2 samples per pixel" in capsys.readouterr().out
    with Pillow.open("balls.png") as picture:
        assert picture.size == (4, 4)


def test_pick_is_what_a_pixel_shows(scene: str, capsys: pytest.CaptureFixture[str]) -> None:
    picked = raytracer.render(scene, backend="cpu").pick(8, 6)
    assert picked is not None
    found = run_json(capsys, "render", scene, "--backend", "cpu", "--pick", "8,6")
    assert found["pixel"] == [8, 6]
    assert found["particle"]["id"] == picked.id
    assert main(["render", scene, "--pick", "8,6"]) == 0
    assert capsys.readouterr().out.splitlines() == ["pixel 8,6:", *picked.lines()]
    assert run_json(capsys, "render", scene, "--pick", "0,0")["particle"] is None
    assert main(["render", scene, "--pick", "0,0"]) == 0
    assert capsys.readouterr().out == "pixel 0,0: no particle\n"
    assert not Path("balls.png").exists()


def test_only_is_exactly_that_sample(scene: str, capsys: pytest.CaptureFixture[str]) -> None:
    expected = raytracer.render(scene, backend="cpu", samples=1, first_sample=1).film.sums[6, 7]
    found = run_json(capsys, "render", scene, "--backend", "cpu", "--only", "7,6,1")
    assert [*found["radiance"], found["coverage"]] == expected.tolist()
    assert not Path("balls.png").exists()
    assert main(["render", scene, "--only", "7,6,1"]) == 0
    assert capsys.readouterr().out.startswith("pixel 7,6 sample 1: radiance ")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["render", "missing.toml"], "missing.toml: there is no such file"),
        (["render", "ball.npz"], "ball.npz: there is no such file"),
        (["render", "balls.toml", "--backend", "cpu", "--size", "900000x900000"], "TiB of memory"),
        (["render", "balls.toml", "--only", "0,0,0", "--repeat", "2"], "writes no picture"),
        (["render", "balls.toml", "--crop", "1,2"], "'1,2' is not of the form x0,y0,x1,y1"),
        (["render", "balls.toml", "--pick", "16,0"], "--pick 16,0: the picture has 16x12 pixels"),
    ],
)
def test_a_mistake_is_one_sentence(
    scene: str, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    assert words in error_of(capsys, *arguments)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["a.png"], "did you mean `raytracer info a.png`?"),
        (["convert", "a.xyz"], "did you mean `raytracer render`?"),
        (["scene", "a.toml"], "did you mean `raytracer scene check a.toml`?"),
        (["scene", "generate"], "--list shows them"),
        (["render", "a", "--legend", "bottom"], "after an equals sign: --legend=bottom"),
        (["rendr"], "'rendr'; did you mean `raytracer render`?"),
        (["atoms.xyz"], "'atoms.xyz'; did you mean `raytracer render atoms.xyz`?"),
        (["render", "a", "--overwrite"], "is replaced without an option"),
        (["scene", "describe", "a.xyz", "2"], "did you mean `raytracer scene check`?"),
        (["describe", "a.xyz"], "did you mean `raytracer info`?"),
        (["help", "render"], "use `raytracer --help` or `raytracer COMMAND --help`"),
        (["render", "a", "--version"], "use `raytracer --version`"),
        (["render", "a", "--describe", "1,2"], "did you mean '--pick'?"),
        (["render", "a", "--histogram"], "did you mean '--stats'?"),
        (["render", "a", "--text", "melt"], "did you mean '--title'?"),
        (["render", "a", "--legend-file", "b.svg"], "did you mean '--legend'?"),
        (["animate", "a", "--workers", "4"], "`raytracer animate --part K/N`"),
        (["render", "a", "--progressive"], "`raytracer preview` and `serve` show a picture while"),
        (["bench", "--ncu"], "did you mean '--profile'?"),
        (["scene", "chek"], "did you mean `raytracer scene check`?"),
        (["--spp", "3", "a"], "no such option '--spp'"),
        (["render", "a", "--size", "3x3", "--width", "4"], "give either --size"),
        (["render"], "missing argument 'SCENE|DATA...' (see `raytracer render --help`)"),
        (["bench", "--min-time", "ten"], "'--min-time': 'ten' is not"),
    ],
)
def test_misuse_is_one_sentence_that_names_the_help(
    arguments: list[str],
    words: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    sentence = error_of(capsys, *arguments)
    assert words in sentence
    assert sentence.endswith(" --help`)\n")
    assert sentence[len("raytracer: ")].islower()


@pytest.mark.parametrize(
    "arguments",
    [
        ["{}"],
        ["render", "{}"],
        ["render", "a.toml", "--{}"],
        ["render", "a.toml", "--filter", "{}"],
    ],
)
def test_words_of_the_command_line_are_escaped_and_cut(
    arguments: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    for word in ("\x1b]0;owned\x07\n\u202e", "\udc9b31m", "x" * 100_000, "\x1b" * 100_000):
        sentence = error_of(capsys, *(each.replace("{}", word) for each in arguments))
        assert sentence[:-1].isprintable()
        assert len(sentence) < 12_000  # each letter may become an escape sequence


def test_ctrl_c_leaves_nothing(
    scene: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: Any) -> float:
        raise KeyboardInterrupt

    monkeypatch.setattr(CpuFilm, "_accumulate", stop)
    assert main(["render", scene, "-o", "a.png", "--backend", "cpu"]) == 130
    assert "stopped by Ctrl-C" in capsys.readouterr().err
    assert [path.name for path in Path().iterdir()] == [scene]


def test_a_defect_keeps_its_traceback(scene: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> float:
        raise ZeroDivisionError

    monkeypatch.setattr(CpuFilm, "_accumulate", fail)
    with pytest.raises(ZeroDivisionError):
        main(["render", scene, "--backend", "cpu"])


def test_info_prints_what_render_wrote(scene: str, capsys: pytest.CaptureFixture[str]) -> None:
    made = run_json(capsys, "render", scene, "--backend", "cpu")
    found = run_json(capsys, "info", "balls.png")
    for key in ("version", "scene", "settings", "backend", "spheres", "samples", "date"):
        assert found[key] == made[key]
    stages = {k: v for k, v in found["timings"].items() if k != "total_before_write"}
    assert found["timings"]["total_before_write"] == pytest.approx(sum(stages.values()))
    assert {*stages, "write", "total"} == set(made["timings"])
    assert main(["info", "balls.png"]) == 0
    text = capsys.readouterr().out
    assert found["scene"]["digest"] in text
    assert "spheres" in text
    camera = raytracer.Camera(**found["camera"])
    assert camera == raytracer.load(scene).fitted_camera()
    assert text.endswith(f"\n\n{camera.to_toml()}\n")
    Pillow.new("RGB", (2, 2)).save("plain.png")
    assert "no metadata" in error_of(capsys, "info", "plain.png")


def test_devices_lists_both_backends(capsys: pytest.CaptureFixture[str]) -> None:
    found = run_json(capsys, "devices")
    assert [entry["backend"] for entry in found] == ["cpu", "cuda"]
    assert main(["devices"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "cpu   ready"
    assert any(line.startswith("cuda  ") for line in lines)


def test_scene_check_says_what_is_in_it(scene: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = run_json(capsys, "scene", "check", scene)
    assert found["title"] == "Two balls"
    assert found["spheres"] == 2
    assert found["bounds"]["low"] == pytest.approx([-1, -1, -1], abs=1e-5)
    assert found["bounds"]["high"] == pytest.approx([2.5, 1, 1], abs=1e-5)
    camera = found["camera"]
    fitted = raytracer.load(scene).fitted_camera()
    assert camera["fitted"] == "to 16x12 pixels"
    assert main(["scene", "check", scene]) == 0
    assert capsys.readouterr().out.endswith(f"\n\n{fitted.to_toml()}\n")
    assert tuple(camera["position"]) == fitted.position
    assert tuple(camera["look_at"]) == fitted.look_at


def test_scene_schema_is_a_schema(scene: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scene", "schema"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert "spheres" in printed["properties"]


def test_full_memory_is_one_sentence(
    scene: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    errors: list[Exception] = [
        MemoryError("Unable to allocate 9.31 GiB for an array with shape (9, 9) and data type u1"),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
    ]

    left = iter(errors)

    def fail(*_: Any) -> float:
        raise next(left)

    monkeypatch.setattr(CpuFilm, "_accumulate", fail)
    for _ in errors:
        assert main(["render", scene, "--backend", "cpu"]) == 2
        said = capsys.readouterr().err
        assert said.startswith("raytracer: there is not enough memory: use fewer spheres")
        assert said.count("\n") == 1


@pytest.mark.parametrize(("count", "last"), [(20, "warning 19"), (25, "and 5 more warnings")])
def test_of_many_warnings_the_first_twenty_are_printed(
    count: int, last: str, capsys: pytest.CaptureFixture[str]
) -> None:
    print_warnings([f"warning {n}" for n in range(count)])
    lines = capsys.readouterr().err.splitlines()
    assert lines[:20] == [f"raytracer: warning: warning {n}" for n in range(20)]
    assert len(lines) == min(count, 21)
    assert lines[-1].startswith(f"raytracer: warning: {last}")


@pytest.mark.parametrize("quiet", [False, True])
def test_quiet_shows_no_progress_even_where_it_is_asked_for(
    quiet: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.xyz").write_text("1\n\nO 0 0 0\n")
    options = ["--size", "16x12", "--samples", "2", "--backend", "cpu", "--progress"]
    words = ["render", str(tmp_path / "a.xyz"), "-o", str(tmp_path / "a.png"), *options]
    assert main([*words, *(["-q"] if quiet else [])]) == 0
    assert (capsys.readouterr().err == "") == quiet
