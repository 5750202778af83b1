"""Comparisons with peers: the same work, differences, turns, ratios and records; no peer needed."""

import json
import re
import shlex
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from raytracer.benchmark.record import read_record
from raytracer.benchmark.sphere_kinds import KINDS
from raytracer.commands.cli import main
from raytracer.config.errors import RaytracerError, UserError
from reference.peers import command, ours, programs, scenes, turns
from reference.peers.programs import SOURCES, Source
from reference.peers.scenes import FRAMES, WORKS, PeerScene, draw
from reference.peers.turns import NOTHING, Answer, Program, measure, to_record

SCENE = draw("uniform", 60, 40, 24, 5)

# A peer in float64 that tries every sphere, told what to do as the programs in C++ are (program.h).
PEER = """
import sys, time
import numpy as np
spheres = np.fromfile(sys.argv[1], np.float32).reshape(-1, 4).astype(float)
width, height = int(sys.argv[2]), int(sys.argv[3])
eye, right, up, forward, light = np.array(sys.argv[5:20], float).reshape(5, 3)
centers, radii = spheres[:, :3], spheres[:, 3]

def first(origin, direction):
    to = centers - origin
    along = to @ direction
    inside = radii**2 - ((to - along[:, None] * direction) ** 2).sum(axis=1)
    at = along - np.sqrt(np.where(inside > 0, inside, 0))
    at = np.where((inside > 0) & (at > 1e-9), at, np.inf)
    return (at.argmin(), at.min()) if np.isfinite(at.min()) else (2**32 - 1, np.inf)

def pixel(column, row, shadows):
    x, y = 2 * (column + 0.5) / width - 1, 1 - 2 * (row + 0.5) / height
    direction = forward + x * right + y * up
    direction /= np.linalg.norm(direction)
    number, at = first(eye, direction)
    if np.isinf(at):
        return number, at, 0.0
    normal = (eye + at * direction - centers[number]) / radii[number]
    origin = eye + at * direction + 1e-3 * radii[number] * normal
    to = light - origin
    cosine = normal @ to / np.linalg.norm(to)
    is_lit = cosine > 0
    if is_lit and shadows:
        is_lit = first(origin, to / np.linalg.norm(to))[1] > np.linalg.norm(to)
    return number, at, 0.05 + 0.9 * cosine * is_lit

print("brute force 1", flush=True)
for line in sys.stdin:
    name, work, mode, last = line.split()
    if mode == "crash":
        sys.exit(3)
    if mode == "refuse":
        print("error: there is no mode refuse", flush=True)
        break
    if name == "time":
        print("0.25 0.5" if mode == "slow" else "0.125", flush=True)
        continue
    found = [pixel(x, y, work == "shadow") for y in range(height) for x in range(width)]
    ids, at, grey = (np.array(each) for each in zip(*found))
    film = np.column_stack([grey, grey, grey, ids != 2**32 - 1]).astype(np.float32)
    with open(last, "wb") as file:
        file.write(ids.astype(np.uint32).tobytes() + at.astype(np.float32).tobytes())
        file.write(film.tobytes() if mode != "short" else b"")
    print("ok", flush=True)
"""


@pytest.fixture
def brute_force(tmp_path: Path) -> Any:
    path = tmp_path / "peer.py"
    path.write_text(PEER)
    with Program([sys.executable, str(path)], SCENE, 1) as program:
        yield program


@pytest.mark.parametrize("work", ["primary", "shadow"])
def test_both_sides_have_the_same_rays_and_the_same_light(work: str, brute_force: Program) -> None:
    with ours.open_ours(SCENE, work, ours.our_device("cpu", 1)) as (turn, answer):
        result = measure(work, SCENE, turn, answer, brute_force, ("once", "slow"), 1e-3)
    assert [row["status"] for row in result["rows"]] == ["ok"] * 3
    for found in result["differences"].values():
        assert [found[name] for name in turns.SHARES] == [0, 0, 0, 0]
        assert found["means"][0] == pytest.approx(found["means"][1], abs=1e-4)  # type: ignore[index]
    once, slow = result["rows"][1:]
    assert once["label"] == result["fastest"] == "brute force 1, once"
    assert set(once["samples"]) == {0.125}
    assert set(slow["samples"]) == {0.25, 0.5}
    assert result["ratio"] == pytest.approx(result["rows"][0]["time"]["median"] / 0.125)


