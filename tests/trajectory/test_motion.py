"""Frames that are smoothed or unwrapped outside of a movie: render, preview, the commands."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer.viewer.session import Session
from support.particle_files import dump

SMALL: dict[str, Any] = {"width": 48, "height": 27, "samples": 1, "backend": "cpu"}
EDGE = 10.0


@pytest.fixture
def trajectory(tmp_path: Path) -> Path:
    """Two particles, of which one leaves the box to the right and one trembles."""
    text = "".join(
        dump(
            "id type x y z",
            [f"1 1 {(7.0 + 2.0 * k) % EDGE} 1 1", f"2 2 {5.0 + (-1) ** k} 2 2"],
            k,
            edge=EDGE,
        )
        for k in range(6)
    )
    path = tmp_path / "a.dump"
    path.write_text(text)
    return path


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
            trajectory, size=(40, 30), frame=-1, unwrap=unwrap, backend="cpu"
        ) as shown:
            assert shown.viewer.loaded_scene.scene.spheres[0].centers[:, 0].max() < 18.0
            loader = shown.viewer.loader.frames
            found = []
            for frame in (5, 0, 3):
                content = shown.viewer.content.__class__(frame)
                loaded = loader.load(content, shown.viewer.loaded_scene)
                found.append(round(float(loaded.scene.spheres[0].centers[0, 0]), 4))
                loaded.close()
            places[unwrap] = found
    assert places == {False: [7.0, 7.0, 3.0], True: [17.0, 7.0, 13.0]}
