"""Which render kernel a view gets, and that the film does not show it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raytracer import layout, resources
from raytracer.backends.cuda import choose
from raytracer.backends.cuda.sources import include_closure, kernels_root
from raytracer.benchmark import render_benchmark, render_levels
from raytracer.buffers import SceneBuffers, build_bvh
from raytracer.film.film import Film
from raytracer.scene.load import load
from raytracer.scene.packing.pack import pack
from raytracer.scene.scene import CapsuleSet, Scene, SphereSet
from raytracer.scene.solids import ConeSet, EllipsoidSet
from raytracer.variants import Variant, discover, product
from raytracer.view import View, frame_of
from support.project import to_project
from support.scenes import random_scene

SIZE = (97, 61)


SPHERES = tuple(name for name in choose.PRODUCTION if name != choose.CAPSULES)


def camera(kind: int, half_height: float) -> Any:
    view = np.zeros(1, layout.dtype("Camera"))
    view["kind"], view["forward"] = kind, (0, 0, -1)
    view["right"], view["up"] = (2 * half_height, 0, 0), (0, half_height, 0)
    return view


def spheres(*rows: Any) -> Any:
    return np.array(rows, np.float32)


@pytest.mark.parametrize("kind", [0, 1])
def test_radius_in_pixels(kind: int) -> None:
    view = camera(kind, 0.5 if kind == 0 else 5.0)
    # 10 in front: the picture is 10 units high there, in both projections
    seen = spheres((0, 0, -10, 1), (9.9, 0, -10, 2), (0, -6, -10, 3))
    unseen = spheres((0, 0, 10, 50), (0, 7, -10, 1), (30, 0, -10, 1))
    both = np.concatenate([seen, unseen])
    assert choose.median_radius(both, view, 500) == pytest.approx(100)
    assert choose.median_radius(unseen, view, 500) == np.inf
    assert choose.median_radius(seen[:0], view, 500) == np.inf


def test_kernel_by_count_tree_and_size() -> None:
    view, large, small = camera(0, 0.5), spheres((0, 0, -10, 1)), spheres((0, 0, -10, 0.001))

    def kernel(count: int, nodes: int, some: Any) -> str:
        return choose.kernel_for(count, nodes, choose.Sample(some), view, 720)

    assert kernel(0, 0, large[:0]) == choose.LIST
    assert kernel(choose.MAX_LISTED, 1, large) == choose.LIST
    assert kernel(choose.MAX_LISTED + 1, 1, large) == choose.THREADS
    assert kernel(1000, 50, large) == choose.PACKETS
    assert kernel(1000, 50, small) == choose.THREADS
    assert kernel(1000, 50, small[:0]) == choose.PACKETS
    assert kernel(1000, 50, np.concatenate([small, large, large])) == choose.PACKETS


@pytest.mark.parametrize("kind", [0, 1])
def test_no_sphere_in_view_is_smaller_than_the_limit(kind: int) -> None:
    rng = np.random.default_rng(6)
    view = camera(kind, 0.5 if kind == 0 else 5.0)
    for _ in range(100):
        some = spheres(*np.column_stack([rng.normal(size=(9, 3)), rng.random(9)]))
        some[:, :3] = some[:, :3] * rng.uniform(0, 5) + (0, 0, rng.uniform(-30, 0))
        least = choose.Sample(some).least_radius(view, 720)
        each = [choose.median_radius(one[None], view, 720) for one in some]
        assert least <= min(each) * (1 + 1e-6)


def test_features_that_a_picture_does_not_need() -> None:
    camera, lights = np.zeros(1, layout.dtype("Camera")), np.zeros(0, layout.dtype("Light"))
    materials = np.zeros(2, layout.dtype("Material"))
    plain = View(camera, lights, materials, frame_of())
    assert choose.missing_features(plain) == choose.FEATURES
    materials["phong"]["mirror"][1] = 0.5
    large = View(camera, lights, materials, frame_of(large_count=1))
    assert choose.missing_features(large) == choose.FEATURES[1:]  # no bounce is allowed
    assert choose.missing_features(large.with_depth(1)) == choose.FEATURES[2:]
    materials["phong"]["mirror"] = 0
    assert choose.missing_features(large.with_depth(1)) == choose.FEATURES[1:]
    kind = layout.code("IntegratorKind", "ao")
    occluded = View(camera, lights, materials, frame_of(kind=kind, ao_samples=4))
    assert choose.missing_features(occluded) == choose.DRAFTS
    assert choose.missing_features(occluded.as_draft()) == ()


def test_features_of_paths_that_a_picture_does_not_need() -> None:
    camera, lights = np.zeros(1, layout.dtype("Camera")), np.zeros(0, layout.dtype("Light"))
    materials = np.zeros(2, layout.dtype("Material"))
    kind = layout.code("IntegratorKind", "path")

    def missing(kind: int = kind, **fields: int) -> set[str]:
        frame = frame_of(kind=kind, material_count=2, **fields)
        view = View(camera, lights, materials, frame)
        assert choose.missing_features(view) in choose.every_variant(choose.PATHS)
        return set(choose.missing_features(view))

    rare, filters = {"RT_NESTED", "RT_SHADOW_CATCHER"}, {"RT_ALPHA_CLIP", *choose.DRAFTS}
    light, others = {"RT_ALL_MATERIALS", "RT_EMITTERS"}, {"RT_LOCAL_INTEGRATORS"}
    local = {"RT_PATH_INTEGRATOR", *choose.DRAFTS}
    assert missing() == rare | filters | light
    assert missing(map_size=4) == missing(emitter_count=1) == rare | filters
    assert missing(clip_count=1) == missing(has_alpha=1) == others | rare | light
    assert missing(clip_count=1, map_size=4) == others | rare
    assert missing(nested=1) == others
    assert missing(shadow_catcher=1) == missing(shadow_catcher=1, nested=1) == set()
    materials["kind"][1] = layout.code("MaterialKind", "principled")
    assert missing() == rare | filters
    assert missing(has_alpha=1) == others | rare
    direct = layout.code("IntegratorKind", "direct")
    assert missing(direct) == rare | filters
    assert missing(direct, nested=1) == set()
    assert missing(direct, transparent_shadows=1) == local | rare
    materials["kind"] = 0
    assert missing(direct, has_alpha=1) == local | rare | light


@pytest.mark.parametrize("lamps", [0, 1])
def test_drafts_with_paths_have_kernels_that_keep_surfaces(lamps: int) -> None:
    camera, lights = np.zeros(1, layout.dtype("Camera")), np.zeros(0, layout.dtype("Light"))
    kind = layout.code("IntegratorKind", "ao")
    frame = frame_of(
        kind=kind, material_count=1, ao_samples=4, has_alpha=1, emitter_count=lamps
    )  # fmt: skip
    draft = View(camera, lights, np.zeros(1, layout.dtype("Material")), frame).as_draft()
    expected = () if lamps else choose.COMMON_DRAFTS
    assert choose.missing_features(draft) == expected
    assert choose.missing_with_capsules(draft, has_forms=False) == expected
    assert expected in choose.every_variant(choose.PATHS)
    assert expected in choose.every_variant(choose.CAPSULES)


@pytest.mark.parametrize("integrator", ["direct", "ao", "path"])
@pytest.mark.parametrize(
    ("has_forms", "max_depth", "large", "needs_more"),
    [(False, 0, 0, False), (True, 0, 0, True), (False, 3, 0, True), (False, 0, 1, True)],
)
def test_capsules_have_kernels_of_their_own_for_direct_light(
    integrator: str, has_forms: bool, max_depth: int, large: int, needs_more: bool
) -> None:
    camera, lights = np.zeros(1, layout.dtype("Camera")), np.zeros(0, layout.dtype("Light"))
    materials = np.zeros(1, layout.dtype("Material"))
    materials["phong"]["mirror"] = 0.5
    kind = layout.code("IntegratorKind", integrator)
    frame = frame_of(kind=kind, large_count=large, material_count=1)
    view = View(camera, lights, materials, frame).with_depth(max_depth)
    missing = choose.missing_with_capsules(view, has_forms)
    own = {
        "direct": choose.CAPSULE_FEATURES if needs_more else choose.ROUND_FEATURES,
        "path": choose.CAPSULE_VARIANTS[0],
        "ao": choose.CAPSULE_VARIANTS[1],
    }
    assert missing == own[integrator]
    assert missing in choose.every_variant(choose.CAPSULES)


@pytest.mark.parametrize("integrator", ["direct", "ao", "path"])
@pytest.mark.parametrize(
    ("fields", "principled"),
    [({"nested": 1}, 1), ({"shadow_catcher": 1}, 0), ({"map_size": 4}, 0), ({"clip_count": 1}, 1)],
)
def test_capsules_with_what_variants_lack_have_the_complete_kernel(
    integrator: str, fields: dict[str, int], principled: int
) -> None:
    materials = np.zeros(1, layout.dtype("Material"))
    materials["kind"] = layout.code("MaterialKind", "principled") if principled else 0
    kind = layout.code("IntegratorKind", integrator)
    camera, lights = np.zeros(1, layout.dtype("Camera")), np.zeros(0, layout.dtype("Light"))
    view = View(camera, lights, materials, frame_of(kind=kind, material_count=1, **fields))
    has_rare = "nested" in fields or "shadow_catcher" in fields
    own = choose.CAPSULE_VARIANTS[0] if integrator == "path" and not has_rare else ()
    assert choose.missing_with_capsules(view, has_forms=False) == own


RODS: dict[str, Any] = {"starts": [[0, 0, 0]], "ends": [[1, 0, 0]]}


@pytest.mark.parametrize(
    ("solids", "has_forms"),
    [
        ({"capsules": [CapsuleSet(**RODS, radius=0.1)]}, False),
        ({"capsules": [CapsuleSet(**RODS, radius=0.1, color="red", end_color="blue")]}, False),
        ({"capsules": [CapsuleSet(**RODS, radius=0.1, caps="flat")]}, True),
        ({"cones": [ConeSet(**RODS, radius=0.1, end_radius=0.2)]}, True),
        ({"ellipsoids": [EllipsoidSet([[0, 0, 0]], [[1, 2, 3]])]}, True),
    ],
    ids=["round", "colours", "flat", "cone", "ellipsoid"],
)
def test_forms_of_a_scene(solids: dict[str, Any], has_forms: bool) -> None:
    assert pack(Scene([SphereSet([[0, 2, 0]], 0.3)], **solids)).has_forms == has_forms


def test_features_are_macros_of_the_kernels() -> None:
    headers = [
        kernels_root() / name for name in ("integrator/features.h", "shade/bsdf.h", "geom/solid.h")
    ]
    source = "".join(header.read_text(encoding="utf-8") for header in headers)
    defined = re.findall(r"^#define (\w+) 1$", source, re.MULTILINE)
    assert set(defined) == {
        *choose.FEATURES, *choose.DRAFTS, *choose.PATH_FEATURES, "RT_FORMS"
    }  # fmt: skip
    variants = [each for name in choose.PRODUCTION for each in choose.every_variant(name)]
    with_capsules = {*choose.ROUND_FEATURES, *choose.PATH_FEATURES}
    for name in choose.PRODUCTION:
        own = {choose.PATHS: choose.PATH_FEATURES, choose.CAPSULES: with_capsules}
        known = {*own.get(name, choose.FEATURES), *choose.DRAFTS}
        assert all(set(missing) <= known for missing in choose.every_variant(name))
    assert len(variants) <= 28
    assert all(
        choose.variant_of(name, missing) in choose.every_variant(name)
        for name in (choose.LIST, choose.THREADS, choose.PACKETS)
        for missing in choose.every_variant(choose.PACKETS)
    )


def test_production_kernels_are_rungs_that_render_everything() -> None:
    rungs = {sources_of(variant)[0]: variant for variant in discover("render")}
    for name in set(choose.PRODUCTION) - {choose.PATHS, choose.CAPSULES}:  # beyond the bench
        rung = rungs[f"cuda/{name}.cu"]
        assert list(render_levels.LEVELS)[-1] == rung.shows
        assert rung.layout in ("", "list")  # both read spheres in leaf order


def sources_of(variant: Variant) -> list[str]:
    """The sources below kernels/ that a rung is made of; the product's first."""
    root = kernels_root()
    closure = include_closure(Path(str(variant.path)), root)
    return sorted(name for name in closure if name.endswith(".cu"))


