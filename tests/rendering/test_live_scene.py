"""Live scenes: pictures of particles that moved are those of a scene that was packed anew."""

import threading
import warnings
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import raytracer
from raytracer.film.film import Film
from raytracer.packing.pack import pack_with_camera
from raytracer.packing.pose import fit_camera

SIZE: dict[str, Any] = {"width": 48, "height": 36}


def live_scene(scene: Any, **options: Any) -> raytracer.LiveScene:
    return raytracer.LiveScene(scene, **{"backend": "cpu", "samples": 2, **SIZE, **options})


def fresh(live: raytracer.LiveScene, scene: raytracer.Scene) -> NDArray[np.float32]:
    """Return the sums of a scene that is packed in the space of a live one and gets a new tree."""
    job = live._open()
    _, before = live._kept
    stated = replace(
        scene, render=job.settings, camera=live.camera, background=live.scene.background
    )
    pose = fit_camera(live.camera, before.balls, before.space, SIZE["width"] / SIZE["height"])[0]
    buffers = pack_with_camera(stated, job.settings, before=before, pose=pose)[0]
    with job.device.scene(buffers) as on_device:
        film = job.device.film(Film.blank(**SIZE))
        film.add(on_device, buffers.view, job.settings.samples)
        return film.to_host().sums


def check(live: raytracer.LiveScene, scene: raytracer.Scene) -> NDArray[np.float32]:
    sums = live.render().film.sums
    assert np.array_equal(sums, fresh(live, scene))
    return sums


def cloud(count: int, seed: int = 0) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1.0, 1.0, (count, 3))
    return (
        x,
        rng.uniform(0.3, 0.6, count) * max(count, 1) ** (-1 / 3),
        rng.uniform(0.0, 1.0, (count, 3)),
    )


@pytest.mark.parametrize("excess", [-1.0, 1.0, 1e300])
@pytest.mark.parametrize("count", [1, 2, 63, 5000])
def test_a_moved_scene_has_the_picture_of_a_new_one(
    count: int, excess: float, backend: str
) -> None:
    """With trees that are built anew, at times and never."""
    rng = np.random.default_rng(count)
    x, r, colors = cloud(count)
    with live_scene(raytracer.Scene.from_arrays(x, r, colors), backend=backend) as live:
        live._open().scene.max_excess = excess
        pictures = [check(live, raytracer.Scene.from_arrays(x, r, colors))]
        for step in range(4):
            x = x + rng.normal(0.0, 0.1, (count, 3))
            if step % 2:
                r = r * rng.uniform(0.9, 1.1, count)
                colors = rng.uniform(0.0, 1.0, (count, 3))
                live.update(positions=x, radii=r, colors=colors)
            else:
                live.update(positions=x)
            pictures.append(check(live, raytracer.Scene.from_arrays(x, r, colors)))
            assert not np.array_equal(pictures[-2], pictures[-1])


def test_the_first_picture_is_that_of_render() -> None:
    scene = raytracer.Scene.from_arrays(*cloud(100))
    with live_scene(scene) as live:
        image, other = live.render(), raytracer.render(scene, backend="cpu", samples=2, **SIZE)
        assert np.array_equal(image.film.sums, other.film.sums)
        assert image.camera is not None
        assert image.camera.position == other.camera.position  # type: ignore[union-attr]
        assert np.array_equal(live.pixels(), image.pixels())
        assert np.array_equal(live.pixels(1), live.render(1).pixels())
        live.update()
        assert np.array_equal(live.render().film.sums, other.film.sums)
    with pytest.raises(raytracer.UserError, match="it is of a live scene"):
        raytracer.render(scene, film=image.film, backend="cpu", **SIZE)


