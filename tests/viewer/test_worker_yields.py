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
from raytracer.film.tone_settings import ToneSettings
from raytracer.viewer import worker as module
from raytracer.viewer.orders import Picked, Saved
from raytracer.viewer.saving import Saving
from raytracer.viewer.stage import Stage
from support.previews import PATIENCE, balls, wait_for
from support.workers import Gate, Window, assert_rendered, gated, order_of


@pytest.fixture(autouse=True)
def slow_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every pass at rest is of one sample, and counts as one that takes long."""
    monkeypatch.setattr(module, "STUBBORN", 0.0)
    monkeypatch.setattr(module, "SETTLE", 0.0)
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
        return frame is not None and frame.size == frame.order.size and frame.samples >= samples

    wait_for(reached, f"{samples} samples")


def held_up(window: Window) -> tuple[Stage, Gate, int]:
    """A picture at rest in the middle of a pass; its samples before that."""
    stage, gate = gated(balls())
    window.worker.show(order_of(stage, samples=40))
    sharp(window, 5)
    gate.after = True  # the film holds a part of the pass
    gate.entered.clear()
    gate.open.clear()
    assert gate.entered.wait(PATIENCE)
    return stage, gate, gate.passes[-1][0]


def test_a_pick_keeps_the_samples(window: Window) -> None:
    stage, gate, samples = held_up(window)
    for _ in range(3):
        window.worker.ask(lambda: Picked(stage, None))
        assert window.hear(Picked) == Picked(stage, None)
    count = len(gate.passes)
    gate.open.set()
    wait_for(lambda: len(gate.passes) > count, "a pass after it")
    assert min(first for first, _ in gate.passes[count - 3 :]) == samples
    order = window.shown[-1].order
    assert_rendered(window.finish(order), 40)


def test_on_a_gpu_a_pick_waits_for_the_pass(window: Window) -> None:
    """Its film is not on the host: there is no copy that one could go back to."""
    stage, gate = gated(balls())
    gate.can_interrupt = False
    window.worker.show(order_of(stage, samples=40))
    sharp(window, 5)
    gate.entered.clear()
    gate.open.clear()
    assert gate.entered.wait(PATIENCE)
    left = gate.left
    window.worker.ask(lambda: Picked(stage, None))
    gate.open.set()
    assert window.hear(Picked) == Picked(stage, None)
    assert gate.left == left
    assert_rendered(window.finish(window.shown[-1].order), 40)


def test_another_tone_keeps_the_samples(window: Window) -> None:
    stage, gate, samples = held_up(window)
    before = window.shown[-1].order
    tone = ToneSettings(tone="agx")
    order = type(before)(stage, before.look, tone, before.samples)
    window.worker.show(order)

    def shown() -> bool:
        window.look()
        return window.shown[-1].order is order

    wait_for(shown, "the other tone, while a pass is held up")
    assert window.shown[-1].size == order.size
    assert window.shown[-1].samples == samples
    gate.open.set()
    assert_rendered(window.finish(order), 40, tone)


def test_a_picture_to_be_kept_waits_for_the_pass(window: Window, tmp_path: Path) -> None:
    stage, gate, _ = held_up(window)
    left = gate.left
    saving = Saving(order_of(stage, samples=6, size=(90, 50)), tmp_path / "kept.png")
    window.worker.save(saving)
    gate.open.set()
    window.hear(Saved)
    assert gate.left == left
    assert_rendered(window.finish(window.shown[-1].order), 40)


def test_the_window_is_sharp_while_a_picture_is_rendered_to_be_kept(
    window: Window, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And its samples go on, in turns with the picture's parts."""
    monkeypatch.setattr("raytracer.viewer.saving.PART", 0.0)  # one sample of few rows a part
    stage, _ = gated(balls())
    order = order_of(stage, samples=8)
    saving = Saving(order_of(stage, 0.5, samples=400, size=(300, 200)), tmp_path / "kept.png")
    window.worker.save(saving)
    window.worker.show(order)
    assert_rendered(window.finish(order), 8)
    assert window.worker.saving is saving
    moved = order_of(stage, 1.0, samples=8)
    window.worker.show(moved)
    window.finish(moved)
    assert window.worker.saving is saving
    assert saving.fraction < 1.0
    assert window.worker.save(None)


def test_what_needs_no_backend_is_done_aside(window: Window) -> None:
    """A large file may be read through for a click: rendering goes on meanwhile."""
    stage, _ = gated(balls())
    read = Event()

    def slowly() -> Picked:
        assert read.wait(PATIENCE)
        return Picked(stage, None)

    order = order_of(stage)
    window.worker.ask(lambda: slowly)
    window.worker.show(order)
    assert_rendered(window.finish(order))
    assert window.messages == []
    read.set()
    assert window.hear(Picked) == Picked(stage, None)


def test_a_file_that_is_being_written_cannot_be_given_up(
    window: Window, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written, save_image = Event(), Image.save

    def slowly(image: Image, path: Path, bits: int = 8) -> Path:
        assert written.wait(PATIENCE)
        return save_image(image, path, bits)

    monkeypatch.setattr(Image, "save", slowly)
    stage, _ = gated(balls())
    path = tmp_path / "kept.png"
    saving = Saving(order_of(stage, samples=2, size=(30, 20)), path)
    window.worker.save(saving)
    wait_for(lambda: saving.writing, "the writing")
    assert not window.worker.save(None)
    order = order_of(stage, 0.3)
    window.worker.show(order)
    window.finish(order)  # the window goes on
    assert not path.exists()
    written.set()
    assert window.hear(Saved) == Saved(path)
    saving.wait()
    assert np.asarray(Pictures.open(path)).shape == (20, 30, 3)
