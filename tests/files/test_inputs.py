"""Inputs: no output replaces a file that was read, whatever kind of input it is."""

import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import raytracer
from raytracer.commands.cli import main
from raytracer.config.errors import OutputError
from raytracer.files import inputs
from raytracer.film.film import Film

SMALL = "--width 8 --height 6 --samples 1 --backend cpu"
BALL = "[[spheres]]\ncenters = [[0, 0, 0]]\nradius = 1\n"
TURN = f"{SMALL} --turntable 1s --fps 3"

SCENES = {
    "ball.toml": BALL,
    "sky.toml": f'[environment]\nimage = "sky.png"\n{BALL}',
    "touches.toml": '[contacts]\nfile = "contacts.csv"\n[[spheres]]\nfile = "stars.npz"\n',
    "capsules.toml": '[[capsules]]\nfile = "rods.csv"\nradius = 0.1\n',
    "set.toml": '[[spheres]]\nfile = "moving.xyz"\ntopology = "atoms.xyz"\nframe = 1\n',
}
FRAME = "2\n\nC 0 0 0\nO 0 0 1\n"


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an input of each kind."""
    tmp_path = tmp_path_factory.mktemp("inputs")
    for name, text in SCENES.items():
        (tmp_path / name).write_text(text)
    np.savez(tmp_path / "stars.npz", centers=np.eye(3), id=np.arange(3))
    (tmp_path / "contacts.csv").write_text("id1,id2,force\n0,1,2\n")
    (tmp_path / "rods.csv").write_text("x1,y1,z1,x2,y2,z2\n0,0,0,1,1,1\n")
    (tmp_path / "atoms.xyz").write_text(FRAME)
    (tmp_path / "moving.xyz").write_text(FRAME * 3)
    for number in range(3):
        (tmp_path / f"snap_{number}.xyz").write_text(FRAME)
    (tmp_path / "frames").mkdir()
    for name in ("sky.png", "frames/1.png"):
        Image.new("RGB", (8, 4), "white").save(tmp_path / name)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        words = f"render ball.toml {SMALL} -q -o camera.png --film film.npz"
        assert main(words.split()) == 0
    return tmp_path


@pytest.fixture
def folder(prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with an input of each kind; link-NAME.png leads to most of them."""
    shutil.copytree(prepared, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    for path in sorted(tmp_path.iterdir()):
        if path.is_file() and path.name != "sky.png":
            (tmp_path / f"link-{path.stem}.png").symlink_to(path.name)
    (tmp_path / "hard.png").hardlink_to(tmp_path / "sky.png")
    (tmp_path / "hard.gif").hardlink_to(tmp_path / "sky.png")
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    """All files by name."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize(
    "words",
    [
        f"render ball.toml {SMALL} --environment sky.png -o sky.png",
        f"render ball.toml {SMALL} --environment sky.png --integrator path -o hard.png",
        f"render sky.toml {SMALL} -o sky.png",
        f"render sky.toml {SMALL} -o hard.png",
        f"render sky.toml {SMALL} -o frames/../sky.png",
        f"render ball.toml {SMALL} --camera camera.png -o camera.png",
        f"render ball.toml {SMALL} --camera camera.png -o link-camera.png",
        f"render ball.toml {SMALL} -o link-ball.png",
        f"render touches.toml {SMALL} -o link-contacts.png",
        f"render capsules.toml {SMALL} -o link-rods.png",
        f"render set.toml {SMALL} -o link-atoms.png",
        f"render moving.xyz {SMALL} --topology atoms.xyz --frame 1 -o link-atoms.png",
        f"render moving.xyz {SMALL} --frame 1 -o link-moving.png",
        f"render snap_*.xyz {SMALL} --frame 1 -o link-snap_1.png",
        f"render ball.toml {SMALL} --resume film.npz -o link-film.png",
        "tone film.npz -o link-film.png",
        f"animate sky.toml {TURN} -o hard.gif",
        f"animate ball.toml {TURN} --environment sky.png -o hard.gif",
        f"animate ball.toml {TURN} --environment frames/1.png -o frames/#.png",
        f"animate ball.toml {TURN} --environment frames/1.png -o frames/#.png --part 1/2",
        f"animate snap_*.xyz {SMALL} -o link-snap_#.png",
        "scene generate crystal -o film.npz",
        f"render ./stars.npz {SMALL} --film frames/../stars.npz",
        f"render ball.toml {SMALL} --film film.npz -o link-film.png",
        "preview ball.toml --screenshot link-stars.png",
    ],
)
def test_no_output_replaces_an_input(
    words: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = contents(folder)
    assert main(words.split()) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    says = "give two names" if "--film film" in words else "exists already|would be overwritten"
    assert words.startswith("preview") or re.search(says, said.err)
    after = contents(folder)
    assert after.items() >= before.items()
    assert after == before or words.startswith("animate")


def test_what_may_be_replaced(folder: Path) -> None:
    Path("same.npz").symlink_to("film.npz")
    for words in (
        f"render ball.toml {SMALL} --resume film.npz --film film.npz -o x.png",
        f"render ball.toml {SMALL} --resume film.npz --film same.npz -o x.png",
        f"render ball.toml {SMALL} --camera x.png -o y.png",
        f"animate ball.toml {TURN} -o frames/#.png",
        f"animate ball.toml {TURN} -o frames/#.png --fresh",
        f"render ball.toml {SMALL}",
        f"render ball.toml {SMALL}",
        f"render ball.toml {SMALL} --camera ball.png",
        "tone film.npz",
        "tone film.npz",
        "scene generate crystal --count 10 -o made.npz --force",
        "scene generate crystal --count 20 -o made.npz --force",
    ):
        assert main(words.split()) == 0, words
    assert Film.load(folder / "film.npz").samples == 3
    assert Path("same.npz").is_symlink()
    assert sorted(path.name for path in folder.glob("ball*.png")) == ["ball-2.png", "ball.png"]


def test_python_remembers_what_it_has_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    around = raytracer.Environment(image="sky.png")
    image = raytracer.render("ball.toml", width=8, height=6, samples=1, environment=around)
    before = contents(folder)
    for name in ("sky.png", "hard.png", "link-ball.png"):
        with pytest.raises(OutputError, match="is read by this command and would be overwritten"):
            image.save(name)
    assert contents(folder) == before
    (folder / "sky.png").unlink()
    (folder / "hard.png").unlink()
    (folder / "hard.gif").unlink()
    image.save("sky.png")  # a new file, whatever number it got
    raytracer.render("ball.toml", width=8, height=6, samples=1, environment=around).save("sky.png")


def test_the_number_of_a_removed_file_may_belong_to_another(tmp_path: Path) -> None:
    inputs.forget_files()
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_bytes(b"old")
    inputs.note_input(old.stat(), old, "old")
    assert inputs.find_input(old) == "old"
    old.write_bytes(b"longer")  # a changed input is one
    assert inputs.find_input(old) == "old"
    old.rename(new)
    assert inputs.find_input(new) is None
    inputs.forget_files()
    assert inputs.find_input(old) is None