def test_an_array_that_is_changed_in_place_counts_at_the_update() -> None:
    x, r, colors = cloud(50)
    with live_scene(raytracer.Scene.from_arrays(x, r, colors)) as live:
        live.update(positions=x, radii=r)
        before = live.render().film.sums
        x += 0.2
        r *= 1.5
        assert np.array_equal(live.render().film.sums, before)
        live.update(positions=x, radii=r)
        check(live, raytracer.Scene.from_arrays(x, r, colors))


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int64, ">f8"])
def test_arrays_of_any_kind_and_layout(dtype: Any) -> None:
    x, r, colors = cloud(40)
    table = np.zeros((40, 8), dtype)
    table[:, 1:7:2] = 4.0 * x
    packed = np.zeros(40, np.dtype([("flag", "u1"), ("x", "<f8", 3)]))  # not aligned
    packed["x"] = x
    with live_scene(raytracer.Scene.from_arrays(x, r, colors)) as live:
        for positions in (table[:, 1:7:2], np.asfortranarray(table[:, 1:7:2]), packed["x"],
                          x.tolist(), table[::-1, 5::-2]):  # fmt: skip
            live.update(positions=positions)
            check(live, raytracer.Scene.from_arrays(positions, r, colors))


X, R, COLORS = cloud(60)
OPACITY = np.linspace(0.2, 1.0, 60)
AMONG = raytracer.Camera(position=(0.2, 0.1, 0.0), look_at=(1.0, 0.0, 0.0))
SOLIDS: dict[str, Any] = {
    "capsules": (raytracer.CapsuleSet([[-1, -1, -1]], [[1, -1, 1]], 0.1, "blue"),),
    "cones": (raytracer.ConeSet([[0, 1, 0]], [[0, 1.5, 0]], 0.3, 0.0),),
    "environment": raytracer.Environment(color="skyblue"), "clip": raytracer.Clip(keep="x < 0.8"),
}  # fmt: skip
BESIDE = (
    raytracer.SphereSet(*cloud(30, 1), material="glass"),
    raytracer.SphereSet([[0.0, -50.0, 0.0]], 48.5, "grey"),
)


def plain(x: Any = X, r: Any = R, colors: Any = COLORS, **more: Any) -> raytracer.Scene:
    return raytracer.Scene.from_arrays(x, np.squeeze(r), colors, **more)


def faint(x: Any = X, r: Any = R, colors: Any = COLORS) -> raytracer.Scene:
    opacity = OPACITY if np.shape(colors)[1] == 3 else None
    return raytracer.Scene([raytracer.SphereSet(x, r, colors, opacity=opacity)])


def among(x: Any = X, r: Any = R, colors: Any = COLORS) -> raytracer.Scene:
    """A set with a transform between two others."""
    own = raytracer.Transform(scale=2.0, rotate=(10.0, 20.0, 30.0), translate=(1.0, 2.0, 3.0))
    moved = raytracer.SphereSet(x, r, colors, transform=own)
    return raytracer.Scene([BESIDE[0], moved, BESIDE[1]])


def near(material: Any) -> Any:
    """A scene of a material, with the camera among the spheres."""
    return partial(plain, r=2.0 * R[:30], material=material, camera=AMONG)


MOVES = [{"x": (1.0 - 0.1 * k) * X[:30] + 0.1 * np.sin(k + X[:30, ::-1])} for k in range(3)]
START = {"x": X[:30], "colors": COLORS[:30]}
BYTES = (255 * COLORS[::-1]).astype(np.uint8)
UPDATES: dict[str, tuple[Any, dict[str, Any], list[dict[str, Any]], dict[str, Any]]] = {
    "one radius and colour": (
        plain, {}, [{"r": 0.2}, {"colors": "crimson", "r": R[:, None]},
                    {"colors": ["red", "#00ff00", "b"] * 20}], {},
    ),
    "no colour": (plain, {"colors": None}, [{"colors": COLORS}, {"colors": BYTES}], {}),
    "one colour": (plain, {"colors": "gold"}, [{"colors": COLORS}, {"colors": BYTES}], {}),
    "a palette": (plain, {"colors": ["red", "blue"] * 30}, [{"colors": COLORS}], {}),
    "opacities": (
        faint, {}, [{"x": 0.9 * X[::-1], "colors": COLORS[::-1]},
                    {"colors": np.concatenate([COLORS, OPACITY[::-1, None]], axis=1)}], {},
    ),
    "a set among others": (
        among, {}, [{"x": 0.9 * X, "r": 1.1 * R, "colors": COLORS[::-1]}, {"x": 0.8 * X}],
        {"set": 1},
    ),
    "around": (partial(plain, **SOLIDS), {}, [{"x": 0.9 * X, "r": R[::-1]}, {"x": 0.8 * X}], {}),
    "lamps": (near(raytracer.Principled(emission=5.0)), START, MOVES, {"integrator": "path"}),
    "glass": (
        near(raytracer.Principled(transmission=1.0, roughness=0.0)), START, MOVES,
        {"integrator": "path"},
    ),
    "mirrors": (near("chrome"), START, MOVES, {"integrator": "path"}),
}  # fmt: skip


