"""Every drag, the wheel and clicks, by real events; what is picked is what a ray meets first."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import raytracer
from raytracer import Camera
from raytracer.viewer.controls import MOUSE
from reference.hit import closest_hit
from support.display import Display
from support.host import State
from support.remote import Remote
from support.window_scene import MASSES, SAMPLES, SIZE, all_spheres

Open = Callable[..., Remote]
BUTTONS = {"left": 1, "middle": 2, "right": 3}
WIDTH, HEIGHT = SIZE
FROM, TO = (120, 80), (152, 64)  # pixels from the upper left; to the right and up
PIXELS = [(122, 84), (83, 69), (112, 44), (175, 60), (131, 124), (3, 3), (239, 159), (60, 110)]


def drag(
    window: Remote,
    display: Display,
    button: str = "left",
    modifier: str = "",
    to: tuple[int, int] = TO,
) -> State:
    """Drag from FROM; gives the state at rest."""
    before = window.state
    keys = ("keydown", modifier) if modifier else ()
    number = BUTTONS[button]
    middle = ((FROM[0] + to[0]) // 2, (FROM[1] + to[1]) // 2)
    moves = ("mousemove", *middle, "mousemove", *to)
    display.xdotool("windowfocus", before.xid, *keys, "mousemove", *FROM, "mousedown", number)
    display.xdotool(*moves, "mouseup", number, *(("keyup", modifier) if modifier else ()))
    return window.until(
        lambda s: (s.camera != before.camera or s.edits != before.edits) and s.rest, "a drag"
    )


def axes(camera: Camera) -> tuple[NDArray[np.float64], ...]:
    """Unit vectors to the right, up and forward, and the tangent of half the field of view."""
    forward = np.array(camera.look_at) - np.array(camera.position)
    forward /= np.linalg.norm(forward)
    right = np.cross(forward, camera.upward)
    right /= np.linalg.norm(right)
    return right, np.cross(right, forward), forward


def rays(camera: Camera, pixels: NDArray[np.float64], size: tuple[int, int]) -> NDArray[np.float64]:
    """Unit directions (N, 3) through the centres of pixels (N, 2), from the upper left."""
    right, up, forward = axes(camera)
    half = np.tan(np.radians(camera.vertical_fov) / 2)
    x = (2 * (pixels[:, :1] + 0.5) / size[0] - 1) * half * size[0] / size[1]
    y = (1 - 2 * (pixels[:, 1:] + 0.5) / size[1]) * half
    found = forward + x * right + y * up
    return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True))


def brute_force(camera: Camera, x: int, y: int, size: tuple[int, int] = SIZE) -> int:
    """The sphere that a pixel's centre shows, in float64; -1 for none."""
    centers, radii = all_spheres()
    direction = rays(camera, np.array([[x, y]], np.float64), size)
    return int(closest_hit(centers, radii, np.array([camera.position]), direction)[1][0])


def pivot_at(state: State) -> NDArray[np.float64]:
    """Where the pivot is in the picture, in pixels from the upper left."""
    right, up, forward = axes(state.camera)
    offset = state.pivot - state.eye
    half = np.tan(np.radians(state.camera.vertical_fov) / 2) * (offset @ forward)
    place = np.array([offset @ right, -(offset @ up)]) / half * HEIGHT / 2
    return np.asarray(place + np.array([WIDTH, HEIGHT]) / 2)


def test_a_mouse_that_is_held_at_rest_shows_the_finished_picture(
    window: Remote, display: Display, scene: Path
) -> None:
    before = window.state
    display.xdotool("windowfocus", before.xid, "mousemove", *FROM, "mousedown", 1)
    display.xdotool("mousemove", *TO)
    held = window.until(
        lambda s: s.camera != before.camera and s.rest, "it while the button is down"
    )
    expected = raytracer.render(
        scene, camera=held.camera, width=WIDTH, height=HEIGHT, samples=SAMPLES, backend="cpu"
    ).to_uint8()
    np.testing.assert_array_equal(window.shot(), expected[..., :3])
    display.xdotool("mouseup", 1)
    assert window.rest().camera == held.camera, "it was no click"


def test_a_drag_turns_about_the_pivot(window: Remote, display: Display) -> None:
    before = window.state
    after = drag(window, display)
    near, far = (np.linalg.norm(s.pivot - s.eye) for s in (before, after))
    assert far == pytest.approx(near, rel=1e-6)
    np.testing.assert_allclose(after.pivot, before.pivot, atol=1e-6)
    np.testing.assert_allclose(pivot_at(after), pivot_at(before), atol=1e-3)
    step = after.eye - before.eye
    right, up, _ = axes(before.camera)
    assert step @ right < 0  # what is dragged to the right goes to the right
    assert step @ up < 0


