"""A session without a window: actions by name, pictures that become finer, and the state."""

import json
import shlex
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer.commands.cli import main
from raytracer.config.errors import UserError
from raytracer.model.views import VIEWS
from raytracer.viewer import panel
from raytracer.viewer import session as session_module
from raytracer.viewer.choices import SOLIDS
from raytracer.viewer.loaded_scene import Hit
from raytracer.viewer.messages import Pick, PickReport
from raytracer.viewer.panel import describe_state
from raytracer.viewer.picking import format_measures
from raytracer.viewer.session import NOTICE_SECONDS, Session
from raytracer.viewer.view_actions import tick
from support.particle_files import dump, write
from support.previews import (
    PATIENCE,
    balls,
    finished,
    hit_id,
    loaded_scene_of,
    opened,
    wait_for,
)

SIZE = (64, 48)


@pytest.fixture
def session() -> Iterator[Session]:
    with opened(balls()) as made:
        yield made


def until(session: Session, name: str, *keys: str) -> Any:
    """A part of the state, as soon as nothing is being loaded."""

    def settled() -> bool:
        session.picture()
        return not describe_state(session)["loading"] and not session.worker.messages.qsize()

    wait_for(settled, "the content")
    value = describe_state(session)[name]
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
    expected = raytracer.render(
        balls(camera=session.camera), width=64, height=48, samples=2, backend="cpu"
    )
    assert np.array_equal(picture.pixels[..., :3], np.asarray(expected)[..., :3])
    frame = picture.frame
    assert (frame.size, frame.samples, frame.request.samples) == (SIZE, 2, 2)
    assert not frame.draft
    before = picture.pixels.copy()
    session.do("orbit", 0.5, 0.1)
    after = finished(session)
    assert after.number > picture.number
    assert after.frame.request.stamp > frame.request.stamp
    assert np.array_equal(picture.pixels, before)
    assert not np.array_equal(after.pixels, before)


