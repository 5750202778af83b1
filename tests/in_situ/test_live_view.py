"""`raytracer.live`: views and movies of a simulation, and how they end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from threading import Timer
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer.config.errors import BackendError
from raytracer.film import formats
from raytracer.in_situ import feed, live_view, memory, sinks
from raytracer.in_situ.sinks import InlineRunner, MovieSink, ProcessRunner
from raytracer.in_situ.state_channel import MAX_BLOCKS
from support.device_arrays import ByInterface, with_host_memory
from support.live import SETTINGS, feed_of, grid, runs, script, size_of
from support.movies import decoded
from support.previews import pixels_of, wait_for

pytest.importorskip("aiohttp", reason="the extra serve is missing")
pytest.importorskip("av", reason="the extra video is missing")

HEAD = """
import numpy as np
import raytracer

view = raytracer.live(open="page", backend="cpu", threads=1, width=64, height=48)
view.log_points("points", np.zeros((1, 3)), radii=1.0)
print(view._sinks[0].runner._process.pid, flush=True)
"""
"""A simulation that tells the number of the process of its page."""


def quiet(_: str) -> None:
    """Print nothing."""


@pytest.fixture
def page() -> Iterator[raytracer.LiveView]:
    with raytracer.live(open="page", say=quiet, **SETTINGS) as view:
        yield view


class Clock:
    """The time, which passes when a test says so."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of a view in this process: another one that reads would put off publications."""
    made = Clock()
    monkeypatch.setattr(sinks, "perf_counter", made)
    monkeypatch.setattr(live_view, "ProcessRunner", lambda *_: InlineRunner(None))
    return made


def fetched(address: str) -> str:
    """The page at an address."""
    with urllib.request.urlopen(address, timeout=60.0) as answer:
        return str(answer.read().decode())


def test_a_page_is_served_from_the_first_state_until_the_end(page: raytracer.LiveView) -> None:
    """Logging does not wait for it."""
    for step in range(1000):
        page.log_points("points", grid(5 + step % 7), radii=0.5, colors=np.ones((5 + step % 7, 3)))
    assert size_of(page._sinks[0].writer) < 100_000
    assert "<title>simulation - raytracer</title>" in fetched(page.address)
    assert not page.closed
    page.close()
    with pytest.raises(urllib.error.URLError):
        fetched(page.address)
    assert page.closed
    page.close()
    page.log_points("points", grid(5))  # nothing happens


@pytest.mark.slow
def test_an_exception_in_the_simulation_leaves_no_process(tmp_path: Path) -> None:
    with script(HEAD + "raise RuntimeError('unstable')\n", tmp_path) as process:
        output, errors = process.communicate(timeout=60.0)
    assert "RuntimeError: unstable" in errors
    pid = int(output.splitlines()[-1])
    wait_for(lambda: not runs(pid), "the end of the process")


def test_the_death_of_the_simulation_ends_the_view(tmp_path: Path) -> None:
    with script(HEAD + "import time; time.sleep(600)\n", tmp_path) as process:
        assert process.stdout is not None
        for _ in range(2):
            process.stdout.readline()
        pid = int(process.stdout.readline())
        process.kill()
        process.communicate(timeout=60.0)
    wait_for(lambda: not runs(pid), "the end of the process")


def test_a_simulation_goes_on_when_its_view_dies() -> None:
    view = raytracer.live(open="page", say=quiet, **SETTINGS)
    view.log_points("points", grid(3))
    runner = view._sinks[0].runner
    assert isinstance(runner, ProcessRunner)
    os.kill(runner._process.pid, signal.SIGKILL)
    runner.wait()
    with pytest.warns(raytracer.RaytracerWarning, match=r"the view ended \(signal 9\)"):
        wait_for(lambda: view.closed, "the end of the view")
    view.log_points("points", grid(3))
    view.close()