@pytest.mark.parametrize("name", UPDATES)
def test_an_updated_scene_has_the_picture_of_a_new_one(name: str) -> None:
    make, state, updates, options = UPDATES[name]
    words = {"x": "positions", "r": "radii", "colors": "colors"}
    with live_scene(make(**state), **options) as live:
        for update in updates:
            live.update(**{words[key]: value for key, value in update.items()})
            state = state | update
            check(live, make(**state))


def test_which_set_moves_is_stated() -> None:
    with pytest.raises(raytracer.UserError, match="set: the scene has 3 sets of spheres: give"):
        live_scene(among())
    with pytest.raises(raytracer.UserError, match="set: must be at most 2, not 3"):
        live_scene(among(), set=3)
    with (
        live_scene(faint()) as live,
        pytest.raises(
            raytracer.UserError,
            match="in place of 60 with different opacities: make a new LiveScene",
        ),
    ):
        live.update(positions=X[:5], radii=0.1, colors="red")


def test_values_have_the_colours_of_the_scale_of_the_scene() -> None:
    x, r, _ = cloud(200)
    speed = np.linspace(0.0, 2.0, 200)
    scene = raytracer.Scene.from_arrays(x, r, columns={"speed": speed})
    with live_scene(scene, color_by="speed", map="magma", range=(0.0, 4.0)) as live:
        assert live.color_scale is not None
        assert (live.color_scale.low, live.color_scale.high) == (0.0, 4.0)
        live.update(values=2.0 * speed)
        colors = live.color_scale.rgb(2.0 * speed)
        check(live, raytracer.Scene.from_arrays(x, r, colors, color_space="linear"))


@pytest.mark.parametrize(("given", "ends"), [({}, (1.0, 3.0)), ({"range": (0, 9)}, (0.0, 9.0))])
def test_the_first_values_make_the_scale(given: dict[str, Any], ends: tuple[float, float]) -> None:
    x, r, _ = cloud(200)
    with live_scene(raytracer.Scene.from_arrays(x, r), map="plasma", **given) as live:
        scale = live.color_scale
        assert scale is None
        for low in (1.0, 5.0):  # the limits are those of the first
            values = np.linspace(low, 3.0, 200)
            live.update(values=values)
            scale = live.color_scale
            assert scale is not None
            assert (scale.low, scale.high, scale.map) == (*ends, "plasma")
        assert scale is not None
        assert list(live.scene.color_scales) == [scale]
        colors = scale.rgb(values)
        check(live, raytracer.Scene.from_arrays(x, r, colors, color_space="linear"))


def test_another_number_of_spheres() -> None:
    with live_scene(raytracer.Scene.from_arrays(*cloud(50))) as live:
        for count in (80, 1, 3, 0, 20):
            x, r, colors = cloud(count, count)
            live.update(positions=x, radii=r if count else 1.0, colors=colors)
            assert live.count == count
            if count:
                check(live, raytracer.Scene.from_arrays(x, r, colors))
            live.update(positions=0.9 * x)
            live.pixels()