@pytest.mark.parametrize("work", FRAMES)
def test_our_works_are_what_their_names_say(work: str) -> None:
    with ours.open_ours(SCENE, work, ours.our_device("cpu", 1)) as (turn, answer):
        assert answer is not None
        assert answer.film is not None
        hit = answer.hit
        assert 0.1 < hit.mean() < 0.9
        light = answer.film[..., 0][hit]
        assert len(turn(1e-9)) == 1
    # 0.05 of ambient light; eighths of occlusion; powers of the albedo, or nothing
    expected = {
        "primary": light >= 0.05 - 1e-6,
        "shadow": light >= 0.05 - 1e-6,
        "ao": np.isclose(8 * light, np.round(8 * light), atol=1e-4),
        "path": np.isclose(light[:, None], [0.0, 0.7, 0.49, 0.343, 0.2401], atol=1e-3).any(axis=1),
    }
    assert expected[work].all()


@pytest.mark.parametrize(("mode", "why"), [
    ("crash", "ended with code 3"),
    ("refuse", "there is no mode refuse"),
    ("short", "wrote 7,680 bytes, not 23,040"),
])  # fmt: skip
def test_a_peer_that_fails_says_why(mode: str, why: str, brute_force: Program) -> None:
    with pytest.raises(RaytracerError, match=why):
        brute_force.answer("primary", mode)


def test_a_program_that_is_missing_is_named() -> None:
    with pytest.raises(RaytracerError, match="/nowhere/program: cannot be run"):
        Program(["/nowhere/program"], SCENE, 1)


@pytest.mark.slow
@pytest.mark.parametrize("work", FRAMES)
def test_embree_finds_what_ours_finds(work: str) -> None:
    try:
        peer = command.load_peer("embree").open_peer(SCENE, 1, "cpu")
    except UserError as error:
        pytest.skip(str(error))
    with closing(peer), ours.open_ours(SCENE, work, ours.our_device("cpu", 1)) as (turn, answer):
        result = measure(work, SCENE, turn, answer, peer, ("1", "4", "8", "16"), 1e-3)
    assert [row["status"] for row in result["rows"]] == ["ok"] * 5
    assert len(result["differences"]) == 4


def answers() -> Answer:
    """A hundred pixels, all of one sphere at distance 2 and of light 0.5."""
    shape = (10, 10)
    film = np.full((*shape, 4), 0.5, np.float32)
    return Answer(np.zeros(shape, np.uint32), np.full(shape, 2.0, np.float32), film)


@pytest.mark.parametrize(("name", "count"), [
    ("hits", 5), ("ids", 7), ("distances", 9), ("light", 11), ("hits", 0), ("ids", 4),
])  # fmt: skip
def test_pixels_that_differ_are_counted(name: str, count: int) -> None:
    one, other = answers(), answers()
    assert other.ids is not None
    assert other.distances is not None
    assert other.film is not None
    if name == "hits":
        other.ids.flat[:count] = NOTHING
        other.distances.flat[:count] = np.inf
    elif name == "ids":
        other.ids.flat[:count] = 3
    elif name == "distances":
        other.distances.flat[:count] *= 1.01
    else:
        other.film[..., 0].flat[:count] += 0.2
        other.film[..., 0].flat[count : 2 * count] -= 0.2  # so that the mean is the same
    found = turns.compare(one, other, "shadow")
    assert {each: getattr(found, each) for each in turns.SHARES} == dict.fromkeys(
        turns.SHARES, 0
    ) | {name: 2 * count if name == "light" else count}
    assert bool(found.wrong) == (count > turns.FEWEST)
    assert found.wrong.startswith(name) == (count > turns.FEWEST)


