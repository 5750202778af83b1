"""A session without a window: actions by name, pictures that become finer, and the state."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer.errors import UserError
from raytracer.viewer.session import Picture, Session
from support.previews import PATIENCE, balls, wait_for

SIZE = (64, 48)


def opened(scene: Any, **options: Any) -> Session:
    settings: dict[str, Any] = {"size": SIZE, "samples": 2, "threads": 1, "backend": "cpu"}
    return Session.open(scene, say=lambda _: None, **settings | options)


@pytest.fixture
def session() -> Iterator[Session]:
    with opened(balls()) as made:
        yield made


def finished(session: Session) -> Picture:
    """The next finished picture."""

    def last() -> Picture | None:
        found = session.picture(PATIENCE)
        return found if found is not None and found.finished else None

    found: Picture = wait_for(last, "a finished picture")
    return found


def until(session: Session, name: str, *keys: str) -> Any:
    """A part of the state, as soon as nothing is being loaded."""

    def settled() -> bool:
        session.picture()
        return not session.state()["loading"] and not session.worker.messages.qsize()

    wait_for(settled, "the content")
    value = session.state()[name]
    for key in keys:
        value = value[key]
    return value


def write_frames(path: Path, count: int, atoms: int = 5) -> Path:
    """A trajectory in extended xyz whose particles move along x, one unit a frame."""
    frames = []
    for frame in range(count):
        rows = [f"Ar {frame + each} 0.0 {each * 0.5} {frame * 10 + each}" for each in range(atoms)]
        head = f"{atoms}\nProperties=species:S:1:pos:R:3:charge:R:1"
        frames.append("\n".join([head, *rows]))
    path.write_text("\n".join(frames) + "\n")
    return path


def test_pictures_end_with_that_of_render_and_are_the_callers_own(session: Session) -> None:
    picture = finished(session)
    expected = raytracer.render(balls(), width=64, height=48, samples=2, backend="cpu")
    assert np.array_equal(picture.pixels[..., :3], np.asarray(expected)[..., :3])
    assert (picture.size, picture.samples, picture.of) == (SIZE, 2, 2)
    assert not picture.draft
    before = picture.pixels.copy()
    session.do("orbit", 0.5, 0.1)
    after = finished(session)
    assert after.number > picture.number
    assert after.stamp > picture.stamp
    assert np.array_equal(picture.pixels, before)
    assert not np.array_equal(after.pixels, before)


def test_other_threads_ring_and_an_idle_session_gives_no_picture() -> None:
    rings: list[int] = []
    with opened(balls(), wake=lambda: rings.append(1)) as session:
        finished(session)
        assert rings
        assert session.picture(0.05) is None


def test_it_follows_the_size_of_its_front_end(session: Session) -> None:
    session.resize(40, 30)
    wait_for(lambda: finished(session).pixels.shape == (30, 40, 4))
    assert session.state()["size"] == [40, 30]


def test_the_state_is_json_and_names_what_actions_take(session: Session) -> None:
    state = json.loads(json.dumps(session.state()))
    assert state["spheres"] == 40
    assert state["frame"]["count"] == 1
    for look in state["looks"]:
        session.do("set-look", look)
        assert session.state()["look"] == look
    for background in state["backgrounds"]:
        session.do("set-background", background)
        assert session.state()["background"] == background
    for name in state["views"]:
        session.do("view", name)
    for column in state["color"]["columns"]:
        session.do("color-by", column)
        assert until(session, "color", "by") == column


def test_every_action_is_described_and_refuses_other_arguments(session: Session) -> None:
    for about in session.actions():
        assert about["help"].endswith((".", "..."))
        with pytest.raises(UserError, match=f"^{about['name']}: there is no argument 'wrong'"):
            session.do(about["name"], wrong=1)
    json.dumps(session.actions())


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (("orbitt",), "there is no action 'orbitt'; did you mean 'orbit'?"),
        (("orbit", 1.0), "orbit: up is missing"),
        (("orbit", 1.0, "far"), "orbit: up: 'far' is not a number"),
        (("orbit", 1.0, float("nan")), "orbit: up: nan is not finite"),
        (("orbit", 1, 2, 3), "orbit: takes 2 arguments, got 3"),
        (("pick", 1.5, 2), "pick: x: 1.5 is not a whole number"),
        (("set-look", "nice"), "set-look: name: there is no look 'nice'"),
        (("view", "izo"), "there is no view 'izo'; did you mean 'iso'?"),
        (("set-map", "magma"), "the colours follow no column: choose one first"),
        (("slice", "w"), "slice: axis: there is no axis 'w'"),
        (("slice", "x", 2), "slice: position: 2 is out of range"),
        (("select", "speeed > 1"), "select: there is no column 'speeed'"),
        (("select", "x"), "select: 'x' is no condition; compare it"),
        (("set-speed", 0), "set-speed: factor: 0 is out of range"),
        (("keep-view", "iso"), "keep-view: name: 'iso' is a standard view"),
        (("export-keyframes",), "there is no keyframe yet"),
        (("animate",), "there is one frame and no keyframe"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(
    session: Session, call: tuple[Any, ...], sentence: str
) -> None:
    with pytest.raises(UserError) as error:
        session.do(*call)
    assert str(error.value).startswith(sentence)


def test_colours_that_cannot_be_had_leave_those_before(session: Session) -> None:
    session.do("color-by", "nothing")
    wait_for(lambda: until(session, "color", "by") is None, "the colours before")
    assert "there is no column 'nothing'" in session.state()["notice"]


def test_frames_are_counted_shown_and_played(tmp_path: Path) -> None:
    path = write_frames(tmp_path / "run.xyz", 4)
    with opened(path) as session:
        wait_for(lambda: until(session, "frame", "count") == 4)
        first = session.viewer.loaded_scene.scene.spheres[0].centers.copy()
        radius = session.viewer.loaded_scene.scene.spheres[0].radius
        eye = session.state()["camera"]["position"]
        session.do("step", 1)
        assert until(session, "frame", "number") == 1
        shown = session.viewer.loaded_scene.scene.spheres[0]
        assert np.allclose(shown.centers - first, (1, 0, 0))
        assert np.array_equal(shown.radius, radius)
        assert np.allclose(session.state()["camera"]["position"], eye)
        session.do("frame", 99)
        assert until(session, "frame", "number") == 3
        session.do("play")
        assert session.moving
        session.tick(1.0)
        assert until(session, "frame", "number") == 0
        session.do("next-loop")
        session.do("frame", 3)
        until(session, "frame")
        session.tick(1.0)
        assert until(session, "frame", "number") == 2
        session.do("play", False)
        assert not session.moving


def test_a_file_that_grows_shows_its_new_frames(tmp_path: Path) -> None:
    path = write_frames(tmp_path / "run.xyz", 2)
    with opened(path, watch=True) as session:
        wait_for(lambda: until(session, "frame", "count") == 2)
        session.do("last-frame")
        until(session, "frame")
        write_frames(path, 5)
        wait_for(lambda: until(session, "frame", "number") == 4, "the new end")
        assert session.viewer.loaded_scene.scene.spheres[0].centers[0, 0] == 4.0


def test_the_settings_of_a_call_are_the_first_content(tmp_path: Path) -> None:
    path = write_frames(tmp_path / "run.xyz", 2)
    with opened(path, color_by="charge", select="charge > 1") as session:
        assert session.state()["color"]["by"] == "charge"
        assert until(session, "hidden") == 2
        assert (session.state()["color"]["low"], session.state()["color"]["high"]) == (2.0, 4.0)
        wait_for(lambda: until(session, "frame", "count") == 2, "the number of frames")
        session.do("step", 1)
        assert until(session, "frame", "number") == 1
        assert (session.state()["color"]["low"], session.state()["color"]["high"]) == (2.0, 4.0)
        session.do("show-all")
        assert until(session, "hidden") == 0
