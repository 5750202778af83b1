"""What an early launch passes to the driver, without a GPU."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

from raytracer.benchmark.cuda.early_launch import CLUSTER, SERIALIZATION, EarlyLaunch
from raytracer.errors import BackendError


class Library:
    """Stands for the driver library; reads what C would read."""

    def __init__(self) -> None:
        self.launched = list[tuple[Any, ...]]()
        self.refused = ""
        self.asked: tuple[int, ...] = ()
        self.shared = 0
        self.attributes = list[tuple[int, ...]]()

    def __getattr__(self, name: str) -> Any:
        return lambda *given: self.call(name, *given)

    def call(self, name: str, *given: Any) -> int:
        if name == self.refused:
            return 1
        if name == "cuModuleGetFunction":
            given[0]._obj.value = 4711
        if name == "cuFuncSetAttribute":
            assert given[1].value == 8
            self.shared = given[2].value
        if name == "cuOccupancyMaxActiveClusters":
            place = ctypes.addressof(given[2]._obj)
            attributes = ctypes.c_void_p.from_address(place + 40).value
            assert attributes
            self.asked = tuple((ctypes.c_uint * 5).from_address(attributes))
            given[0]._obj.value = 39
        if name == "cuLaunchKernelEx":
            place = ctypes.addressof(given[0]._obj)
            sizes = (ctypes.c_uint * 7).from_address(place)
            stream = ctypes.c_void_p.from_address(place + 32).value
            attributes = ctypes.c_void_p.from_address(place + 40).value
            count = ctypes.c_uint.from_address(place + 48).value
            assert attributes
            attribute = (ctypes.c_int * 3).from_address(attributes)
            self.attributes = [
                tuple((ctypes.c_uint * 5).from_address(attributes + 72 * i)) for i in range(count)
            ]
            argument = ctypes.string_at(given[2][0], 5)
            launch = (*sizes, stream, count, attribute[0], attribute[2], given[1].value, argument)
            self.launched.append(launch)
        return 0


def test_configuration_and_arguments_lie_where_the_driver_reads_them() -> None:
    library = Library()
    prepared = EarlyLaunch(b"code", "matmul", library).prepare(33, 384, 2000, b"abcde")
    for stream in (16, 32):
        prepared.launch(stream)
    sizes = (33, 1, 1, 384, 1, 1, 2000)
    assert library.launched == [
        (*sizes, stream, 1, SERIALIZATION, 1, 4711, b"abcde") for stream in (16, 32)
    ]


def test_a_launch_that_is_not_early_has_no_attribute() -> None:
    library = Library()
    EarlyLaunch(b"code", "matmul", library).prepare(33, 384, 2000, b"abcde", early=False).launch(16)
    ((*_, count, _, _, _, _),) = library.launched
    assert count == 0


def test_a_launch_with_less_shared_memory_leaves_room_for_those_before() -> None:
    library = Library()
    kernel = EarlyLaunch(b"code", "matmul", library)
    for shared, most in ((2000, 2000), (1000, 2000), (3000, 3000)):
        kernel.prepare(33, 384, shared, b"abcde")
        assert library.shared == most


@pytest.mark.parametrize("early", [False, True])
def test_a_launch_names_the_blocks_of_its_clusters(early: bool) -> None:
    library = Library()
    kernel = EarlyLaunch(b"code", "matmul", library)
    kernel.prepare(32, 256, 2000, b"abcde", early, cluster=4).launch(16)
    first = [(SERIALIZATION, 0, 1, 0, 0)] if early else []
    assert library.attributes == [*first, (CLUSTER, 0, 4, 1, 1)]


def test_clusters_that_run_at_once_are_asked_of_the_driver() -> None:
    library = Library()
    assert EarlyLaunch(b"code", "matmul", library).clusters(3, 384, 2000) == 39
    assert library.asked == (CLUSTER, 0, 3, 1, 1)


def test_errors_of_the_driver_name_the_call() -> None:
    library = Library()
    library.refused = "cuModuleLoadData"
    with pytest.raises(BackendError, match="cuModuleLoadData failed"):
        EarlyLaunch(b"code", "matmul", library)