@pytest.mark.parametrize(("button", "modifier"), [("right", ""), ("middle", ""), ("left", "shift")])
def test_a_drag_moves_what_is_seen_with_the_mouse(
    window: Remote, display: Display, button: str, modifier: str
) -> None:
    before = window.state
    after = drag(window, display, button, modifier)
    np.testing.assert_allclose(axes(after.camera), axes(before.camera), atol=1e-6)
    was = State(**{**vars(after), "pivot": before.pivot})
    # The first few pixels tell a click from a drag.
    moved = pivot_at(was) - pivot_at(before)
    np.testing.assert_allclose(moved, np.subtract(TO, FROM), atol=0.01)


def test_a_drag_with_ctrl_turns_the_light(window: Remote, display: Display) -> None:
    before = window.state
    after = drag(window, display, modifier="ctrl", to=(132, 72))
    assert after.camera == before.camera
    assert after.edits.lights is not None
    window.fresh()
    window.ask("act", "light_from_viewer")
    lights = window.state.edits.lights
    assert lights is not None
    old, new = (np.array(one[0].direction) for one in (lights, after.edits.lights))  # type: ignore[union-attr]
    turn = old / np.linalg.norm(old) - new / np.linalg.norm(new)
    right, up, _ = axes(before.camera)
    assert turn @ right > 0.05  # comes from farther right
    assert turn @ up > 0.05


@pytest.mark.parametrize(("button", "factor"), [(4, np.exp(-0.12)), (5, np.exp(0.12))])
def test_the_wheel_goes_nearer_and_farther(
    window: Remote, display: Display, button: int, factor: float
) -> None:
    before = window.state
    display.xdotool("mousemove", *FROM, "click", button)
    after = window.until(lambda s: s.camera != before.camera, "the wheel")
    near, far = (np.linalg.norm(s.pivot - s.eye) for s in (before, after))
    assert far / near == pytest.approx(factor)


def test_the_wheel_with_shift_changes_the_field_of_view(window: Remote, display: Display) -> None:
    before = window.state
    focus = ("windowfocus", before.xid)
    display.xdotool(*focus, "mousemove", *FROM, "keydown", "shift", "click", 4, "keyup", "shift")
    after = window.until(lambda s: s.camera != before.camera, "the wheel with Shift")
    tangents = [np.tan(np.radians(s.camera.vertical_fov) / 2) for s in (before, after)]
    assert tangents[1] / tangents[0] == pytest.approx(np.exp(-0.12))
    assert after.camera.position == before.camera.position


@pytest.mark.parametrize(("button", "sign"), [(6, -1), (7, 1)])
def test_a_trackpad_turns_sideways(
    window: Remote, display: Display, button: int, sign: int
) -> None:
    before = window.state
    display.xdotool("mousemove", *FROM, "click", button)
    after = window.until(lambda s: s.camera != before.camera, "the wheel's other way")
    step = after.eye - before.eye
    assert step @ axes(before.camera)[0] * sign > 0


@pytest.mark.parametrize("place", PIXELS, ids=str)
def test_a_click_picks_what_the_ray_through_the_pixel_meets(
    window: Remote, display: Display, place: tuple[int, int]
) -> None:
    # A click on nothing is told from no click by what was picked before.
    window.ask("act", "pick", *PIXELS[0])
    window.until(lambda s: s.picked is not None, "the first sphere")
    window.ask("put", {"picked": None} if place == PIXELS[0] else {})
    expected = brute_force(window.state.camera, *place)
    display.xdotool("mousemove", *place, "click", 1)
    state = window.until(
        lambda s: (s.picked.id if s.picked else -1) == expected, f"sphere {expected}"
    )
    if state.picked is None:
        return
    centers, radii = all_spheres()
    assert state.picked.position == pytest.approx(tuple(centers[expected]))
    assert state.picked.radius == pytest.approx(radii[expected])
    mass = {"mass": MASSES[expected]} if expected < len(MASSES) else {}
    assert state.picked.values == mass


def test_the_places_show_several_spheres_and_nothing(window: Remote) -> None:
    found = {brute_force(window.state.camera, *place) for place in PIXELS}
    assert found == {-1, 0, 1, 2, 3, 4}


