"""Sentences for what CUDA says, full memory, layouts that differ; what ptxas reports."""

import pytest

from raytracer.backends.cuda.cache import Usage, by_entry, usage
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


LOG = """ptxas info    : 0 bytes gmem, 1536 bytes cmem[3]
ptxas info    : Compiling entry function 'mass' for 'sm_90a'
ptxas info    : Function properties for mass
    4 bytes stack frame, 8 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 40 registers, used 1 barriers, 2048 bytes smem, 560 bytes cmem[0]
ptxas info    : Compiling entry function 'mass_2' for 'sm_90a'
ptxas info    : Function properties for mass_2
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 32 registers, used 0 barriers, 560 bytes cmem[0]
"""


def test_usage_of_each_entry() -> None:
    assert by_entry(LOG) == {"mass": Usage(40, 2048, 24), "mass_2": Usage(32, 0, 0)}


def test_usage_of_a_log() -> None:
    assert usage(LOG) == Usage(40, 2048, 24)
    assert usage("") == Usage(0, 0, 0)
    assert by_entry("") == {}