@pytest.mark.gpu
@pytest.mark.usefixtures("cuda")
@pytest.mark.parametrize("count", [1, 5, 20, 21, 64, 65, 1500])
@pytest.mark.parametrize("seed", [1, 2])
def test_every_kernel_gives_the_same_film(count: int, seed: int) -> None:
    from raytracer.backends.cuda.run import CudaDevice

    scene = to_project(random_scene(seed, count, mirror=True))
    buffers = pack(scene, scene.render.override(width=SIZE[0], height=SIZE[1], samples=3))
    tree = build_bvh(buffers)
    films = []
    for name in (None, *SPHERES):
        device = CudaDevice(kernel=None if name is None else product(name))
        with device.film(Film.blank(*SIZE)) as film, device.scene(buffers, tree) as made:
            if name is None:
                chosen = made.kernel(buffers.view).kernel.name
                assert (chosen == choose.LIST) == (count <= choose.MAX_LISTED)
            film.add(made, buffers.view, 3)
            films.append(film.to_host().sums)
    *same, paths = films  # the kernel that takes any material evaluates Phong's in another frame
    for film_sums in same[1:]:
        np.testing.assert_array_equal(film_sums, same[0])
    np.testing.assert_allclose(paths, same[0], rtol=1e-4, atol=1e-4)


