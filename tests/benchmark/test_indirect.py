"""The comparison of occlusion and paths with peers: what they print, and a whole run."""

import json
import stat
from pathlib import Path

import pytest

from raytracer.benchmark import indirect, peer_scenes
from raytracer.errors import RaytracerError

OPTIX = (
    "optix-ao8 N=1000 64x64: 2.5000 ms  1.0 Mrays  9 Mrays/s (x)  mean grey 0.6\n"
    "optix-path4 N=1000 64x64: 1.2500 ms  1.0 Mrays  9 Mrays/s (x)  mean grey 0.5\n"
)


def test_results_of_optix_are_read_by_kind() -> None:
    assert indirect.parse_optix(OPTIX) == {"ao": (2.5, 0.6), "path": (1.25, 0.5)}


@pytest.mark.parametrize("text", ["", OPTIX.splitlines()[0]])
def test_a_missing_result_is_an_error(text: str) -> None:
    with pytest.raises(RaytracerError, match="no result"):
        indirect.parse_optix(text)
    with pytest.raises(RaytracerError, match="no result"):
        indirect.parse_embree(text)


def driver(path: Path, grey: float) -> Path:
    """Write a peer that prints the same line for each mode."""
    line = {"ao_ms": 2.0, "ao_grey": grey, "path_ms": 1.0, "path_grey": grey}
    path.write_text(f"#!/bin/sh\necho '{json.dumps(line)}'\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_one_sphere_beside_a_peer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing blocks the sky: visibility is 1, a path leaves after one bounce with the albedo."""
    scene = peer_scenes.random_cube(1)
    base = peer_scenes.write_embree(scene, tmp_path)
    words = ["--embree", str(driver(tmp_path / "peer", 1.0)), "--scenes", str(base)]
    words += ["--size", "48", "32", "--rounds", "1", "--frames", "2", "--threads", "1"]
    record = tmp_path / "record.json"
    assert indirect.main([*words, "--save", str(record)]) == 1
    occlusion, path = json.loads(record.read_text())["rows"]
    assert occlusion["agree"]
    assert occlusion["grey"][0] == pytest.approx(1.0, abs=1e-6)
    assert not path["agree"]
    assert path["grey"][0] == pytest.approx(indirect.ALBEDO, abs=1e-6)
    assert occlusion["ratio"] == pytest.approx(occlusion["ours_ms"] / 2.0)
    assert "Embree" in capsys.readouterr().out


def test_a_run_without_a_peer_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert indirect.main([]) == 2
    assert "give --embree" in capsys.readouterr().err
