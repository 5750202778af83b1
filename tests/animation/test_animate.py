"""Animations: which frames there are, what is in them, runs that go on; camera paths."""

import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image as Pillow

import raytracer
from raytracer import AnimationSettings, Camera, Keyframe
from raytracer.animation.animate import _digest, animate
from raytracer.animation.encoder import convert_to_yuv
from raytracer.animation.frames import Movie, numbered_path
from raytracer.animation.path import (
    CameraPath,
    CameraPose,
    ease_share,
    interpolate_poses,
    turn_about_target,
)
from raytracer.commands.cli import main
from raytracer.config.errors import OutputError, SceneError
from raytracer.files import output
from support.movies import FRAMES, SMALL, assert_same_movie, decoded

OPTIONS = ["--width", "32", "--height", "18", "--samples", "1", "--backend", "cpu"]


@pytest.fixture
def ball() -> raytracer.Scene:
    return raytracer.Scene.from_arrays([[0.0, 0, 0], [2.0, 0, 0]], 0.7, ["red", "blue"])


def position_of(image: raytracer.Image) -> NDArray[np.float64]:
    assert image.camera is not None
    return np.array(image.camera.position, np.float64)


def target_of(image: raytracer.Image) -> NDArray[np.float64]:
    assert image.camera is not None
    return np.array(image.camera.look_at, np.float64)


def test_frames_are_the_pictures_of_the_same_camera(trajectory: Path) -> None:
    small = SMALL | {"brightness": 1.0}  # otherwise measured in the first frame
    animation = raytracer.animate(trajectory, frames="::2", **small)
    images = list(animation)
    assert len(images) == len(animation) == 3
    cameras = {image.camera for image in images}
    assert len(cameras) == 1
    (camera,) = cameras
    for image, k in zip(images, (0, 2, 4), strict=True):
        alone = raytracer.render(trajectory, frame=k, camera=camera, **small)
        np.testing.assert_array_equal(image.to_uint8(), alone.to_uint8())
        assert image.statistics.covered > 0


def test_the_poster_of_a_movie_is_beside_it(
    trajectory: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("av")
    assert main(["animate", str(trajectory), "-o", str(tmp_path / "a.mp4"), *OPTIONS]) == 0
    assert " kB, 6 frames" in capsys.readouterr().out
    assert main(["info", str(tmp_path / "a.poster.png")]) == 0
    assert "[camera]" in capsys.readouterr().out


def test_the_camera_sees_all_frames(trajectory: Path) -> None:
    size = SMALL | {"width": 96, "height": 54}  # a margin of two pixels, wider than the filter
    *_, last = raytracer.animate(trajectory, background="white", **size)
    pixels = last.to_uint8()
    edges = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
    assert (edges == 255).all()


@pytest.mark.parametrize(
    ("name", "codec"),
    [("a.mp4", None), ("a.mkv", "h265"), ("a.webm", None), ("a.mp4", "av1"), ("a.gif", None),
     ("a.webp", None)],
)  # fmt: skip
def test_a_movie_has_the_frames(
    trajectory: Path, tmp_path: Path, name: str, codec: str | None
) -> None:
    if not name.endswith(("gif", "webp")):
        pytest.importorskip("av")
    # Large areas of strong colours, which a wrong matrix or range would change.
    scene = {"background": "#3060c0", "color": "orange", "radius": 1.5, "look": "flat"}
    options = SMALL | scene | {"width": 128, "height": 72, "quality": 95, "codec": codec}
    animation = raytracer.animate(trajectory, fps=10.0, **options)
    path = animation.save(tmp_path / name)
    found, wanted = decoded(path), [image.to_uint8() for image in animation]
    assert len(found) == FRAMES
    for one, other in zip(found, wanted, strict=True):
        assert one.shape == other.shape
        np.testing.assert_allclose(one.mean(axis=(0, 1)), other.mean(axis=(0, 1)), atol=3.0)
    with Pillow.open(tmp_path / "a.poster.png") as poster:
        np.testing.assert_array_equal(np.asarray(poster), wanted[0])
    assert not (tmp_path / f"{name}.frames").exists()


def test_a_run_that_was_ended_goes_on_to_the_same_bytes(trajectory: Path, tmp_path: Path) -> None:
    pytest.importorskip("av")
    options = SMALL | {"tone": raytracer.ToneSettings(exposure="auto")}

    def stop(done: int, total: int) -> None:
        assert total == FRAMES
        if done == 3:
            raise KeyboardInterrupt

    whole = raytracer.animate(trajectory, **options).save(tmp_path / "whole.mp4")
    path = tmp_path / "a.mp4"
    with pytest.raises(KeyboardInterrupt):
        raytracer.animate(trajectory, **options).save(path, progress=stop)
    output.remove_temporary_files()
    assert not path.exists()
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "a.mp4.frames", "a.poster.png", "water.xyz", "whole.mp4", "whole.poster.png",
    ]  # fmt: skip
    finished = len(list((tmp_path / "a.mp4.frames").glob("*.npz")))
    assert 3 <= finished < FRAMES
    again = raytracer.animate(trajectory, **options)
    again.save(path)
    assert len(again.seconds) == FRAMES - finished + 1  # the first one is metered
    assert_same_movie(path, whole)
    assert not (tmp_path / "a.mp4.frames").exists()


