"""The render thread: whatever comes between, at rest it has the picture that `render` gives."""

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pictures

import raytracer
from raytracer.backends.base import CpuDevice
from raytracer.config.errors import BackendError
from raytracer.config.tone_settings import ToneSettings
from raytracer.viewer import worker as module
from raytracer.viewer.loaded_scene import LoadedScene
from raytracer.viewer.messages import (
    FailureReport,
    PickReport,
    RefusalReport,
    RenderRequest,
    SaveReport,
)
from raytracer.viewer.progressive_film import ProgressiveFilm
from raytracer.viewer.worker import MIN_IDLE_SAMPLES, SaveJob
from support.previews import PATIENCE, balls, first_camera, hit_id, loaded_scene_of, wait_for
from support.workers import SIZE, Gate, Window, assert_rendered, gated, request_of


def picking(request: RenderRequest) -> Callable[[], None]:
    """A task that picks a pixel."""

    def task() -> None:
        assert hit_id(request.loaded_scene, request.job.view, 32, 24) != -1

    return task


@pytest.fixture
def window(request: pytest.FixtureRequest) -> Iterator[Window]:
    made = Window(getattr(request, "param", True))
    yield made
    made.worker.stop(PATIENCE)
    assert made.worker_failed(), "the thread ends"


BOTH = pytest.mark.parametrize("window", [True, False], ids=["adaptive", "full"], indirect=True)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passes at rest are as long as can be and give way to anything at once."""
    monkeypatch.setattr(module, "MAX_PASS_SECONDS", 0.0)
    monkeypatch.setattr(module, "IDLE_DELAY", 0.0)
    monkeypatch.setattr(CpuDevice, "pass_seconds", 10.0)


@BOTH
@pytest.mark.parametrize("samples", [1, 2, 17])
def test_it_converges_to_the_picture_of_render(window: Window, samples: int) -> None:
    loaded_scene = loaded_scene_of(balls())
    request = request_of(loaded_scene, samples=samples)
    window.worker.show(request)
    frame = window.finish(request)
    assert_rendered(frame, samples)
    camera = first_camera(loaded_scene.scene, SIZE)
    film = raytracer.render(loaded_scene.scene, camera=camera, backend="cpu", samples=samples).film
    held = window.worker._film.film
    assert held is not None
    assert held.to_host().sums.tobytes() == film.sums.tobytes()
    sizes = [shown.size for shown in window.shown]
    counts = [shown.samples for shown in window.shown if shown.size == SIZE]
    drafts = [shown for shown in window.shown if shown.draft]
    assert drafts == window.shown[: len(drafts)]
    assert all(shown.samples == 1 and not shown.finished for shown in drafts)
    least = min(MIN_IDLE_SAMPLES, samples)
    assert all(shown.samples >= least for shown in window.shown[len(drafts) :])
    assert sizes == sorted(sizes), "finer and finer"
    assert counts == sorted(counts), "more and more samples"
    assert sum(shown.finished for shown in window.shown) == 1


@BOTH
@pytest.mark.parametrize("pause", [0.0, 0.003, 0.03])
@pytest.mark.usefixtures("impatient")
def test_after_many_interruptions_it_is_the_same_picture(window: Window, pause: float) -> None:
    """Requests of other views, tones and sizes; picks; frames that are not taken."""
    loaded_scene = loaded_scene_of(balls())
    chance = random.Random(7)
    for step in range(40):
        size = (SIZE, (48, 64), (33, 17))[chance.randrange(3)]
        tone = ToneSettings(exposure=chance.choice((0.0, 1.0)))
        request = request_of(loaded_scene, step, samples=64, tone=tone, size=size)
        window.worker.show(request)
        if chance.random() < 0.3:
            window.worker.show(
                request_of(loaded_scene, step, tone=ToneSettings(tone="aces"), size=size)
            )
        if chance.random() < 0.3:
            window.worker.run_task(picking(request))
        if chance.random() < 0.7:
            window.look()
        sleep(pause * chance.random())
    last = request_of(loaded_scene, samples=9)
    window.worker.show(last)
    assert_rendered(window.finish(last), 9)


def test_states_leave_the_device_to_a_simulation_and_views_do_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made, times = Window(False), dict[float, float]()
    made.worker._share = 0.1
    add = ProgressiveFilm.add

    def timed(film: ProgressiveFilm, request: RenderRequest, *rest: Any, **more: Any) -> float:
        times.setdefault(id(request), perf_counter())
        add(film, request, *rest, **more)
        return 0.05

    monkeypatch.setattr(ProgressiveFilm, "add", timed)
    loaded_scene = loaded_scene_of(balls())
    states = [
        replace(loaded_scene, content=replace(loaded_scene.content, frame=k)) for k in range(3)
    ]
    shown = [
        replace(request_of(loaded_scene, 0.3 * k, samples=1), loaded_scene=states[frame])
        for k, frame in enumerate((0, 0, 1, 1, 2))
    ]
    for k, request in enumerate(shown):
        made.worker.show(request)
        if k != 2:  # which the next one, of the same state, replaces
            wait_for(partial(times.get, id(request)), "its pass")
    made.worker.stop(PATIENCE)
    first, turned, moved, last = (times[id(shown[k])] for k in (0, 1, 3, 4))
    assert max(turned - first, moved - turned) < 0.45 <= last - moved


def test_a_new_stage_closes_the_ones_before(window: Window) -> None:
    """Also one that was replaced before anything of it was rendered."""
    loaded_scenes = [gated(balls(seed=seed)) for seed in range(4)]
    (a, gate), (b, _), (c, _), (d, _) = loaded_scenes
    gate.open.clear()
    window.worker.show(request_of(a))
    assert gate.entered.wait(PATIENCE)
    window.worker.show(request_of(b))
    window.worker.show(request_of(c))
    gate.open.set()
    request = request_of(d)
    window.worker.show(request)
    assert_rendered(window.finish(request))
    assert [loaded_scene.closed for loaded_scene, _ in loaded_scenes] == [True, True, True, False]


# Ending


@pytest.mark.parametrize("moving", [True, False])
def test_stop_leaves_a_pass(moving: bool) -> None:
    """While a frame is rendered that nothing else interrupts, and at rest."""
    window = Window()
    loaded_scene, gate = gated(balls())
    if moving:
        gate.open.clear()
        window.worker.show(request_of(loaded_scene))
        assert gate.entered.wait(PATIENCE)
    else:
        window.worker.show(request_of(loaded_scene, samples=100_000))
        wait_for(lambda: (f := window.look()) and f.size == SIZE, "full size")
        gate.entered.clear()
        gate.open.clear()
        assert gate.entered.wait(PATIENCE)
    window.worker.stop(PATIENCE)
    assert window.worker_failed()
    assert gate.left == 1
    assert window.worker.messages.empty(), "nothing failed"


@pytest.mark.parametrize(
    "error", [BackendError("the GPU is lost"), RuntimeError("a defect"), MemoryError()]
)
def test_a_backend_that_fails_ends_with_a_message(error: Exception) -> None:
    window = Window()
    loaded_scene, gate = gated(balls())
    request = request_of(loaded_scene)
    window.worker.show(request)
    window.finish(request)
    gate.error = error
    window.worker.show(request_of(loaded_scene, 1.0))
    assert window.receive(FailureReport).error is error
    window.worker.stop(PATIENCE)
    assert window.worker_failed()


# Pictures


@BOTH
def test_few_pictures_are_in_circulation(window: Window) -> None:
    """One on the screen, one taken, one ready, one being painted: never more, none is lost."""
    loaded_scene, gate = gated(balls())
    for step in range(60):
        window.worker.show(request_of(loaded_scene, 0.1 * step))
        if step % 3:
            wait_for(window.look, "a frame")
    request = request_of(loaded_scene)
    window.worker.show(request)
    window.finish(request)
    assert gate.pictures <= 4
    assert len(window.worker._free_pictures) == gate.pictures - 1


def test_noise_is_removed_at_rest_alone(window: Window, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once, of the finished film; another exposure takes the same light."""
    from raytracer.film import denoise

    asked: list[Any] = []

    def filtered(color: Any, guides: Any, **_: Any) -> Any:
        asked.append(guides)
        return color * np.float32(0) + np.float32(0.5)

    monkeypatch.setattr(denoise, "filter_color", filtered)
    monkeypatch.setattr(denoise, "require_denoiser", lambda: None)
    loaded_scene = loaded_scene_of(balls(), denoise=True)
    request = request_of(loaded_scene, samples=5)
    window.worker.show(request)
    frame = window.finish(request)
    assert np.ptp(frame.picture.pixels[..., :3]) <= 1
    assert len(asked) == 1
    assert asked[0][0].shape == (SIZE[1], SIZE[0], 3)
    brighter = replace(request, tone=ToneSettings(exposure=1.0))
    window.worker.show(brighter)
    assert window.finish(brighter).picture.pixels[..., 0].min() > 250
    assert len(asked) == 1
    settings = replace(brighter.job.settings, denoise=False)
    noisy = replace(brighter, job=replace(brighter.job, settings=settings))
    window.worker.show(noisy)
    assert np.ptp(window.finish(noisy).picture.pixels[..., :3]) > 1, "as rendered, when asked"
    assert len(asked) == 1


