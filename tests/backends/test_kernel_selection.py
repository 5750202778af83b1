"""Which render kernel a view gets, and that the film does not show it."""

import re
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from raytracer.backends.cuda import kernel_selection as selection
from raytracer.backends.kernel_sources import read_production_kernel
from raytracer.benchmark import render_benchmark
from raytracer.film.film import Film
from raytracer.model.clip import Clip
from raytracer.model.materials import Principled
from raytracer.model.scene import Scene
from raytracer.model.solids import CapsuleSet, ConeSet, EllipsoidSet
from raytracer.model.sphere_set import SphereSet
from raytracer.packing.buffers import SceneBuffers, SphereColumns, build_bvh
from raytracer.packing.pack import pack
from raytracer.packing.view import View, make_frame
from raytracer.scene_files.load import load
from raytracer.system import layout, resources
from raytracer.system.resources import kernels_folder
from support.project import to_project
from support.scenes import random_scene

SIZE = (97, 61)
SPHERES = tuple(name for name in selection.PRODUCTION if name != selection.CAPSULES)


def camera(kind: int, half_height: float) -> Any:
    view = np.zeros(1, layout.struct_dtype("Camera"))
    view["kind"], view["forward"] = kind, (0, 0, -1)
    view["right"], view["up"] = (2 * half_height, 0, 0), (0, half_height, 0)
    return view


def spheres(*rows: Any) -> Any:
    return np.array(rows, np.float32)


def test_kernel_by_count_tree_and_size() -> None:
    view, large, small = camera(0, 0.5), spheres((0, 0, -10, 1)), spheres((0, 0, -10, 0.001))

    def kernel(count: int, nodes: int, some: Any) -> str:
        return selection.choose_kernel(
            count, nodes, selection.sample_spheres(SphereColumns(*some.T)), view, 720
        )

    assert kernel(0, 0, large[:0]) == selection.LIST
    assert kernel(selection.MAX_LISTED, 1, large) == selection.LIST
    assert kernel(selection.MAX_LISTED + 1, 1, large) == selection.THREADS
    assert kernel(1000, 50, large) == selection.PACKETS
    assert kernel(1000, 50, small) == selection.THREADS
    assert kernel(1000, 50, small[:0]) == selection.PACKETS
    assert kernel(1000, 50, np.concatenate([small, large, large])) == selection.PACKETS


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


FIELDS: dict[str, dict[str, int]] = {  # a macro, and fields of a frame that need it
    "RT_NESTED": {"nested": 1},
    "RT_SHADOW_CATCHER": {"shadow_catcher": 1},
    "RT_ALPHA_CLIP": {"has_alpha": 1},
    "RT_EMITTERS": {"map_size": 4},
    "RT_LARGE_SPHERES": {"large_count": 1},
    "RT_LIGHTS": {"light_count": 1},
}


def view_of(integrator: str, fields: dict[str, int], *, principled: bool, mirror: bool) -> View:
    camera = np.zeros(1, layout.struct_dtype("Camera"))
    lights = np.zeros(fields.get("light_count", 0), layout.struct_dtype("Light"))
    lights["shadow"] = 1
    materials = np.zeros(1, layout.struct_dtype("Material"))
    materials["kind"] = layout.enum_value("MaterialKind", "principled") if principled else 0
    materials["phong"]["mirror"] = 0.5 if mirror else 0.0
    kind = layout.enum_value("IntegratorKind", integrator)
    frame = make_frame(kind=kind, material_count=1, ao_samples=4, **fields)
    return View(camera, lights, materials, frame).but(max_depth=3)


@pytest.mark.parametrize("integrator", ["direct", "ao", "path", "draft"])
@pytest.mark.parametrize("principled", [False, True])
@pytest.mark.parametrize("mirror", [False, True])
def test_a_kernel_lacks_nothing_that_a_picture_needs(
    integrator: str, principled: bool, mirror: bool
) -> None:
    """And what it lacks is one of the sets that kernels are compiled without."""
    for count in range(3):
        for macros in combinations(FIELDS, count):
            fields = dict(pair for macro in macros for pair in FIELDS[macro].items())
            kind = "ao" if integrator == "draft" else integrator
            view = view_of(kind, fields, principled=principled, mirror=mirror and not principled)
            view = view.as_draft() if integrator == "draft" else view
            needed = {*macros} | ({"RT_MIRRORS"} if view.has_mirrors else set())
            needed |= {"RT_ALL_MATERIALS"} if principled else set()
            needed |= {"RT_DRAFTS"} if integrator == "draft" else set()
            needed |= {"RT_INTEGRATORS"} if kind != "direct" else set()
            with_paths = view.needs_path_tracing
            path, local = {"RT_PATH_INTEGRATOR"}, {"RT_LOCAL_INTEGRATORS"}
            needed |= (path if kind == "path" else local) if with_paths else set()
            needed |= {"RT_INTEGRATORS", "RT_FULL_SHADING"} if with_paths else set()
            missing = set(selection.find_missing_features(view))
            kernel = selection.PATHS if with_paths else selection.PACKETS
            assert not missing & needed, macros
            assert tuple(selection.find_missing_features(view)) in selection.list_variants(kernel)
            for has_forms in (False, True):
                lacks = selection.find_missing_with_capsules(view, has_forms)
                forms = {"RT_FORMS"} if has_forms else set()
                assert not {*lacks} & (needed | forms), macros
                assert lacks in selection.list_variants(selection.CAPSULES)