def test_the_camera_of_a_file_is_part_of_the_digest(trajectory: Path, tmp_path: Path) -> None:
    digests = []
    for view in ("front", "top"):
        raytracer.render(trajectory, frame=0, view=view, **SMALL).save(tmp_path / "a.png")
        animation = raytracer.animate(trajectory, camera=tmp_path / "a.png", **SMALL)
        digests.append(_digest(animation._plan))
    assert digests[0] != digests[1]


def test_frames_of_other_settings_are_not_taken(trajectory: Path, tmp_path: Path) -> None:
    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    path = tmp_path / "a.gif"
    with pytest.raises(KeyboardInterrupt):
        raytracer.animate(trajectory, **SMALL).save(path, progress=stop)
    for changes in ({"samples": 2}, {"background": "red"}, {"frames": "1:"}):
        animation = raytracer.animate(trajectory, **SMALL | changes)
        assert shutil.copytree(path.with_name("a.gif.frames"), tmp_path / "b.gif.frames")
        animation.save(tmp_path / "b.gif")
        assert len(animation.seconds) == len(animation)
    trajectory.write_text(trajectory.read_text())  # it has changed since
    animation = raytracer.animate(trajectory, **SMALL)
    animation.save(path)
    assert len(animation.seconds) == FRAMES


@pytest.mark.parametrize("suffix", [".png", ".exr"])
def test_numbered_pictures(trajectory: Path, tmp_path: Path, suffix: str) -> None:
    if suffix == ".exr":
        pytest.importorskip("OpenEXR")
    animation = raytracer.animate(trajectory, frames="1:4", **SMALL)
    animation.save(tmp_path / "out" / f"f_###{suffix}")
    names = [f"f_{k:03d}{suffix}" for k in range(3)]
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == names
    if suffix == ".png":
        (tmp_path / "out" / names[1]).unlink()
        animation.save(tmp_path / "out" / f"f_###{suffix}")
        assert len(animation.seconds) == 1
        with Pillow.open(tmp_path / "out" / names[2]) as picture:
            np.testing.assert_array_equal(np.asarray(picture), list(animation)[2].to_uint8())


@pytest.mark.parametrize(
    ("name", "count", "first", "last"),
    [
        ("f_#.png", 9, "f_0.png", "f_8.png"),
        ("f_#.png", 10, "f_0.png", "f_9.png"),
        ("f_#.png", 11, "f_00.png", "f_10.png"),
        ("f_#.png", 100, "f_00.png", "f_99.png"),
        ("f_#.exr", 101, "f_000.exr", "f_100.exr"),
        ("f_###.png", 1000, "f_000.png", "f_999.png"),
        ("f_####.png", 10, "f_0000.png", "f_0009.png"),
        ("f_%02d.png", 100, "f_00.png", "f_99.png"),
        ("f_%02d.png", 101, "f_000.png", "f_100.png"),
        ("f_%d.png", 100, "f_0.png", "f_99.png"),
    ],
)
def test_numbers_have_the_digits_of_the_last_one(
    name: str, count: int, first: str, last: str
) -> None:
    """Names are also what an interrupted run looks for."""
    names = [numbered_path(Path(name), index, count).name for index in (0, count - 1)]
    assert names == [first, last]


