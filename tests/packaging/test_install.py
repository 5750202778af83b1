"""The package as a user installs it: from a wheel and editable, each in a clean environment."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.alone import alone

pytestmark = pytest.mark.packaging

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = {  # folder of the repository -> folder in the package
    "kernels": "raytracer/kernels",
    "scenes": "raytracer/scenes",
}
# Scene data ships with every install, so it stays small; larger scenes are generated.
MAX_WHEEL_BYTES = 20e6
SCENE = """
[render]
width = 32
height = 24
samples = 1
[[spheres]]
centers = [[0, 0, 0]]
radius = 1.0
"""
LIST_KERNELS = """
from raytracer import resources
print(*sorted(path.name for path in resources.kernels().iterdir()))
"""


def run(*command: str | Path, cwd: Path) -> str:
    """Standard output of a command; its whole output is the message if it fails."""
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, text=True, capture_output=True, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@dataclass(frozen=True)
class Installed:
    """A clean environment with the package in it, and a folder far from the sources."""

    bin: Path
    elsewhere: Path

    def raytracer(self, *arguments: str) -> str:
        return run(self.bin / "raytracer", *arguments, cwd=self.elsewhere)

    def python(self, code: str) -> str:
        return run(self.bin / "python", "-c", code, cwd=self.elsewhere)


def shared(factory: pytest.TempPathFactory) -> Path:
    """A folder of all processes of pytest-xdist."""
    base = factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """A folder that one process makes for all, since builds take minutes."""
    folder = shared(factory) / name
    with alone("packaging"):
        if not (folder / "made").exists():
            folder.mkdir(exist_ok=True)
            make(folder)
            (folder / "made").touch()
    return folder


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built as pip does it for a user."""

    def make(folder: Path) -> None:
        run(sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", folder, ROOT, cwd=folder)

    (path,) = made_once(tmp_path_factory, "wheel", make).glob("*.whl")
    return path


@pytest.fixture(scope="module", params=["wheel", "editable"])
def installed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Installed:
    """Both ways to install, with the dependencies that the package declares and no others."""
    what: tuple[str | Path, ...] = ("-e", ROOT)
    if request.param == "wheel":
        what = (request.getfixturevalue("wheel"),)

    def make(folder: Path) -> None:
        run(sys.executable, "-m", "venv", folder / "venv", cwd=folder)
        run(folder / "venv/bin/python", "-m", "pip", "install", *what, cwd=folder)

    folder = made_once(tmp_path_factory, f"installed-{request.param}", make)
    return Installed(folder / "venv/bin", tmp_path_factory.mktemp("elsewhere"))


def sources(folder: str) -> set[str]:
    """Every file below a folder of the repository."""
    paths = (path for path in (ROOT / folder).rglob("*") if path.is_file())
    return {path.relative_to(ROOT / folder).as_posix() for path in paths}


@pytest.mark.parametrize(("folder", "place"), SHIPPED.items())
def test_wheel_holds_every_source_and_scene(wheel: Path, folder: str, place: str) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {f"{place}/{name}" for name in sources(folder)} <= names
    assert sources(folder)


def test_wheel_holds_types_licence_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "raytracer/py.typed" in names
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)
    assert [name for name in names if name.startswith("raytracer/_core.") and ".so" in name]
    assert {name.split("/")[0].split("-")[0] for name in names} == {"raytracer"}
    assert wheel.stat().st_size < MAX_WHEEL_BYTES


def test_version(installed: Installed) -> None:
    from raytracer import __version__

    assert __version__ in installed.raytracer("--version")


def test_devices(installed: Installed) -> None:
    assert "cpu" in installed.raytracer("devices").lower()


def test_kernels_are_found(installed: Installed) -> None:
    names = installed.python(LIST_KERNELS).split()
    assert {"CMakeLists.txt", "core", "cuda"} <= set(names)


def test_renders_from_another_folder(installed: Installed) -> None:
    from PIL import Image

    (installed.elsewhere / "tiny.toml").write_text(SCENE, encoding="utf-8")
    installed.raytracer("render", "tiny.toml", "--backend", "cpu", "-o", "tiny.png")
    with Image.open(installed.elsewhere / "tiny.png") as picture:
        assert picture.size == (32, 24)
        shades = picture.convert("L").getcolors()
    assert shades is not None
    assert len(shades) > 1  # a sphere before a background, not one flat colour


def test_dependencies_are_consistent(installed: Installed) -> None:
    assert "No broken requirements" in run(
        installed.bin / "python", "-m", "pip", "check", cwd=installed.elsewhere
    )
