"""Formats that installed packages add by entry points."""

import gzip
import json
import re
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer.commands.cli import main
from raytracer.particles.registry import SUFFIXES, list_added_formats
from support.commands import python
from support.mill import mill_file
from support.pages import files_of_package

EXAMPLE = files_of_package()
COLUMNS = '{"position": [[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]], "radius": [0.5, 1.0]}'

Install = Callable[..., None]


@pytest.fixture
def tmp_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of its own for each test: the process that reads its files has imported nothing."""
    return tmp_path_factory.mktemp("plugins")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of installed packages, which this process and its workers see."""
    folder, before = tmp_path / "site", set(sys.modules)
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    list_added_formats.cache_clear()
    yield folder
    list_added_formats.cache_clear()
    for name in set(sys.modules) - before:
        if str(folder) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def install_example(site: Path) -> None:
    """Install the package of the guide as pip does: its modules, and its metadata."""
    project = tomllib.loads(EXAMPLE["pyproject.toml"])
    name, version = project["project"]["name"], project["project"]["version"]
    entries = project["project"]["entry-points"]
    text = "".join(
        f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in each.items())
        for group, each in entries.items()
    )
    add(site, name, text, version)
    for module in project["tool"]["setuptools"]["py-modules"]:
        (site / f"{module}.py").write_text(EXAMPLE[f"{module}.py"])


def add(site: Path, package: str, entries: str, version: str = "1.0") -> None:
    folder = site / f"{package.replace('-', '_')}-{version}.dist-info"
    folder.mkdir()
    about = f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n"
    (folder / "METADATA").write_text(about)
    (folder / "entry_points.txt").write_text(entries)


@pytest.fixture
def install(site: Path) -> Install:
    """Install a package with a format: the body of its function `read`, and further arguments."""

    def add_format(package: str, body: str, arguments: str = "", name: str = "") -> None:
        module = f"{package}_module"
        source = f"import raytracer\n\ndef read(file, frame):\n    {body}\n\n"
        source += f"FORMAT = raytracer.ParticleFormat({package!r}, read, {arguments})\n"
        (site / f"{module}.py").write_text(source)
        add(site, package, f"[raytracer.formats]\n{name or package} = {module}:FORMAT\n")

    return add_format


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main([*words])
    done = capsys.readouterr()
    return code, done.out, done.err