def test_a_flush_waits_for_a_view_that_stands_still(
    page: raytracer.LiveView, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sinks, "INTERVAL", 0.0)
    monkeypatch.setattr(sinks, "SHARE", 1.0)
    (sink,), runner = page._sinks, page._sinks[0].runner
    assert isinstance(runner, ProcessRunner)
    page.log_points("points", grid(3))
    os.kill(runner._process.pid, signal.SIGSTOP)
    os.waitid(os.P_PID, runner._process.pid, os.WSTOPPED | os.WNOWAIT)  # it may run on for a while
    for step in range(2 * MAX_BLOCKS):
        page.log_points("points", grid(3, shift=step))
    assert sink._sent.get("points") is not page._logged["points"], "all memory is in use"
    goes_on = Timer(0.3, os.kill, (runner._process.pid, signal.SIGCONT))
    goes_on.start()
    page.flush()
    goes_on.join()
    assert sink._sent["points"] is page._logged["points"]


@pytest.mark.parametrize(("every", "frames"), [(1, 7), (3, 3)])
def test_a_movie_has_the_frames_that_were_asked_for(
    every: int, frames: int, tmp_path: Path
) -> None:
    path = tmp_path / "run.mp4"
    with raytracer.live(open=None, record=path, every=every, **SETTINGS) as view:
        for step in range(7):
            view.log_points("points", grid(3, shift=0.2 * step), radii=0.5)
            view.log_points("more", grid(2, shift=5.0), radii=0.5)
    movie = decoded(path)
    assert len(movie) == frames
    assert all((one != two).any() for one, two in pairwise(movie))


def test_recorded_pictures_are_those_of_render(tmp_path: Path) -> None:
    path, rng = tmp_path / "frames" / "##.png", np.random.default_rng(2)
    path.parent.mkdir()
    radii, colors = rng.uniform(0.2, 0.6, 20), rng.integers(0, 255, (20, 3), np.uint8)
    states = [rng.normal(size=(20, 3)) for _ in range(3)]
    with raytracer.live(open=None, record=path, look="soft", view="front", **SETTINGS) as view:
        for positions in states:
            view.log_points("points", positions, radii=radii, colors=colors)
            last = view.image()
    written = sorted(each.name for each in path.parent.iterdir())
    assert written == ["00.png", "01.png", "02.png"]
    scene = raytracer.Scene.from_arrays(states[0], radii, colors)
    scene.render, scene.background = scene_settings()
    expected = raytracer.render(scene, look="soft", view="front", **SETTINGS)
    assert (pixels_of(path.with_name("00.png")) == expected.to_uint8()).all()
    assert (pixels_of(path.with_name("02.png")) == last.to_uint8()).all()


def scene_settings() -> tuple[Any, Any]:
    """Settings and background of particles that come without a scene."""
    return raytracer.RenderSettings.of_particles(), raytracer.Background.of_particles()


def test_a_movie_that_cannot_be_written_is_said_at_the_end(tmp_path: Path) -> None:
    folder = tmp_path / "frames"
    folder.mkdir()
    view = raytracer.live(open=None, record=folder / "#.png", **SETTINGS)
    folder.rmdir()
    for _ in range(2):  # the first state is written when the second step begins
        view.log_points("points", grid(3))
    view._sinks[0].runner.wait()
    with pytest.warns(raytracer.RaytracerWarning, match="there is no folder"):
        view.log_points("points", grid(3))
    with pytest.raises(raytracer.UserError, match="there is no folder"):
        view.close()


def test_a_movie_ends_before_a_state_that_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "run.mp4"
    view = raytracer.live(open=None, record=path, **SETTINGS)
    for step in range(3):
        view.log_points("points", grid(3, shift=0.2 * step), radii=0.5)
    view.log_points("points", np.full((3, 3), np.nan), radii=0.5)
    words = r"run.mp4: ends after 3 frames: log_points 'points': .* must be finite"
    with pytest.raises(raytracer.UserError, match=words) as caught:
        view.close()
    assert "\n" not in str(caught.value)
    assert len(decoded(path)) == 3
    assert list(tmp_path.iterdir()) == [path]


