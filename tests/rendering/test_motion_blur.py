"""Motion blur: coverage of a moving sphere in closed form, and means of pictures at the times."""

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import raytracer
from raytracer.commands.cli import main
from raytracer.film.film import Film
from raytracer.model.motion import MotionKeys, _move_bonds, freeze_motion
from raytracer.packing.pack import pack_with_camera
from raytracer.rendering.motion_blur import BITS, shutter_time
from raytracer.rendering.pipeline import PreparedScene, prepare
from support.particle_files import dump, write

Doubles = NDArray[np.float64]

WIDTH, HEIGHT = 48, 16
CAMERA = raytracer.Camera(
    type="orthographic", position=(0, 0, 5), look_at=(0, 0, 0), height=HEIGHT, shutter=0.5
)
"""A pixel is a unit; the middle of the picture is the origin."""
PLAIN: dict[str, Any] = {
    "width": WIDTH, "height": HEIGHT, "camera": CAMERA, "transparent": True, "shading": "flat",
}  # fmt: skip
SMALL: dict[str, Any] = {"width": 40, "height": 30, "samples": 6}


# Times


def _sobol(samples: int) -> list[tuple[int, int, int]]:
    """Points as numbers of BITS bits: those of pixels (kernels/core/sampling.h), and times."""
    points = []
    for s in range(samples):
        across = int(f"{s:0{BITS}b}"[::-1], 2)
        # the second dimension by its generator, Pascal's triangle modulo 2: of x + 1
        down = 0
        for k in range(BITS):
            column = sum((j & k == j) << (BITS - 1 - j) for j in range(k + 1))
            down ^= column if s >> k & 1 else 0
        points.append((across, down, int(shutter_time(s) * 2**BITS)))
    return points


def test_each_stratum_of_the_shutter_has_a_time() -> None:
    for seed, power in product((0, 1, 12345), range(9)):
        times = [shutter_time(s, seed) for s in range(2**power)]
        assert sorted(int(t * 2**power) for t in times) == list(range(2**power))
        assert min(times) >= 0.0
        assert max(times) < 1.0


def test_times_are_stratified_together_with_the_points_of_pixels() -> None:
    """The three dimensions are a (1, 3)-sequence: no box of two points' volume has more or less."""
    power = 7
    points = _sobol(2**power)
    shapes = [(a, b, power - 1 - a - b) for a in range(power) for b in range(power - a)]
    for shape in shapes:
        boxes = {tuple(x >> (BITS - k) for x, k in zip(p, shape, strict=True)) for p in points}
        assert len(boxes) == 2 ** (power - 1), shape


# One sphere in closed form


def _overlap(offset: Doubles, half: Doubles) -> Doubles:
    """Antiderivative of the length of [-half, half] below an offset."""
    inside = np.square(offset + half) / 2.0
    return np.where(offset < -half, 0.0, np.where(offset > half, 2.0 * half * offset, inside))


def _pixel_coverage(radius: float, distance: float, rows: int = 1000) -> Doubles:
    """Mean coverage of pixels by a disk in the middle that moves to the right by a distance.

    Exact along rows, and by `rows` midpoints within each pixel across them.
    """
    y = (np.arange(HEIGHT * rows) + 0.5) / rows - HEIGHT / 2
    half: Doubles = np.sqrt(np.maximum(radius**2 - y**2, 0.0))[:, None]
    edges = np.arange(WIDTH + 1, dtype=np.float64) - WIDTH / 2
    by_time: Doubles = _overlap(edges + distance / 2, half) - _overlap(edges - distance / 2, half)
    pixels: Doubles = np.diff(by_time, axis=1).reshape(HEIGHT, rows, WIDTH).mean(axis=1) / distance
    return pixels


def _ball(radius: float, distance: float) -> raytracer.Scene:
    velocity = (distance / CAMERA.shutter, 0.0, 0.0)
    return raytracer.Scene.from_arrays([[0.0, 0.0, 0.0]], radius, "white", velocity=velocity)