def test_an_exposure_is_metered_once_for_a_movie(tmp_path: Path) -> None:
    """Metered in each frame, it would flicker: here the second one is darker, and stays so."""
    path = tmp_path / "fading.xyz"
    head = "2\nProperties=species:S:1:pos:R:3:color:R:3\n"
    greys = [" ".join(3 * [grey]) for grey in ("0.9", "0.1", "0.9")]
    path.write_text("".join(f"{head}H 0 0 0 {grey}\nH 1.5 0 0 {grey}\n" for grey in greys))
    options: dict[str, Any] = SMALL | {"tone": {"exposure": "auto"}, "brightness": 8.0}
    images = list(raytracer.animate(path, **options))
    metered = [image.film.statistics(exposure="auto").exposure for image in images]
    assert metered[1] > metered[0] + 1.0
    assert metered[0] < -1.0
    assert [image.settings.exposure for image in images] == [metered[0]] * 3
    for image in images:
        wanted = image.film.tonemap(exposure=metered[0])
        np.testing.assert_array_equal(image.to_uint8()[..., :3], wanted[..., :3])


def test_a_turntable_comes_back(ball: raytracer.Scene) -> None:
    images = list(raytracer.animate(ball, turntable="1s", fps=4.0, **SMALL))
    assert len(images) == 4
    positions = np.array([position_of(image) for image in images])
    middle = np.array([1.0, 0.0, 0.0])
    lengths = np.linalg.norm(positions - middle, axis=1)
    np.testing.assert_allclose(lengths, lengths[0])
    np.testing.assert_allclose((positions[:2] + positions[2:]) / 2 - middle,
                               [[0, positions[0, 1], 0]] * 2, atol=1e-9)  # fmt: skip
    # From the other side red and blue have changed places, and light comes along.
    assert images[0].to_uint8()[..., 0].sum() != images[2].to_uint8()[..., 0].sum()


def test_grain_is_still(ball: raytracer.Scene) -> None:
    options = SMALL | {"duration": 0.5, "fps": 4.0, "zoom_to": 1.0, "look": "soft"}
    still = [image.to_uint8() for image in raytracer.animate(ball, **options)]
    np.testing.assert_array_equal(still[0], still[1])


def test_an_array_of_frames_and_looks_that_are_held() -> None:
    """The radius follows from the spacing of the first frame."""
    rng = np.random.default_rng(3)
    first = rng.uniform(size=(50, 3))
    series = np.stack([first, first * 4.0])
    images = list(raytracer.animate(series, **SMALL))
    alone = raytracer.Scene.from_object(series[0]).spheres[0].radius
    camera = images[1].camera
    scene = raytracer.Scene.from_arrays(series[1], alone)
    grey = raytracer.Background.of_particles()
    wanted = raytracer.render(
        scene,
        camera=camera,
        look="soft",
        ao_samples=4,
        background=grey,
        brightness=images[0].metadata["settings"]["brightness"],
        **SMALL,
    )
    np.testing.assert_array_equal(images[1].to_uint8(), wanted.to_uint8())


def test_following_keeps_a_particle_in_the_middle(trajectory: Path) -> None:
    for target, x in ((1, [1.0 + k for k in range(FRAMES)]), ("center", [0.0] * FRAMES)):
        images = list(raytracer.animate(trajectory, follow=target, **SMALL))
        found = [target_of(image)[0] for image in images]
        np.testing.assert_allclose(found, x, atol=1e-12)
        offsets = [position_of(image) - target_of(image) for image in images]
        np.testing.assert_allclose(offsets, [offsets[0]] * FRAMES, atol=1e-9)


def test_a_particle_that_a_frame_lacks_cannot_be_followed(tmp_path: Path) -> None:
    path = tmp_path / "a.dump"
    path.write_text("".join(
        f"ITEM: TIMESTEP\n{k}\nITEM: NUMBER OF ATOMS\n1\n"
        f"ITEM: BOX BOUNDS pp pp pp\n0 9\n0 9\n0 9\nITEM: ATOMS id type x y z\n{k} 1 0 0 0\n"
        for k in (1, 2)
    ))  # fmt: skip
    with pytest.raises(raytracer.UserError, match="there is no particle 1 among 1"):
        list(raytracer.animate(path, follow=1, **SMALL))


def test_a_particle_is_followed_among_selected_ones(tmp_path: Path) -> None:
    path = tmp_path / "a.dump"
    path.write_text(
        "ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n3\nITEM: BOX BOUNDS pp pp pp\n0 9\n0 9\n0 9\n"
        "ITEM: ATOMS id type x y z\n7 1 1 0 0\n8 2 2 0 0\n9 2 3 0 0\n"
    )
    image = next(iter(raytracer.animate(path, follow=9, select="type == 2", turntable=1, **SMALL)))
    assert target_of(image)[0] == 3.0