@pytest.mark.filterwarnings("ignore:the scene has no spheres")
def test_a_scene_that_starts_empty_is_framed_when_there_are_spheres() -> None:
    x, r, colors = cloud(30)
    x = 1000.0 + 50.0 * x
    empty = raytracer.Scene.from_arrays(np.zeros((0, 3)), 1.0)
    with live_scene(empty) as live:
        live.render()
        live.update(positions=x, radii=50.0 * r, colors=colors)
        scene = raytracer.Scene.from_arrays(x, 50.0 * r, colors)
        expected = raytracer.render(scene, backend="cpu", samples=2, **SIZE)
        assert np.array_equal(live.render().film.sums, expected.film.sums)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"positions": cloud(60)[0]}, "60 spheres in place of 50 with different radii: give radii"),
        ({"positions": cloud(60)[0], "radii": 0.1}, "50 with different colours: give"),
        ({"positions": np.zeros((3, 50))}, r"shape \(3, 50\); sphere centres are \(N, 3\): give"),
        ({"radii": np.ones(49)}, "radii: has 49 radii for 50 spheres"),
        ({"radii": np.arange(50.0) - 49.0}, "radii: sphere 0 has radius -49"),
        ({"values": np.array(["a"] * 50, object)}, "values: "),
        ({"values": np.ones(49)}, r"values: has shape \(49,\) for 50 spheres"),
        ({"values": np.ones(50), "colors": "red"}, "give either values or colors, not both"),
        ({"positions": np.full((50, 3), np.nan)}, "positions: sphere 0 lies at .nan, nan, nan."),
        ({"positions": np.full((50, 3), 1e200)}, "^sphere 0 is too far away, too "),
        ({"positions": cloud(50)[0] * 1e200, "radii": 1e-30}, "^sphere 0 is too far aw"),
        (
            {"positions": np.full((3, 3), 1e200), "radii": 1.0, "colors": "red"},
            "^sphere 0 is too far away, too large or too small compared with the others",
        ),
        ({"values": np.full(50, np.nan)}, "values. has no finite values$"),
        ({"stream": object()}, "^stream: <object object at 0x[^>]*> is not a CUDA stream; give "),
    ],
)  # fmt: skip
def test_what_cannot_be_shown_is_refused_and_changes_nothing(
    given: dict[str, Any], problem: str
) -> None:
    with live_scene(raytracer.Scene.from_arrays(*cloud(50))) as live:
        before, scene = live.render().film.sums, live.scene
        with pytest.raises(raytracer.UserError, match=problem) as caught:
            live.update(**given)
        assert len(caught.value.sentences) == 1
        assert live.scene is scene
        assert live.color_scale is None
        assert np.array_equal(live.render().film.sums, before)
        live.update(positions=cloud(50)[0])
        assert np.array_equal(live.render().film.sums, before)


def test_what_is_made_of_particles_is_refused() -> None:
    x = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    scene = raytracer.Scene.from_arrays(x, 0.3, columns={"v": x + 1.0})
    with pytest.raises(raytracer.UserError, match="scene: its bonds are made from the particles"):
        live_scene(scene, bonds=1.2)
    with pytest.raises(raytracer.UserError, match="scene: its arrows are made from the particles"):
        live_scene(replace(scene, arrows=raytracer.Arrows("v")))


def test_a_ground_stays_and_large_spheres_follow() -> None:
    x, r, colors = cloud(100)
    ground: dict[str, Any] = {"ground": raytracer.Ground(color="white")}
    with live_scene(raytracer.Scene.from_arrays(x, r, colors, **ground)) as live:
        low = live._kept[1].large.tobytes()
        x = 0.8 * x
        live.update(positions=x)
        check(live, raytracer.Scene.from_arrays(x, r, colors, **ground))
        assert live._kept[1].large.tobytes() == low
        r[7], x[7] = 4e6, (0.0, -4e6 - 1.2, 0.0)  # is drawn by its surface from now on
        live.update(positions=x, radii=r)
        assert len(live._kept[1].large) == 2
        check(live, raytracer.Scene.from_arrays(x, r, colors, **ground))
        x[7, 1] -= 0.1
        live.update(positions=x)
        check(live, raytracer.Scene.from_arrays(x, r, colors, **ground))