def test_features_are_macros_of_the_kernels() -> None:
    headers = [
        kernels_folder() / name
        for name in ("integrator/features.h", "shade/bsdf.h", "geom/solid.h")
    ]
    source = "".join(header.read_text(encoding="utf-8") for header in headers)
    defined = re.findall(r"^#define (\w+) 1$", source, re.MULTILINE)
    path_features = {name for each in selection.list_variants(selection.PATHS) for name in each}
    features = {*selection.FEATURES, *selection.DRAFTS, *path_features, "RT_FORMS"}
    assert set(defined) == features - {*selection.FILTERS}
    compat = (kernels_folder() / "core/compat.h").read_text(encoding="utf-8")
    assert all(f"#if !defined({name})" in compat for name in selection.FILTERS)
    variants = [each for name in selection.PRODUCTION for each in selection.list_variants(name)]
    with_capsules = {*selection.ROUND_FEATURES, *path_features}
    for name in selection.PRODUCTION:
        own = {selection.PATHS: path_features, selection.CAPSULES: with_capsules}
        known = {*own.get(name, selection.FEATURES), *selection.DRAFTS, *selection.LIGHTS}
        assert all(set(missing) <= known for missing in selection.list_variants(name))
    assert len(variants) <= 43
    assert all(
        selection.UNMADE.get((name, missing), missing) in selection.list_variants(name)
        for name in (selection.LIST, selection.THREADS, selection.PACKETS)
        for missing in selection.list_variants(selection.PACKETS)
    )


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
        device = CudaDevice(kernel=None if name is None else read_production_kernel(name))
        with device.film(Film.blank(*SIZE)) as film, device.scene(buffers, tree) as made:
            if name is None:
                chosen = made.find_kernel(buffers.view).kernel.name
                assert (chosen == selection.LIST) == (count <= selection.MAX_LISTED)
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

    scene = to_project(random_scene(4, 15, mirror=mirror))
    if large:
        ground = SphereSet(centers=[[0, -1e8, 0]], radius=1e8 - 2)
        scene = replace(scene, spheres=[*scene.spheres, ground])
    buffers = pack(scene, scene.render.override(width=SIZE[0], height=SIZE[1], samples=3))
    assert (len(buffers.large) > 0) == large
    tree, device = build_bvh(buffers), run.CudaDevice(kernel=read_production_kernel(name))
    films, kernels = [], []
    for missing in (selection.find_missing_features, lambda *_: ()):
        monkeypatch.setattr(selection, "find_missing_features", missing)
        with device.film(Film.blank(*SIZE)) as film, device.scene(buffers, tree) as made:
            film.add(made, buffers.view, 3)
            films.append(film.to_host().sums)
            kernels.append(made.find_kernel(buffers.view).missing)
    needed = {"RT_LARGE_SPHERES": large, "RT_MIRRORS": mirror, "RT_INTEGRATORS": False}
    unneeded = tuple(feature for feature in selection.FEATURES if not needed[feature])
    assert kernels == [selection.UNMADE.get((name, unneeded), unneeded), ()]
    np.testing.assert_array_equal(films[0], films[1])


EXAMPLES = [
    *((name, kind) for name in ("three_balls", "weekend", "lamps") for kind in ("path", "direct")),
    *((name, kind) for name in ("molecule", "cage") for kind in ("path", "ao")),
    ("spheres", "path"),
    ("spheres with a lens", "direct"),
    ("spheres on a large one", "path"),
    ("spheres on a large one of metal", "path"),
    ("spheres of metal", "path"),
    ("spheres on a large one, with lamps", "path"),
    ("spheres of metal, cut, with lamps", "path"),
    ("spheres without lights", "path"),
    ("spheres on a large one without lights", "path"),
    ("spheres of metal without lights", "path"),
    ("spheres on a large one of metal without lights", "path"),
]


