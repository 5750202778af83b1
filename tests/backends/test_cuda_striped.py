"""Memory that is striped over GPUs: what the driver is asked, and the bytes of scenes that use it.

Tests on a GPU map stripes of the first one alone, with which the calls are those of several.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer.backends.base import TABLES, TREE
from raytracer.backends.cuda import context, driver, run, striped
from raytracer.backends.cuda.gpus import GpuGroup, StripedScene
from raytracer.backends.cuda.memory import DeviceMemory
from raytracer.backends.cuda.run import CudaDevice
from raytracer.backends.cuda.striped import StripedAllocation
from raytracer.backends.cuda.transfer import as_bytes, staging
from raytracer.commands.render import _work
from raytracer.errors import MemoryNeedError
from raytracer.film.film import Film
from raytracer.pipeline import prepare
from support.project import to_project
from support.scenes import random_scene

MIB = 1 << 20
UNIT = 2 * MIB  # granularity of physical memory


class FakeLibrary:
    """The driver's virtual memory management; a GPU has `room` bytes."""

    def __init__(self, room: int = 1 << 40) -> None:
        self.room = room
        self.reserved: dict[int, int] = {}
        self.held: dict[int, tuple[int, int]] = {}  # handle: GPU, bytes; mapped or not
        self.mapped: dict[int, int] = {}  # address: handle
        self.rights: dict[int, list[int]] = {}
        self.missing: Callable[..., bool] = lambda *_: False
        self.waits = 0

    def cuGetErrorString(self, status: int, text: Any) -> int:  # noqa: N802
        text._obj.value = b"out of memory" if status == 2 else b"invalid argument"
        return 0

    def cuDeviceGet(self, device: Any, ordinal: int) -> int:  # noqa: N802
        device._obj.value = ordinal + 70
        return 0

    def cuDeviceGetAttribute(self, value: Any, attribute: int, device: int) -> int:  # noqa: N802
        assert attribute == 102
        value._obj.value = not self.missing(device - 70)
        return 0

    def cuDeviceGetP2PAttribute(  # noqa: N802
        self, value: Any, attribute: int, device: int, other: int
    ) -> int:
        value._obj.value = not self.missing(device - 70, other - 70, attribute)
        return 0

    def cuMemGetAllocationGranularity(self, size: Any, properties: Any, kind: int) -> int:  # noqa: N802
        assert properties._obj.kind == properties._obj.location.kind == 1
        assert kind == 0
        size._obj.value = UNIT
        return 0

    def cuMemAddressReserve(  # noqa: N802
        self, address: Any, size: Any, _alignment: Any, _wanted: Any, _flags: Any
    ) -> int:
        assert size.value % UNIT == 0
        address._obj.value = 1 << 45 | len(self.reserved) << 41
        self.reserved[address._obj.value] = size.value
        return 0

    def cuMemAddressFree(self, address: Any, size: Any) -> int:  # noqa: N802
        assert self.reserved.pop(address.value) == size.value
        return 0

    def cuMemCreate(self, handle: Any, size: Any, properties: Any, _flags: Any) -> int:  # noqa: N802
        gpu = properties._obj.location.number
        if sum(held for of, held in self.held.values() if of == gpu) + size.value > self.room:
            return 2
        handle._obj.value = 1 + max(self.held, default=0)
        self.held[handle._obj.value] = gpu, size.value
        return 0

    def cuMemMap(self, address: Any, size: Any, offset: Any, handle: Any, _flags: Any) -> int:  # noqa: N802
        assert self.held[handle.value][1] == size.value
        assert offset.value == 0
        self.mapped[address.value] = handle.value
        return 0

    def cuMemRelease(self, handle: Any) -> int:  # noqa: N802
        if handle.value not in self.mapped.values():
            del self.held[handle.value]
        return 0

    def cuMemSetAccess(self, address: Any, size: Any, rights: Any, count: Any) -> int:  # noqa: N802
        assert self.reserved[address.value] == size.value
        assert {each.flags for each in rights} == {3}
        self.rights[address.value] = [each.location.number for each in rights[: count.value]]
        return 0

    def cuMemUnmap(self, address: Any, size: Any) -> int:  # noqa: N802
        assert self.waits, "work of the GPU may still use it"
        at, end = address.value, address.value + size.value
        while at < end:  # without gaps
            handle = self.mapped.pop(at)
            at += self.held.pop(handle)[1]
        assert at == end
        return 0

    def cuCtxSynchronize(self) -> int:  # noqa: N802
        self.waits += 1
        return 0


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> FakeLibrary:
    made = FakeLibrary()

    @contextmanager
    def active() -> Any:
        yield

    monkeypatch.setattr(driver, "library", lambda: made)
    monkeypatch.setattr(striped, "primary_context", lambda _: SimpleNamespace(active=active))
    striped._granularity.cache_clear()
    return made


