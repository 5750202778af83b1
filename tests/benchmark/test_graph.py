"""CUDA graphs over a stand-in for the driver's library: what is asked, and in which order."""

from __future__ import annotations

from typing import Any

import pytest

from raytracer.benchmark.cuda.graph import Graph
from raytracer.errors import BackendError


class Library:
    """Notes the calls; the one named `failing` gives an error."""

    def __init__(self, failing: str = "") -> None:
        self.failing = failing
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:
        def call(*arguments: Any) -> int:
            self.calls.append(name)
            if name in ("cuStreamEndCapture", "cuGraphInstantiateWithFlags"):
                made = arguments[1] if name == "cuStreamEndCapture" else arguments[0]
                made._obj.value = len(self.calls)
            return int(name == self.failing)

        return call


def test_work_is_recorded_once_and_replayed() -> None:
    library, done = Library(), []
    with Graph(7, lambda: done.append(library.calls[-1]), library) as graph:
        graph.launch()
        graph.launch()
    assert done == ["cuStreamBeginCapture_v2"]
    assert library.calls == [
        "cuStreamBeginCapture_v2",
        "cuStreamEndCapture",
        "cuGraphInstantiateWithFlags",
        "cuGraphLaunch",
        "cuGraphLaunch",
        "cuGraphExecDestroy",
        "cuGraphDestroy",
    ]


def test_recording_ends_when_the_work_fails() -> None:
    library = Library()
    with pytest.raises(ZeroDivisionError):
        Graph(7, lambda: 1 // 0, library)
    assert library.calls == ["cuStreamBeginCapture_v2", "cuStreamEndCapture"]


@pytest.mark.parametrize("failing", ["cuStreamEndCapture", "cuGraphInstantiateWithFlags"])
def test_what_cannot_be_recorded_is_said(failing: str) -> None:
    library = Library(failing)
    with pytest.raises(BackendError, match=r"error 1"):
        Graph(7, lambda: None, library)
    if failing == "cuGraphInstantiateWithFlags":
        assert library.calls[-1] == "cuGraphDestroy"