@pytest.mark.parametrize(("radius", "distance"), [(3.2, 17.0), (1.3, 30.0), (6.0, 2.5)])
@pytest.mark.parametrize("samples", [16, 256])
def test_centers_of_pixels_see_a_sphere_for_its_time(
    radius: float, distance: float, samples: int, backend: str
) -> None:
    """A stratum of the shutter is wrong at most at each end of the time when a sphere is there."""
    image = raytracer.render(
        _ball(radius, distance), **PLAIN, samples=samples, filter="point", backend=backend
    )
    x, y = np.arange(WIDTH) + 0.5 - WIDTH / 2, np.arange(HEIGHT) + 0.5 - HEIGHT / 2
    half = np.sqrt(np.maximum(radius**2 - y**2, 0.0))[:, None]
    low = np.maximum(x - half, -distance / 2)
    high = np.minimum(x + half, distance / 2)
    seen = np.maximum(high - low, 0.0) / distance
    assert image.film.coverage.max() > 0.0
    np.testing.assert_allclose(image.film.coverage, seen, rtol=0, atol=2.0 / samples + 1e-6)


@pytest.mark.parametrize(("radius", "distance"), [(3.2, 17.0), (6.0, 2.5)])
def test_pixels_have_the_coverage_of_a_moving_disk(
    radius: float, distance: float, backend: str
) -> None:
    """The error falls faster than that of random times and places, which is 0.1 with 16 samples."""
    expected = _pixel_coverage(radius, distance)
    for samples in (16, 256, 1024):
        image = raytracer.render(
            _ball(radius, distance), **PLAIN, samples=samples, filter="box", backend=backend
        )
        error = np.sqrt(np.square(image.film.coverage - expected).mean())
        assert error < 0.3 * samples**-0.75


# Means of pictures at the times


def _cloud(count: int = 60) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    return {
        "centers": rng.uniform(-1.0, 1.0, (count, 3)), "radius": rng.uniform(0.1, 0.25, count),
        "colors": rng.uniform(0.0, 1.0, (count, 3)), "velocity": rng.normal(0.0, 1.0, (count, 3)),
    }  # fmt: skip


def _mean_of_moments(job: PreparedScene, samples: int) -> NDArray[np.float32]:
    """Add samples of scenes that are packed at their times; job: of the scene in the middle."""
    assert job.kept is not None
    scene, buffers = job.kept
    assert scene.camera is not None
    film = job.device.film(Film.blank(job.settings.width, job.settings.height))
    for s in range(samples):
        moved = freeze_motion(
            scene, scene.camera.shutter * (shutter_time(s, job.settings.seed) - 0.5)
        )
        there = pack_with_camera(moved, scene.render, before=buffers)[0]
        with job.device.scene(there, job.device.build(there)) as on_device:
            film.add(on_device, job.view, 1, first=s)
    return film.to_host().sums


def _bonded() -> raytracer.Scene:
    cloud = _cloud()
    data = {"positions": cloud["centers"], "radius": 0.1, "velocity": cloud["velocity"]}
    return raytracer.Scene.from_object(data).styled(bonds=0.5)


def _lamp() -> raytracer.Scene:
    """One set moves and shines, one moves, one rests; on a ground."""
    cloud = _cloud(9)
    sets = [
        raytracer.SphereSet([[0, 0, 0]], 0.3, "gold", material="lamp", velocity=(0.0, 0.5, 0.0)),
        raytracer.SphereSet(
            cloud["centers"], 0.2, cloud["colors"], velocity=cloud["velocity"],
            transform=raytracer.Transform(scale=2.0, rotate=(10, 20, 30)),
        ),
        raytracer.SphereSet([[1, 1, 1]], 0.3, "red"),
    ]  # fmt: skip
    return raytracer.Scene(
        sets, materials={"lamp": raytracer.Principled(emission=3.0)}, ground=raytracer.Ground()
    )


