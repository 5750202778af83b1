"""Arrays on a GPU, of other packages or the driver: in the host's memory, and on a real GPU."""

import ctypes
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from raytracer import SphereSet, Transform
from raytracer.appearance.coloring.scale import ColorScale
from raytracer.backends.base import CpuScene
from raytracer.in_situ import memory as gpu_memory
from raytracer.model.colors import linear_rgb
from raytracer.model.render_space import Space
from raytracer.packing.pack import to_render_space
from raytracer.packing.sphere_update import SphereUpdate
from raytracer.system import cuda_driver
from raytracer.system.device_array import CUDA, make_capsule, to_host_array

GPU = CUDA, 0

SPACE = Space((0.25, -3.0, 1e3), 8.0)
"""In which the bytes of packed spheres are compared."""

TURNED = Transform(rotate=(10.0, 20.0, 30.0), scale=3.0, translate=(-1.0, 0.0, 7.0))
KINDS = ["float32", "float64", "float16", "int32", "int64", "uint8"]
STRIDES: dict[str, Callable[[NDArray[Any]], NDArray[Any]]] = {
    "by columns": lambda a: np.asfortranarray(a),
    "of wider rows": lambda a: np.concatenate([a, a, a[:, :1]], axis=1)[:, : a.shape[1]],
    "every third": lambda a: np.repeat(a, 3, axis=0)[::3],
    "backwards": lambda a: np.ascontiguousarray(a[::-1, ::-1])[::-1, ::-1],
}


def numbers(kind: str, shape: tuple[int, ...], seed: int = 1) -> NDArray[Any]:
    rng = np.random.default_rng(seed)
    if np.dtype(kind).kind in "iu":
        return rng.integers(1, 200, shape).astype(kind)
    return (rng.normal(0.0, 10.0, shape) + 100.0).astype(kind)


def hosts(positions: Any, radii: Any, transform: Transform = TURNED) -> NDArray[np.float32]:
    """Records that the host packs."""
    spheres = SphereSet(np.array(positions), radii, transform=transform)
    return np.stack(to_render_space([spheres], SPACE), axis=1)


def check_packed(records: NDArray[np.float32], info: Any, expected: NDArray[np.float32]) -> None:
    """Assert that records are those expected, and what is told of them."""
    assert records.tobytes() == expected.tobytes()
    assert info.wrong == {}
    assert info.low.tolist() == expected[:, :3].min(axis=0).tolist()
    assert info.high.tolist() == expected[:, :3].max(axis=0).tolist()
    assert (info.min_radius, info.max_radius) == (expected[:, 3].min(), expected[:, 3].max())


def copies_to_host(calls: list[tuple[Any, ...]], base: int = 0) -> dict[str, Any]:
    """Calls of the driver by name for device memory that begins at an address of the host's."""

    def copy(to: Any, source: Any, size: Any) -> int:
        calls.append(("cuMemcpyDtoH_v2", source.value))
        ctypes.memmove(to.value, base + source.value, size.value)
        return 0

    return {"cuMemcpyDtoH_v2": copy}


