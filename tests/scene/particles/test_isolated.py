"""Libraries in a process of their own: one that hangs ends with a sentence."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from raytracer.errors import DataFileError, UserError
from raytracer.files.access import opened
from raytracer.scene.particles import isolated
from support.particle_files import write


def test_a_library_that_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hanging = write(tmp_path / "hang", "#!/bin/sh\nexec sleep 60\n")
    hanging.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(hanging))
    monkeypatch.setenv(isolated.TIMEOUT_VARIABLE, "0.05")
    path = write(tmp_path / "a.xtc", b"\0")
    with (
        opened(path) as file,
        pytest.raises(DataFileError, match=r"a.xtc: took longer than .* RAYTRACER_READ_TIMEOUT"),
    ):
        isolated.parsed(file, "chemfiles", "XTC", "XTC")


@pytest.mark.parametrize(
    ("text", "size", "seconds"),
    [("", 0, 120.0), (" ", 10**8, 1120.0), ("0", 10**8, None), (" 2.5 ", 10**8, 2.5)],
)
def test_time_limits(
    monkeypatch: pytest.MonkeyPatch, text: str, size: int, seconds: float | None
) -> None:
    monkeypatch.setenv(isolated.TIMEOUT_VARIABLE, text)
    assert isolated.time_limit(size) == seconds


@pytest.mark.parametrize("text", ["soon", "-1", "nan", "inf"])
def test_odd_time_limits(monkeypatch: pytest.MonkeyPatch, text: Any) -> None:
    monkeypatch.setenv(isolated.TIMEOUT_VARIABLE, text)
    with pytest.raises(UserError, match=f"'{text}' is not a number of seconds"):
        isolated.time_limit(0)