def test_a_movie_that_fails_does_not_replace_an_exception(tmp_path: Path) -> None:
    with (
        pytest.warns(raytracer.RaytracerWarning, match="not written, because there are no frames"),
        pytest.raises(ZeroDivisionError),
        raytracer.live(open=None, record=tmp_path / "run.mp4", **SETTINGS),
    ):
        raise ZeroDivisionError


def test_image_shows_what_was_logged_last_with_the_first_camera() -> None:
    with raytracer.live(open=None, **SETTINGS) as view:
        with pytest.raises(raytracer.UserError, match="nothing was logged yet"):
            view.image()
        view.log_points("points", grid(3), radii=0.5)
        first = view.image()
        view.log_points("points", grid(1), radii=0.5)
        second = view.image()
        view.log_points("points", grid(3), radii=0.5)
        again = view.image()
    assert first.metadata["camera"] == second.metadata["camera"]
    assert (first.to_uint8() != second.to_uint8()).any()
    assert (first.to_uint8() == again.to_uint8()).all()


def test_images_of_an_array_that_changes_in_place_are_of_its_states() -> None:
    positions, memories, pictures = grid(3), set(), []
    with raytracer.live(open=None, color_by="speed", **SETTINGS) as view:
        view.log_box((3, 3, 3))
        for step in range(4):
            positions[:, 1] = 0.3 * step
            speed = np.arange(3.0) * (step + 1)
            view.log_points("points", positions, radii=0.5, columns={"speed": speed})
            pictures.append(view.image().to_uint8())
            assert view._pictures is not None
            assert view._pictures._renderer is not None
            memories.add(view._pictures._renderer._job.scene)  # type: ignore[union-attr]
    assert len(memories) == 1
    assert all((one != other).any() for one, other in pairwise(pictures))


def test_points_with_colors_and_without_the_column_keep_their_colors() -> None:
    speed = {"speed": np.arange(3.0)}
    with raytracer.live(open=None, color_by="speed", map=["red", "blue"], **SETTINGS) as view:
        view.log_points("grains", grid(3), radii=0.5, columns=speed)
        view.log_points("walls", grid(2, shift=5.0), radii=0.5, colors="#00ff00")
        picture = view.image().to_uint8().astype(int)
    red, green, blue = picture[..., 0], picture[..., 1], picture[..., 2]
    assert (green > red + 50).any()  # walls
    assert (red > green + 50).any()  # the slowest grain
    assert (blue > green + 50).any()
    with raytracer.live(open=None, color_by="sped", **SETTINGS) as view:
        view.log_points("grains", grid(3), radii=0.5, columns=speed, colors="red")
        with pytest.raises(raytracer.UserError, match="no column 'sped'; did you mean 'speed'"):
            view.image()


def test_time_and_box_are_those_of_the_state() -> None:
    with raytracer.live(open=None, **SETTINGS) as view:
        view.set_time(2.5)
        view.log_box((4, 5, 6), origin=(-1, 0, 1))
        view.log_points("points", grid(3), radii=0.1)
        assert view._about["time"].value == 2.5
        box = view._about["box"]
        assert box.origin == (-1.0, 0.0, 1.0)
        assert box.edges == ((4.0, 0.0, 0.0), (0.0, 5.0, 0.0), (0.0, 0.0, 6.0))
        boxed = view.image()
    with raytracer.live(open=None, **SETTINGS) as view:
        view.log_points("points", grid(3), radii=0.1)
        assert (view.image().to_uint8() != boxed.to_uint8()).any()


@pytest.mark.parametrize(
    ("text", "shown"), [("{time}", "2.5"), ("{time:.2f} s", "2.50 s"), ("t = {time:g}", "t = 2.5")]
)
def test_the_time_of_a_state_is_drawn(text: str, shown: str) -> None:
    """Also the next one, in pictures and in scenes."""

    def pictures(*texts: str) -> list[Any]:
        images = []
        for line, time in zip(texts, (7.0, 2.5), strict=True):
            drawn = {"texts": [raytracer.TextLabel(line)]}
            with raytracer.live(open=None, annotations=drawn, **SETTINGS) as view:
                view.set_time(7.0)
                view.log_points("points", grid(3), radii=0.1)
                view.image()
                view.set_time(time)
                view.log_points("points", grid(3), radii=0.1)
                images.append(view.image().to_uint8())
        return images

    first, named = pictures(text, text)
    _, stated = pictures(text, shown)
    np.testing.assert_array_equal(named, stated)
    assert (first != named).any()


