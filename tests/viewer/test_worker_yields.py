"""A slow pass at rest gives way to what the user asks for, and nothing but that pass is lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Event

import numpy as np
import pytest
from PIL import Image as Pictures

from raytracer.backends.cpu import CpuDevice
from raytracer.film.image import Image
from raytracer.viewer import worker as module
from raytracer.viewer.loaded_scene import LoadedScene
from raytracer.viewer.messages import Picked, Saved
from raytracer.viewer.save_job import SaveJob
from support.previews import PATIENCE, balls, wait_for
from support.workers import Gate, Window, assert_rendered, gated, request_of


@pytest.fixture(autouse=True)
def slow_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every pass at rest is of one sample, and counts as one that takes long."""
    monkeypatch.setattr(module, "MAX_PASS_SECONDS", 0.0)
    monkeypatch.setattr(module, "IDLE_DELAY", 0.0)
    monkeypatch.setattr(CpuDevice, "pass_seconds", 0.0)


@pytest.fixture
def window() -> Iterator[Window]:
    made = Window()
    yield made
    made.worker.stop(PATIENCE)
    assert made.worker_failed(), "the thread ends"


def sharp(window: Window, samples: int) -> None:
    """Wait for a picture of full size with some samples."""

    def reached() -> bool:
        window.woken.wait(0.05)
        frame = window.look()
        return frame is not None and frame.size == frame.request.size and frame.samples >= samples

    wait_for(reached, f"{samples} samples")


def held_up(window: Window) -> tuple[LoadedScene, Gate, int]:
    """A picture at rest in the middle of a pass; its samples before that."""
    loaded_scene, gate = gated(balls())
    window.worker.show(request_of(loaded_scene, samples=40))
    sharp(window, 5)
    gate.after = True  # the film holds a part of the pass
    gate.entered.clear()
    gate.open.clear()
    assert gate.entered.wait(PATIENCE)
    return loaded_scene, gate, gate.passes[-1][0]


def test_a_pick_keeps_the_samples(window: Window) -> None:
    loaded_scene, gate, samples = held_up(window)
    for _ in range(3):
        window.worker.run_task(lambda: Picked(loaded_scene, None))
        assert window.receive(Picked) == Picked(loaded_scene, None)
    count = len(gate.passes)
    gate.open.set()
    wait_for(lambda: len(gate.passes) > count, "a pass after it")
    assert min(first for first, _ in gate.passes[count - 3 :]) == samples
    request = window.shown[-1].request
    assert_rendered(window.finish(request), 40)


def test_what_needs_no_backend_is_done_in_the_background(window: Window) -> None:
    """A large file may be read through for a click: rendering goes on meanwhile."""
    loaded_scene, _ = gated(balls())
    read = Event()

    def slowly() -> Picked:
        assert read.wait(PATIENCE)
        return Picked(loaded_scene, None)

    request = request_of(loaded_scene)
    window.worker.run_task(lambda: slowly)
    window.worker.show(request)
    assert_rendered(window.finish(request))
    assert window.messages == []
    read.set()
    assert window.receive(Picked) == Picked(loaded_scene, None)


def test_a_file_that_is_being_written_cannot_be_given_up(
    window: Window, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written, save_image = Event(), Image.save

    def slowly(image: Image, path: Path, bits: int = 8) -> Path:
        assert written.wait(PATIENCE)
        return save_image(image, path, bits)

    monkeypatch.setattr(Image, "save", slowly)
    loaded_scene, _ = gated(balls())
    path = tmp_path / "kept.png"
    save_job = SaveJob(request_of(loaded_scene, samples=2, size=(30, 20)), path)
    window.worker.save(save_job)
    wait_for(lambda: save_job.writing, "the writing")
    assert not window.worker.save(None)
    request = request_of(loaded_scene, 0.3)
    window.worker.show(request)
    window.finish(request)  # the window goes on
    assert not path.exists()
    written.set()
    assert window.receive(Saved) == Saved(path)
    save_job.wait()
    assert np.asarray(Pictures.open(path)).shape == (20, 30, 3)
