"""Views of a simulation on CUDA, which render in threads of its process."""

from __future__ import annotations

import urllib.request
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import raytracer
from raytracer.in_situ.outlets import ThreadRunner
from raytracer.viewer.session import Session
from support.live import SETTINGS, Simulation, grid
from support.previews import PATIENCE, wait_for

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("cuda")]

ON_GPU = SETTINGS | {"backend": "cuda"}


def test_a_session_follows_on_a_gpu() -> None:
    simulation = Simulation()
    simulation.log(grid(3))
    with Session.open(simulation.feed, say=lambda _: None, **ON_GPU) as session:
        for count in (4, 5, 50):
            simulation.log(grid(count))

            def is_finished(count: int = count) -> bool:
                found = session.picture(PATIENCE)
                here = session.state()["spheres"] == count
                return here and found is not None and found.finished

            wait_for(is_finished, f"the picture of {count} points")


def test_a_page_and_a_movie_on_a_gpu_are_threads_and_end(tmp_path: Path) -> None:
    pytest.importorskip("aiohttp", reason="the extra serve is missing")
    path = tmp_path / "#.png"
    with raytracer.live(open="page", record=path, say=lambda _: None, **ON_GPU) as view:
        assert all(isinstance(each.runner, ThreadRunner) for each in view._outlets)
        for step in range(3):
            view.log_points("points", grid(3, shift=0.2 * step), radii=0.5)
            image = view.image()
        with urllib.request.urlopen(view.address, timeout=PATIENCE) as answer:
            assert b"simulation - raytracer" in answer.read()
        outlets = list(view._outlets)
    assert all(each.runner.has_ended for each in outlets)
    assert len(list(tmp_path.iterdir())) == 3
    with Image.open(tmp_path / "2.png") as last:
        np.testing.assert_array_equal(np.asarray(last), image.to_uint8())