def test_the_camera_may_change_and_be_fitted_again() -> None:
    x, r, colors = cloud(100)
    scene = raytracer.Scene.from_arrays(x, r, colors)
    with live_scene(scene) as live:
        first = live.camera
        x = 10.0 + 3.0 * x
        live.update(positions=x)
        assert live.camera.position == first.position
        image = live.render(refit_camera=True)
        assert image.camera is live.camera
        fitted = raytracer.Scene.from_arrays(x, r, colors).fitted_camera(**SIZE)
        np.testing.assert_allclose(live.camera.position, fitted.position, rtol=1e-5)  # type: ignore[arg-type]
        assert np.array_equal(live.render().film.sums, image.film.sums)
        check(live, raytracer.Scene.from_arrays(x, r, colors))
        own = raytracer.Camera(position=(20.0, 15.0, 30.0), look_at=(10.0, 10.0, 10.0))
        before = live.pixels()
        assert not np.array_equal(live.pixels(camera=own), before)
        assert live.camera.position == own.position
        check(live, raytracer.Scene.from_arrays(x, r, colors))
        with pytest.raises(raytracer.UserError, match="camera: must be Camera, not str"):
            live.render(camera="top")  # type: ignore[arg-type]
        with pytest.raises(raytracer.UserError, match="samples: must be at least 1"):
            live.render(0)


def test_output_variables_are_those_of_the_moved_spheres() -> None:
    x, _, colors = cloud(100)
    with live_scene(raytracer.Scene.from_arrays(x, 0.1, colors)) as live:
        live.update(positions=x[::-1])
        ids = live.render(aovs=["id", "depth"]).film.aovs["id"]
        live.update(positions=x)
        other = live.render(aovs=["id"]).film.aovs["id"]
        hit = ids < 2**31
        assert hit.any()
        assert np.array_equal(99 - ids[hit], other[hit])
        with pytest.raises(raytracer.UserError, match="no output variable 'no such'"):
            live.render(aovs=["no such"])