@pytest.mark.parametrize(("work", "light"), [("path", None), ("ao", None), ("shadow", 100)])
def test_random_light_is_compared_by_its_mean(work: str, light: int | None) -> None:
    one, other = answers(), answers()
    assert other.film is not None
    other.film[..., 0] += np.where(np.arange(100).reshape(10, 10) % 2, 0.2, -0.2)
    found = turns.compare(one, other, work)
    assert found.light == light
    assert bool(found.wrong) == (light is not None)
    other.film[..., 0] += 0.07  # 3.5 standard errors of 0.02
    assert not turns.compare(one, other, "ao").wrong
    other.film[..., 0] += 0.03
    assert "mean of the light is 0.6000, ours 0.5000" in turns.compare(one, other, "ao").wrong


@pytest.mark.parametrize("part", ["ids", "distances", "film"])
def test_what_a_peer_does_not_tell_is_not_compared(part: str) -> None:
    one, other = answers(), replace(answers(), **{part: None})
    found = turns.compare(one, other, "shadow")
    counts = {"hits": 0, "ids": 0, "distances": 0, "light": 0}
    counts["light" if part == "film" else part] = None  # type: ignore[assignment]
    assert {each: getattr(found, each) for each in turns.SHARES} == counts
    assert (found.means is None) == (part == "film")
    assert not found.wrong
    lost = Answer(None, np.full((10, 10), np.inf, np.float32), None)
    assert turns.compare(one, lost, "shadow").hits == 100
    black = Answer(None, None, np.zeros((10, 10, 4), np.float32))
    assert turns.compare(one, black, "shadow").hits == 100


class Steady:
    """A peer of steady times; the mode "wrong" hits nothing. `calls` is the order of turns."""

    name = "steady 2"

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.seconds = {"slow": 4.0, "fast": 1.0, "wrong": 0.001}

    def time(self, work: str, mode: str, seconds: float) -> list[float]:
        self.calls.append(mode)
        return [self.seconds[mode]]

    def answer(self, work: str, mode: str) -> Answer | None:
        found = answers()
        nothing = np.full((10, 10), NOTHING, np.uint32)
        return replace(found, ids=nothing) if mode == "wrong" else found

    def close(self) -> None:
        """Nothing is open."""


def measured(modes: Sequence[str]) -> tuple[Steady, turns.PeerResult]:
    peer = Steady()

    def turn(seconds: float) -> list[float]:
        peer.calls.append("ours")
        return [2.0]

    scene = PeerScene("uniform", SCENE.spheres, 10, 10, 5)
    return peer, measure("shadow", scene, turn, answers(), peer, modes, 8.0)


def test_ours_and_all_modes_take_turns_and_the_ratio_is_to_the_fastest() -> None:
    peer, result = measured(("slow", "fast"))
    there = ["ours", "slow", "fast"]
    assert peer.calls[:6] == there + there[::-1]
    assert len(peer.calls) % 6 == 0
    assert (result["fastest"], result["ratio"]) == ("steady 2, fast", 2.0)
    assert result["op"] == "shadow"
    assert result["axes"] == {
        "scene": "uniform",
        "spheres": 60,
        "width": 10,
        "height": 10,
        "seed": 5,
    }


def test_a_mode_with_another_answer_is_not_timed() -> None:
    peer, result = measured(("wrong", "slow"))
    assert "wrong" not in peer.calls
    wrong, slow = result["rows"][1:]
    assert (wrong["status"], slow["status"]) == ("wrong", "ok")
    assert wrong["reason"] == "hits differ in 100 of 100 pixels"
    assert "time" not in wrong
    assert (result["fastest"], result["ratio"]) == ("steady 2, slow", 0.5)
    _, alone = measured(("wrong",))
    assert "ratio" not in alone
    assert "wrong: hits differ" in turns.rows_of(alone)


