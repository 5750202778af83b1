"""Sentences for what CUDA says, memory that does not suffice, layouts that differ, the probe."""

import pytest

from raytracer.backends.cuda.check import check_layout, check_memory, explain
from raytracer.errors import BackendError, MemoryNeedError

TABLE = {
    "Camera": (64, [("origin", "f4", 3, 0), ("kind", "i4", 1, 12)]),
    "Light": (32, [("vector", "f4", 3, 0), ("color", "f4", 3, 16)]),
}


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("cuEventSynchronize failed: the launch timed out and was terminated", "display"),
        ("cuEventSynchronize failed: an illegal memory access was encountered", "restart"),
        ("cuModuleLoadDataEx failed: no kernel image is available", "another GPU"),
        ("cuInit failed: something new", "something new"),
        ("cuMemAlloc failed: out of memory", "--backend cpu"),
    ],
)
def test_driver_errors_become_sentences(said: str, words: str) -> None:
    error = explain(said)
    assert type(error) is (MemoryNeedError if "of memory" in said else BackendError)
    assert words in str(error)
    assert said.partition(": ")[2] in str(error)


def test_too_large_a_scene_is_told_what_would_fit() -> None:
    parts = {"nodes": 3 << 30, "spheres": 1 << 30}
    with pytest.raises(MemoryNeedError, match=r"4\.0 GiB.*nodes: 3\.0 GiB.*about 50 of its 100"):
        check_memory(parts, free=2 << 30, spheres=100)


def test_a_layout_that_differs_is_refused() -> None:
    right = [64, 0, 12, 32, 0, 16]
    check_layout(right, TABLE, "kernel.cu")
    for wrong in ([64, 0, 16, 32, 0, 16], [64, 0, 12, 48, 0, 16], right[:-1], [*right, 8]):
        with pytest.raises(BackendError, match=r"kernel.cu and .* lay out structs differently"):
            check_layout(wrong, TABLE, "kernel.cu")
