"""Arrays on a GPU that shows them: its memory is that of the host here, and its scene the CPU's."""

from functools import partial
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer.in_situ import live_view, sinks
from raytracer.in_situ.sinks import InlineRunner
from raytracer.system.device_array import DeviceArray
from raytracer.viewer.panel import describe_state
from raytracer.viewer.session import Session
from support.device_arrays import ByDlpack, ByInterface, taking_updates, with_host_memory
from support.live import SETTINGS, feed_of, grid
from support.previews import finished, opened, wait_for


class Gpu:
    """A GPU that is the host."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.driver = with_host_memory(monkeypatch)
        self.updates = taking_updates(monkeypatch)
        monkeypatch.setattr(live_view, "_find_gpu", lambda *_: 0)
        monkeypatch.setattr(live_view, "ProcessRunner", lambda *_: InlineRunner(0))

    @property
    def copies(self) -> int:
        """Copies to the host so far, without those of the updates."""
        arrays = [array for each in self.updates for array in vars(each).values()]
        own = sum(isinstance(array, DeviceArray) for array in arrays)
        return [call[0] for call in self.driver.calls].count("cuMemcpyDtoH_v2") - own


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Gpu:
    monkeypatch.setattr(sinks, "INTERVAL", 0.0)
    monkeypatch.setattr(sinks, "SHARE", 1.0)
    return Gpu(monkeypatch)


def shown(session: Session, number: int) -> Any:
    """The pixels of the finished picture of a state."""
    return finished(session, lambda loaded: loaded.content.frame == number).pixels


def followed(view: raytracer.LiveView, **settings: Any) -> Session:
    """A session that shows the first state."""
    session = opened(feed_of(view), **settings)
    finished(session)
    return session


@pytest.mark.parametrize("kind", [ByInterface, ByDlpack])
def test_arrays_stay_on_the_gpu_until_something_asks(gpu: Gpu, kind: Any) -> None:
    rng = np.random.default_rng(5)
    radii, colors = rng.uniform(0.2, 0.6, 9), rng.integers(0, 255, (9, 3), np.uint8)
    with raytracer.live(**SETTINGS) as view, raytracer.live(**SETTINGS) as other:

        def log(shift: float) -> None:
            memory = grid(9, shift).astype(np.float32)
            other.log_points("points", memory, radii=radii, colors=colors)
            view.log_points("points", kind(memory), radii=kind(radii), colors=kind(colors))
            memory[:] = np.nan  # the simulation goes on

        log(0.0)
        with followed(view) as session, followed(other) as host:
            before = gpu.copies
            for number in (1, 2, 3, 4):
                log(0.5 * number)
                assert (shown(session, number) == shown(host, number)).all()
            assert sum(isinstance(each.positions, DeviceArray) for each in gpu.updates) == 4
            assert gpu.copies == before
            assert len(gpu.driver.memories) <= blocks_of(view)
            loaded = session.loaded_scene
            assert loaded.find_sphere(0)[0] is not None
            assert gpu.copies > before
            np.testing.assert_array_equal(loaded.scene.spheres[0].centers, grid(9, 2.0))
            np.testing.assert_array_equal(loaded.scene.spheres[0].radius, radii)
            np.testing.assert_array_equal(loaded.scene.spheres[0].color, colors)


def blocks_of(view: raytracer.LiveView) -> int:
    """Blocks of a set that may be in use: published, taken, shown, and one that is written."""
    return 5 * len(view._sinks)


def test_values_of_a_column_are_colored_on_the_gpu(gpu: Gpu) -> None:
    style: dict[str, Any] = {"color_by": "speed", "range": (0.0, 9.0)}
    with raytracer.live(**style, **SETTINGS) as view, raytracer.live(**style, **SETTINGS) as other:

        def log(step: int) -> None:
            memory, speed = grid(9, 0.1 * step), np.arange(9.0) * step
            other.log_points("points", memory, radii=0.5, columns={"speed": speed})
            columns = {"speed": ByInterface(speed)}
            view.log_points("points", ByDlpack(memory), radii=0.5, columns=columns)

        log(0)
        with followed(view, **style) as session, followed(other, **style) as host:
            log(1)  # packed with a colour for each sphere
            for each in (session, host):
                shown(each, 1)
            before = gpu.copies
            for step in (2, 3, 4):
                log(step)
                assert (shown(session, step) == shown(host, step)).all()
            assert gpu.copies == before
            assert sum(each.color_map is not None for each in gpu.updates) == 3
            session.do("select", "speed > 10")  # needs them on the host
            host.do("select", "speed > 10")
            for each in (session, host):
                wait_for(partial(has_selected, each, 6), "the selection")
            assert gpu.copies > before


def has_selected(session: Session, count: int) -> bool:
    session.picture(1.0)
    return bool(describe_state(session)["selection"]["count"] == count)


def test_a_stream_copies_and_waits_for_nobody(gpu: Gpu) -> None:
    with raytracer.live(**SETTINGS) as view:
        positions = ByDlpack(grid(9))
        view.log_points("points", positions, radii=0.5, stream=77)
        assert positions.streams[-1] == 77
        names = "cuMemcpyDtoDAsync_v2", "cuEventRecordWithFlags", "cuStreamWaitEvent"
        calls = [call for call in gpu.driver.calls if call[0] in names]
        assert [call[0] for call in calls] == list(names[:2])
        assert calls[0][1] == calls[1][2] == 77
        waits = "cuEventSynchronize", "cuStreamWaitEvent"
        assert not [call for call in gpu.driver.calls if call[0] in waits]
        feed_of(view).load(0)  # who reads it waits
        assert {call[0] for call in gpu.driver.calls if call[0] in waits} == {waits[0]}
        with pytest.raises(raytracer.UserError, match="stream: 'x' is not a CUDA stream"):
            view.log_points("points", grid(9), stream="x")