def with_paths(name: str, integrator: str) -> Scene:
    if name.startswith("spheres"):
        scene = to_project(random_scene(4, 200))
        if "lens" in name:
            assert scene.camera is not None
            scene = replace(scene, camera=replace(scene.camera, aperture=0.1))
        material = Principled(metallic=1.0) if "metal" in name else "default"
        if "large" in name:
            ground = SphereSet(centers=[[0, -1e8, 0]], radius=1e8 - 2, material=material)
            scene = replace(scene, spheres=[*scene.spheres, ground])
        elif "metal" in name:
            metal = [SphereSet(s.centers, s.radius, material=material) for s in scene.spheres]
            scene = replace(scene, spheres=metal)
        if "lamps" in name:
            lamp = SphereSet([[0, 3, 0]], 0.5, material=Principled(emission=4.0))
            scene = replace(scene, spheres=[*scene.spheres, lamp])
        if "cut" in name:
            scene = replace(scene, clip=Clip(keep="x < 0.1"))
        if "without lights" in name:
            scene = replace(scene, lights=())
    else:
        scene = load(str(resources.scenes_folder() / f"{name}.toml"))
    return replace(scene, render=replace(scene.render, integrator=integrator))


def packed(scene: Scene) -> SceneBuffers:
    return pack(scene, scene.render.override(width=SIZE[0], height=SIZE[1], samples=2))


def test_the_scenes_below_use_every_variant_that_traces_paths() -> None:
    used: set[tuple[str, tuple[str, ...]]] = set()
    for name, integrator in EXAMPLES:
        buffers = packed(with_paths(name, integrator))
        if len(buffers.axis):
            missing = selection.find_missing_with_capsules(buffers.view, buffers.has_forms)
            used.add((selection.CAPSULES, missing))
        else:
            used.add((selection.PATHS, selection.find_missing_features(buffers.view)))
    every = {(selection.PATHS, missing) for missing in selection.list_variants(selection.PATHS)[1:]}
    every |= {
        (selection.CAPSULES, missing) for missing in selection.list_variants(selection.CAPSULES)
    }
    every -= {
        (selection.CAPSULES, each)
        for each in ((), selection.CAPSULE_FEATURES, selection.ROUND_FEATURES)
    }
    assert used == {each for each in every if each[1] != selection.COMMON_DRAFTS}


@pytest.mark.gpu
@pytest.mark.usefixtures("cuda")
@pytest.mark.parametrize(("name", "integrator"), EXAMPLES)
def test_a_variant_that_traces_paths_gives_the_film_of_the_complete_kernel(
    name: str, integrator: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from raytracer.backends.cuda.run import CudaDevice

    buffers, device = packed(with_paths(name, integrator)), CudaDevice()
    films, kernels = [], []
    with device.scene(buffers, build_bvh(buffers)) as made:
        for _ in range(2):
            with device.film(Film.blank(*SIZE)) as film:
                film.add(made, buffers.view, 2)
                films.append(film.to_host().sums)
                kernels.append(made.find_kernel(buffers.view))
            monkeypatch.setattr(selection, "find_missing_features", lambda _: ())
            monkeypatch.setattr(selection, "find_missing_with_capsules", lambda *_: ())
    assert kernels[0].kernel.name == kernels[1].kernel.name
    assert kernels[0].missing
    assert not kernels[1].missing
    np.testing.assert_array_equal(films[0], films[1])


@pytest.mark.gpu
@pytest.mark.usefixtures("cuda")
def test_the_kernels_of_capsules_give_the_same_film(monkeypatch: pytest.MonkeyPatch) -> None:
    from raytracer.backends.cuda import run

    rng = np.random.default_rng(8)
    starts = rng.uniform(-1, 1, (2000, 3))
    rods = CapsuleSet(starts, starts + 0.3 * rng.normal(size=(2000, 3)), 0.03)
    scene = replace(to_project(random_scene(4, 15)), capsules=[rods])
    buffers = pack(scene, scene.render.override(width=SIZE[0], height=SIZE[1], samples=3))
    tree, device = build_bvh(buffers), run.CudaDevice()
    films = []
    for missing in (selection.ROUND_FEATURES, selection.CAPSULE_FEATURES, ()):
        monkeypatch.setattr(
            selection, "find_missing_with_capsules", lambda *_, missing=missing: missing
        )
        with device.film(Film.blank(*SIZE)) as film, device.scene(buffers, tree) as made:
            film.add(made, buffers.view, 3)
            films.append(film.to_host().sums)
            assert made.find_kernel(buffers.view).missing == missing
    np.testing.assert_array_equal(films[0], films[1])
    # the kernel that takes any material evaluates Phong's in another frame
    np.testing.assert_allclose(films[2], films[1], rtol=1e-4, atol=1e-4)


def test_example_scenes_get_the_kernel_that_was_measured_best() -> None:
    best = {"three_balls": selection.LIST, "galaxy": selection.THREADS}
    for name in render_benchmark.SCENES:
        if name in ("cloud", "sphereflake"):
            continue  # a million spheres take long to make; the other is like plummer
        ladder = render_benchmark.make_ladder(name, render_benchmark.SIZE)
        buffers, tree = ladder.buffers, ladder.arranged("")
        sample, camera = selection.sample_spheres(buffers.placed), buffers.view.camera
        label = selection.choose_kernel(buffers.count, len(tree.nodes), sample, camera, 720)
        assert label == best.get(name, selection.PACKETS), name