@pytest.mark.parametrize(
    ("scene", "settings"),
    [
        (raytracer.Scene.from_arrays(**_cloud()), {}),
        (raytracer.Scene.from_arrays(**_cloud()), {"look": "soft", "ground": True, "seed": 7}),
        (raytracer.Scene.from_arrays(**_cloud()), {"integrator": "path", "material": "glass"}),
        (_lamp(), {}),
        (_lamp(), {"integrator": "path"}),
        (_bonded(), {"clip": "x < 0.5"}),
    ],
    ids=["direct", "occlusion", "glass", "lamp", "lamp-path", "bonds"],
)
def test_a_picture_is_the_mean_of_pictures_at_its_times(
    scene: raytracer.Scene, settings: dict[str, Any], backend: str
) -> None:
    with prepare(scene, SMALL | settings | {"shutter": 0.4}, backend=backend, keep=True) as job:
        film = job.device.film(Film.blank(SMALL["width"], SMALL["height"]))
        job.accumulate(film, SMALL["samples"])
        sums = film.to_host().sums.copy()
        expected = _mean_of_moments(job, SMALL["samples"])
        film.clear()
        film.add(job.scene, job.view, 4)  # the scene on the device is in the middle again
        middle = film.to_host().sums.copy()
    np.testing.assert_array_equal(sums, expected)
    with prepare(scene, SMALL | settings, backend=backend) as job:
        film = job.device.film(Film.blank(SMALL["width"], SMALL["height"]))
        film.add(job.scene, job.view, 4)
        np.testing.assert_array_equal(middle, film.to_host().sums)
    assert not np.array_equal(middle / 4, sums / SMALL["samples"])


def test_samples_that_are_added_later_continue_the_same_times(backend: str) -> None:
    scene = raytracer.Scene.from_arrays(**_cloud())
    options = SMALL | {"backend": backend, "shutter": 0.3}
    whole = raytracer.render(scene, **options)
    first = raytracer.render(scene, **options | {"samples": 2})
    more = raytracer.render(scene, **options | {"samples": 4}, film=first.film)
    np.testing.assert_array_equal(more.film.sums, whole.film.sums)
    with pytest.raises(raytracer.UserError, match="scene, camera, settings or version"):
        raytracer.render(scene, **options | {"shutter": 0.31}, film=first.film)
    faster = raytracer.Scene.from_arrays(**_cloud() | {"velocity": (1.0, 0.0, 0.0)})
    with pytest.raises(raytracer.UserError, match="scene, camera, settings or version"):
        raytracer.render(faster, **options, film=first.film)


def test_a_noise_level_and_a_time_take_the_same_samples() -> None:
    scene = raytracer.Scene.from_arrays(**_cloud())
    options: dict[str, Any] = SMALL | {"backend": "cpu", "shutter": 0.3, "look": "soft"}
    even = raytracer.render(scene, **options | {"samples": 8})
    noisy = raytracer.render(scene, **options, noise=0.5, max_samples=8)
    counts = noisy.film.pixel_counts()
    assert counts.max() <= 8
    full = counts == 8
    np.testing.assert_array_equal(noisy.film.sums[full], even.film.sums[full])
    timed = raytracer.render(scene, **options, time=1e-3)
    again = raytracer.render(scene, **options | {"samples": timed.film.samples})
    np.testing.assert_array_equal(timed.film.sums, again.film.sums)


def test_without_a_shutter_velocities_change_nothing() -> None:
    moving = raytracer.Scene.from_arrays(**_cloud())
    still = raytracer.Scene.from_arrays(**_cloud() | {"velocity": None})
    pictures = [raytracer.render(each, **SMALL, backend="cpu").film for each in (moving, still)]
    np.testing.assert_array_equal(pictures[0].sums, pictures[1].sums)
    assert pictures[0].metadata["digest"] == pictures[1].metadata["digest"]


def test_output_variables_and_labels_are_those_of_the_middle() -> None:
    scene = raytracer.Scene.from_arrays(**_cloud())
    names = ("depth", "normal", "id", "position")
    blurred = raytracer.render(scene, **SMALL, backend="cpu", shutter=0.4, aovs=names)
    sharp = raytracer.render(scene, **SMALL, backend="cpu", aovs=names)
    for name in names:
        np.testing.assert_array_equal(blurred.film.aovs[name], sharp.film.aovs[name])