def saving_of(loaded_scene: LoadedScene, path: Path, samples: int = 6) -> SaveJob:
    return SaveJob(request_of(loaded_scene, samples=samples, size=(90, 50)), path)


def assert_saved(path: Path, scene: raytracer.Scene, samples: int = 6) -> None:
    camera = first_camera(scene, (90, 50))
    image = raytracer.render(
        scene, camera=camera, backend="cpu", width=90, height=50, samples=samples
    )
    np.testing.assert_array_equal(np.array(Pictures.open(path)), image.to_uint8())


def test_a_picture_is_saved_before_the_next_ones(window: Window, tmp_path: Path) -> None:
    """It is not what moves meanwhile, and the window's picture is right in the end."""
    (a, gate), (b, _) = gated(balls()), gated(balls(seed=1))
    gate.open.clear()
    window.worker.show(request_of(a))
    assert gate.entered.wait(PATIENCE)
    window.worker.save(saving_of(a, tmp_path / "kept.png"))
    last = request_of(b)
    window.worker.show(last)
    gate.open.set()
    assert window.receive(SaveReport) == SaveReport(tmp_path / "kept.png")
    assert window.worker.save_job is None
    assert_saved(tmp_path / "kept.png", a.scene)
    if not any(shown.finished and shown.request is last for shown in window.shown):
        window.finish(last)
    assert_rendered(window.shown[-1])
    window.worker.save(saving_of(a, tmp_path / "late.png"))
    assert "the scene was reloaded" in window.receive(RefusalReport).sentence