class Foreign:
    """An array of another package, which counts how often it is read."""

    def __init__(self, array: Any) -> None:
        self.array, self.shape, self.reads = np.asarray(array), np.shape(array), 0

    def __len__(self) -> int:
        return len(self.array)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        self.reads += 1
        return self.array


def test_arrays_of_other_packages_are_read_when_they_are_copied(clock: Clock) -> None:
    with raytracer.live(**SETTINGS) as view:
        view.log_points("points", Foreign(grid(3)), radii=Foreign(np.ones(3)))
        reads = []
        for seconds in (1.0, 0.001, 0.001):
            clock.now += seconds
            given = Foreign(grid(3))
            view.log_points("points", given)
            reads.append(given.reads)
        assert reads == [1, 0, 0]
        view.flush()
        assert given.reads == 1


def test_states_that_come_too_soon_are_left_out(clock: Clock) -> None:
    with raytracer.live(**SETTINGS) as view:
        writer = view._sinks[0].writer
        published: list[int] = []

        def log(name: str, seconds: float) -> int:
            clock.now += seconds
            view.log_points(name, grid(3))
            return writer.published

        published = [log("a", 1.0), log("b", 0.0)]  # in the first step each of them at once
        assert published == [1, 2]
        assert [log("a", 1.0), log("b", 0.0)] == [2, 3]  # then a step as a whole
        assert [log("a", 1.0), log("b", 0.0)] == [3, 4]
        assert [log("a", 0.002), log("b", 0.0)] == [4, 4]
        assert [log("a", 0.002), log("b", 0.0)] == [4, 4]
        view.flush()
        assert writer.published == 5
        view.flush()
        assert writer.published == 5
        assert [log("a", 0.02), log("b", 0.0)] == [5, 6]


def test_sets_of_steps_that_were_left_out_are_shown_with_the_next_step(clock: Clock) -> None:
    with raytracer.live(**SETTINGS) as view:
        for seconds in (1.0, 1.0):
            clock.now += seconds
            view.log_points("grains", grid(3), radii=0.5)
        clock.now += 0.001
        for name in ("grains", "walls"):  # too soon
            view.log_points(name, grid(2), radii=0.5)
        assert feed_of(view).load(0).count == 3
        clock.now += 1.0
        for name in ("grains", "walls"):
            view.log_points(name, grid(4), radii=0.5)
        clock.now += 0.001
        for name in ("grains", "rare", "walls"):
            view.log_points(name, grid(5), radii=0.5)
        assert feed_of(view).load(0).count == 8
        clock.now += 1.0
        for name in ("grains", "walls"):
            view.log_points(name, grid(6), radii=0.5)
        assert feed_of(view).load(0).count == 6 + 6 + 5