def test_guides_of_a_denoiser_are_means_over_the_shutter() -> None:
    scene = raytracer.Scene.from_arrays(**_cloud())
    with prepare(scene, SMALL | {"shutter": 0.4}, backend="cpu", keep=True) as job:
        film = Film.blank(SMALL["width"], SMALL["height"])
        job.find_aovs(film, ["denoising_albedo", "albedo"])
        assert job.kept is not None
        middle, buffers = job.kept
        found = []
        for s in range(16):
            moved = freeze_motion(middle, 0.4 * (shutter_time(s) - 0.5))
            there = pack_with_camera(moved, middle.render, before=buffers)[0]
            with job.device.scene(there, job.device.build(there)) as on_device:
                one = Film.blank(SMALL["width"], SMALL["height"])
                replace(job, scene=on_device, blur=None).find_aovs(one, ["denoising_albedo"])
                found.append(one.aovs["denoising_albedo"])
    expected = np.mean(found, axis=0)
    np.testing.assert_allclose(film.aovs["denoising_albedo"], expected, atol=1e-6)
    assert np.abs(film.aovs["denoising_albedo"] - film.aovs["albedo"]).max() > 0.1


# What moves


def _frames(periodic: bool = True) -> tuple[Doubles, Doubles]:
    """Five frames of particles that move evenly, in a box or through its sides, and their steps."""
    rng = np.random.default_rng(8)
    start, step = rng.uniform(0.0, 4.0, (20, 3)), rng.uniform(-1.0, 1.0, (20, 3))
    places = start + np.arange(5)[:, None, None] * step
    return places % 4.0 if periodic else places, step


def _write_dump(path: Path, places: Doubles, *more: str) -> None:
    """Write frames (T, N, 3) in a box of 4 as a dump of LAMMPS, rows in any order, and others."""
    rng = np.random.default_rng(1)
    frames = []
    for step, rows in enumerate(places):
        lines = [f"{k + 1} {x:.12g} {y:.12g} {z:.12g}" for k, (x, y, z) in enumerate(rows)]
        frames.append(dump("id x y z", list(rng.permutation(lines)), step, edge=4))
    write(path, "".join([*frames, *more]))


def _keys_of(scene: object, **options: Any) -> tuple[NDArray[Any], MotionKeys]:
    """Ids, and motion keys, of a scene as it is packed."""
    from raytracer.scene_files.source import InputSource

    names = ("frame", "smoothing", "unwrap")
    given = {name: options.pop(name) for name in names if name in options}
    with prepare(InputSource.of(scene, **given), {"width": 8, "height": 6} | options, keep=True,
                 backend="cpu") as job:  # fmt: skip
        assert job.kept is not None
        spheres = job.kept[0].spheres[0]
        assert spheres.keys is not None
        return np.asarray(spheres.columns["id"]), spheres.keys


@pytest.mark.parametrize("frame", [0, 2, 4])
@pytest.mark.parametrize("shutter", [0.5, 2.0, 3.0])
def test_particles_move_from_frame_to_frame(tmp_path: Path, frame: int, shutter: float) -> None:
    """Across periodic boundaries, matched by ids; before the first frame and after the last too."""
    places, step = _frames()
    _write_dump(tmp_path / "gas.lammpstrj", places)
    settings: dict[str, Any] = {"shutter": shutter, "radius": 0.2, "select": "id != 3"}
    ids, keys = _keys_of(tmp_path / "gas.lammpstrj", frame=frame, **settings)
    assert len(ids) == 19
    for time in (-0.5 * shutter, -0.1, 0.2, 0.5 * shutter):
        offsets = keys.at(np.zeros((19, 3)), time)
        np.testing.assert_allclose(offsets, time * step[ids - 1], atol=1e-9)


def test_periodic_images_move_with_their_particle(tmp_path: Path) -> None:
    places, step = _frames()
    _write_dump(tmp_path / "gas.lammpstrj", places)
    settings: dict[str, Any] = {"shutter": 1.0, "replicate": (2, 1, 1), "wrap": True}
    ids, keys = _keys_of(tmp_path / "gas.lammpstrj", frame=1, **settings)
    assert len(ids) == 40
    np.testing.assert_allclose(keys.at(np.zeros((40, 3)), 0.5), 0.5 * step[ids - 1], atol=1e-9)


