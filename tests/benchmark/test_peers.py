"""Both commands from end to end, with small programs that print what the peers print."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from raytracer.benchmark import embree, optix, peer_comparison, peer_scenes, table
from raytracer.benchmark.peer_comparison import Renderer
from raytracer.errors import BackendError, RaytracerError

SIZE = (40, 30)

EMBREE = """
import json, pathlib, sys
base, mode = pathlib.Path(sys.argv[1]), sys.argv[sys.argv.index("--mode") + 1]
config = base.with_name(base.name + ".cfg").read_text()
count = base.with_name(base.name + ".f32").stat().st_size // 16
if "ground" in config or f"spheres {count}" not in config:
    sys.exit("wrong files")
print(json.dumps({"peer": "embree-9.9", "n": count, "mode": mode, "frame_ms": 100.0 / int(mode),
    "build_ms": 2.0, "bvh_mb": 0.1, "hits": HITS, "lit": LIT}))
"""

OPTIX = """
import pathlib, sys
ir, spheres, picture, width, height = sys.argv[1:]
count = pathlib.Path(spheres).stat().st_size // 16
for shadows, ms in ((0, 0.25), (1, 0.5)):
    print(f"optix N={count} {width}x{height} shadows={shadows}: {ms:.4f} ms  99 Mpixel/s  "
          f"(hits 60.1%)  build 0.39 ms  bvh 0.1 MB (93.0 B/sphere)")
pixels = bytes([200, 200, 200] * LIT + [12, 12, 12] * (HITS - LIT))
pixels += bytes([25, 255, 25] * (int(width) * int(height) - HITS))
pathlib.Path(picture).write_bytes(f"P6\\n{width} {height}\\n255\\n".encode() + pixels)
"""


def program(folder: Path, text: str, hits: int, lit: int) -> Path:
    """An executable Python program that claims these counts."""
    path = folder / "peer"
    path.write_text(f"#!{sys.executable}\nHITS, LIT = {hits}, {lit}\n{text}")
    path.chmod(0o755)
    return path


def seen(given: peer_scenes.PeerScene, lit: float = peer_scenes.LIT) -> tuple[int, int]:
    """What this renderer hits and lights."""
    with Renderer(peer_scenes.to_scene(given, *SIZE)) as ours:
        ours.frames(1)
        return peer_scenes.counts(ours.film.sums, lit)


def test_embree_takes_turns_and_writes_a_record(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = peer_scenes.random_cube(50)
    (tmp_path / "scenes").mkdir()
    base = peer_scenes.write_embree(given, tmp_path / "scenes")
    config = base.with_suffix(".cfg")
    config.write_text(config.read_text() + "ground -0.5 12\n")
    peer = program(tmp_path, EMBREE, *seen(given))
    saved = tmp_path / "record.json"
    words = ["--peer", peer, "--scenes", base.name, "--modes", "1", "16", "--rounds", "2"]
    words += ["--repeats", "3", "--size", *SIZE, "--save", saved]
    assert embree.main([str(word) for word in words]) == 0
    record = json.loads(saved.read_text())
    (row,) = record["rows"]
    assert record["peer"] == "embree-9.9"
    assert "random_50" in record["note"]
    assert row["fastest"] == "16"
    assert row["peers"]["1"]["frame_ms"] == [100.0, 100.0]
    assert len(row["ours"]["frame_ms"]) == 2 * 2 * 3
    assert row["agree"] is True
    assert str(tmp_path) not in saved.read_text()
    assert "| random_50 |" in capsys.readouterr().out


def test_counts_that_differ_end_with_an_error(tmp_path: Path) -> None:
    base = peer_scenes.write_embree(peer_scenes.random_cube(50), tmp_path)
    peer = program(tmp_path, EMBREE, 3, 2)
    words = ["--peer", peer, "--scenes", base, "--modes", "16", "--rounds", "1", "--size", *SIZE]
    assert embree.main([str(word) for word in words]) == 1


@pytest.mark.parametrize("text", ["", "nothing", '{"peer": "embree"}', "[]"])
def test_a_peer_that_prints_no_result_is_an_error(text: str) -> None:
    with pytest.raises(RaytracerError, match="printed no result"):
        embree.parse(text)
    with pytest.raises(RaytracerError, match="printed no result"):
        optix.parse(text)


def test_a_peer_that_is_missing_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--peer", str(tmp_path / "none"), "--scenes", "sphereflake:1", "--size", "8", "8"]
    assert embree.main(words) == 1
    assert "cannot be run" in capsys.readouterr().err


def test_optix_has_a_row_with_and_without_shadows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = peer_scenes.random_cube(50)
    app = program(tmp_path, OPTIX, *seen(given, optix.LIT))
    plan = optix.Plan(app, tmp_path / "device.optixir", 1, SIZE)
    record = optix.run(optix.scenes(["5e1"], []), plan, backend="cpu")
    primary, shadow = record["rows"]
    assert primary["peers"]["OptiX"]["frame_ms"] == [0.25, 0.25]
    assert shadow["peers"]["OptiX"]["frame_ms"] == [0.5, 0.5]
    assert len(shadow["ours"]["frame_ms"]) == optix.FRAMES - optix.DROPPED
    assert shadow["peers"]["OptiX"]["bytes_per_sphere"] == 93.0
    assert (primary["agree"], shadow["agree"]) == (None, True)
    table.show(record)
    assert "no ray-tracing cores" in capsys.readouterr().out


def test_optix_says_what_is_missing_without_a_gpu(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise BackendError("there is no GPU")

    monkeypatch.setattr(peer_comparison, "prepare", refuse)
    words = ["--app", str(tmp_path / "app"), "--ir", "x.optixir", "--sizes", "10", "--scenes"]
    assert optix.main(words) == 2
    assert "there is no GPU" in capsys.readouterr().err