def with_host_memory(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Replace the driver by one whose device memory is that of the host; it lists its calls."""
    calls: list[tuple[Any, ...]] = []

    memories = dict[int, Any]()

    def allocate(address: Any, size: Any) -> int:
        calls.append(("cuMemAlloc_v2", size.value))
        memory = ctypes.create_string_buffer(size.value)
        address._obj.value = ctypes.addressof(memory)
        memories[address._obj.value] = memory
        return 0

    def free(address: Any) -> int:
        del memories[address.value]
        return 0

    def copy_there(to: Any, source: Any, size: Any, stream: Any) -> int:
        calls.append(("cuMemcpyDtoDAsync_v2", stream.value))
        ctypes.memmove(to.value, source.value, size.value)
        return 0

    def note(name: str) -> Any:
        def call(*given: Any) -> int:
            calls.append((name, *(getattr(each, "value", each) for each in given)))
            return 0

        return call

    cuda = SimpleNamespace(
        **copies_to_host(calls), calls=calls,
        cuMemAlloc_v2=allocate, cuMemFree_v2=free,
        cuMemcpyDtoDAsync_v2=copy_there, memories=memories,
        cuStreamIsCapturing=lambda stream, status: 0,
        **{name: note(name) for name in ("cuStreamSynchronize", "cuEventCreate",
                                         "cuEventRecordWithFlags", "cuEventDestroy_v2",
                                         "cuStreamWaitEvent", "cuEventSynchronize")},
    )  # fmt: skip

    @contextmanager
    def context(device: int) -> Any:
        yield cuda

    for user in (cuda_driver, gpu_memory):
        monkeypatch.setattr(user, "device_context", context)
    monkeypatch.setattr(cuda_driver, "_driver", lambda: None)
    monkeypatch.setattr(cuda_driver, "_fence", lambda device, _: cuda_driver.Fence(device))
    return cuda


def taking_updates(monkeypatch: pytest.MonkeyPatch) -> list[SphereUpdate]:
    """Have scenes of the CPU take arrays of a GPU; the updates that they get."""
    updates, update = list[SphereUpdate](), CpuScene.update

    def take(scene: CpuScene, given: SphereUpdate) -> None:
        updates.append(given)
        here = {
            name: to_host_array(getattr(given, name)) for name in ("positions", "radii", "colors")
        }
        if isinstance(given.color_map, ColorScale):
            here["colors"] = given.color_map.rgb(here["colors"])
        elif here["colors"] is not None:
            here["colors"] = linear_rgb(here["colors"], given.color_space)
        update(scene, replace(given, **here))

    monkeypatch.setattr(CpuScene, "update", take)
    monkeypatch.setattr(ColorScale, "color_map", lambda scale: scale)
    return updates


class Owner:
    """What keeps memory, of which a test sees the end."""


class ByInterface:
    """An array with the CUDA array interface alone, as PyCUDA's."""

    def __init__(self, array: NDArray[Any], **changes: Any) -> None:
        self._array = array
        self._changes = changes

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        array = self._array
        return {
            "shape": array.shape,
            "typestr": array.dtype.str,
            "data": (array.ctypes.data, False),
            "strides": None if array.flags.c_contiguous else array.strides,
            "version": 3,
        } | self._changes


class ByDlpack:
    """An array with DLPack, as those of most packages."""

    def __init__(
        self, array: NDArray[Any], device: tuple[int, int] = GPU, *, old: bool = False
    ) -> None:
        self.array, self.device, self.old = array, device, old
        self.owner = Owner()
        self.streams: list[Any] = []

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device

    def __dlpack__(self, *, stream: Any = None, **more: Any) -> Any:
        if self.old and "max_version" in more:
            raise TypeError("__dlpack__() got an unexpected keyword argument 'max_version'")
        self.streams.append(stream)
        array = self.array
        place = array.ctypes.data, array.shape, array.strides, array.dtype, self.device
        return make_capsule(*place, self.owner, more.get("max_version"))


class OnGpu:
    """A copy of an array in memory of the driver, with the CUDA array interface."""

    def __init__(self, array: NDArray[Any]) -> None:
        from raytracer.backends.cuda.driver import get_primary_context

        base: Any = array
        while isinstance(base.base, np.ndarray):
            base = base.base
        self._context = get_primary_context(0)
        with self._context.activate() as driver:
            self.memory = driver.mem_alloc(max(base.nbytes, 16))
            driver.memcpy_htod(int(self.memory), (base.T if base.flags.fnc else base).tobytes())
        address = int(self.memory) + array.ctypes.data - base.ctypes.data
        self.__cuda_array_interface__ = {
            "shape": array.shape, "strides": array.strides, "typestr": array.dtype.str,
            "data": (address, False), "version": 2,
        }  # fmt: skip