def test_smoothed_particles_move_between_their_means(tmp_path: Path) -> None:
    places, _ = _frames(periodic=False)
    places += np.array([0.3, -0.3, 0.3, -0.3, 0.3])[:, None, None]  # jitter
    _write_dump(tmp_path / "gas.lammpstrj", places)
    ids, keys = _keys_of(tmp_path / "gas.lammpstrj", frame=2, smoothing=2, shutter=1.0)
    means = [0.5 * (places[k] + places[k + 1]) for k in (1, 2, 3)]
    for time, k in ((-1.0, 0), (1.0, 2)):
        expected = (means[k] - means[1])[ids - 1]
        np.testing.assert_allclose(keys.at(np.zeros((20, 3)), time), expected, atol=1e-9)


def test_frames_are_joined_by_straight_lines() -> None:
    places = np.zeros((4, 1, 3))
    places[:, 0, 0], places[:, 0, 1] = (0.0, 1.0, 4.0, 9.0), (5.0, 5.0, 3.0, 5.0)
    _, keys = _keys_of(places, frame=2, shutter=2.0, radius=0.1)
    for time, expected in ((-1.0, (-3.0, 2.0)), (-0.25, (-0.75, 0.5)), (0.5, (2.5, 1.0))):
        np.testing.assert_allclose(keys.at(np.zeros((1, 3)), time)[0, :2], expected)


def test_a_particle_that_a_frame_lacks_rests(tmp_path: Path) -> None:
    places, _ = _frames(periodic=False)
    last = dump("id x y z", ["7 1 1 1"], 2, "ff ff ff", edge=4)
    _write_dump(tmp_path / "gas.lammpstrj", places[:2], last)
    ids, keys = _keys_of(tmp_path / "gas.lammpstrj", frame=1, shutter=1.0, radius=0.1)
    offsets = keys.at(np.zeros((20, 3)), 0.5)
    assert not offsets[ids != 7].any()
    assert offsets[ids == 7].all()


VELOCITIES = "x,y,z,vx,vy,vz,u\n0,0,0,1,2,3,4\n1,0,0,0,0,0,5\n"


WATER = "water\n1\n    1SOL     OW    1   0.126   1.624   1.679  0.1227 -0.0580  0.0434\n 2 2 2\n"


@pytest.mark.parametrize(
    ("name", "velocity", "expected"),
    [
        ("data.csv", None, (1.0, 2.0, 3.0)),
        ("data.csv", "velocity", (1.0, 2.0, 3.0)),
        ("data.csv", "u,0,-vz", (4.0, 0.0, -3.0)),
        ("data.csv", ("u", 0, 2.5), (4.0, 0.0, 2.5)),
        # From nanometres to angstrom, but not numbers that the caller states.
        ("water.gro", None, (1.227, -0.58, 0.434)),
        ("water.gro", ("vx", "0", "1"), (1.227, 0.0, 10.0)),
        ("water.gro", (1, 0, 0), (1.0, 0.0, 0.0)),
    ],
)
def test_velocities_are_columns_vectors_or_numbers(
    tmp_path: Path, name: str, velocity: Any, expected: tuple[float, ...]
) -> None:
    path = write(tmp_path / name, VELOCITIES if name == "data.csv" else WATER)
    settings: dict[str, Any] = {"velocity": velocity, "shutter": 1.0, "radius": 0.1}
    ids, keys = _keys_of(path, **settings)
    offsets = keys.at(np.zeros((len(ids), 3)), 0.5)
    np.testing.assert_allclose(offsets[0], np.array(expected) / 2, rtol=1e-6)


# Animations