def test_labels_follow_the_particles() -> None:
    x = np.array([[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    scene = raytracer.Scene.from_arrays(x, 0.3, columns={"name": np.array([1, 2])})
    with live_scene(scene, width=160, height=120, annotations={"labels": {"by": "name"}}) as live:
        first = live.render().pixels()
        live.update(positions=x + np.array([0.0, 0.5, 0.0]))
        assert not np.array_equal(live.render().pixels(), first)
        live.update(positions=x)
        assert np.array_equal(live.render().pixels(), first)
        with pytest.raises(raytracer.UserError, match=r"labels\.by: there is no column 'name'"):
            live.update(positions=x[:1])


def test_annotations_are_planned_again_only_after_a_change() -> None:
    x, r, colors = cloud(20)
    scene = raytracer.Scene.from_arrays(x, r, colors)
    options: dict[str, Any] = {"annotations": {"scale_bar": True}, "width": 160, "height": 120}
    with pytest.warns(UserWarning, match="scale_bar: with perspective"):
        live = live_scene(scene, **options)
    with live, warnings.catch_warnings():
        warnings.simplefilter("error")  # each plan warns
        first = live.render().pixels()
        assert np.array_equal(live.render().pixels(), first)
        warnings.simplefilter("ignore")
        near = replace(live.camera, position=[0, 0, 4], look_at=[0, 0, 0])
        expected = raytracer.render(scene, camera=near, backend="cpu", samples=2, **options)
        assert np.array_equal(live.render(camera=near).pixels(), expected.pixels())


def test_another_number_of_spheres_has_no_columns_of_the_old_ones(tmp_path: Path) -> None:
    path = tmp_path / "water.xyz"
    path.write_text("3\n\nO 0 0 0\nH 1 0 0\nH 0 1 0\n")
    x, r, colors = cloud(5)
    with live_scene(path, bonds=False) as live:
        assert "element" in live.scene.spheres[0].columns
        live.update(positions=1.1 * live.scene.spheres[0].centers)
        assert "element" in live.scene.spheres[0].columns
        live.update(positions=x, radii=r, colors=colors)
        (spheres,) = live.scene.spheres
        assert list(spheres.columns) == ["x", "y", "z", "radius", "index", "id"]
        assert spheres.columns["index"].tolist() == [0, 1, 2, 3, 4]
        assert spheres.data.total == 5
        with pytest.raises(raytracer.UserError, match="there is no column 'element'"):
            raytracer.render(live.scene, color_by="element", backend="cpu", **SIZE)
        check(live, raytracer.Scene.from_arrays(x, r, colors))


def test_a_closed_scene_says_so() -> None:
    live = live_scene(raytracer.Scene.from_arrays(*cloud(5)))
    live.close()
    live.close()
    for call in (live.update, live.render, live.pixels, lambda: live.scene, lambda: live.camera):
        with pytest.raises(raytracer.UserError, match="the live scene is closed: make a new one"):
            call()


def test_several_threads_take_turns() -> None:
    x, r, colors = cloud(2000)
    with live_scene(raytracer.Scene.from_arrays(x, r, colors)) as live:
        expected = {}
        for step in range(3):
            live.update(positions=x * (1.0 - 0.1 * step))
            expected[step] = live.pixels().tobytes()
        seen: set[bytes] = set()
        stop = threading.Event()

        def look() -> None:
            while not stop.is_set():
                seen.add(live.pixels().tobytes())

        watcher = threading.Thread(target=look)
        watcher.start()
        for step in range(60):
            live.update(positions=x * (1.0 - 0.1 * (step % 3)))
        stop.set()
        watcher.join()
        assert seen
        assert seen <= set(expected.values())


@pytest.mark.parametrize("has_moved", [False, True])
@pytest.mark.parametrize("excess", [-1.0, 1e300])
def test_the_picture_after_an_interrupted_update_is_that_of_the_scene(
    has_moved: bool, excess: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    from raytracer.backends.base import CpuScene

    x, r, colors = cloud(300)
    update = CpuScene.update

    def interrupted(scene: CpuScene, change: Any) -> None:
        if has_moved:
            update(scene, change)
        raise KeyboardInterrupt

    with live_scene(raytracer.Scene.from_arrays(x, r, colors)) as live:
        live._open().scene.max_excess = excess
        live.update(positions=0.9 * x)
        for then in ({}, {"radii": 0.5 * r}, {"colors": colors[::-1]}, {"positions": x[::-1]}):
            with monkeypatch.context() as patch:
                patch.setattr(CpuScene, "update", interrupted)
                with pytest.raises(KeyboardInterrupt):
                    live.update(positions=0.8 * x[:, ::-1], colors=0.5 * colors)
            live.update(**then)
            (spheres,) = live.scene.spheres
            arrays = spheres.centers, spheres.radius, spheres.color
            check(live, raytracer.Scene.from_arrays(*arrays))
            live.update(radii=0.9 * r)
            check(live, raytracer.Scene.from_arrays(spheres.centers, 0.9 * r, spheres.color))


def resident() -> int:
    """Bytes of memory of this process."""
    pages = Path("/proc/self/statm").read_text().split()[1]
    return 4096 * int(pages)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
def test_memory_does_not_grow() -> None:
    x, r, colors = cloud(10_000)
    rng = np.random.default_rng(0)
    with live_scene(raytracer.Scene.from_arrays(x, r, colors)) as live:
        for step in range(80):
            if step == 20:
                before = resident()
            x = x + rng.normal(0.0, 0.01, x.shape)
            live.update(positions=x, colors=colors)
            live.pixels(1)
        assert resident() - before < 4 << 20  # an array of each update would be 14 MB


def test_a_live_scene_reaches_the_noise_of_its_settings() -> None:
    """Samples are added until it is reached; a picture of stated samples has these alone."""
    scene = raytracer.Scene.from_arrays(*cloud(20))
    settings: Any = {**SIZE, "samples": 2, "backend": "cpu", "look": "soft"}
    with raytracer.LiveScene(scene, **settings, noise=0.1, max_samples=128) as live:
        assert live.render().film.pixel_counts().max() > 2
        assert live.render(samples=3).film.samples == 3