@pytest.mark.parametrize("name", ["a.grains", "a.grains.gz", "a.unknown", "a", "a.dat"])
def test_the_package_of_the_guide_reads_its_files(
    name: str, site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By ending, compressed, and by content, in Python and in commands."""
    install_example(site)
    data = mill_file(0.5, 1.5, 2.5)
    path = tmp_path / name
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    (spheres,) = raytracer.load(path, frame=2).spheres
    assert spheres.centers[:, 0].tolist() == [2, 3, 4, 5, 6]
    assert np.all(spheres.radius == 0.25)
    code, said, warned = run(capsys, "info", str(path), "--json")
    assert (code, warned) == (0, "")
    (about,) = json.loads(said)["data"].values()
    assert about["format"] == "grains (of grains-reader 0.1)"
    assert (about["particles"], about["frames"], about["time"]) == (5, 3, "0.5 s")
    assert about["box"]["edges"] == [[8, 0, 0], [0, 9, 0], [0, 0, 10]]
    assert [each["name"] for each in about["columns"]] == ["position", "radius", "speed"]


def test_a_scene_and_a_movie_use_it(
    site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install_example(site)
    (tmp_path / "a.grains").write_bytes(mill_file(0.0, 1.0))
    (tmp_path / "a.toml").write_text('[[spheres]]\nfile = "a.grains"\nframe = 1\n')
    small = ("--size", "16x9", "--samples", "1", "--backend", "cpu")
    picture, movie = tmp_path / "a.png", tmp_path / "a.gif"
    words = ("--color-by", "speed", *small)
    assert run(capsys, "render", str(tmp_path / "a.toml"), "-o", str(picture), *words)[0] == 0
    assert run(capsys, "animate", str(tmp_path / "a.grains"), "-o", str(movie), *words)[0] == 0
    assert picture.stat().st_size > 0
    assert movie.stat().st_size > 0


def test_files_of_a_folder_are_a_series(site: Path, tmp_path: Path) -> None:
    install_example(site)
    folder = tmp_path / "run"
    folder.mkdir()
    for number in (9, 10):
        (folder / f"a{number}.grains").write_bytes(mill_file(0.0, count=number))
    assert [len(raytracer.load(folder, frame=n).spheres[0].centers) for n in (0, 1)] == [9, 10]


def test_a_file_in_json_may_be_of_a_package(install: Install, tmp_path: Path) -> None:
    install("mill", f"return {COLUMNS}", "magic=b'{\"mill\"'")
    (tmp_path / "a.json").write_text('{"mill": 1}')
    assert len(raytracer.load(tmp_path / "a.json").spheres[0].centers) == 2


def test_all_formats_are_listed(
    site: Path, install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    install_example(site)
    install("other", f"return {COLUMNS}")
    code, said, warned = run(capsys, "info", "--formats", "--json")
    rows = json.loads(said)["formats"]
    assert (code, warned) == (0, "")
    assert {each for row in rows if "package" not in row for each in row["endings"]} == {*SUFFIXES}
    assert rows[-2:] == [
        {"name": "grains", "endings": [".grains"], "package": "grains-reader 0.1",
         "summary": "Grains of the mill."},
        {"name": "other", "endings": [".other"], "package": "other 1.0"},
    ]  # fmt: skip
    code, said, _ = run(capsys, "info", "--formats")
    assert re.search(r"^GSD +\.gsd \(read by gsd\)$", said, re.MULTILINE)
    assert re.search(r"^PLY +\.ply \(read by plyfile\)$", said, re.MULTILINE)
    line = r"^grains +\.grains \(of grains-reader 0\.1\) Grains of the mill\.$"
    assert re.search(line, said, re.MULTILINE)
    assert run(capsys, "info", "--formats", "a.xyz")[0] == 2
    assert run(capsys, "info")[2].startswith("raytracer: missing argument 'FILE...'")


FAULTS = {
    "raise ValueError('byte 7 is wrong')": r"cannot be read as mill \(of mill 1.0\) (byte 7 is wr",
    "return [1]": "its reader returned [1], not a ParticleFrame",
    "return raytracer.ParticleFrame(3)": "not a ParticleFrame",
    "return {'position': [[[0.0, 0, 0]], [[0.0, 0, 0]]]}": "positions of shape (2, 1, 3)",
    "return {'position': [[0.0, 0, 0]], 'radius': [1.0, 2.0]}": "2 values for 1 particle",
    "return {'speed': [1.0, 2.0]}": "",
    "import os; os.abort()": "its library crashed (SIGABRT)",
    "import socket; socket.create_connection(('127.0.0.1', 9))": "cannot be read as mill",
    "open('/etc/passwd')": "cannot be read as mill",
    "return {}[frame]": "cannot be read as mill",
}


@pytest.mark.parametrize("body", FAULTS)
def test_faults_of_a_reader_are_one_sentence(
    body: str, install: Install, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install("mill", body)
    path = tmp_path / "a.mill"
    path.write_bytes(b"x,y,z\n1,2,3\n")  # which is a table, but not under this name
    code, _, said = run(capsys, "info", str(path))
    assert code == 2
    assert said.startswith(f"raytracer: {path}: ")
    assert FAULTS[body].replace("\\", "") in said
    assert said.count("\n") == 1


def test_a_damaged_file_names_format_and_package(
    site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install_example(site)
    path = tmp_path / "a.grains"
    path.write_bytes(mill_file(0.0) + b"X" * 44)
    code, _, said = run(capsys, "render", str(path))
    why = "cannot be read as grains (of grains-reader 0.1) (there is no header at byte 144)"
    assert (code, said) == (2, f"raytracer: {path}: {why}\n")


def test_bonds_and_a_triclinic_box(install: Install, tmp_path: Path) -> None:
    body = (
        f"return raytracer.ParticleFrame({COLUMNS}, box=[[4, 0, 0], [1, 4, 0], [0, 0, 4]], "
        "origin=(-1, 0, 0), periodic=(True, False, True), bonds=[[0, 1]])"
    )
    install("mill", body)
    (tmp_path / "a.mill").write_bytes(b"")
    scene = raytracer.load(tmp_path / "a.mill")
    box = scene.spheres[0].data.box
    assert box is not None
    assert box.origin == (-1, 0, 0)
    assert box.edges[1] == (1, 4, 0)
    assert box.periodic == (True, False, True)


BROKEN = {
    "no_module": ("import no_such_module", "No module named 'no_such_module'"),
    "exits": ("raise SystemExit(3)", "SystemExit: 3"),
    "other": ("FORMAT = 3", "other_module:FORMAT is no raytracer.ParticleFormat"),
    "misspelt": ("import raytracer\nFORMAT = raytracer.ParticleFormat('a', print, suffix='.a')",
                 "suffix"),
    "dotless": ("import raytracer\nFORMAT = raytracer.ParticleFormat('a', print, ['abc'])",
                "ParticleFormat.suffixes: 'abc' is not an ending in lower case, '.abc'"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_entry_point_is_a_warning_and_others_work(
    name: str, site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install_example(site)
    source, words = BROKEN[name]
    (site / f"{name}_module.py").write_text(f"{source}\n")
    add(site, "a-broken", f"[raytracer.formats]\n{name} = {name}_module:FORMAT\n")
    (tmp_path / "a.grains").write_bytes(mill_file(0.0))
    code, said, warned = run(capsys, "info", str(tmp_path / "a.grains"))
    assert code == 0
    assert "grains (of grains-reader 0.1)" in said
    assert warned.startswith(f"raytracer: warning: format '{name}' of the package a-broken 1.0: ")
    assert words in warned
    assert warned.count("\n") == 1
    again = run(capsys, "info", "--formats")
    assert again[2] == ""  # it was told


def test_endings_of_our_formats_stay_theirs(
    install: Install, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install("mill", f"return {COLUMNS}", "['.xyz', '.mill']", name="run")
    path = tmp_path / "a.xyz"
    path.write_text("1\n\nO 0 0 0\n")
    assert len(raytracer.load(path).spheres[0].centers) == 1
    code, _, warned = run(capsys, "info", "--formats")
    assert (code, warned) == (0, (
        "raytracer: warning: format 'run' of the package mill 1.0: files ending in '.xyz' are read "
        "as XYZ, which has this ending too: --format run reads them as this\n"
    ))  # fmt: skip
    assert len(raytracer.load(path, format="run").spheres[0].centers) == 2
    with pytest.raises(raytracer.UserError, match=r"'mil' is not the ending of a.* mean 'mill'\?"):
        raytracer.load(path, format="mil")


def test_of_two_packages_with_an_ending_the_first_keeps_it(
    install: Install, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install("zeta", f"return {COLUMNS}", "['.mill']")
    install("alpha", "return {'x': [1.0], 'y': [1.0], 'z': [1.0]}", "['.mill']")
    path = tmp_path / "a.mill"
    path.write_bytes(b"")
    assert run(capsys, "info", "--formats")[2].count("read as alpha (of alpha 1.0), which") == 1
    assert len(raytracer.load(path).spheres[0].centers) == 1
    assert len(raytracer.load(path, format="zeta").spheres[0].centers) == 2


def test_without_such_packages_their_metadata_are_not_parsed(tmp_path: Path) -> None:
    """Importing `importlib.metadata` takes as long as reading a small table."""
    (tmp_path / "a.txt").write_text("1 2 3\n4 5 6\n7 8 9\n1 3 5\n")
    code = (
        "import sys, raytracer; raytracer.load(sys.argv[1]);"
        "print({'importlib.metadata', 'email'} & {*sys.modules})"
    )
    done = python("-W", "ignore", "-c", code, str(tmp_path / "a.txt"))
    assert done.stdout == "set()\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"name": " "}, "ParticleFormat.name: is empty"),
        ({"read": None}, "ParticleFormat.read: None is not a function"),
        ({"read": 3}, "ParticleFormat.read: 3 is not a function"),
        ({"suffixes": ".abc"}, "ParticleFormat.suffixes: '.abc' is not a list"),
        ({"suffixes": [".Abc"]}, "'.Abc' is not an ending in lower case"),
        ({"suffixes": [".tar.gz"]}, "'.tar.gz' is not an ending in lower case"),
        ({"suffixes": ["."]}, "'.' is not an ending in lower case"),
        ({"magic": "MILL"}, "ParticleFormat.magic: 'MILL' are not bytes"),
        ({"summary": 3}, "ParticleFormat.summary: 3 is not text"),
    ],
)
def test_formats_that_are_refused(arguments: dict[str, Any], words: str) -> None:
    complete: dict[str, Any] = {"name": "mill", "read": print}
    with pytest.raises(raytracer.UserError, match=re.escape(words)):
        raytracer.ParticleFormat(**complete | arguments)


def test_the_example_is_as_short_as_the_guide_says() -> None:
    assert EXAMPLE.keys() == {"pyproject.toml", "grains_reader.py"}
    assert len(EXAMPLE["grains_reader.py"].splitlines()) <= 45
