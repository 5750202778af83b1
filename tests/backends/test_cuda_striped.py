"""Memory that is striped over GPUs: what the driver is asked, and the bytes of scenes that use it.

Tests on a GPU map stripes of the first one alone, with which the calls are those of several.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer.backends.base import TABLES, TREE
from raytracer.backends.cuda import driver as binding
from raytracer.backends.cuda import run, striped_memory
from raytracer.backends.cuda.memory import DeviceMemory
from raytracer.backends.cuda.run import CudaDevice
from raytracer.backends.cuda.transfer import get_staging, view_bytes
from raytracer.backends.group import DeviceGroup, GroupScene
from raytracer.config.errors import MemoryNeedError
from raytracer.film.film import Film
from raytracer.rendering.pipeline import prepare
from support.project import to_project
from support.scenes import random_scene

UNIT = 2 << 20  # granularity of physical memory


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
    if reason := striped_memory.explain_missing([0]):
        pytest.skip(f"{cuda}: {reason}")
    monkeypatch.setattr(striped_memory, "STRIPE", UNIT)
    return [CudaDevice(0)] * int(request.param)


@pytest.mark.gpu
def test_copies_and_fills_reach_all_stripes_of_a_gpu(gpus: list[CudaDevice]) -> None:
    size = 5 * UNIT + (UNIT >> 1)
    values = np.random.default_rng(1).integers(0, 256, size, np.uint8)
    primary = binding.get_primary_context(0)
    with primary.lock, primary.activate() as driver:
        memory, copies = DeviceMemory(primary, [0] * len(gpus)), get_staging(0)
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
    for device in (CudaDevice(0), DeviceGroup(gpus, is_striped=True)):
        with (
            prepare(scene, options, backend=device) as job,
            job.device.film(Film.blank(SIZE["width"], SIZE["height"])) as film,
        ):
            alone = job.scene
            if isinstance(alone, GroupScene):
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
            found["hits"] = job.scene.trace_first_hits(job.view).tobytes()
            made.append(found)
    for each, expected in made[0].items():
        assert made[1][each] == expected, each


def bytes_of(scene: Any, name: str, size: int) -> bytes:
    found = np.empty(size, np.uint8)
    with scene._context.lock, scene._context.activate():
        get_staging(scene.number).to_host(scene.address(name), view_bytes(found))
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
    group: Any = DeviceGroup(gpus)
    if len(gpus) < 2:
        with pytest.raises(MemoryNeedError, match="is too large"):
            raytracer.render(scene, backend=group, samples=2, **SIZE)  # type: ignore[arg-type]
        return
    image = raytracer.render(scene, backend=group, samples=2, **SIZE)  # type: ignore[arg-type]
    assert image.film.sums.tobytes() == expected.film.sums.tobytes()
    assert image.metadata["backend"]["striped_over"] == 2
    with pytest.raises(MemoryNeedError, match="is too large"):
        raytracer.render(scene, backend=DeviceGroup(gpus, is_striped=False), samples=2, **SIZE)  # type: ignore[arg-type]
    monkeypatch.setattr(striped_memory, "explain_missing", lambda _: "GPU 0 is alone")
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
        with other.device.film(Film.blank(*size)) as film:
            film.add(other.scene, other.view, 2)
            sums.append(film.to_host().sums.tobytes())
        group = DeviceGroup(gpus, is_striped=True)
        with (
            prepare(scenes[0], options, backend=group) as job,
            job.device.film(Film.blank(*size)) as film,
        ):
            job.scene.set_sky(other.kept[1].view.sky)
            film.add(job.scene, other.view, 2)
            sums.append(film.to_host().sums.tobytes())
    assert sums[0] == sums[1]


@pytest.mark.gpu
def test_striped_memory_is_given_back(
    gpus: list[CudaDevice], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the calls of the driver: the free memory of a GPU is that of all processes."""
    made = Counter[str]()
    sizes = {"cuMemAddressReserve": 0, "cuMemAddressFree": 1, "cuMemMap": 1, "cuMemUnmap": 1}

    def count(name: str, *arguments: Any) -> Any:
        """Call the driver; add the bytes of a range, or one."""
        result = binding.call(name, *arguments)
        made[name] += arguments[sizes[name]] if name in sizes else 1
        return result

    monkeypatch.setattr(striped_memory, "call", count)
    scene, group = SCENES["mirrors"][0](), DeviceGroup(gpus, is_striped=True)
    for _ in range(3):
        with prepare(scene, SIZE, backend=group) as job:
            assert job.scene.nbytes >= 300_000 * 23
            assert made["cuMemMap"] > made["cuMemUnmap"]
        assert job.scene.nbytes == 0
        for taken, given_back in (
            ("cuMemAddressReserve", "cuMemAddressFree"),
            ("cuMemCreate", "cuMemRelease"),
            ("cuMemMap", "cuMemUnmap"),
        ):
            assert 0 < made[taken] == made[given_back], (taken, given_back)
