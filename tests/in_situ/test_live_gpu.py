"""Views of a simulation on CUDA."""

import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer.in_situ.sinks import InlineRunner, ViewSink
from raytracer.system.device_array import DeviceArray
from raytracer.viewer.panel import describe_state
from raytracer.viewer.session import Session
from support.live import SETTINGS, Simulation, grid
from support.previews import PATIENCE, finished, opened, pixels_of, wait_for

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("cuda")]

ON_GPU = SETTINGS | {"backend": "cuda"}


def test_a_session_follows_on_a_gpu() -> None:
    simulation = Simulation()
    simulation.log(grid(3))
    with opened(simulation.feed, backend="cuda") as session:
        for count in (4, 5, 50):
            simulation.log(grid(count))
            finished(session, lambda loaded: loaded.scene.count == count)  # noqa: B023


def test_a_page_and_a_movie_share_the_gpu_and_end(tmp_path: Path) -> None:
    pytest.importorskip("aiohttp", reason="the extra serve is missing")
    path = tmp_path / "#.png"
    with raytracer.live(open="page", record=path, say=lambda _: None, **ON_GPU) as view:
        assert all(each.runner.gpu == 0 for each in view._sinks)
        for step in range(3):
            view.log_points("points", grid(3, shift=0.2 * step), radii=0.5)
            image = view.image()
        with urllib.request.urlopen(view.address, timeout=PATIENCE) as answer:
            assert b"simulation - raytracer" in answer.read()
        sinks = list(view._sinks)
    assert all(each.runner.has_ended() for each in sinks)
    assert len(list(tmp_path.iterdir())) == 3
    np.testing.assert_array_equal(pixels_of(tmp_path / "2.png"), image.to_uint8())


def logging(**settings: Any) -> tuple[raytracer.LiveView, InlineRunner]:
    """A view without a window, and what a session shows."""
    view = raytracer.live(open=None, **ON_GPU, **settings)
    runner = InlineRunner(view._gpu)
    view._open(ViewSink(runner, view._logged))
    return view, runner


def pixels(session: Session, number: int) -> Any:
    """The pixels of the finished picture of a state."""
    return finished(session, lambda loaded: loaded.content.frame == number).pixels


@pytest.mark.parametrize("style", [{}, {"color_by": "speed", "range": (0.0, 4.0)}])
def test_arrays_on_the_gpu_have_the_pictures_of_those_on_the_host(
    style: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from raytracer.backends.cuda.transfer import upload

    rng = np.random.default_rng(4)
    radii, colors = rng.uniform(0.2, 0.6, 500), rng.integers(0, 255, (500, 3), np.uint8)
    copies = list[tuple[int, ...]]()
    to_host = DeviceArray.to_host

    def counted(array: DeviceArray) -> Any:
        copies.append(array.shape)
        return to_host(array)

    monkeypatch.setattr(DeviceArray, "to_host", counted)
    (view, there), (other, here) = logging(**style), logging(**style)

    def log(step: int) -> None:
        positions = np.random.default_rng(step).normal(size=(500, 3)).astype(np.float32)
        speed = np.linspace(0.0, 1.0 + step, 500)
        other.log_points(
            "points", positions, radii=radii, colors=None if style else colors,
            columns={"speed": speed},
        )  # fmt: skip
        view.log_points(
            "points", upload(0, positions), radii=upload(0, radii),
            colors=None if style else upload(0, colors), columns={"speed": upload(0, speed)},
        )  # fmt: skip
        for each in (view, other):
            each.flush()

    log(0)
    with (
        view, other,
        opened(there.feed, backend="cuda", **style) as session,
        opened(here.feed, backend="cuda", **style) as host,
    ):  # fmt: skip
        for each in (session, host):
            finished(each)
        log(1)  # colours by data are packed anew once
        assert (pixels(session, 1) == pixels(host, 1)).all()
        memory, before = session.loaded_scene.job.scene, len(copies)
        for step in range(2, 6):
            log(step)
            assert (pixels(session, step) == pixels(host, step)).all()
        assert session.loaded_scene.job.scene is memory
        assert len(copies) == before
        x = session.loaded_scene.packed.placed[0]  # as a click does
        np.testing.assert_array_equal(x, host.loaded_scene.packed.placed[0])
        assert len(copies) > before


def test_a_state_of_the_gpu_that_cannot_be_shown_is_said() -> None:
    from raytracer.backends.cuda.transfer import upload

    view, runner = logging()
    positions = grid(5).astype(np.float32)
    view.log_points("points", upload(0, positions), radii=0.5)
    with view, opened(runner.feed, backend="cuda") as session:
        finished(session)
        positions[3] = np.nan
        view.log_points("points", upload(0, positions), radii=0.5)
        view.flush()
        wait_for(lambda: session.picture() or describe_state(session)["notice"], "the notice")
        positions[3] = 1.0
        view.log_points("points", upload(0, positions), radii=0.5)
        view.flush()
        finished(session)
        assert session.failure is None


def test_a_movie_of_arrays_on_the_gpu_is_that_of_arrays_on_the_host(tmp_path: Path) -> None:
    from raytracer.backends.cuda.transfer import upload

    pictures = {}
    for name, place in (("there", lambda array: upload(0, array)), ("here", lambda array: array)):
        (tmp_path / name).mkdir()
        with raytracer.live(open=None, record=tmp_path / name / "#.png", **ON_GPU) as view:
            for step in range(4):
                view.log_points("points", place(grid(7, shift=0.2 * step)), radii=0.5)
        pictures[name] = [pixels_of(p) for p in sorted((tmp_path / name).iterdir())]
    assert len(pictures["here"]) == 4
    for one, other in zip(pictures["here"], pictures["there"], strict=True):
        np.testing.assert_array_equal(one, other)


def test_arrays_of_pytorch_on_a_stream_of_its_own() -> None:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("this PyTorch has no CUDA")
    view, runner = logging()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        positions = torch.as_tensor(grid(1000), device="cuda", dtype=torch.float32)
        view.log_points("points", positions, radii=0.5, stream=stream)
    with view, opened(runner.feed, backend="cuda") as session:
        finished(session)
        with torch.cuda.stream(stream):
            for step in range(1, 30):
                positions += 0.1
                view.log_points("points", positions, radii=0.5, stream=stream)
                if step < 29:
                    positions.mul_(1.0)  # is queued behind the copy
        view.flush()
        stream.synchronize()
        expected = positions.cpu().numpy()

        def is_last() -> bool:
            session.picture(PATIENCE)
            return bool((session.loaded_scene.scene.spheres[0].centers == expected).all())

        wait_for(is_last, "the last state")
