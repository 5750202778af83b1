"""The BVH's picture against brute force over wild inputs, judged ray by ray."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import Light, Material, RefScene, View, camera_rays, check_hits, check_lit
from reference.scene import unit
from support.project import shoot
from support.scenes import id_colors, shown_ids

WIDTH, HEIGHT = 32, 24
AMBIENT = (Material(ambient=1.0, diffuse=0.0),)
DIFFUSE = (Material(ambient=0.0, diffuse=1.0),)


@st.composite
def wild_scenes(draw: st.DrawFn) -> RefScene:
    """Up to 120 spheres: sizes over up to nine decades, clusters, duplicates, a giant, dust."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1), label="seed"))
    count = draw(st.sampled_from([0, 1, 2, 3, 8, 9, 40, 120]), label="count")
    decades = draw(st.floats(0, 9), label="decades")
    spread = 10.0 ** draw(st.integers(-4, 4), label="spread")
    flat = draw(st.sampled_from([(1, 1, 1), (1, 1, 0), (1, 0, 0), (0, 0, 0)]), label="flat")
    centers = rng.uniform(-1, 1, (count, 3)) * spread * np.array(flat)
    radii = spread * 10.0 ** (-rng.uniform(0, 1, count) * decades) * 0.5
    if count >= 8 and draw(st.booleans(), label="duplicates"):
        centers[count // 2 :] = centers[: count - count // 2]
        radii[3 * count // 4 :] = radii[3 * count // 4 - count // 2 : count - count // 2]
    if count >= 2 and draw(st.booleans(), label="giant"):
        radii[0] = spread * 1e4
        centers[0] = np.array([0.0, -1.0, 0.0]) * (radii[0] + spread)
    order = rng.permutation(count)
    centers, radii = centers[order], radii[order]
    eye = draw(st.sampled_from(["outside", "inside", "far"]), label="eye")
    reach = {"outside": 3.0, "inside": 0.3, "far": 300.0}[eye] * spread
    position = unit((0.6, 0.35, 0.8)) * reach
    target = centers[rng.integers(count)] if count and draw(st.booleans(), label="aim") else 0.0
    target = np.clip(target * np.ones(3), -2 * spread, 2 * spread)
    fov = 2.5 if eye == "far" else 50.0
    vertical = draw(st.sampled_from([fov, None]), label="fov")
    view = View(
        tuple(position.tolist()), tuple(target.tolist()), vertical_fov=vertical, height=2.5 * spread
    )
    return RefScene(centers=centers, radii=radii, view=view, colors=id_colors(count))


@contextmanager
def instruction_set(choice: int) -> Iterator[None]:
    """Render by one of the instruction sets that this machine has."""
    from raytracer import _core

    names, before = _core.isas(), _core.isa()
    _core.use_isa(names[choice % len(names)])
    try:
        yield
    finally:
        _core.use_isa(before)


def describe(scene: RefScene, ray: int) -> str:
    """Where a ray went wrong, ready to be replayed."""
    y, x = divmod(ray, WIDTH)
    return f"pixel ({x}, {y}) of {scene!r}"


@pytest.mark.filterwarnings("ignore:.*the radius of the smallest")
@given(scene=wild_scenes(), isa=st.integers(0, 2))
def test_closest_hit(scene: RefScene, isa: int) -> None:
    with instruction_set(isa):
        picture = shoot(scene.but(materials=AMBIENT, ambient=(1, 1, 1)), WIDTH, HEIGHT)
    rays = camera_rays(scene.view, WIDTH, HEIGHT)
    check = check_hits(scene.centers, scene.radii, *rays, shown_ids(picture))
    assert check.wrong.size == 0, f"{check.reason}: {describe(scene, int(check.wrong[0]))}"


@pytest.mark.filterwarnings("ignore:.*the radius of the smallest")
@given(scene=wild_scenes(), point=st.booleans(), isa=st.integers(0, 2))
def test_any_hit(scene: RefScene, point: bool, isa: int) -> None:
    reach = float(np.linalg.norm(scene.view.position))
    towards = unit((0.3, 0.9, 0.5))
    light = (
        Light("point", tuple((towards * 0.7 * reach).tolist()))
        if point
        else Light("directional", tuple((-towards).tolist()))
    )
    white = scene.but(colors=np.ones((1, 3)), materials=DIFFUSE, lights=(light,))
    with instruction_set(isa):
        seen = shown_ids(shoot(scene.but(materials=AMBIENT, ambient=(1, 1, 1)), WIDTH, HEIGHT))
        lit = shoot(white, WIDTH, HEIGHT)[..., 0].ravel() > 0
    rays = camera_rays(scene.view, WIDTH, HEIGHT)
    check = check_lit(scene.centers, scene.radii, *rays, seen, lit, light)
    assert check.wrongly_lit.size == 0, f"lit: {describe(scene, int(check.wrongly_lit[0]))}"
    assert check.wrongly_dark.size == 0, f"dark: {describe(scene, int(check.wrongly_dark[0]))}"
