"""Output files: never an input, whole or not at all, with the links and modes they had."""

import os
from pathlib import Path

import numpy as np
import pytest

from raytracer.commands.cli import main
from raytracer.commands.picture import _was_made_of
from raytracer.config.errors import OutputError
from raytracer.files import output
from raytracer.film import png
from raytracer.film.film import Film

SCENE = """
[render]
width = 16
height = 12
samples = 2
[[spheres]]
file = "stars.npz"
radius = 0.3
"""
SMALL = ["--width", "8", "--height", "6", "--samples", "1", "--backend", "cpu"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a scene, its data, and a film of it."""
    monkeypatch.chdir(tmp_path)
    Path("scene.toml").write_text(SCENE)
    np.savez("stars.npz", centers=np.eye(3))
    assert main(["render", "scene.toml", "-q", *SMALL, "-o", "old.png", "--film", "film.npz"]) == 0
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    """All files by name."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("scene generate cloud --count 3 -o stars.npz", "stars.npz"),
        ("bench vecadd --save old.json", "old.json"),
    ],
)
def test_texts_and_data_that_exist_are_replaced_with_force_alone(
    command: str, name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("old.json").write_text("mine")
    before = contents(folder)
    assert main(command.split()) == 2
    exists = f"raytracer: {name}: exists already: give another name, or --force to replace it\n"
    assert capsys.readouterr() == ("", exists)
    assert contents(folder) == before
    if command.startswith("scene"):
        assert main([*command.split(), "--force"]) == 0
        assert Path(name).read_bytes() != before[Path(name).name]


def test_links_stay_and_what_they_point_at_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    target, link = tmp_path / "far" / "a.txt", tmp_path / "link.txt"
    link.symlink_to("far/a.txt")
    output.write(output.check_file(link), "new")  # where there is no file yet
    output.write(output.check_file(link), "newer")
    assert link.is_symlink()
    assert target.read_text() == "newer"
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a.txt", "far", "link.txt"]


def test_links_that_lead_nowhere_are_refused(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "gone").symlink_to("missing/a")
    with pytest.raises(OutputError, match="points at itself"):
        output.check_file(tmp_path / "loop")
    with pytest.raises(OutputError, match=r"there is no folder .*missing"):
        output.check_file(tmp_path / "gone")


def test_the_mode_of_a_replaced_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    old = os.umask(0o022)
    try:
        output.write(path, "old")
        assert path.stat().st_mode & 0o777 == 0o644
        path.chmod(0o606)
        output.write(path, "new")
    finally:
        os.umask(old)
    assert path.stat().st_mode & 0o777 == 0o606
    assert path.read_text() == "new"


def test_bad_paths_are_one_sentence(tmp_path: Path) -> None:
    longest = tmp_path / ("a" * 251 + ".png")
    output.write(output.check_picture(longest), b"new")
    assert longest.read_bytes() == b"new"
    with pytest.raises(OutputError, match=r"cannot be written .*too long"):
        output.check_file(tmp_path / ("a" * 256))
    with pytest.raises(OutputError, match=r"cannot be written .*null"):
        output.check_file(f"{tmp_path}/a\0b")
    with pytest.raises(OutputError, match="is a device"):
        output.check_file("/dev/null")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OutputError, match="a pipe"):
        output.check_file(tmp_path / "pipe")
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="no folder"):
        output.check_file(tmp_path / "file" / "a")


@pytest.mark.parametrize("call", ["open", "chmod"])
def test_a_signal_during_a_system_call_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    """Python raises when the call returns, before its result is stored."""
    (tmp_path / "a.png").write_bytes(b"old")
    original = getattr(os, call)

    def interrupted(*args: object, **more: object) -> None:
        original(*args, **more)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, call, interrupted)
    with pytest.raises(KeyboardInterrupt):
        output.write(tmp_path / "a.png", b"new")
    monkeypatch.undo()
    assert contents(tmp_path) == {"a.png": b"old"}


def test_a_link_in_its_place_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    monkeypatch.setattr("secrets.token_hex", lambda _: "taken")
    (tmp_path / f"{output.PREFIX}taken.tmp").symlink_to(victim)
    with pytest.raises(OutputError):
        output.write(tmp_path / "a.png", b"new")
    assert victim.read_text() == "mine"


def full_disk(monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    """No space left for pictures or for films."""

    def fail(file: object, *_: object, **__: object) -> None:
        file.write(b"half")  # type: ignore[attr-defined]
        raise OSError(28, "No space left on device")

    if what == "picture":
        monkeypatch.setattr(png, "write", fail)
    else:
        monkeypatch.setattr(np, "savez", fail)


@pytest.mark.parametrize(("full", "other"), [("picture", "film"), ("film", "picture")])
def test_a_full_disk_loses_neither_the_old_nor_the_new(
    full: str,
    other: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    files = {"picture": "old.png", "film": "film.npz"}
    before = contents(folder)
    full_disk(monkeypatch, full)
    command = ["render", "scene.toml", "-q", *SMALL, "-o", "old.png"]
    assert main([*command, "--resume", "film.npz", "--film", "film.npz"]) == 1
    said = capsys.readouterr().err
    assert f"{files[full]}: cannot be written (No space left on device)" in said
    after = contents(folder)
    assert sorted(after) == sorted(before)
    assert after[files[full]] == before[files[full]]
    assert after[files[other]] != before[files[other]]
    assert Film.load("film.npz").samples == (2 if other == "film" else 1)


def test_a_picture_that_cannot_be_read_is_of_another_scene(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(b'"file": "a.xyz"')
    assert _was_made_of(path, "a.xyz")

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    assert not _was_made_of(path, "a.xyz")