def test_a_picture_that_is_cancelled_is_not_saved(window: Window, tmp_path: Path) -> None:
    loaded_scene = loaded_scene_of(balls())
    request = request_of(loaded_scene)
    window.worker.save(saving_of(loaded_scene, tmp_path / "kept.png", samples=100_000))
    window.worker.show(request)
    assert window.worker.save(None)
    window.finish(request)
    assert not list(tmp_path.iterdir())


@pytest.fixture
def slow_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every pass at rest is of one sample, and counts as one that takes long."""
    monkeypatch.setattr(module, "MAX_PASS_SECONDS", 0.0)
    monkeypatch.setattr(module, "IDLE_DELAY", 0.0)
    monkeypatch.setattr(CpuDevice, "pass_seconds", 0.0)


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


@pytest.mark.usefixtures("slow_machine")
def test_a_pick_keeps_the_samples(window: Window) -> None:
    loaded_scene, gate, samples = held_up(window)
    for _ in range(3):
        window.worker.run_task(lambda: window.worker.post(PickReport(loaded_scene, None)))
        assert window.receive(PickReport) == PickReport(loaded_scene, None)
    count = len(gate.passes)
    gate.open.set()
    wait_for(lambda: len(gate.passes) > count, "a pass after it")
    assert min(first for first, _ in gate.passes[count - 3 :]) == samples
    request = window.shown[-1].request
    assert_rendered(window.finish(request), 40)
