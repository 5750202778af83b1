"""Every drag, the wheel and clicks, by real events; what is picked is what a ray meets first."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from raytracer import Camera
from reference.hit import closest_hit
from support.display import Display
from support.host import State
from support.remote import Remote
from support.window_scene import MASSES, SIZE, all_spheres

BUTTONS = {"left": 1, "middle": 2, "right": 3}
WIDTH, HEIGHT = SIZE
FROM, TO = (120, 80), (152, 64)  # pixels from the upper left; to the right and up
PIXELS = [(122, 84), (83, 69), (3, 3)]


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


def test_a_double_click_goes_to_the_sphere(window: Remote, display: Display) -> None:
    place = PIXELS[1]
    expected = brute_force(window.state.camera, *place)
    display.xdotool("mousemove", *place, "click", "--repeat", 2, "--delay", 20, 1)
    center = all_spheres()[0][expected]
    state = window.until(lambda s: np.allclose(s.pivot, center, atol=1e-6) and s.rest, "the sphere")
    assert state.picked is not None
    assert state.picked.id == expected
    assert brute_force(state.camera, WIDTH // 2, HEIGHT // 2) == expected