def test_without_memory_that_processes_share_arrays_come_to_the_host(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refuse(*_: object) -> None:
        raise BackendError("no memory for other processes")

    with_host_memory(monkeypatch)
    monkeypatch.setattr(memory.GpuMemory, "handle", refuse)
    monkeypatch.setattr(live_view, "_find_gpu", lambda *_: 0)
    positions = grid(3).astype(np.float32)
    with raytracer.live(open=None, record=tmp_path / "#.png", **SETTINGS) as view:
        assert view._sinks[0].runner.gpu is None
        view.log_points("points", ByInterface(positions), radii=0.5)
        expected = view.image().to_uint8()
    assert (pixels_of(tmp_path / "0.png") == expected).all()


def test_a_frame_has_sets_of_the_steps_without_a_frame(tmp_path: Path) -> None:
    counts = []
    with raytracer.live(open=None, record=tmp_path / "#.png", every=2, **SETTINGS) as view:
        for step in range(3):
            view.log_points("grains", grid(3), radii=0.5)
            if step == 1:
                view.log_points("walls", grid(2, shift=5.0), radii=0.5)
    for path in sorted(tmp_path.iterdir()):
        about = formats.read_metadata(path)
        assert about is not None
        counts.append(about["spheres"])
    assert counts == [3, 5]


def test_a_movie_that_is_terminated_leaves_no_file(tmp_path: Path) -> None:
    view = raytracer.live(open=None, record=tmp_path / "run.mp4", **SETTINGS)
    runner = view._sinks[0].runner
    assert isinstance(runner, ProcessRunner)
    wait_for(lambda: list(tmp_path.iterdir()), "the temporary file")
    runner.kill()
    with pytest.raises(raytracer.UserError, match=r"the view ended \(exit code 143\)"):
        view.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"open": "windows"}, "open: there is no kind of view 'windows'; did you mean 'window'"),
        ({"open": "page", "port": 0}, "port: must be at least 1, not 0"),
        ({"record": "run.avi"}, "run.avi: a movie of a simulation ends in .mp4"),
        ({"record": "missing/run.mp4"}, "missing/run.mp4: there is no folder missing"),
        ({"record": "##.exr"}, "##.exr: a movie of a simulation ends in .mp4"),
        ({"every": 0}, "every: must be at least 1, not 0"),
        ({"fps": 0.0}, "fps: must be at least 0.01"),
    ],
)
def test_wrong_arguments_are_refused_in_a_sentence(
    settings: dict[str, Any], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(raytracer.UserError) as caught:
        raytracer.live(**{"open": None} | SETTINGS | settings)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_window_without_a_display_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(raytracer.UserError, match="there is no display"):
        raytracer.live(**SETTINGS)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"name": ""}, "name: is empty"),
        ({"positions": np.ones((3, 2))}, r"give \(N, 3\), not an array of shape \(3, 2\)"),
        ({"positions": [[0, 0, np.nan]]}, "sphere 0 lies at"),
        ({"radii": [1.0, 2.0]}, r"radii: give one radius or \(1,\), not"),
        ({"radii": -1.0}, "it must be finite and positive"),
        ({"colors": [[1, 2]]}, r"colors: give one colour or \(1, 3\), not"),
        ({"colors": "no colour"}, "there is no colour named"),
        ({"columns": {"speed": [1, 2]}}, r"column 'speed': give \(1,\), not"),
        ({"edges": 3}, "edges: 3 is not three vectors"),
        ({"edges": (1, 1, 1), "origin": (0, 0)}, "origin: .* is not three numbers"),
        ({"edges": (1, 1, 0)}, "in a plane"),
    ],
)
def test_points_and_boxes_that_are_wrong_are_refused_in_a_sentence(
    arguments: dict[str, Any], words: str
) -> None:
    point: dict[str, Any] = {"name": "a", "positions": [[0.0, 0.0, 0.0]]}
    with raytracer.live(open=None, **SETTINGS) as view:
        call = view.log_box if "edges" in arguments else partial(view.log_points, **point)
        with pytest.raises(raytracer.UserError, match=words) as caught:
            call(**arguments)
    assert "\n" not in str(caught.value)


def test_a_movie_waits_for_its_frames(tmp_path: Path) -> None:
    with raytracer.live(open=None, record=tmp_path / "#.png", **SETTINGS) as view:
        movie = view._sinks[0]
        assert isinstance(movie, MovieSink)
        for step in range(4):
            view.log_points("points", grid(3))
            assert movie.writer.published == step  # published when the next step begins
    assert len(list(tmp_path.iterdir())) == 4


def test_the_first_picture_has_all_sets_of_the_first_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_view, "ProcessRunner", lambda *_: InlineRunner(None))
    more = [grid(2, shift=5.0), grid(4, shift=9.0)]

    def sleep(_: float) -> None:
        if more:
            view.log_points(f"more {len(more)}", more.pop(), radii=0.5)

    monkeypatch.setattr(feed, "sleep", sleep)
    with raytracer.live(**SETTINGS) as view:
        view.log_points("points", grid(3), radii=0.5)
        assert feed_of(view).load(0).count == 9
        monkeypatch.setattr(feed, "sleep", lambda _: pytest.fail("a later step is complete"))
        for name in ("points", "more 2", "more 1"):
            view.log_points(name, grid(2), radii=0.5)
        view.flush()
        assert feed_of(view).load(0).count == 6


