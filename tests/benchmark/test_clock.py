"""Clock and power of a GPU, read from nvidia-smi."""

from pathlib import Path

import pytest

from raytracer.benchmark import clock


@pytest.mark.parametrize(
    ("printed", "found"),
    [
        (
            "1980, 512.34, 0x0000000000000024",
            {"sm_mhz": 1980, "watts": 512, "held_back_by": ["power limit", "thermal limit"]},
        ),
        ("1980, [N/A], 0x0", {"sm_mhz": 1980}),
        ("No devices were found", {}),
    ],
)  # fmt: skip
def test_what_is_known_is_read(
    printed: str, found: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text(f"#!/bin/sh\necho '{printed}'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert clock.read("0000:3B:00.0") == found


def test_without_the_program_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert clock.read("0000:3B:00.0") == {}