def test_frames_of_an_animation_are_blurred() -> None:
    """Each as `render` shows it, with the camera of the animation."""
    places, _ = _frames(periodic=False)
    settings: dict[str, Any] = SMALL | {"shutter": 0.5, "samples": 2, "backend": "cpu"}
    scenes = [raytracer.Scene.from_arrays(each, 0.2) for each in places]
    animation = raytracer.animate(scenes, frames="1:4", **settings)
    images = list(animation)
    assert len(images) == 3
    for frame, image in enumerate(images, 1):
        assert image.camera is not None
        assert image.camera.shutter == 0.5
        alone = raytracer.render(
            places, frame=frame, camera=image.camera, radius=0.2, look="plain", background="white",
            **settings,
        )  # fmt: skip
        sharp = raytracer.render(scenes[frame], camera=image.camera, **settings | {"shutter": 0.0})
        np.testing.assert_array_equal(image.film.coverage, alone.film.coverage)
        assert not np.array_equal(image.film.coverage, sharp.film.coverage)


# Commands


def test_the_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    places, _ = _frames()
    path = tmp_path / "gas.lammpstrj"
    _write_dump(path, places)
    size = ["--size", "40x30", "--samples", "32", "--backend", "cpu", "--quiet", "--shutter", "0.5"]
    picture, film = tmp_path / "a.png", tmp_path / "a.npz"
    render = ["render", str(path), "--frame", "2", *size, "-o", str(picture)]
    assert main([*render, "--film", str(film)]) == 0
    expected = raytracer.render(path, frame=2, shutter=0.5, width=40, height=30, backend="cpu")
    np.testing.assert_array_equal(raytracer.Film.load(film).sums, expected.film.sums)
    other = ["-o", str(tmp_path / "b.png")]
    assert main([*render, *other, "--camera", str(picture), "--velocity", "1,0,-x"]) == 0
    assert main(["animate", str(path), *size, "-o", str(tmp_path / "#.png")]) == 0
    assert len(list(tmp_path.glob("[0-9]*.png"))) == 5
    assert main([*render, "--velocity", "nix"]) == 2
    assert "velocity: there is no column 'nix'" in capsys.readouterr().err
    assert main(["preview", str(path), "--shutter", "0.5"]) == 2
    assert "no such option '--shutter'; moving particles" in capsys.readouterr().err


# What is refused


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"velocity": "charge"}, "velocity: 'charge' does not have three numbers"),
        ({"velocity": "charge, 1/(charge-charge), 0"}, "velocity: that of particle 0 is not"),
        (
            {"arrows": "charge,0,0"},
            r"shutter: what \[arrows\] shows is made from the particles of one moment",
        ),
        ({"velocity": "1e300,0,0"}, "camera.shutter: .*too far away"),
    ],
)
def test_what_cannot_be_blurred_is_refused(settings: dict[str, Any], message: str) -> None:
    columns = {"charge": [1.0, 2.0]}
    scene = raytracer.Scene.from_arrays([[0, 0, 0], [1, 0, 0]], 0.3, columns=columns)
    with pytest.raises(raytracer.UserError, match=message):
        raytracer.render(scene, **SMALL | {"shutter": 0.5} | settings, backend="cpu")


def test_a_scene_without_motion_is_refused() -> None:
    scene = raytracer.Scene.from_arrays([[0, 0, 0]], 0.3)
    with pytest.raises(raytracer.UserError, match="nothing moves"):
        raytracer.render(scene, **SMALL, shutter=0.5, backend="cpu")
    with pytest.raises(raytracer.UserError, match="velocity: has 2 rows for 1 spheres"):
        raytracer.Scene.from_arrays([[0, 0, 0]], 0.3, velocity=np.zeros((2, 3)))


def test_bonds_that_move_leave_the_scene_as_it_was(tmp_path: Path) -> None:
    """Keys are of copies: a scene that is rendered twice has none of its own."""
    spheres = raytracer.SphereSet([[0, 0, 0], [1.2, 0, 0]], 0.4)
    spheres = spheres.changed(keys=MotionKeys((0.0, 1.0), (np.zeros((2, 3)), np.ones((2, 3)))))
    scene = raytracer.Scene([spheres]).styled(bonds=2.0)
    (bonds,) = scene.capsules
    before = bonds.start.keys, bonds.end.keys
    moving = _move_bonds(bonds, scene.spheres)
    assert (bonds.start.keys, bonds.end.keys) == before == (None, None)
    assert moving.start.keys is not None
    assert moving.end.keys is not None