@pytest.mark.parametrize("gpus", [[0], [0, 1], [3, 1, 2]])
@pytest.mark.parametrize("size", [1, UNIT, 100 * MIB, 192 * MIB, 200 * MIB + 1])
def test_stripes_follow_each_other_on_the_gpus_in_turn(
    library: FakeLibrary, gpus: list[int], size: int
) -> None:
    made = StripedAllocation(size, gpus)
    total = -(-size // UNIT) * UNIT
    assert library.reserved == {int(made): total}
    assert library.rights == {int(made): sorted(gpus)}
    sizes = dict.fromkeys(gpus, 0)
    for number, at in enumerate(range(0, total, striped.STRIPE)):
        gpu, length = library.held[library.mapped[int(made) + at]]
        assert gpu == gpus[number % len(gpus)]
        assert length == min(striped.STRIPE, total - at)
        sizes[gpu] += length
    assert sum(sizes.values()) == total
    assert max(sizes.values()) - min(sizes.values()) <= striped.STRIPE
    if size > striped.STRIPE:
        assert max(sizes.values()) <= striped.share(size, len(gpus))
    made.free()
    made.free()
    assert not any((library.reserved, library.held, library.mapped))


def test_what_was_mapped_is_given_back_where_a_gpu_is_full(library: FakeLibrary) -> None:
    library.room = 3 * striped.STRIPE
    with pytest.raises(MemoryNeedError, match="out of memory"):
        StripedAllocation(7 * striped.STRIPE, [0, 1])
    assert not any((library.reserved, library.held, library.mapped))
    StripedAllocation(6 * striped.STRIPE, [0, 1]).free()


def test_small_arrays_are_not_striped(library: FakeLibrary) -> None:
    plain: list[int] = []

    class Plain:
        def __init__(self, size: int) -> None:
            plain.append(size)

        def __int__(self) -> int:
            return 77

        def free(self) -> None:
            plain.pop()

    driver: Any = SimpleNamespace(driver=SimpleNamespace(mem_alloc=Plain))
    memory = DeviceMemory(driver, [0, 1])
    memory._free.detach()
    assert memory.allocate("small", striped.STRIPE) == 77
    assert memory.allocate("large", striped.STRIPE + 1) in library.reserved
    assert plain == [striped.STRIPE]
    memory.free("large", "small")
    assert library.reserved == {}
    assert plain == []
    DeviceMemory(driver)._allocated(1 << 30)
    assert plain == [1 << 30]


@pytest.mark.parametrize(
    ("missing", "words"),
    [
        ((1,), "^GPU 1, or its driver, has no virtual memory management$"),
        ((0, 1, 2), "^GPU 0 has no access to the memory of GPU 1, .*NVLink"),
        ((1, 0, 3), "^GPU 1 has no atomic operations in the memory of GPU 0, .*NVLink"),
        ((0, 0, 2), "^$"),
    ],
)
def test_what_the_gpus_lack_is_a_sentence(
    library: FakeLibrary, missing: tuple[int, ...], words: str
) -> None:
    library.missing = lambda *asked: asked == missing
    assert striped.why_not([0, 0]) == ""
    assert re.search(words, striped.why_not([0, 1]))
    assert striped.why_not([2, 3]) == ""


def test_structs_and_numbers_are_those_of_the_driver() -> None:
    cu = pytest.importorskip("cuda.bindings.driver")
    given = cu.CUmemAllocationProp()
    given.type = cu.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    given.location.type = cu.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    given.location.id = 5
    own = striped._properties(5)
    size = ctypes.sizeof(own)
    assert ctypes.string_at(int(given.getPtr()), size) == ctypes.string_at(
        ctypes.addressof(own), size
    )
    allowed = cu.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    assert int(allowed) == striped._READ_WRITE
    names, pairs = cu.CUdevice_attribute, cu.CUdevice_P2PAttribute
    asked = names.CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED
    assert int(asked) == striped._VIRTUAL_MEMORY
    assert int(pairs.CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED) == striped._PEER_ACCESS
    assert int(pairs.CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED) == striped._PEER_ATOMICS
    minimum = cu.CUmemAllocationGranularity_flags.CU_MEM_ALLOC_GRANULARITY_MINIMUM
    assert int(minimum) == striped._MINIMUM


def test_a_summary_says_that_a_scene_is_striped() -> None:
    backend: dict[str, Any] = {"name": "cuda", "device": "2 x Fake GPU"}
    job: Any = SimpleNamespace(about={"backend": backend, "spheres": 5})
    assert _work(job) == "5 spheres, cuda (2 x Fake GPU)"
    backend["striped_over"] = 2
    assert _work(job) == "5 spheres, cuda (2 x Fake GPU, scene striped)"


SIZE = {"width": 321, "height": 203}
SCENES: dict[str, tuple[Callable[[], raytracer.Scene], dict[str, Any]]] = {
    "mirrors": (lambda: to_project(random_scene(1, 300_000, mirror=True)), {}),
    "paths": (lambda: to_project(random_scene(2, 300_000)), {"integrator": "path"}),
    "bonds": (
        lambda: to_project(random_scene(3, 60_000)),
        {"bonds": 0.05, "style": "ball-and-stick"},
    ),
}


@pytest.fixture(params=[1, 2])
def gpus(
    request: pytest.FixtureRequest, cuda: str, monkeypatch: pytest.MonkeyPatch
) -> list[CudaDevice]:
    """The first GPU, once or as two, and stripes so small that these scenes have several."""
    if reason := striped.why_not([0]):
        pytest.skip(f"{cuda}: {reason}")
    monkeypatch.setattr(striped, "STRIPE", UNIT)
    return [CudaDevice(0)] * int(request.param)


@pytest.mark.gpu
def test_copies_and_fills_reach_all_stripes_of_a_gpu(gpus: list[CudaDevice]) -> None:
    size = 11 * MIB
    values = np.random.default_rng(1).integers(0, 256, size, np.uint8)
    primary = context.primary_context(0)
    with primary.lock, primary.active() as driver:
        memory, copies = DeviceMemory(primary, [0] * len(gpus)), staging(0)
        address, other = memory.allocate("one", size), memory.allocate("other", size)
        copies.to_device(values, address)
        driver.memcpy_dtod_async(other, address, size, copies.stream)
        driver.memset_d32_async(address + UNIT - 4, 0x01020304, 2, copies.stream)
        found, filled = np.empty(size, np.uint8), np.empty(size, np.uint8)
        copies.to_host(other, found)
        copies.to_host(address, filled)
    memory.close()
    assert found.tobytes() == values.tobytes()
    values[UNIT - 4 : UNIT + 4] = [4, 3, 2, 1] * 2
    assert filled.tobytes() == values.tobytes()


@pytest.mark.gpu
@pytest.mark.parametrize("name", SCENES)
def test_tree_and_picture_have_the_bytes_of_one_gpu(gpus: list[CudaDevice], name: str) -> None:
    make, more = SCENES[name]
    scene, options = make(), {**SIZE, **more}
    made: list[dict[str, bytes]] = []
    for device in (CudaDevice(0), GpuGroup(gpus, is_striped=True)):
        with (
            prepare(scene, options, backend=device) as job,
            job.film(Film.blank(SIZE["width"], SIZE["height"])) as film,
        ):
            alone = job.scene
            if isinstance(alone, StripedScene):
                assert (
                    alone.striped_over == len(gpus) == job.about["backend"].get("striped_over", 1)
                )
                alone = alone.scenes[-1]
            else:
                sizes = {each: alone._memory.size(each) for each in (*TREE, *TABLES)}  # type: ignore[attr-defined]
                assert sizes["spheres"] > UNIT
            found = {each: bytes_of(alone, each, size) for each, size in sizes.items()}
            for samples in (1, 3):
                film.add(job.scene, job.view, samples)
            found["sums"] = film.to_host().sums.tobytes()
            found["hits"] = job.scene.first_hits(job.view).tobytes()
            made.append(found)
    for each, expected in made[0].items():
        assert made[1][each] == expected, each


def bytes_of(scene: Any, name: str, size: int) -> bytes:
    """Return the bytes of an array of a scene on a GPU."""
    found = np.empty(size, np.uint8)
    with scene._context.lock, scene._context.active():
        staging(scene.number).to_host(scene.address(name), as_bytes(found))
    return found.tobytes()


@pytest.mark.gpu
def test_a_scene_that_a_gpu_cannot_hold_is_striped(
    gpus: list[CudaDevice], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(parts: dict[str, int], free: int, spheres: int, count: int = 1) -> None:
        if count < 2:
            raise MemoryNeedError("the scene is too large")

    scene = SCENES["mirrors"][0]()
    expected = raytracer.render(scene, backend="cuda:0", samples=2, **SIZE)  # type: ignore[arg-type]
    monkeypatch.setattr(run, "check_memory", refuse)
    group: Any = GpuGroup(gpus)
    if len(gpus) < 2:
        with pytest.raises(MemoryNeedError, match="is too large"):
            raytracer.render(scene, backend=group, samples=2, **SIZE)  # type: ignore[arg-type]
        return
    image = raytracer.render(scene, backend=group, samples=2, **SIZE)  # type: ignore[arg-type]
    assert image.film.sums.tobytes() == expected.film.sums.tobytes()
    assert image.metadata["backend"]["striped_over"] == 2
    with pytest.raises(MemoryNeedError, match="is too large"):
        raytracer.render(scene, backend=GpuGroup(gpus, is_striped=False), samples=2, **SIZE)  # type: ignore[arg-type]
    monkeypatch.setattr(striped, "why_not", lambda _: "GPU 0 is alone")
    with pytest.raises(MemoryNeedError, match=r"large; it cannot be striped .*: GPU 0 is alone"):
        raytracer.render(scene, backend=group, samples=2, **SIZE)  # type: ignore[arg-type]


@pytest.mark.gpu
def test_an_environment_map_is_replaced_in_a_striped_scene(gpus: list[CudaDevice]) -> None:
    balls = to_project(random_scene(4, 300_000))
    skies = [raytracer.Environment(color=color) for color in ("navy", "orange")]
    scenes = [replace(balls, environment=sky) for sky in skies]
    options = {**SIZE, "integrator": "path"}
    size = SIZE["width"], SIZE["height"]
    sums = []
    with prepare(scenes[1], options, backend="cuda:0", keep=True) as other:
        assert other.kept is not None
        with other.film(Film.blank(*size)) as film:
            film.add(other.scene, other.view, 2)
            sums.append(film.to_host().sums.tobytes())
        group = GpuGroup(gpus, is_striped=True)
        with prepare(scenes[0], options, backend=group) as job, job.film(Film.blank(*size)) as film:
            job.scene.take_sky(other.kept[1].sky)
            film.add(job.scene, other.view, 2)
            sums.append(film.to_host().sums.tobytes())
    assert sums[0] == sums[1]


@pytest.mark.gpu
def test_striped_memory_is_given_back(gpus: list[CudaDevice]) -> None:
    scene, group = SCENES["mirrors"][0](), GpuGroup(gpus, is_striped=True)

    def left_behind() -> int:
        before = context.primary_context(0).memory()[0]
        for _ in range(5):
            with prepare(scene, SIZE, backend=group) as job:
                assert job.scene.nbytes >= 300_000 * 23
            assert job.scene.nbytes == 0
        return before - context.primary_context(0).memory()[0]

    left_behind()
    assert min(left_behind() for _ in range(5)) <= 1 << 20