def test_a_step_is_one_frame_though_it_is_shown_in_the_middle(tmp_path: Path) -> None:
    with raytracer.live(open=None, record=tmp_path / "#.png", **SETTINGS) as view:
        for step in range(3):
            view.log_points("points", grid(3, shift=step), radii=0.5)
            view.image()
            view.flush()
            view.log_points("more", grid(2, shift=step + 5.0), radii=0.5)
            last = view.image()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0.png", "1.png", "2.png"]
    assert last.metadata["spheres"] == 5


def test_a_notebook_follows_and_keeps_the_last_state() -> None:
    pytest.importorskip("anywidget", reason="the extra notebook is missing")
    with raytracer.live(open=None, **SETTINGS) as view:
        with pytest.raises(raytracer.UserError, match="nothing was logged yet"):
            view.show()
        view.log_points("points", grid(3), radii=0.5)
        view.log_points("more", grid(2, shift=9.0), radii=0.5)
        widget = view.show(height=200)
        try:
            assert widget.state()["spheres"] == 5
            view.log_points("points", grid(4), radii=0.5)
            view.log_points("more", grid(4, shift=9.0), radii=0.5)
            view.flush()

            def spheres() -> Any:
                widget._host.picture(0.1)  # somebody looks
                return widget.state()["spheres"]

            wait_for(lambda: spheres() == 8, "the second state")
            view.close()
            assert widget.state()["spheres"] == 8
            widget.do("orbit", 0.3, 0.0)
        finally:
            widget.close()


class Shell:
    """The events of a notebook, as IPython has them."""

    def __init__(self) -> None:
        self.events, self.calls = self, list[tuple[str, Any]]()

    def get_ipython(self) -> Shell:
        return self

    def register(self, event: str, call: Any) -> None:
        if (event, call) not in self.calls:
            self.calls.append((event, call))

    def unregister(self, event: str, call: Any) -> None:
        self.calls.remove((event, call))


def test_a_view_of_a_notebook_that_is_closed_is_not_fed(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("anywidget", reason="the extra notebook is missing")
    with raytracer.live(open=None, **SETTINGS) as view:
        view.log_points("points", grid(3), radii=0.5)
        shell = Shell()
        monkeypatch.setitem(sys.modules, "IPython", shell)
        widgets = [view.show(), view.show()]
        flushes = [call for _, call in shell.calls if call == view._after_cell]
        assert len(flushes) == 1
        widgets[0].close()
        assert not view.closed
        assert [sink.is_shown() for sink in view._sinks] == [False, True]
        widgets[1].close()
        assert view.closed
        view.log_points("points", grid(4), radii=0.5)  # nothing happens
    assert shell.calls == []


ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "live"
NEEDS = {"sand": "newton", "melt": "jax_md"}
"""Packages of scripts beside NumPy."""


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.py")))
def test_a_simulation_runs(name: str, tmp_path: Path) -> None:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    command = [sys.executable, str(FOLDER / f"{name}.py"), "--open", "none", "--steps", "9"]
    done = subprocess.run(
        [*command, "--record", "##.png"], cwd=tmp_path, text=True, capture_output=True,
        timeout=300.0, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    pictures = [pixels_of(path) for path in sorted(tmp_path.iterdir())]
    assert len(pictures) == 2
    assert all(picture.std() > 5.0 for picture in pictures)
    assert (pictures[0] != pictures[1]).any()


def test_every_simulation_is_on_the_page() -> None:
    text = (ROOT / "docs" / "guide" / "live_view.md").read_text(encoding="utf-8")
    for path in FOLDER.glob("*.py"):
        assert f"(../live/{path.name})" in text