def test_the_highlight_is_drawn_around_the_picked_sphere(window: Remote) -> None:
    window.ask("act", "pick", *PIXELS[0])
    state = window.until(lambda s: s.picked is not None, "the picked sphere")
    assert state.picked is not None
    plain = window.shot()
    window.ask("put", {"overlay": False})
    marked = window.shot(text=True)
    ring = np.argwhere((marked == (255, 176, 0)).all(axis=-1) & (plain != marked).any(axis=-1))
    assert len(ring) > 100
    # How near each of these pixels' rays comes to the sphere's centre.
    direction = rays(state.camera, ring[:, ::-1].astype(np.float64), SIZE)
    offset = np.array(state.picked.position) - state.eye
    near = np.linalg.norm(np.cross(offset, direction), axis=1)
    pixel = 2 * np.tan(np.radians(state.camera.vertical_fov) / 2) / HEIGHT
    allowed = 2.0 * pixel * np.linalg.norm(offset)
    assert np.abs(near - state.picked.radius).max() < allowed


def test_a_double_click_goes_to_the_sphere(window: Remote, display: Display) -> None:
    place = PIXELS[1]
    expected = brute_force(window.state.camera, *place)
    display.xdotool("mousemove", *place, "click", "--repeat", 2, "--delay", 20, 1)
    center = all_spheres()[0][expected]
    state = window.until(lambda s: np.allclose(s.pivot, center, atol=1e-6) and s.rest, "the sphere")
    assert state.picked is not None
    assert state.picked.id == expected
    assert brute_force(state.camera, WIDTH // 2, HEIGHT // 2) == expected


def test_two_quick_clicks_at_different_places_pick_twice(window: Remote) -> None:
    before = window.state
    first, second = PIXELS[0], PIXELS[1]
    for x, y in (first, second):
        window.ask("click", x, HEIGHT - 1 - y)
    expected = brute_force(before.camera, *second)
    state = window.until(lambda s: s.picked and s.picked.id == expected, "the second sphere")
    assert state.camera == before.camera


def test_a_drag_picks_nothing(window: Remote, display: Display) -> None:
    drag(window, display)
    assert window.state.picked is None


def test_help_names_every_way_to_use_the_mouse() -> None:
    labels = " ".join(drag.label for drag in MOUSE)
    for word in ("Right drag", "Shift drag", "Ctrl drag", "Scroll", "Shift scroll", "Double click"):
        assert word in labels


def chain(path: Path) -> Path:
    """A long molecule along x, whose middle is far from most of its atoms."""
    places = [*np.linspace(0.0, 10.0, 40), *np.linspace(10.0, 80.0, 30)]
    rows = [f"C {x:.4f} {0.5 * np.cos(x):.4f} {0.5 * np.sin(x):.4f}" for x in places]
    path.write_text("\n".join([str(len(rows)), "", *rows]) + "\n")
    return path


@pytest.mark.parametrize("options", [(), ("--ortho",)], ids=str)
def test_no_turn_of_a_fitted_view_takes_a_long_molecule_out_of_the_window(
    open_window: Open, display: Display, tmp_path: Path, options: tuple[str, ...]
) -> None:
    """Nor after F, nor in a window of another shape."""
    size = ("--size", "240x160", "--samples", "1", "--background", "black")
    window = open_window(*size, *options, scene=chain(tmp_path / "chain.xyz"))
    window.rest()
    pivot = window.state.pivot
    np.testing.assert_allclose(pivot, (40.0, 0.0, 0.0), atol=0.1)
    for step, (dx, dy) in enumerate([(60, 0), (0, 60), (40, -30), (-75, -50), (30, 55)]):
        drag(window, display, to=(FROM[0] + dx, FROM[1] + dy))
        shown = window.shot()
        edge = np.concatenate([shown[0], shown[-1], shown[:, 0], shown[:, -1]])
        assert (edge == 0).all(), f"after drag {step}"
        assert shown.any()
        if step == 2:
            window.press("F")
            window.rest()
    np.testing.assert_allclose(window.state.pivot, pivot, atol=1e-6)
    display.xdotool("windowsize", "--sync", window.state.xid, 150, 300)
    window.until(lambda s: s.size == (150, 300) and s.rest, "the other shape")
    shown = window.shot()
    assert not np.concatenate([shown[0], shown[-1], shown[:, 0], shown[:, -1]]).any()
    assert np.flatnonzero(shown.any(axis=(0, 2))).size > 3
