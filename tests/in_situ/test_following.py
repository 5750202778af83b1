"""A session that follows a simulation: each state it shows, at the pace of who looks."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from raytracer.config.errors import ClosedError
from raytracer.film import formats
from raytracer.film.film import Film
from raytracer.viewer.loaded_scene import LoadedScene
from raytracer.viewer.panel import describe_state
from raytracer.viewer.save_view import save
from raytracer.viewer.session import Session
from support.live import Simulation, grid
from support.previews import finished, opened, wait_for


def has(count: int) -> Callable[[LoadedScene], bool]:
    """Whether a state has so many points."""
    return lambda loaded: loaded.scene.count == count


def is_at(place: float) -> Callable[[LoadedScene], bool]:
    """Whether the first point of a state is at a place along x."""
    return lambda loaded: bool(loaded.scene.spheres[0].centers[0, 0] == place)


@pytest.fixture
def simulation() -> Simulation:
    return Simulation()


@pytest.fixture
def session(simulation: Simulation) -> Iterator[Session]:
    """A session that shows three points in a row."""
    simulation.log(grid(3), speed=[1.0, 2.0, 3.0])
    with opened(simulation.feed) as made:
        finished(made, has(3))
        yield made


def test_states_are_shown_and_refined_when_the_simulation_pauses(
    simulation: Simulation, session: Session
) -> None:
    before = session.frame
    simulation.log(grid(4))
    picture = finished(session, has(4))
    assert (picture.frame.samples, picture.frame.draft) == (2, False)
    assert session.frame is not before
    simulation.log(grid(2, shift=0.4))
    assert (finished(session, has(2)).pixels != picture.pixels).any()


def test_the_camera_stays_the_users(simulation: Simulation, session: Session) -> None:
    session.do("orbit", 0.5, 0.2)
    camera = session.camera
    for count in (4, 50, 2):
        simulation.log(grid(count, shift=3.0))
        finished(session, has(count))
        now = session.camera
        np.testing.assert_allclose(now.position, camera.position, rtol=1e-5)  # type: ignore[arg-type]
        np.testing.assert_allclose(now.look_at, camera.look_at, rtol=1e-5, atol=1e-5)  # type: ignore[arg-type]


def test_no_state_is_loaded_while_nobody_looks(simulation: Simulation, session: Session) -> None:
    simulation.log(grid(4))

    def is_taken() -> bool:
        session.receive()
        return simulation.writer.is_taken

    wait_for(is_taken, "one state")
    for count in range(5, 12):
        simulation.log(grid(count))
        session.receive()
    assert not simulation.writer.is_taken
    finished(session, has(11))


def test_colors_selection_and_hidden_points_follow(
    simulation: Simulation, session: Session
) -> None:
    session.do("color-by", "speed")
    session.do("select", "speed > 2.5")
    for count in (4, 5):
        simulation.log(grid(count), speed=np.arange(count) + 1.0)
        finished(session, has(count))
        state = describe_state(session)
        assert state["color"]["by"] == "speed"
        assert state["selection"]["count"] == count - 2
    session.do("hide-selected")
    finished(session, has(2))
    simulation.log(grid(7), speed=np.arange(7) + 1.0)
    finished(session, has(2))


def test_states_are_shown_in_place_and_packed_when_they_are_asked_for(
    simulation: Simulation, session: Session
) -> None:
    memory = session.loaded_scene.job.scene
    for shift in (0.5, 1.0, 1.5):
        simulation.log(grid(3, shift))
        finished(session, is_at(shift))
        loaded = session.loaded_scene
        assert loaded.job.scene is memory
        assert loaded._packed is None
    for center in (loaded.find_sphere(2)[0], loaded.find_hit(session.requested, 32, 24)):
        assert center is not None
    np.testing.assert_allclose(loaded.packed.placed[0][0] * loaded.buffers.space.scale, 1.5 - 1.0)
    before = session.camera
    session.do("fit-all")
    assert session.camera.look_at == pytest.approx((2.5, 0.0, 0.0), abs=1e-6)
    assert session.camera != before
    simulation.log(grid(3, 2.0))
    finished(session, is_at(2.0))
    simulation.log(grid(4))
    finished(session, has(4))
    assert session.loaded_scene.job.scene is not memory


def test_colors_by_data_and_a_hidden_state_are_shown_in_place(
    simulation: Simulation, session: Session
) -> None:
    session.do("color-by", "speed")
    session.do("select", "speed > 2.5")
    session.do("hide-selected")
    finished(session, has(2))
    memories = set()
    for shift in (0.5, 1.0, 1.5):
        simulation.log(grid(3, shift), speed=[3.0, shift, 1.0])
        finished(session, is_at(shift + 1.0))
        memories.add(id(session.loaded_scene.job.scene))
    assert len(memories) == 1
    assert [session.loaded_scene.find_number(each) for each in (0, 1)] == [1, 2]


def test_a_picture_in_place_is_that_of_the_packed_state(
    simulation: Simulation, session: Session
) -> None:
    simulation.log(grid(3, 0.5))
    pixels = finished(session, is_at(0.5)).pixels
    loaded, viewer = session.loaded_scene, session
    device = loaded.job.device
    with device.scene(loaded.packed) as scene:
        film = device.film(Film.blank(*viewer.size))
        film.add(scene, viewer.requested, viewer.samples)
        expected = film.develop(viewer.tone, 8)[0]
    assert (pixels == expected).all()


def test_several_sets_are_one_scene(simulation: Simulation, session: Session) -> None:
    simulation.log(grid(4, shift=10.0), name="more")
    finished(session, has(7))
    simulation.log(np.empty((0, 3)), name="more")
    finished(session, has(3))


def test_a_state_that_is_wrong_is_said_and_the_next_is_shown(
    simulation: Simulation, session: Session
) -> None:
    simulation.log(np.full((2, 3), np.nan))
    wait_for(lambda: session.picture() or describe_state(session)["notice"], "the notice")
    assert "coordinates must be finite" in describe_state(session)["notice"]
    assert describe_state(session)["spheres"] == 3
    simulation.log(grid(2))
    finished(session, has(2))


def test_radii_without_any_are_those_of_the_first_state() -> None:
    simulation = Simulation()
    for scale in (1.0, 5.0):
        simulation.writer.write("points", {"positions": scale * grid(3)}, {})
        simulation.writer.publish({})
        if scale == 1.0:
            made = opened(simulation.feed)
    with made as session:

        def radius() -> float:
            session.picture()
            return float(session.loaded_scene.scene.spheres[0].radius)

        first = radius()
        wait_for(lambda: session.picture() or simulation.writer.is_taken, "the second state")
        finished(session, has(3))
        assert radius() == first


def test_a_picture_that_is_saved_is_of_the_state_that_was_shown(
    simulation: Simulation, session: Session, tmp_path: Path
) -> None:
    simulation.log(grid(5))
    session.receive()
    shown = describe_state(session)[
        "spheres"
    ]  # 3, or 5 if that was loaded at once; if not, it waits
    save(session, (240, 180), 8, tmp_path / "state.png")
    simulation.log(grid(9))
    finished(session, has(9))  # after the picture
    about = formats.read_metadata(tmp_path / "state.png")
    assert about is not None
    assert about["spheres"] == shown


def test_the_end_of_the_simulation_closes_the_session(
    simulation: Simulation, session: Session
) -> None:
    simulation.feed.close()
    session.receive()
    assert session.closing


def test_a_simulation_that_ends_before_it_logs_is_no_scene(simulation: Simulation) -> None:
    simulation.feed.close()
    with pytest.raises(ClosedError, match="before it logged any points"):
        opened(simulation.feed)
