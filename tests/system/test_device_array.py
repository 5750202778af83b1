"""Arrays on a GPU, described by other packages and for them; here they lie on the host."""

import ctypes
import gc
import weakref
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from raytracer import SphereSet, UserError
from raytracer._native import core
from raytracer.system import cuda_driver, device_array
from raytracer.system.cuda_driver import stream_handle
from raytracer.system.device_array import DeviceArray, to_host_array
from support.device_arrays import GPU, ByDlpack, ByInterface, with_host_memory

NUMBERS = np.arange(24, dtype=np.float32).reshape(8, 3)

VIEWS: dict[str, NDArray[Any]] = {
    "packed": NUMBERS,
    "by columns": np.asfortranarray(NUMBERS),
    "rows of wider ones": np.arange(40.0).reshape(8, 5)[:, 1:4],
    "backwards": NUMBERS[::-1, ::-1],
    "one row for all": np.broadcast_to(NUMBERS[:1], (8, 3)),
    "integers": np.arange(8, dtype=np.int64)[::2],
    "truth values": np.array([True, False]),
    "halves": np.arange(6, dtype=np.float16),
    "one number": np.array(3.0),
    "none": np.zeros((0, 3)),
}


@pytest.fixture(autouse=True)
def host_memory(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A driver whose device memory is that of the host."""
    return with_host_memory(monkeypatch)


def same(found: DeviceArray | None, array: NDArray[Any]) -> None:
    assert found is not None
    assert (found.shape, found.dtype) == (array.shape, array.dtype)
    if array.size:
        assert found.address == array.ctypes.data
        assert np.array_equal(found.to_host(), array)
    assert found.size == array.size
    assert found.ndim == array.ndim


@pytest.mark.parametrize("name", VIEWS)
def test_every_way_describes_the_same_array(name: str) -> None:
    array = VIEWS[name]
    for value in (ByInterface(array), ByDlpack(array), ByDlpack(array, old=True)):
        found = device_array.device_array(value)
        same(found, array)
        same(device_array.device_array(found), array)
        assert found is not None
        same(device_array.device_array(ByFound(found)), array)


class ByFound:
    """The protocols of a DeviceArray, without its class."""

    def __init__(self, array: DeviceArray) -> None:
        self.__cuda_array_interface__ = array.__cuda_array_interface__


@pytest.mark.parametrize("name", VIEWS)
def test_numpy_reads_our_capsules_and_we_read_its_own(name: str) -> None:
    array = np.array(VIEWS[name]) if name == "one row for all" else VIEWS[name]
    assert np.array_equal(np.from_dlpack(ByDlpack(array, (1, 0))), array)
    for version in (None, (1, 0)):
        address, shape, strides, _, bits, lanes, *device, _ = core().read_dlpack(
            array.__dlpack__(max_version=version)
        )
        assert (address, shape, device) == (array.ctypes.data, array.shape, [1, 0])
        assert (bits, lanes) == (8 * array.itemsize, 1)
        if array.size:
            assert tuple(array.itemsize * each for each in strides) == array.strides


@pytest.mark.parametrize("old", [False, True])
@pytest.mark.parametrize("is_taken", [False, True])
def test_memory_is_released_when_nothing_refers_to_it(old: bool, is_taken: bool) -> None:
    """Neither an array that was made of it nor a capsule that nobody takes."""
    value = ByDlpack(NUMBERS, old=old)
    end = weakref.ref(value.owner)
    user: Any = device_array.device_array(value) if is_taken else None
    user = user or value.__dlpack__(**({} if old else {"max_version": (1, 0)}))
    del value
    gc.collect()
    assert end() is not None, "it was in use"
    del user
    gc.collect()
    assert end() is None


def test_a_capsule_is_taken_once() -> None:
    capsule = NUMBERS.__dlpack__()
    owner = core().read_dlpack(capsule)[-1]
    for used in (capsule, object()):
        with pytest.raises(TypeError):
            core().read_dlpack(used)
    del owner


class Typed(ByDlpack):
    """An array with numbers of another type of DLPack."""

    def __init__(self, code: int, bits: int) -> None:
        super().__init__(NUMBERS)
        self.type = code, bits

    def __dlpack__(self, **_: Any) -> Any:
        made = core().make_dlpack(NUMBERS.ctypes.data, NUMBERS.shape, [3, 1], *self.type, GPU, self)
        return made.__dlpack__()


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (ByInterface(NUMBERS, mask=1), "positions: has a mask: give an array without one"),
        (
            ByInterface(NUMBERS, typestr="|V4"),
            "positions: has dtype |V4: give an array of float32",
        ),
        (ByInterface(NUMBERS, shape=(-1, 3)), "positions: shape (-1, 3) and strides"),
        (ByInterface(NUMBERS, data=None), "positions: the ByInterface cannot be read as an array"),
        (Typed(4, 16), "positions: has dtype bfloat16, which NumPy does not have: give float32"),
        (Typed(0, 4), "positions: has dtype of DLPack code 0 with 4 bits, which NumPy does not"),
        (Typed(2, 24), "positions: has dtype of DLPack code 2 with 24 bits, which NumPy does not"),
        (
            ByInterface(NUMBERS, typestr="nonsense"),
            "positions: the ByInterface cannot be read as an array: data type 'nonsense'",
        ),
    ],
)
def test_what_cannot_be_read_is_told_in_a_sentence(value: Any, sentence: str) -> None:
    with pytest.raises(UserError) as error:
        device_array.device_array(value, "positions")
    assert str(error.value).startswith(sentence)
    assert "\n" not in str(error.value)
    value = None
    gc.collect()


@pytest.mark.parametrize("value", [NUMBERS, [1.0], 3.0, "text", None, ByDlpack(NUMBERS, (1, 0))])
def test_what_lies_on_the_host_is_no_device_array(value: Any) -> None:
    assert device_array.device_array(value) is None


def test_dlpack_of_the_host_becomes_an_array_of_numpy() -> None:
    value = ByDlpack(NUMBERS, (1, 0))
    found = to_host_array(value)
    assert isinstance(found, np.ndarray)
    assert found.ctypes.data == NUMBERS.ctypes.data
    assert to_host_array("text") == "text"
    copied = to_host_array(ByDlpack(NUMBERS))
    assert copied.ctypes.data != NUMBERS.ctypes.data
    assert copied.tobytes() == NUMBERS.tobytes()


@pytest.mark.parametrize("kind", [10, 99])
def test_other_devices_are_left_to_their_package(kind: int) -> None:
    value = ByDlpack(NUMBERS, (kind, 0))
    assert device_array.device_array(value) is None
    with pytest.raises(UserError, match=f"is on a device of DLPack type {kind}: copy it"):
        SphereSet(value)

    class Copied(ByDlpack):
        def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
            return self.array

    assert np.asarray(to_host_array(Copied(NUMBERS, (kind, 0)))) is NUMBERS


@pytest.mark.parametrize(
    ("stream", "handle"),
    [
        (None, 1), (0, 1), (1, 1), (2, 2), (0x7F00, 0x7F00),
        (SimpleNamespace(ptr=17), 17), (SimpleNamespace(cuda_stream=18), 18),
        (SimpleNamespace(ptr=0), 1), (SimpleNamespace(handle=19), 19),
        (SimpleNamespace(handle=ctypes.c_void_p(20)), 20),
        (SimpleNamespace(handle=ctypes.c_void_p(None)), 1),
        (SimpleNamespace(__cuda_stream__=lambda: (0, 21)), 21),
    ],
)  # fmt: skip
def test_streams_of_any_package_have_a_handle(stream: Any, handle: int) -> None:
    assert stream_handle(stream) == handle
    value = ByDlpack(NUMBERS)
    device_array.device_array(value, stream=stream)
    assert value.streams == [handle]


@pytest.mark.parametrize("stream", ["1", 2.0, True, object(), -1])
def test_what_is_no_stream_is_told_in_a_sentence(stream: Any) -> None:
    with pytest.raises(UserError, match=r"stream: .* is not a CUDA stream; give its handle"):
        stream_handle(stream)


@pytest.mark.parametrize(("given", "kept"), [(None, None), (1, 1), (2, 2), (0, 1), (4711, 4711)])
def test_the_stream_of_the_interface_is_waited_for(
    given: int | None, kept: int | None, host_memory: Any
) -> None:
    found = device_array.device_array(ByInterface(NUMBERS, stream=given))
    assert found is not None
    assert found.stream == kept
    assert found.to_host().tobytes() == NUMBERS.tobytes()
    waits = [call for call in host_memory.calls if call[0] == "cuStreamSynchronize"]
    assert waits == ([] if kept is None else [("cuStreamSynchronize", kept)])


def test_a_consumer_waits_for_our_stream(host_memory: Any) -> None:
    address, packed = NUMBERS.ctypes.data, NUMBERS.strides
    made = DeviceArray(address, NUMBERS.shape, packed, NUMBERS.dtype, 0, 77, NUMBERS)
    assert made.__cuda_array_interface__["stream"] == 77
    for stream in (-1, 77):
        made.__dlpack__(stream=stream)
    assert not [call for call in host_memory.calls if call[0] == "cuStreamWaitEvent"]
    others: list[tuple[int | None, int]] = [(None, 1), (5, 5)]
    for other, handle in others:
        host_memory.calls.clear()
        made.__dlpack__(stream=other)
        names = {name: given for name, *given in host_memory.calls}
        assert names["cuEventRecordWithFlags"][1] == 77
        assert names["cuStreamWaitEvent"][0] == handle


def test_a_device_array_comes_to_the_host_as_a_copy() -> None:
    made = DeviceArray(NUMBERS.ctypes.data, (8, 3), NUMBERS.strides, NUMBERS.dtype, 0)
    for copied in (np.asarray(made), np.from_dlpack(made, device="cpu")):
        assert copied.tobytes() == NUMBERS.tobytes()
        assert copied.ctypes.data != NUMBERS.ctypes.data
    assert np.asarray(made, np.float64).dtype == np.float64
    with pytest.raises(ValueError, match="as a copy"):
        np.array(made, copy=False)
    with pytest.raises(BufferError, match="as a copy"):
        made.__dlpack__(dl_device=(1, 0), copy=False)
    with pytest.raises(BufferError, match="given where it is"):
        made.__dlpack__(dl_device=(2, 1))
    with pytest.raises(BufferError, match="given where it is"):
        made.__dlpack__(copy=True)


def test_spheres_are_made_of_arrays_on_a_gpu_by_a_copy() -> None:
    colors = np.full((8, 3), 0.5, np.float32)
    for kind in (ByInterface, ByDlpack):
        spheres = SphereSet(kind(NUMBERS), kind(np.ones(8)), kind(colors))
        assert spheres.centers.tobytes() == NUMBERS.tobytes()
        assert spheres.color.tobytes() == colors.tobytes()
        with pytest.raises(UserError, match=r"centers: has shape \(8,\)"):
            SphereSet(kind(np.ones(8)))
        with pytest.raises(UserError, match="centers: holds bool, not real numbers"):
            SphereSet(kind(np.ones((8, 3), bool)))
    with pytest.raises(UserError, match="centers: has a mask"):
        SphereSet(ByInterface(NUMBERS, mask=1))
    found = device_array.device_array(ByInterface(NUMBERS))
    assert found is not None
    assert SphereSet(ByFound(found)).centers.tobytes() == NUMBERS.tobytes()


def test_without_a_driver_an_array_on_a_gpu_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(cuda_driver, "_driver", lambda: None)
    with pytest.raises(UserError, match="an array is on a GPU, but there is no CUDA driver"):
        SphereSet(ByInterface(NUMBERS))


def test_an_array_of_several_devices_is_left_to_numpy() -> None:
    class Sharded:
        def __dlpack_device__(self) -> tuple[int, int]:
            raise BufferError("__dlpack__ only supported for unsharded arrays.")

        def __dlpack__(self, **_: Any) -> Any:
            raise BufferError

        def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
            return NUMBERS

    assert SphereSet(Sharded()).centers.tobytes() == NUMBERS.tobytes()
