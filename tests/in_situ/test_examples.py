"""The simulations in docs/live run, and are recorded."""

import subprocess
import sys
from pathlib import Path

import pytest

from support.previews import pixels_of

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "live"
NEEDS = {"sand": "newton", "melt": "jax_md"}
"""Packages of scripts beside NumPy."""


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.py")))
def test_a_simulation_runs(name: str, tmp_path: Path) -> None:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    command = [sys.executable, str(FOLDER / f"{name}.py"), "--open", "none", "--steps", "9"]
    done = subprocess.run(
        [*command, "--record", "##.png"], cwd=tmp_path, text=True, capture_output=True,
        timeout=300.0, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    pictures = [pixels_of(path) for path in sorted(tmp_path.iterdir())]
    assert len(pictures) == 2
    assert all(picture.std() > 5.0 for picture in pictures)
    assert (pictures[0] != pictures[1]).any()


def test_every_simulation_is_on_the_page() -> None:
    text = (ROOT / "docs" / "guide" / "live_view.md").read_text(encoding="utf-8")
    for path in FOLDER.glob("*.py"):
        assert f"(../live/{path.name})" in text
