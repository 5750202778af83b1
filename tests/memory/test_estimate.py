"""The estimate of memory is not below what commands use, and not far above it."""

from __future__ import annotations

import importlib.util
import os
import sys
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from raytracer.errors import MemoryNeedError
from raytracer.scene.load import load
from support.display import drawing_missing, missing


def _measure() -> ModuleType:
    spec = importlib.util.spec_from_file_location("measure", Path(__file__).parent / "measure.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["measure"] = module
    spec.loader.exec_module(module)
    return module


measure = _measure()
SMALL = [
    "render, one colour",
    "render, xyz",
    "render, 300 lights",
    "render, 4K, one sample",
    "render, 4K, most threads",
    "render, 4K, film, exr, 16 bits",
    "generate sphereflake.npz",
    "generate pile.npz",
]
LARGE = [
    "render, colours",
    "render, csv",
    "render, 4K, 16 bits",
    "generate cloud.npz",
    "generate crystal.npz",
    "generate weekend.toml",
    "describe",
]
LARGE_FILMS = ["render, 4K, film, variables"]

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="reads memory as Linux tells it"
)


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the files that cases begin with; each of them is made once."""
    return tmp_path_factory.mktemp("inputs")


@pytest.mark.parametrize(
    ("name", "count"),
    [(n, 100_000) for n in SMALL]
    + [(n, 1_000_000) for n in LARGE]
    + [pytest.param(n, 1_000_000, marks=pytest.mark.thorough) for n in LARGE_FILMS],
)
def test_estimate(name: str, count: int, inputs: Path) -> None:
    if "exr" in name:
        pytest.importorskip("OpenEXR")
    case = (measure.CASES | measure.GENERATED)[name]
    found = measure.measured(name, case, count, inputs)
    assert found.right, found.row()


@pytest.mark.parametrize(
    ("name", "count"),
    [
        pytest.param("resume, 4K", 1000, marks=pytest.mark.thorough),
        ("resume, 4K, film", 1000),
        pytest.param("resume, 4K, film, variables", 1000, marks=pytest.mark.thorough),
        pytest.param("resume, 4K, film, variables", 4_000_000, marks=pytest.mark.thorough),
        pytest.param("resume, 4K, film, exr", 1000, marks=pytest.mark.thorough),
        ("tone, 4K", 1000),
        ("tone, 4K, 16 bits", 1000),
        ("tone, 4K, exr", 1000),
        ("tone, 65536x16, exr", 1000),
    ],
)
def test_estimate_of_films(name: str, count: int, inputs: Path) -> None:
    if "exr" in name:
        pytest.importorskip("OpenEXR")
    found = measure.measured(name, measure.FILM_CASES[name], count, inputs)
    assert found.right, found.row()


@pytest.mark.parametrize(
    ("row", "free", "fits"),
    [
        ("1,2,3", 20_000, False),
        ("1,2,3", 26_000, True),
        ("0.1234567,0.2345678,0.3456789", 26_000, True),
    ],
)
def test_rows_of_a_table_are_counted_where_they_may_not_fit(
    row: str, free: int, fits: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thousand rows of three numbers take 24,000 bytes, however long they are as text."""
    path = tmp_path / "a.csv"
    path.write_text("x,y,z\n" + f"{row}\n" * 1000)
    monkeypatch.setattr("raytracer.memory.available_memory", lambda: free)
    with nullcontext() if fits else pytest.raises(MemoryNeedError, match=r"a\.csv: needs about"):
        load(path)


def test_pairs_of_grains_are_given_back_before_the_next_are_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They are a tenth of what a pile takes."""
    from weakref import ref

    import numpy as np

    from raytracer.scene.generators import pile

    before: list[ref[Any]] = []
    alive: list[bool] = []

    def near_pairs(*_: object) -> tuple[object, object]:
        alive.extend(each() is not None for each in before)
        pairs = np.array([0]), np.array([1])
        before[:] = [ref(each) for each in pairs]
        return pairs

    monkeypatch.setattr(pile, "near_pairs", near_pairs)
    pile.settle(np.array([[0.0, 2.0, 0.0], [1.0, 2.0, 0.0]]), np.array([1.0, 1.0]))
    assert alive == [False] * 2 * (pile.ROUNDS - 1)


def test_estimate_of_a_film_of_few_rows(inputs: Path) -> None:
    """OpenEXR compresses all of its rows at once; how small they become is not known before."""
    pytest.importorskip("OpenEXR")
    name = "resume, 65536x16, film, exr"
    found = measure.measured(name, measure.FILM_CASES[name], 1000, inputs)
    assert found.estimate >= found.peak, found.row()


@pytest.mark.parametrize("name", ["preview", "preview, ground"])
def test_estimate_of_a_window(name: str, inputs: Path) -> None:
    missing(drawing_missing(dict(os.environ), headless=True))
    found = measure.measured(name, measure.CASES[name], 1_000_000, inputs)
    assert found.right, found.row()


def test_estimate_of_a_large_window(inputs: Path) -> None:
    """Whether its film is copied depends on how long a pass takes."""
    missing(drawing_missing(dict(os.environ), headless=True))
    found = measure.measured("preview", measure.CASES["preview, 4K"], 1000, inputs)
    assert found.estimate >= found.peak, found.row()


@pytest.mark.parametrize(
    "options", [[], ["--bits", "16"], ["--film", "f.npz", "--aov", "depth,normal"]]
)
def test_what_a_refusal_proposes_works(options: list[str], tmp_path: Path) -> None:
    """Under `ulimit -v`: first a sentence, then the size that it names is rendered."""
    import re
    import subprocess

    scene = measure.spheres(tmp_path, 1000, "plain-npz")
    start = [sys.executable, "-m", "raytracer", "render", str(scene), "-o", "a.png"]
    limit = ["bash", "-c", 'ulimit -v 600000; exec "$@"', "limited"]

    def render(width: int, height: int) -> subprocess.CompletedProcess[str]:
        size = [
            "--width",
            str(width),
            "--height",
            str(height),
            "--samples",
            "1",
            "--backend",
            "cpu",
        ]
        command = [*limit, *start, *size, "--threads", "1", *options]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)

    refused = render(20_000, 10_000)
    assert refused.returncode == 2, refused.stderr
    found = re.search(r"a picture of (\d+)x(\d+) fits", refused.stderr)
    assert found, refused.stderr
    assert not (tmp_path / "a.png").exists()
    done = render(int(found[1]), int(found[2]))
    assert done.returncode == 0, done.stderr
