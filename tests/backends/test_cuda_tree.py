"""Trees that a GPU builds: valid, the same every time, with the pictures of the host's trees."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import raytracer
from raytracer.backends.base import TREE
from raytracer.backends.cuda.run import CudaDevice
from raytracer.backends.cuda.scene import CudaScene
from raytracer.backends.cuda.transfer import get_staging
from raytracer.config.errors import UserError
from raytracer.film.film import Film
from raytracer.packing.buffers import Bvh, SceneBuffers, build_bvh
from raytracer.packing.pack import pack
from support.device_arrays import OnGpu
from support.nodes import Tree, check, read_tree

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("cuda")]

Doubles = NDArray[np.float64]

SLACK = 2.0**-22
"""Of boxes, which a GPU makes of rounded sums."""


def spheres(kind: str, count: int, seed: int = 1) -> tuple[Doubles, Doubles]:
    """Return centres (N, 3) and radii (N,) of spheres of a kind."""
    g = np.random.default_rng(seed)
    size = count ** (-1 / 3)
    centers, radii = g.uniform(-1, 1, (count, 3)), np.full(count, 0.4 * size)
    if kind == "overlap":
        radii *= 8
    elif kind == "giants":
        radii[::500] = 0.3
    elif kind == "lognormal":
        radii *= np.exp(g.normal(size=count))
    elif kind == "sheet":
        centers[:, 2] *= 1e-3
    elif kind == "plummer":
        part = g.uniform(5e-4, 0.999, count)
        direction = g.normal(size=(count, 3))
        direction /= np.linalg.norm(direction, axis=1)[:, None]
        centers = direction * (0.1 / np.sqrt(part ** (-2 / 3) - 1))[:, None]
    elif kind == "shrinking":  # each half as far out as the one before, over and over
        place = 0.5 ** (np.arange(count) % 17)
        centers, radii = np.stack([place, 0.5 * place, 0 * place], axis=1), 0.1 * place
    elif kind == "few places":
        centers = centers[g.integers(0, 5, count)]
    return centers, radii


KINDS = (
    "even", "overlap", "giants", "lognormal", "sheet", "plummer", "shrinking", "few places",
)  # fmt: skip


def packed(centers: Any, radii: Any, **settings: Any) -> SceneBuffers:
    scene = raytracer.Scene.from_arrays(centers, radii)
    return pack(scene, replace(scene.render, width=160, height=120, samples=1, **settings))


def of_device(scene: CudaScene) -> Bvh:
    arrays: dict[str, Any] = {}
    for name, kind in (("nodes", np.uint8), ("order", np.int32), ("spheres", np.float32)):
        arrays[name] = np.empty(scene._memory.size(name) // np.dtype(kind).itemsize, kind)
        with scene._context.lock, scene._context.activate():
            get_staging(scene.number).to_host(scene.address(name), arrays[name])
    nodes = arrays["nodes"].reshape(-1, 80)[: scene._node_count]
    return Bvh(nodes, arrays["order"], arrays["spheres"].reshape(len(arrays["order"]), -1))


def decoded(scene: CudaScene) -> Tree:
    tree = of_device(scene)
    return read_tree(tree.nodes, tree.order, tree.spheres)


@pytest.fixture
def device(cuda: str) -> CudaDevice:
    return CudaDevice()


def film_of(device: CudaDevice, scene: Any, buffers: SceneBuffers) -> NDArray[np.float32]:
    view = buffers.view
    with device.film(Film.blank(view.width, view.height)) as film:
        film.add(scene, view, view.samples)
        return film.to_host().sums.copy()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [4097, 7001, 30_011])
def test_tree_is_valid_and_gives_the_picture_of_the_hosts(
    device: CudaDevice, kind: str, count: int
) -> None:
    buffers = packed(*spheres(kind, count))
    with device.scene(buffers) as made, device.scene(buffers, build_bvh(buffers)) as expected:
        check(decoded(made), np.stack(buffers.columns, axis=1), len(buffers.large), SLACK)
        found, wanted = (film_of(device, each, buffers) for each in (made, expected))
    # of spheres that a ray meets at the same distance the first in the tree is seen
    assert (found != wanted).any(-1).mean() < (0.5 if kind == "few places" else 1e-3)
    if kind == "few places":
        np.testing.assert_allclose(found.mean(), wanted.mean(), rtol=1e-3)


@pytest.mark.parametrize("count", [4097, 100_003, 1_000_000])
def test_tree_has_the_same_bytes_every_time(device: CudaDevice, count: int) -> None:
    buffers = packed(*spheres("lognormal", count))
    trees = []
    for _ in range(3):
        with device.scene(buffers) as made:
            trees.append(of_device(made))
    for name in TREE:
        first, *others = (getattr(tree, name) for tree in trees)
        assert all(np.array_equal(first, other) for other in others)


def test_ground_and_large_spheres_stay_beside_the_tree(device: CudaDevice) -> None:
    centers, radii = spheres("even", 5000)
    centers[17], radii[17] = (0.0, -1.0e6 - 1.1, 0.0), 1.0e6
    scene = raytracer.Scene.from_arrays(centers, radii)
    scene.ground = raytracer.Ground()
    buffers = pack(scene, replace(scene.render, width=160, height=120, samples=2))
    assert buffers.large_id.tolist() == [17, 5000]
    with device.scene(buffers) as made, device.scene(buffers, build_bvh(buffers)) as expected:
        assert of_device(made).order[-2:].tolist() == [17, 5000]
        found, wanted = (film_of(device, each, buffers) for each in (made, expected))
    assert (found != wanted).any(-1).mean() < 1e-3


def test_capsules_cones_and_ellipsoids(device: CudaDevice) -> None:
    g = np.random.default_rng(3)
    centers, radii = spheres("even", 5000)
    ends = g.uniform(-1, 1, (3000, 3))
    scene = raytracer.Scene(
        spheres=[raytracer.SphereSet(centers, radii)],
        capsules=[raytracer.CapsuleSet(ends, ends + g.normal(size=(3000, 3)) * 0.1, 0.02)],
        cones=[raytracer.ConeSet(ends[:500] * 0.9, ends[:500] + 0.1, 0.05)],
        ellipsoids=[
            raytracer.EllipsoidSet(
                g.uniform(-1, 1, (700, 3)), g.uniform(0.02, 0.1, (700, 3)), g.normal(size=(700, 4))
            )
        ],
    )
    buffers = pack(scene, replace(scene.render, width=160, height=120, samples=2))
    with device.scene(buffers) as made, device.scene(buffers, build_bvh(buffers)) as expected:
        found, wanted = (film_of(device, each, buffers) for each in (made, expected))
    assert (found != wanted).any(-1).mean() < 1e-3


def moved(live: raytracer.LiveScene) -> NDArray[np.float32]:
    return np.asarray(live.render().film.sums)


def test_updates_have_the_same_bytes_and_valid_trees(device: CudaDevice) -> None:
    g = np.random.default_rng(5)
    centers, radii = spheres("giants", 20_000)
    steps = [centers + g.normal(size=centers.shape) * 0.01 * k for k in range(8)]
    pictures = []
    for _ in range(2):
        scene = raytracer.Scene.from_arrays(centers, radii)
        with raytracer.LiveScene(scene, backend="cuda", width=160, height=120, samples=1) as live:
            shown = []
            for step in steps:
                live.update(step)
                shown.append(moved(live))
            made: Any = live._open().scene
            with made._context.lock, made._context.activate():
                records = made._moving.records()
            check(decoded(made), records, slack=SLACK)
        pictures.append(np.stack(shown))
    assert np.array_equal(pictures[0], pictures[1])


def test_a_sphere_that_is_wrong_leaves_the_scene_as_it_was(device: CudaDevice) -> None:
    centers, radii = spheres("even", 6000)
    scene = raytracer.Scene.from_arrays(centers, radii)
    with raytracer.LiveScene(scene, backend="cuda", width=160, height=120, samples=1) as live:
        live.update(centers * 0.9)
        before = moved(live)
        bad = centers.copy()
        bad[4321, 1] = np.nan
        with pytest.raises(UserError, match="4321"):
            live.update(bad)
        assert np.array_equal(moved(live), before)


def test_updates_allocate_nothing(device: CudaDevice) -> None:
    centers, radii = spheres("even", 10_000)
    scene = raytracer.Scene.from_arrays(centers, radii)
    with raytracer.LiveScene(scene, backend="cuda", width=160, height=120, samples=1) as live:
        made: Any = live._open().scene
        sizes = set()
        for step in range(20):
            live.update(centers + 0.01 * step)
            live.device_pixels()
            sizes.add((made.nbytes, made._moving.nbytes))
    assert len(sizes) == 1


def test_arrays_of_the_gpu_that_are_wrong_are_told_with_the_next_picture(
    device: CudaDevice,
) -> None:
    centers, radii = spheres("even", 6000)
    colors = np.full((6000, 3), 0.5, np.float32)
    scene = raytracer.Scene.from_arrays(
        centers, radii, np.random.default_rng(1).uniform(size=(6000, 3))
    )
    bad, wrong = centers.copy(), colors.copy()
    bad[4321, 1], wrong[77] = np.nan, 3.0
    with raytracer.LiveScene(scene, backend="cuda", width=160, height=120, samples=1) as live:
        live.update(colors=OnGpu(wrong))  # before any sphere has moved
        with pytest.raises(UserError, match="colors: sphere 77"):
            moved(live)
        moved(live)
        live.update(OnGpu(bad))
        live.update(radii=OnGpu(radii))  # does not hide what was wrong before it
        with pytest.raises(UserError, match="positions: sphere 4321"):
            moved(live)
        found = moved(live)
        bad[4321] = centers[4321]
        live.update(bad)
        assert np.array_equal(moved(live), found)


@pytest.mark.filterwarnings("ignore:1 of 20,000 spheres is far away")
def test_a_tree_is_built_anew_though_a_sphere_has_escaped(device: CudaDevice) -> None:
    g = np.random.default_rng(9)
    centers, radii = spheres("even", 20_000)
    centers[0] = 1.0e4
    scene = raytracer.Scene.from_arrays(centers, radii)
    with raytracer.LiveScene(scene, backend="cuda", width=160, height=120, samples=1) as live:
        made: Any = live._open().scene
        live.update(centers)
        moved(live)
        orders = []
        for _ in range(3):
            centers[1:] = g.uniform(-1, 1, (19_999, 3))
            live.update(centers)
            moved(live)
            orders.append(of_device(made).order)
        assert not np.array_equal(orders[0], orders[1])
