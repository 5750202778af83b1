"""Trajectories that are smoothed and unwrapped, also outside of a movie."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

import raytracer
from raytracer.animation.shots import Renderer
from raytracer.config.warning import collect_warnings
from raytracer.scene_files.source import InputSource
from raytracer.trajectory.source import open_frames
from raytracer.trajectory.tracks import TrackedSource
from raytracer.viewer.session import Session
from support.particle_files import dump

SMALL: dict[str, Any] = {"width": 48, "height": 27, "samples": 1, "backend": "cpu"}
EDGE = 10.0


def written(path: Path, frames: list[dict[int, float]]) -> Path:
    """Write the places x of particles by id in each frame, in another order each time."""
    rng = np.random.default_rng(3)
    text = ""
    for k, places in enumerate(frames):
        order = rng.permutation(sorted(places))
        rows = [f"{i} {1 + i % 2} {places[i]} {i} {i}" for i in order]
        text += dump("id type x y z", rows, k, edge=EDGE)
    path.write_text(text)
    return path


def places(source: TrackedSource, frame: int) -> dict[int, float]:
    """The places x of a frame by id."""
    with collect_warnings():
        (spheres,) = source.load(frame).spheres
    found = zip(spheres.columns["id"], spheres.centers[:, 0], strict=True)
    return {int(i): round(float(x), 5) for i, x in found}


def tracked(path: Path, smoothing: int = 1, unwrap: bool = False, first: int = 0) -> TrackedSource:
    source = open_frames(InputSource.of(path))
    return TrackedSource(source, range(first, source.count), smoothing, unwrap)


def test_unwrapping_follows_particles_that_come_and_go(tmp_path: Path) -> None:
    """Particle 1 goes right for ever, 2 left; 3 comes later, and 2 is away in between."""
    frames = []
    for k in range(12):
        there = {1: (2.0 + 3.0 * k) % EDGE, 2: (5.0 - 4.0 * k) % EDGE}
        if k >= 4:
            there[3] = (9.0 + 2.0 * (k - 4)) % EDGE
        if k == 5:
            del there[2]
        frames.append(there)
    path = written(tmp_path / "a.dump", frames)
    for order in (range(12), (11, 3, 7, 0)):  # any frame, not only in turn
        source = tracked(path, unwrap=True)
        for k in order:
            found = places(source, k)
            assert found[1] == pytest.approx(2.0 + 3.0 * k)
            if k < 5:
                assert found[2] == pytest.approx(5.0 - 4.0 * k)
            if k >= 4:
                assert found[3] == pytest.approx(9.0 + 2.0 * (k - 4))
    # Seen again after a gap of two steps it is where it is nearest to its last place.
    assert places(source, 6)[2] == pytest.approx(5.0 - 4.0 * 4 + 2.0)
    later = tracked(path, unwrap=True, first=6)
    assert places(later, 6)[1] == pytest.approx((2.0 + 18.0) % EDGE)


def test_smoothing_is_the_mean_over_the_boundary(tmp_path: Path) -> None:
    frames = [{1: (9.0 + k) % EDGE, 2: 4.0 + (-1) ** k} for k in range(6)]
    del frames[4][2]
    path = written(tmp_path / "a.dump", frames)
    source = tracked(path, smoothing=3)
    assert places(source, 2) == {1: 1.0, 2: pytest.approx(4.0 - 1 / 3, abs=1e-5)}
    assert places(source, 0) == {1: 9.5, 2: 4.0}  # fewer at the ends
    assert places(source, 3)[2] == pytest.approx(4.0)  # of two frames: it is away in the third
    assert places(source, 5) == {1: pytest.approx(3.5), 2: 3.0}
    both = tracked(path, smoothing=3, unwrap=True)
    assert places(both, 3)[1] == pytest.approx(12.0)
    again = tracked(path, smoothing=2)
    assert places(again, 2)[1] == pytest.approx(1.5)


def test_arrays_and_rows_without_ids() -> None:
    rng = np.random.default_rng(5)
    series = rng.uniform(size=(5, 7, 3))
    source = TrackedSource(open_frames(InputSource.of(series)), range(5), 5, False)
    np.testing.assert_allclose(source.load(2).spheres[0].centers, series.mean(axis=0), atol=1e-6)


def test_smoothing_in_a_movie(tmp_path: Path) -> None:
    """Jitter that the mean takes away: all frames but those at the ends are the same."""
    frames = [{1: 2.0 + 0.5 * (-1) ** k, 2: 7.0, 3: 5.0} for k in range(6)]
    path = written(tmp_path / "a.dump", frames)
    options = SMALL | {"smoothing": 2, "frames": ":5", "color_by": "id"}
    animation = raytracer.animate(path, **options)
    animation.save(tmp_path / "##.png")
    shown = [np.asarray(Image.open(tmp_path / f"{k:02d}.png")) for k in range(5)]
    for other in shown[1:]:
        np.testing.assert_array_equal(shown[0], other)


def test_particles_keep_their_colors_by_id(tmp_path: Path) -> None:
    """Rows change their order and particles go; the colour of an id stays."""
    frames = [{i: float(i) for i in range(1, 9) if i != k} for k in range(9, 0, -1)]
    path = written(tmp_path / "a.dump", frames)
    known: dict[int, NDArray[Any]] = {}
    with collect_warnings():
        animation = raytracer.animate(path, **SMALL, color_by="id")
        with Renderer(animation._plan) as renderer:
            for shot in animation._plan.shots:
                (spheres,) = renderer._load(shot.frame).spheres
                colors, rows = spheres.color, spheres.color_id
                colors = colors if rows is None else colors[rows]
                for i, color in zip(spheres.columns["id"], colors, strict=True):
                    np.testing.assert_array_equal(known.setdefault(int(i), color), color)
    assert len({tuple(each) for each in known.values()}) == 8


@pytest.fixture
def trajectory(tmp_path: Path) -> Path:
    """Two particles, of which one leaves the box to the right and one trembles."""
    frames = [{1: (7.0 + 2.0 * k) % EDGE, 2: 5.0 + (-1) ** k} for k in range(6)]
    return written(tmp_path / "a.dump", frames)


def test_a_frame_is_that_of_the_movie(trajectory: Path) -> None:
    for options in ({"smoothing": 3}, {"unwrap": True}, {"smoothing": 2, "unwrap": True}):
        movie = list(raytracer.animate(trajectory, radius=1.0, **options, **SMALL))
        for frame in (0, 3, 5):
            image = raytracer.render(
                trajectory, frame=frame, radius=1.0, camera=movie[frame].camera, **options, **SMALL
            )
            np.testing.assert_array_equal(image.film.sums, movie[frame].film.sums)


def test_values_that_change_nothing_are_no_motion(trajectory: Path) -> None:
    plain = raytracer.render(trajectory, frame=4, radius=1.0, **SMALL)
    same = raytracer.render(trajectory, frame=4, radius=1.0, smoothing=1, unwrap=False, **SMALL)
    np.testing.assert_array_equal(plain.film.sums, same.film.sums)


def test_the_preview_shows_it_and_steps_through_frames(trajectory: Path) -> None:
    places = {}
    for unwrap in (False, True):
        with Session.open(
            trajectory, width=40, height=30, frame=-1, unwrap=unwrap, backend="cpu"
        ) as shown:
            assert shown.loaded_scene.scene.spheres[0].centers[:, 0].max() < 18.0
            loader = shown.loader.frames
            found = []
            for frame in (5, 0, 3):
                content = shown.content.__class__(frame)
                loaded = loader.load(content, shown.loaded_scene)
                (spheres,) = loaded.scene.spheres
                found.append(round(spheres.centers[spheres.columns["id"] == 1, 0].item(), 4))
                loaded.close()
            places[unwrap] = found
    assert places == {False: [7.0, 7.0, 3.0], True: [17.0, 7.0, 13.0]}