def test_settings_of_a_scene_file(trajectory: Path, tmp_path: Path) -> None:
    scene = tmp_path / "a.toml"
    scene.write_text(
        '[[spheres]]\nfile = "water.xyz"\n[animation]\nfps = 5\nframes = "1:"\n'
        "[[animation.keyframes]]\ntime = 0\nposition = [0, 0, 20]\nlook_at = [0, 0, 0]\n"
        '[[animation.keyframes]]\ntime = 0.8\nposition = [20, 0, 0]\nease = "linear"\n'
    )
    images = list(raytracer.animate(scene, **SMALL))
    assert len(images) == FRAMES - 1
    positions = np.array([position_of(image) for image in images])
    angles = np.radians([0.0, 22.5, 45.0, 67.5, 90.0])
    wanted = 20.0 * np.stack([np.sin(angles), 0 * angles, np.cos(angles)], axis=1)
    np.testing.assert_allclose(positions, wanted, atol=1e-9)
    loaded = raytracer.load(scene, 0)
    assert loaded.animation is not None
    assert loaded.animation.keyframes[1].time == 0.8


def test_colours_are_those_of_all_frames(trajectory: Path) -> None:
    """The ends of the scale are held; a text over the picture names the frame."""
    options = SMALL | {"color_by": "x", "map": ["blue", "red"], "look": "flat", "radius": 0.6}
    first, *_, last = raytracer.animate(trajectory, background="white", **options)
    reds = [image.to_uint8().astype(int)[..., 0] for image in (first, last)]
    blues = [image.to_uint8().astype(int)[..., 2] for image in (first, last)]
    ends = [(blue - red).max() for red, blue in zip(reds, blues, strict=True)]
    assert ends[0] < 100 < ends[1]  # x goes to 1 in the first frame, to 6 in the last one


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--frames", "0"], "there is only one frame, and the camera does not move"),
        (["--transparent"], "a GIF has no partial transparency"),
        (["-o", "a##.jpg"], "numbered pictures end in .png or .exr"),
    ],
)
def test_what_is_wrong_is_said(
    trajectory: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch, arguments: list[str], words: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert main(["animate", str(trajectory), "-o", "a.gif", *OPTIONS, *arguments]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1
    assert [p.name for p in tmp_path.iterdir()] == ["water.xyz"]


def test_an_odd_size_is_made_even(trajectory: Path, tmp_path: Path) -> None:
    pytest.importorskip("av")
    animation = raytracer.animate(trajectory, frames=":2", **SMALL | {"width": 33})
    with pytest.warns(raytracer.RaytracerWarning, match="to 34x18 pixels"):
        animation.save(tmp_path / "a.mp4")
    assert decoded(tmp_path / "a.mp4")[0].shape == (18, 34, 3)


DIGEST = "0123456789abcdef"


def expected(pixels: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Planes by the formulas of BT.709, in float64."""
    height, width = pixels.shape[:2]
    padded = np.pad(pixels[..., :3], ((0, height % 2), (0, width % 2), (0, 0)), mode="edge") / 255.0
    weights = np.array([0.2126, 0.7152, 0.0722])
    luma = padded @ weights
    small = padded.reshape(padded.shape[0] // 2, 2, padded.shape[1] // 2, 2, 3).mean(axis=(1, 3))
    y = small @ weights
    blue = (small[..., 2] - y) / (2.0 * (1.0 - 0.0722))
    red = (small[..., 0] - y) / (2.0 * (1.0 - 0.2126))
    parts = [16.0 + 219.0 * luma, 128.0 + 224.0 * blue, 128.0 + 224.0 * red]
    return np.concatenate([part.ravel() for part in parts]).reshape(-1, padded.shape[1])


@pytest.mark.parametrize("shape", [(6, 8, 4), (5, 7, 4), (1, 1, 3), (37, 130, 3)])
def test_planes_are_those_of_bt_709(shape: tuple[int, int, int]) -> None:
    pytest.importorskip("av")
    pixels = np.random.default_rng(5).integers(0, 256, shape, dtype=np.uint8)
    found = convert_to_yuv(pixels).to_ndarray()
    assert found.shape == expected(pixels).shape
    assert np.abs(found - expected(pixels)).max() < 1.0


def test_frames_come_back_and_damage_is_told(tmp_path: Path) -> None:
    kept = Movie(animate(np.zeros((2, 1, 3)))._plan, tmp_path / "a.mp4", DIGEST)
    kept.folder.mkdir()
    frame = np.random.default_rng(2).integers(0, 256, (40, 60, 3), dtype=np.uint8)
    kept.store(1, frame)
    np.testing.assert_array_equal(kept.read(1), frame)
    assert kept.has(1)
    assert not kept.has(0)
    path = kept.path(1)
    whole = path.read_bytes()
    changed = whole[:300] + bytes([whole[300] ^ 1]) + whole[301:]
    for data in (whole[:-1], whole[:10], b"", changed, bytes(len(whole))):
        path.write_bytes(data)
        with pytest.raises(OutputError, match=r"is damaged: run the command again with --fresh"):
            kept.read(1)
    kept.remove()
    assert not kept.folder.exists()


CAMERA = Camera(position=(0.0, 0.0, 10.0), look_at=(0.0, 0.0, 0.0))


def path(frames: int = 5, duration: float = 1.0, **settings: object) -> CameraPath:
    return CameraPath(CAMERA, AnimationSettings(**settings), frames, duration)  # type: ignore[arg-type]


@pytest.mark.parametrize("ease", ["linear", "smooth", "in", "out"])
def test_easing_begins_at_0_ends_at_1_and_never_goes_back(ease: str) -> None:
    values = [ease_share(share, ease) for share in np.linspace(-0.5, 1.5, 41)]
    assert values[0] == 0.0
    assert values[-1] == 1.0
    assert all(later >= one for one, later in pairwise(values))


def test_a_turntable_goes_to_the_right() -> None:
    camera = path(turntable=360).at(1, 0.25)
    np.testing.assert_allclose(np.array(camera.position), (10.0, 0.0, 0.0), atol=1e-12)
    backwards = path(turntable="-2s").at(2, 0.5)
    np.testing.assert_allclose(np.array(backwards.position), (-10.0, 0.0, 0.0), atol=1e-12)


def test_an_orbit_rises_and_stops_before_the_pole() -> None:
    camera = path(orbit=(90, 30)).at(4, 0.8)
    wanted = (10.0 * np.cos(np.radians(30)), 10.0 * np.sin(np.radians(30)), 0.0)
    np.testing.assert_allclose(np.array(camera.position), wanted, atol=1e-12)
    above = np.array(path(orbit=(0, 170)).at(4, 0.8).position)
    assert 9.999 < above[1] < 10.0
    assert above[2] > 0.0


def test_dolly_and_zoom_end_at_their_factors() -> None:
    camera = path(dolly=0.5, zoom_to=2.0).at(4, 0.8)
    np.testing.assert_allclose(np.array(camera.position), (0.0, 0.0, 5.0))
    ratio = np.tan(np.radians(camera.vertical_fov / 2)) / np.tan(np.radians(20.0))
    assert ratio == pytest.approx(0.5)
    first = path(dolly=0.5, zoom_to=2.0).at(0, 0.0)
    np.testing.assert_allclose(np.array(first.position), np.array(CAMERA.position))
    assert first.vertical_fov == pytest.approx(40.0)


@pytest.mark.parametrize("frame", [1, 2, 3])
def test_dolly_and_zoom_go_by_equal_factors(frame: int) -> None:
    """The picture grows as steadily at the end as at the beginning: by the fourth root of each."""
    camera = path(dolly=0.25, zoom_to=16.0).at(frame, 0.2 * frame)
    assert np.array(camera.position)[2] == pytest.approx(10.0 * 0.25 ** (frame / 4))
    ratio = np.tan(np.radians(camera.vertical_fov / 2)) / np.tan(np.radians(20.0))
    assert ratio == pytest.approx(2.0**-frame)
    flat = Camera(position=(0, 0, 9), look_at=(0, 0, 0), type="orthographic", height=8.0)
    moved = CameraPath(flat, AnimationSettings(zoom_to=16.0), 5, 1.0).at(frame, 0.2 * frame)
    assert moved.height == pytest.approx(8.0 * 2.0**-frame)


def test_keyframes_change_distance_and_field_of_view_by_equal_factors() -> None:
    keys = (
        Keyframe(0.0, position=(0, 0, 16), look_at=(0, 0, 0), vertical_fov=90.0, ease="linear"),
        Keyframe(2.0, position=(0, 0, 4), vertical_fov=2 * np.degrees(np.arctan(0.25)),
                 ease="linear"),
    )  # fmt: skip
    camera = path(9, 4.0, keyframes=keys).at(0, 1.0)
    assert np.array(camera.position)[2] == pytest.approx(8.0)
    assert np.tan(np.radians(camera.vertical_fov / 2)) == pytest.approx(0.5)


def test_a_keyframe_keeps_what_it_does_not_state() -> None:
    start = Camera(position=(3, 1, 7), look_at=(0, 1, 0), vertical_fov=30.0)
    keys = (Keyframe(2.0, vertical_fov=60.0, ease="linear"),)
    camera = CameraPath(start, AnimationSettings(keyframes=keys), 9, 4.0).at(8, 4.0)
    assert camera.position == pytest.approx((3.0, 1.0, 7.0))
    assert camera.look_at is not None
    toward = np.subtract(camera.look_at, camera.position)
    assert toward / np.linalg.norm(toward) == pytest.approx(np.array([-3, 0, -7]) / 58**0.5)
    assert camera.vertical_fov == pytest.approx(60.0)


def test_a_fitted_camera_sees_every_frame_of_a_short_movie(tmp_path: Path) -> None:
    """Of three frames, one alone has a sphere far away, whichever it is."""
    for far in range(3):
        rows = [f"1\n\nO {20.0 * (frame == far)} 0 0\n" for frame in range(3)]
        path = tmp_path / f"far_{far}.xyz"
        path.write_text("".join(rows))
        for image in raytracer.animate(path, **SMALL):
            assert image.statistics.covered > 0


@pytest.mark.parametrize("ending", ["png", "exr"])
def test_frames_that_are_there_are_not_rendered_again(
    ending: str, trajectory: Path, tmp_path: Path
) -> None:
    target = tmp_path / f"##.{ending}"
    raytracer.animate(trajectory, **SMALL).save(target)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob(f"*.{ending}")}
    assert len(before) > 1
    raytracer.animate(trajectory, **SMALL).save(target, resume=True)
    assert {path: path.stat().st_mtime_ns for path in before} == before


def test_an_orthographic_camera_zooms_by_its_height() -> None:
    camera = Camera(position=(0, 0, 9), look_at=(0, 0, 0), type="orthographic", height=8.0)
    moved = CameraPath(camera, AnimationSettings(zoom_to=4.0), 2, 1.0).at(1, 0.5)
    assert moved.height == pytest.approx(2.0)


def test_the_way_to_the_other_side_keeps_the_distance() -> None:
    there = CameraPose.of(Camera(position=(0.0, 0.0, -10.0), look_at=(0.0, 0.0, 0.0)))
    for share in (0.0, 0.25, 0.5, 1.0):
        stand = interpolate_poses(CameraPose.of(CAMERA), there, share)
        assert np.linalg.norm(stand.offset) == pytest.approx(10.0)
        assert stand.offset[1] == pytest.approx(0.0, abs=1e-12)  # around, not over the pole


def test_keyframes_say_what_changes() -> None:
    keys = (
        Keyframe(1.0, position=(0, 0, 10), look_at=(0, 0, 0)),
        Keyframe(3.0, look_at=(0, 5, 0), vertical_fov=20.0, ease="linear"),
    )
    moving = path(9, 4.0, keyframes=keys)
    for time, y in ((0.0, 0.0), (1.0, 0.0), (2.0, 2.5), (3.0, 5.0), (9.0, 5.0)):
        assert moving.at(0, time).look_at == pytest.approx((0.0, y, 0.0))
    assert moving.at(0, 3.5).vertical_fov == pytest.approx(20.0)


def test_keyframes_out_of_order_are_refused() -> None:
    with pytest.raises(SceneError, match="times of keyframes must increase"):
        AnimationSettings(keyframes=[Keyframe(2.0), Keyframe(1.0)])
    with pytest.raises(SceneError, match=r"animation.keyframes\[0\].time: "):
        AnimationSettings(keyframes=[{"time": -1}])  # type: ignore[list-item]


def test_elevation_counts_from_where_the_camera_is() -> None:
    stand = turn_about_target(CameraPose.of(CAMERA), 0.0, 45.0)
    np.testing.assert_allclose(turn_about_target(stand, 0.0, -45.0).offset, (0, 0, 10), atol=1e-12)