def test_a_record_is_one_of_the_bench(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, result = measured(("slow", "fast"))
    result["kernels"] = ours.digests_of("cpu", "shadow")
    saved = tmp_path / "record.json"
    saved.write_text(json.dumps(to_record("cpu", "python … --seed 5", 0.5, [result])))
    read = read_record(saved)
    assert (read["load_average"], read["command"]) == (0.5, "python … --seed 5")
    assert read["device"]["device"]
    assert [row["label"] for row in read["results"][0]["rows"]] == [
        "raytracer", "steady 2, slow", "steady 2, fast"
    ]  # fmt: skip
    assert main(["bench", str(saved)]) == 0
    assert "steady 2, fast" in capsys.readouterr().out
    assert "| 2 | 0" not in turns.rows_of(result)
    assert "steady 2, fast: 1e+03 ms (1e+03 to 1e+03) | 2.00 |" in turns.rows_of(result)


@pytest.mark.parametrize("work", WORKS)
def test_digests_are_of_the_sources_of_a_work(work: str) -> None:
    for backend in ("cpu", "cuda"):
        assert ours.digests_of(backend, work)


@pytest.mark.parametrize("kind", KINDS)
def test_scenes_fill_the_view_and_differ_by_seed(kind: str) -> None:
    scene = draw(kind, 500, 64, 48, 1)
    reach = np.linalg.norm(scene.spheres[:, :3], axis=1) + scene.spheres[:, 3]
    assert reach.max() == pytest.approx(scenes.REACH, rel=1e-5)
    again, other = draw(kind, 500, 64, 48, 1), draw(kind, 500, 64, 48, 2)
    assert (again.spheres == scene.spheres).all()
    assert (other.spheres == scene.spheres).all() == (kind == "lattice")
    right, up, forward = scene.basis
    assert np.array([right @ up, right @ forward, up @ forward]) == pytest.approx(0.0, abs=1e-6)
    assert np.linalg.norm(right) / np.linalg.norm(up) == pytest.approx(64 / 48)
    assert np.degrees(2 * np.arctan(np.linalg.norm(up))) == pytest.approx(scenes.FOV)


def test_programs_and_scenes_have_the_same_constants() -> None:
    text = (command.FOLDER / "program.h").read_text()
    constants = dict(re.findall(r"\bk(\w+) = ([\d.]+)f?[,;]", text))
    expected = {
        "Ambient": scenes.AMBIENT, "Diffuse": scenes.DIFFUSE, "Albedo": scenes.ALBEDO,
        "OcclusionRays": scenes.OCCLUSION_RAYS, "Bounces": scenes.BOUNCES,
    }  # fmt: skip
    assert {name: float(constants[name]) for name in expected} == expected


def test_programs_that_lack_headers_are_left_out_and_broken_ones_fail(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "FOLDER", tmp_path)
    monkeypatch.delenv("PEER_INCLUDE", raising=False)
    (tmp_path / "good.cpp").write_text("int main() {}\n")
    (tmp_path / "bad.cpp").write_text("int main() { return nothing; }\n")
    (tmp_path / "other.h").write_text("")
    good, bad = (Source(f"{name}.cpp", (programs.CXX,)) for name in ("good", "bad"))
    other = Source("good.cpp", (programs.CXX,), "PEER_INCLUDE", "other.h")
    none = Source("good.cpp", ("no-such-compiler",))
    monkeypatch.setattr(programs, "quick", lambda source: ())
    assert programs.compile_all((good, other, none)) == 0
    said = capsys.readouterr().out.splitlines()
    assert said == [
        "good.cpp: compiled",
        "good.cpp: left out, PEER_INCLUDE is not set to a folder with other.h",
        "good.cpp: left out, there is no no-such-compiler",
        "1 of 3 programs of peers compiled",
    ]
    assert programs.compile_all((other, none)) == 1
    assert programs.compile_all((good, bad)) == 1
    assert "bad.cpp does not compile" in capsys.readouterr().out
    monkeypatch.setenv("PEER_INCLUDE", str(tmp_path / "none"))
    assert other.missing == f"PEER_INCLUDE is {tmp_path / 'none'}, which has no other.h"
    monkeypatch.setenv("PEER_INCLUDE", str(tmp_path))
    assert programs.compile_all((good, other)) == 0


def test_every_peer_has_a_readme_its_sources_and_known_works() -> None:
    folders = {path.name for path in command.FOLDER.iterdir() if path.is_dir()} - {"__pycache__"}
    text = (command.FOLDER / "README.md").read_text()
    assert set(re.findall(r"^\| \[(\w+)\]", text, re.MULTILINE)) == folders
    for name in folders:
        assert (command.FOLDER / name / "README.md").is_file()
    for source in SOURCES:
        assert (command.FOLDER / source.path).is_file()
    for name in command.names():
        for backend, modes in command.load_peer(name).MODES.items():
            assert set(modes) <= set(scenes.WORKS)
            assert all(modes.values())
            assert all(ours.digests_of(backend, work) for work in modes)


@pytest.mark.parametrize(("words", "message"), [
    (["embree", "--work", "refit"], "embree does not do the work refit: choose of primary,"),
    (["embree", "--save", "/nowhere/record.json"], "/nowhere"),
    (["embree", "--backend", "cuda"], "embree does not run on cuda"),
    (["embree", "--spheres", "1e12"], "--spheres"),
    (["embree", "--threads", "-1"], "threads"),
    (["embree", "--seed", "-4"], "--seed"),
    (["embree", "--min-time", "nan"], "--min-time"),
])  # fmt: skip
def test_mistakes_are_told(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(words) == 2
    assert message in capsys.readouterr().err


class Copy:
    """A peer that answers with our own answers, in times that are steady."""

    MODES: ClassVar = {"cpu": {"shadow": ("slow", "fast"), "build": ("fast",)}}

    def open_peer(self, scene: PeerScene, threads: int, backend: str) -> turns.Peer:
        class Same(Steady):
            def answer(self, work: str, mode: str) -> Answer | None:
                with ours.open_ours(scene, work, ours.our_device(backend, threads)) as (_, found):
                    return found

        return Same()


def test_the_command_writes_a_record_that_can_be_taken_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "load_peer", lambda name: Copy())
    saved = tmp_path / "record.json"
    words = ["embree", "--spheres", "50", "60", "--size", "32", "24", "--min-time", "0.001"]
    assert command.main([*words, "--save", str(saved)]) == 0
    made = json.loads(saved.read_text())
    assert read_record(saved)["load_average"] == made["load_average"] >= 0
    axes = [(each["op"], each["axes"]["spheres"]) for each in made["results"]]
    assert axes == [(work, count) for count in (50, 60) for work in ("shadow", "build")]
    frame, build = made["results"][:2]
    assert frame["differences"]["steady 2, slow"]["hits"] == 0
    assert "differences" not in build
    assert frame["ratio"] == pytest.approx(frame["rows"][0]["time"]["median"])  # by 1 s
    assert frame["kernels"] == ours.digests_of("cpu", "shadow")
    assert frame["load_average"] >= 0.0
    again = shlex.split(made["command"])
    assert again[:2] == ["python", "tests/reference/peers"]
    assert again[-4:] == ["--save", "record.json", "--seed", str(frame["axes"]["seed"])]
    assert command.options(again[2:]).seed == frame["axes"]["seed"]
    table = capsys.readouterr().out
    assert table.count("steady 2, fast: 1e+03 ms") == 4


@pytest.mark.parametrize("words", [
    [], ["embree", "--spheres", "0.5"], ["embree", "--size", "0", "5"], ["embree", "--scene", "x"],
])  # fmt: skip
def test_arguments_are_checked(words: list[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        command.main(words)
    assert stopped.value.code == 2