def test_the_state_is_json_and_names_what_actions_take(session: Session) -> None:
    state = json.loads(json.dumps(describe_state(session)))
    assert state["spheres"] == 40
    assert state["frame"]["count"] == 1
    sections = json.loads(json.dumps(panel.describe_panel(session)))
    rows = {row["label"].lower(): row for row in sections["Look"]}
    for name in ("look", "background"):
        for value in rows[name]["choices"]:
            session.do(f"next-{name}")
            session.do(name, value)
            assert describe_state(session)[name] == value
    for name in VIEWS:
        session.do("view", name)
    for column in state["color"]["columns"]:
        session.do("color-by", column)
        assert until(session, "color", "by") == column


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (("orbitt",), "there is no action 'orbitt'; did you mean 'orbit'?"),
        (("orbit", 1.0), "orbit: missing a required argument: 'up'; its arguments: right, up"),
        (("orbit", 1.0, float("nan")), "orbit: up: must be a finite number"),
        (("along", 0, 0, 0), "along: 0, 0, 0 is not a direction"),
        (("step", 1), "there is one frame"),
        (("play",), "there is one frame"),
        (("undo",), "there is nothing to undo"),
        (("flip-slice",), "there is no slice"),
        (("pick", 1.5, 2), "pick: x: 1.5 is not a whole number"),
        (("look", "nice"), "look: there is no look 'nice'"),
        (("map", "magma"), "there are no colours by a column"),
        (("slice", "x", 2), "slice: position: must be at most 1"),
        (("select", "speeed > 1"), "select: there is no column 'speeed'"),
        (("keep-view", "iso"), "keep-view: name: there is no digit 'iso'"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(
    session: Session, call: tuple[Any, ...], sentence: str
) -> None:
    with pytest.raises(UserError) as error:
        session.do(*call)
    assert str(error.value).startswith(sentence)


def test_frames_are_counted_shown_and_played(tmp_path: Path) -> None:
    path = write_frames(tmp_path / "run.xyz", 4)
    with opened(path) as session:
        wait_for(lambda: until(session, "frame", "count") == 4)
        first = session.loaded_scene.scene.spheres[0].centers.copy()
        radius = session.loaded_scene.scene.spheres[0].radius
        eye = describe_state(session)["camera"]["position"]
        session.do("step", 1)
        assert until(session, "frame", "number") == 1
        shown = session.loaded_scene.scene.spheres[0]
        assert np.allclose(shown.centers - first, (1, 0, 0))
        assert np.array_equal(shown.radius, radius)
        assert np.allclose(describe_state(session)["camera"]["position"], eye)
        session.do("frame", 99)
        assert until(session, "frame", "number") == 3
        session.do("play")
        assert session.is_moving
        tick(session, 1.0)
        assert until(session, "frame", "number") == 0
        session.do("play", False)
        assert not session.is_moving


def test_playing_goes_on_after_frames_that_cannot_be_read(tmp_path: Path) -> None:
    path = write_frames(tmp_path / "run.xyz", 5)
    frames = path.read_text().split("5\nProperties")
    frames[2:4] = [each.replace("Ar", "Ar x", 1) for each in frames[2:4]]
    path.write_text("5\nProperties".join(frames))
    with opened(path) as session:
        wait_for(lambda: until(session, "frame", "count") == 5)
        session.do("play")
        for _ in range(3):
            tick(session, 1.0)
            until(session, "frame", "number")

        def ends() -> bool:
            tick(session, 1.0)
            return bool(until(session, "frame", "number") == 3)

        wait_for(ends, "the end")
        assert session.time.playing


def test_a_file_that_grows_shows_its_new_frames(tmp_path: Path) -> None:
    path = write_frames(tmp_path / "run.xyz", 2)
    with opened(path, watch=True) as session:
        wait_for(lambda: until(session, "frame", "count") == 2)
        session.do("frame", 2**31)
        until(session, "frame")
        write_frames(path, 5)
        wait_for(lambda: until(session, "frame", "number") == 4, "the new end")
        assert session.loaded_scene.scene.spheres[0].centers[0, 0] == 4.0


def test_the_settings_of_a_call_are_the_first_content(tmp_path: Path) -> None:
    path = write_frames(tmp_path / "run.xyz", 2)
    with opened(path, color_by="charge", select="charge > 1") as session:
        assert describe_state(session)["color"]["by"] == "charge"
        assert until(session, "hidden") == 2
        assert (
            describe_state(session)["color"]["low"],
            describe_state(session)["color"]["high"],
        ) == (2.0, 4.0)
        wait_for(lambda: until(session, "frame", "count") == 2, "the number of frames")
        session.do("step", 1)
        assert until(session, "frame", "number") == 1
        assert (
            describe_state(session)["color"]["low"],
            describe_state(session)["color"]["high"],
        ) == (2.0, 4.0)
        session.do("show-all")
        assert until(session, "hidden") == 0


def write_dump(path: Path, frames: int) -> Path:
    """A LAMMPS dump whose atoms come in another order in each frame; atom n has speed n."""
    text = ""
    for frame in range(frames):
        order = np.roll(np.arange(1, 7), frame)
        rows = [f"{n} {1 + n % 2} {n + 0.1 * frame} {n % 3} 5.0 {n * 1.5}" for n in order]
        text += dump("id type x y z mass", rows, frame)
    return write(path, text)


def keep_pick(session: Session, number: int, add: bool = False) -> None:
    """Have the viewer hear that a sphere was picked."""
    loaded = session.loaded_scene
    session.handle_message(PickReport(loaded, Pick(number, [], (0.0, 0.0, 0.0)), add=add))


def test_selections_and_picks_stay_with_the_ids_of_particles(tmp_path: Path) -> None:
    with opened(write_dump(tmp_path / "run.lammpstrj", 3)) as session:
        wait_for(lambda: until(session, "frame", "count") == 3)
        keep_pick(session, 6)  # no particle: a bond, say
        with pytest.raises(UserError, match="click a particle first"):
            session.do("select-picked")
        keep_pick(session, 1, add=True)
        session.do("select-picked")
        assert until(session, "selection", "count") == 1
        session.do("step", 2)
        assert until(session, "frame", "number") == 2
        plain = session.loaded_scene.all_particles
        (pick,) = session.picks
        assert plain.columns["id"][pick.number] == 2
        session.do("hide-rest")
        assert until(session, "hidden") == 5
        assert session.loaded_scene.scene.spheres[0].centers[0, 0] == pytest.approx(2.2)
        seen = PickReport.of(
            session.loaded_scene, Hit(0, (2.2, 2.0, 5.0)), go=False, add=False
        ).pick
        assert seen is not None
        assert seen.number == pick.number, "a click means the particle, not its place among shown"
        (shown,) = describe_state(session)["picks"]
        assert shown["id"] == pick.number
        assert shown["position"] == [pytest.approx(2.2), 2.0, 5.0]


def test_a_pick_hits_the_scene_that_replaces_the_one_that_was_clicked(session: Session) -> None:
    finished(session)
    viewer, gate = session, Event()
    old, seen = viewer.loaded_scene, viewer.requested
    place = next((x, y) for y in range(48) for x in range(64) if hit_id(old, seen, x, y))

    # so that the pick comes after the end of the old scene
    session.worker.run_task(lambda: [gate.wait(PATIENCE)].clear())
    session.do("pick", *place, reach=0)
    session.do("color-by", "x")
    wait_for(lambda: [session.picture()] and viewer.loaded_scene is not old, "the other colours")
    gate.set()
    wait_for(lambda: [session.picture()] and viewer.picked, "the pick")
    assert old.closed
    assert viewer.picked is not None
    assert viewer.picked.number == hit_id(viewer.loaded_scene, viewer.requested, *place)


def test_a_pick_of_other_particles_comes_too_late(session: Session) -> None:
    other = loaded_scene_of(raytracer.Scene([raytracer.SphereSet(np.eye(3), 0.2)]))
    session.handle_message(PickReport(other, Pick(0, [], (0.0, 0.0, 0.0))))
    assert session.picks == []
    keep_pick(session, 0)
    session.handle_message(PickReport(other, None))
    assert [pick.number for pick in session.picks] == [0]


@pytest.mark.parametrize("view", ["-x", "z", "iso"])
def test_slices_cut_off_what_is_in_front_the_nearest_axis_first(view: str) -> None:
    """Each axis has its turn, then nothing is cut."""
    with opened(balls()) as session:
        session.do("view", view)
        seen = []
        for _ in range(3):
            session.do("next-slice")
            now, forward = describe_state(session)["slice"], session.view.pose.axes.forward
            along = {axis: forward["xyz".index(axis)] for axis in "xyz"}
            left = [axis for axis in "xyz" if axis not in seen]
            assert abs(along[now["axis"]]) == max(abs(along[axis]) for axis in left)
            seen.append(now["axis"])
            assert now["keep"] == ("above" if along[now["axis"]] > 0.0 else "below")
        session.do("next-slice")
        assert describe_state(session)["slice"] is None
        session.do("slice", "y", 0.5)
        session.do("next-slice")
        session.do("undo")
        assert describe_state(session)["slice"]["axis"] == "y"


def test_what_is_hidden_sliced_and_marked_is_what_numpy_says(session: Session) -> None:
    spheres = session.loaded_scene.scene.spheres[0]
    x, radius = np.asarray(spheres.centers)[:, 0], np.asarray(spheres.radius)
    session.do("slice", "x", 0.25)
    at = x.min() + 0.25 * (x.max() - x.min())
    assert until(session, "hidden") == np.count_nonzero(x - radius > at)
    clip = session.loaded_scene.scene.clip  # what is on the plane is cut open
    assert clip is not None
    ((normal, offset),) = clip.planes()
    assert normal == (1.0, 0.0, 0.0)
    assert offset == pytest.approx(at)
    session.do("flip-slice")
    assert until(session, "spheres") == np.count_nonzero(x + radius >= at)
    session.do("show-all")
    assert until(session, "hidden") == 0
    assert session.loaded_scene.scene.clip is None
    session.do("select", "x > 50")
    until(session, "selection")
    session.do("fade-rest")
    assert until(session, "hidden") == 0
    opacity = session.loaded_scene.scene.spheres[0].opacity
    assert opacity is not None
    assert np.array_equal(opacity == np.float32(0.15), x <= 50)
    session.do("undo")
    until(session, "hidden")
    session.do("show-all")
    session.do("select", "x > 50")
    assert until(session, "selection") == {"count": np.count_nonzero(x > 50), "condition": "x > 50"}
    marked = session.loaded_scene.marked
    assert marked is not None
    assert np.array_equal(marked[:-1], x > 50)
    assert not marked[-1]
    session.do("hide-selected")
    until(session, "hidden")
    shown = session.loaded_scene
    assert shown.numbers is not None
    assert np.array_equal(shown.numbers, np.flatnonzero(x <= 50))
    with pytest.raises(UserError, match="select or click particles first"):
        session.do("hide-rest")
    session.do("slice", "x", 0.999)
    session.do("select", "x <= 50")
    session.do("hide-selected")
    wait_for(
        lambda: (
            until(session, "hidden")
            and "all particles would be hidden" in describe_state(session)["notice"]
        )
    )
    assert until(session, "hidden") > 0  # what was there before


def test_a_box_selects_what_its_pixels_show(session: Session) -> None:
    session.do("select-box", 0, 0, *SIZE)
    assert until(session, "selection", "count") == 40
    session.do("select-box", 0, 0, SIZE[0] // 2, SIZE[1])
    left = until(session, "selection", "count")
    session.do("invert-selection")
    assert 0 < left == 40 - until(session, "selection", "count")


def test_picks_have_a_distance_an_angle_and_a_dihedral_angle() -> None:
    corners = [(0, 0, 0), (2, 0, 0), (2, 3, 0), (2, 3, 1)]
    with opened(raytracer.Scene.from_arrays(corners, 0.1)) as session:
        viewer = session
        for number in range(4):
            keep_pick(session, number, add=True)
        expected = ["distance 1", "angle 90.00°", "dihedral 90.00°"]
        assert format_measures(viewer) == expected
        assert describe_state(session)["measure"] == ", ".join(expected)
        keep_pick(session, 3, add=True)
        assert [each.number for each in viewer.picks] == [0, 1, 2, 3]
        keep_pick(session, 2)
        assert format_measures(viewer) == []


def test_undo_returns_step_by_step_and_redo_goes_on(session: Session) -> None:
    first = describe_state(session)["camera"]
    for _ in range(5):
        session.do("orbit", 0.1, 0.0)  # one drag
    turned = describe_state(session)["camera"]
    session.do("select", "x > 50")
    session.do("background", "black")
    until(session, "selection")
    session.do("undo")
    assert describe_state(session)["background"] == "the scene's"
    session.do("undo")
    assert until(session, "selection", "count") == 0
    session.do("undo")
    assert np.allclose(describe_state(session)["camera"]["position"], first["position"])
    assert not session.history.before
    for _ in range(3):
        session.do("redo")
    assert until(session, "selection", "condition") == "x > 50"
    assert np.allclose(describe_state(session)["camera"]["position"], turned["position"])
    assert describe_state(session)["background"] == "black"
    assert not session.history.after


def test_keyframes_are_printed_with_the_camera(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For a file of particles the text is a scene, and its last line the command for a movie."""
    monkeypatch.chdir(tmp_path)
    with opened(write_frames(tmp_path / "run.xyz", 4)) as session:
        wait_for(lambda: until(session, "frame", "count") == 4)
        session.do("color-by", "charge")
        session.do("keyframe")
        session.do("frame", 3)
        session.do("orbit", 0.5, 0.0)
        session.do("keyframe")
        assert until(session, "keyframes") == 2
        text, camera = session.do("print-camera"), describe_state(session)["camera"]
        session.do("clear-keyframes")
        assert "animation" not in session.do("print-camera")
    (tmp_path / "view.toml").write_text(text)
    written = raytracer.load("view.toml", frame=0)
    assert written.animation is not None
    keys = list(written.animation.keyframes)
    assert [key.time for key in keys] == [0.0, pytest.approx(0.1)]
    assert np.allclose(np.array(keys[1].position), camera["position"])
    command = shlex.split(text.splitlines()[-1].removeprefix("# raytracer "))
    assert command[:2] == ["animate", "view.toml"]
    assert command[command.index("--color-by") + 1] == "charge"
    assert main([*command, "-o", "####.png", "--size", "16x12", "--samples", "1"]) == 0
    assert len(list(tmp_path.glob("*.png"))) == 4


def counts_after(session: Session, name: str, *values: object) -> dict[str, int]:
    """Run an action; gives the solids that are shown then."""
    session.do(name, *values)
    until(session, "loading")
    return session.loaded_scene.scene.counts()


def test_styles_bonds_and_arrows_are_actions() -> None:
    grid = np.stack(np.meshgrid(*[np.arange(4.0)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    field = raytracer.Scene.from_arrays(
        grid, radius=0.1, columns={"velocity": np.roll(grid, 1, 1) - 1.5}
    )
    with opened(field) as session:
        counts = partial(counts_after, session)
        rows = {row["label"]: row for row in panel.describe_panel(session)[SOLIDS]}
        assert rows["Arrows"]["choices"] == ["", "velocity"]
        assert counts("arrows", "velocity") == {"sphere": 64, "capsule": 64, "cone": 64}
        assert counts("bonds", "1.1") == {"sphere": 64, "capsule": 208, "cone": 64}
        assert counts("style", "wire")["capsule"] == 208
        # Colours leave bonds and arrows as they are.
        assert counts("color-by", "speed")["capsule"] == 208
        assert session.content.settings == {
            "arrows": "velocity", "style": "wire", "bonds": "1.1", "color_by": "speed",
        }  # fmt: skip
        assert counts("select", "x > 2.5")["sphere"] == 64
        assert counts("hide-selected") == {"sphere": 48, "capsule": 48 + 104, "cone": 48}
        assert counts("arrows", "") == {"sphere": 48, "capsule": 104}
        with pytest.raises(UserError, match="there is no style 'sticks'"):
            session.do("style", "sticks")


def test_the_box_that_a_file_shows_is_in_the_view(tmp_path: Path) -> None:
    """As lines that follow the background; hidden and shown again it is as before."""
    axis = np.arange(4.0) + 0.5
    atoms = np.stack(np.meshgrid(axis, axis, axis), -1).reshape(-1, 3)
    path = tmp_path / "a.xyz"
    head = f'{len(atoms)}\nLattice="4 0 0 0 4 0 0 0 4" Properties=species:S:1:pos:R:3\n'
    path.write_text(head + "".join(f"H {x} {y} {z}\n" for x, y, z in atoms))
    with opened(path, size=(160, 120)) as session:
        seen = [finished(session).pixels]
        for _ in range(2):
            session.do("next-box")
            seen.append(finished(session).pixels)
        assert "box" not in session.content.settings
        job, inks = session.loaded_scene.job, []
        assert job.plan is not None
        for background in ("white", "black", "transparent"):
            session.do("background", background)
            lines = job.plan.box_lines(session.pack(), job.space)
            assert lines is not None
            inks.append(lines.ink[0])
    assert (seen[0] != seen[1]).any()
    assert np.array_equal(seen[0], seen[2])
    assert inks == [0.0, 1.0, 0.0]


def test_a_condition_on_a_column_that_one_set_lacks() -> None:
    near = raytracer.SphereSet([[0, 0, 0], [1, 0, 0]], 0.2, columns={"charge": [1.0, 2.0]})
    scene = raytracer.Scene([near, raytracer.SphereSet([[3, 0, 0]], 0.2)])
    with opened(scene) as session:
        session.do("select", "charge > 1")
        session.do("hide-selected")
        assert until(session, "hidden") == 1
        assert session.loaded_scene.scene.count == 2


def test_no_background_is_that_of_the_scene(session: Session) -> None:
    session.do("background", "black")
    session.do("background", None)
    assert session.edited_scene.background == session.loaded_scene.scene.background


def test_a_transparent_background_hides_the_environment_and_another_shows_it_again() -> None:
    """The environment is packed once; what the camera sees of it follows the edits."""
    around = raytracer.Environment(color="white", visible=True)
    scene = raytracer.Scene(
        [raytracer.SphereSet([[0, 0, 0]], 1.0)], environment=around,
        camera=raytracer.Camera(position=(0, 0, 6)),
        render=raytracer.RenderSettings(integrator="path"),
    )  # fmt: skip
    with opened(scene) as session:
        white = finished(session).pixels
        assert white[0, 0].tolist() == [255, 255, 255, 255]
        session.do("background", "transparent")
        assert finished(session).pixels[0, 0].tolist() == [0, 0, 0, 0]
        session.do("background", None)
        assert np.array_equal(finished(session).pixels, white)


def test_a_notice_is_shown_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(session_module, "perf_counter", lambda: now)
    told: Any = SimpleNamespace(_notice=("", 0.0), notice_left=0.0)
    Session.notify(told, "saved")
    properties: Any = vars(Session)
    get_left, get_notice = properties["notice_left"].fget, properties["notice"].fget
    told.notice_left = get_left(told)
    assert (told.notice_left, get_notice(told)) == (NOTICE_SECONDS, "saved")
    now += NOTICE_SECONDS + 0.1
    told.notice_left = get_left(told)
    assert (told.notice_left, get_notice(told)) == (0.0, "")