@pytest.mark.gpu
@pytest.mark.usefixtures("cuda")
@pytest.mark.parametrize("name", SPHERES)
@pytest.mark.parametrize(("large", "mirror"), [(False, False), (False, True), (True, False)])
def test_a_kernel_without_what_a_scene_does_not_have_gives_the_same_film(
    name: str, large: bool, mirror: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    from raytracer.backends.cuda import run
    from raytracer.backends.cuda import scene as module

    scene = to_project(random_scene(4, 15, mirror=mirror))
    if large:
        ground = SphereSet(centers=[[0, -1e8, 0]], radius=1e8 - 2)
        scene = replace(scene, spheres=[*scene.spheres, ground])
    buffers = pack(scene, scene.render.override(width=SIZE[0], height=SIZE[1], samples=3))
    assert (len(buffers.large) > 0) == large
    tree, device = build_bvh(buffers), run.CudaDevice(kernel=product(name))
    films, kernels = [], []
    for missing in (choose.missing_features, lambda *_: ()):
        monkeypatch.setattr(module, "missing_features", missing)
        with device.film(Film.blank(*SIZE)) as film, device.scene(buffers, tree) as made:
            film.add(made, buffers.view, 3)
            films.append(film.to_host().sums)
            kernels.append(made.kernel(buffers.view).missing)
    needed = {"RT_LARGE_SPHERES": large, "RT_MIRRORS": mirror, "RT_INTEGRATORS": False}
    unneeded = tuple(feature for feature in choose.FEATURES if not needed[feature])
    assert kernels == [choose.variant_of(name, unneeded), ()]
    np.testing.assert_array_equal(films[0], films[1])


EXAMPLES = [
    *((name, kind) for name in ("three_balls", "weekend", "lamps") for kind in ("path", "direct")),
    *((name, kind) for name in ("molecule", "cage") for kind in ("path", "ao")),
    ("spheres", "path"),
]


def with_paths(name: str, integrator: str) -> Scene:
    if name == "spheres":
        scene = to_project(random_scene(4, 200))
    else:
        scene = load(str(resources.scenes() / f"{name}.toml"))
    return replace(scene, render=replace(scene.render, integrator=integrator))


def packed(scene: Scene) -> SceneBuffers:
    return pack(scene, scene.render.override(width=SIZE[0], height=SIZE[1], samples=2))


def test_the_scenes_below_use_every_variant_that_traces_paths() -> None:
    used: set[tuple[str, tuple[str, ...]]] = set()
    for name, integrator in EXAMPLES:
        buffers = packed(with_paths(name, integrator))
        if len(buffers.axis):
            missing = choose.missing_with_capsules(buffers.view, buffers.has_forms)
            used.add((choose.CAPSULES, missing))
        else:
            used.add((choose.PATHS, choose.missing_features(buffers.view)))
    variants = {choose.PATHS: choose.PATH_VARIANTS[1:], choose.CAPSULES: choose.CAPSULE_VARIANTS}
    every = {(name, missing) for name, sets in variants.items() for missing in sets}
    assert used == {each for each in every if each[1] != choose.COMMON_DRAFTS}


@pytest.mark.gpu
@pytest.mark.usefixtures("cuda")
@pytest.mark.parametrize(("name", "integrator"), EXAMPLES)
def test_a_variant_that_traces_paths_gives_the_film_of_the_complete_kernel(
    name: str, integrator: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from raytracer.backends.cuda import scene as module
    from raytracer.backends.cuda.run import CudaDevice

    buffers, device = packed(with_paths(name, integrator)), CudaDevice()
    films, kernels = [], []
    with device.scene(buffers, build_bvh(buffers)) as made:
        for _ in range(2):
            with device.film(Film.blank(*SIZE)) as film:
                film.add(made, buffers.view, 2)
                films.append(film.to_host().sums)
                kernels.append(made.kernel(buffers.view))
            monkeypatch.setattr(module, "missing_features", lambda _: ())
            monkeypatch.setattr(module, "missing_with_capsules", lambda *_: ())
    assert kernels[0].kernel.name == kernels[1].kernel.name
    assert kernels[0].missing
    assert not kernels[1].missing
    np.testing.assert_array_equal(films[0], films[1])


@pytest.mark.gpu
@pytest.mark.usefixtures("cuda")
def test_the_kernels_of_capsules_give_the_same_film(monkeypatch: pytest.MonkeyPatch) -> None:
    from raytracer.backends.cuda import run
    from raytracer.backends.cuda import scene as module

    rng = np.random.default_rng(8)
    starts = rng.uniform(-1, 1, (2000, 3))
    rods = CapsuleSet(starts, starts + 0.3 * rng.normal(size=(2000, 3)), 0.03)
    scene = replace(to_project(random_scene(4, 15)), capsules=[rods])
    buffers = pack(scene, scene.render.override(width=SIZE[0], height=SIZE[1], samples=3))
    tree, device = build_bvh(buffers), run.CudaDevice()
    films = []
    for missing in (choose.ROUND_FEATURES, choose.CAPSULE_FEATURES, ()):
        monkeypatch.setattr(module, "missing_with_capsules", lambda *_, missing=missing: missing)
        with device.film(Film.blank(*SIZE)) as film, device.scene(buffers, tree) as made:
            film.add(made, buffers.view, 3)
            films.append(film.to_host().sums)
            assert made.kernel(buffers.view).missing == missing
    np.testing.assert_array_equal(films[0], films[1])
    # the kernel that takes any material evaluates Phong's in another frame
    np.testing.assert_allclose(films[2], films[1], rtol=1e-4, atol=1e-4)


@pytest.mark.gpu
@pytest.mark.usefixtures("cuda")
def test_a_camera_that_moves_away_gets_another_kernel() -> None:
    from raytracer.backends.cuda.run import CudaDevice

    scene = to_project(random_scene(3, 5000))
    buffers = pack(scene, scene.render.override(width=SIZE[0], height=SIZE[1], samples=1))
    with CudaDevice().scene(buffers) as made:
        near = made.kernel(buffers.view).kernel.name
        camera = buffers.camera.copy()
        camera["origin"] -= 1000 * camera["forward"]
        far = made.kernel(buffers.view.with_camera(camera)).kernel.name
    assert (near, far) == (choose.PACKETS, choose.THREADS)


def test_example_scenes_get_the_kernel_that_was_measured_best() -> None:
    best = {"three_balls": choose.LIST, "galaxy": choose.THREADS}
    for name in render_benchmark.names():
        if name in ("cloud", "sphereflake"):
            continue  # a million spheres take long to make; the other is like plummer
        _, buffers, tree, _ = render_benchmark._prepared(name, render_benchmark.SIZE)
        label = choose.kernel_for(
            buffers.count, len(tree.nodes), choose.Sample(tree.spheres), buffers.camera, 720
        )
        assert label == best.get(name, choose.PACKETS), name


def test_rungs_for_solids_take_the_variants_of_capsules() -> None:
    """Without, a scene of spheres would need a variant that nothing else needs."""
    from raytracer import variants

    reads = {each.label for each in variants.discover("render") if each.reads_solids}
    assert reads == {"14_solids"}
    names = {each.name for each in variants.products() if each.reads_solids}
    assert names == {choose.CAPSULES}
