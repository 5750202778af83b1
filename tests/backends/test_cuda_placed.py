"""Spheres packed in the memory of a GPU, beside those that the host packs.

The kernels are compiled for the CPU, and the memory is that of the fake driver.
"""

import ctypes
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import raytracer
from raytracer import Camera, Scene, SphereSet, Transform
from raytracer._native import core
from raytracer.backends.cuda import driver as binding
from raytracer.backends.cuda import kernel as kernel_module
from raytracer.backends.cuda import pack, placed_spheres, transfer
from raytracer.backends.cuda.cache import Cubin
from raytracer.backends.cuda.pack import describe_array
from raytracer.packing.buffers import DeviceColors, SceneBuffers
from raytracer.packing.pack import pack_with_camera, repack_view
from raytracer.packing.pack import to_render_space as place_on_host
from raytracer.packing.pose import fit_camera
from raytracer.system import cuda_driver, layout
from raytracer.system.device_array import DeviceArray
from support.device_arrays import copies_to_host
from support.fake_cuda import FakeDriver, cleared
from support.libraries import kernel

ADDRESSES = {
    "PackArgs": ("records", "color", "info", "table"),
    "ReachArgs": ("records", "parts", "rows", "picked"),
}
THREADS = 64


@pytest.fixture(scope="module")
def kernels(libraries: Path) -> dict[str, ctypes.CDLL]:
    names = {"PackArgs": "pack_spheres", "ReachArgs": "sphere_reach"}
    return {struct: kernel(libraries, name, struct) for struct, name in names.items()}


class Gpu:
    """A device that places spheres, with memory of the fake driver."""

    def __init__(self, kernels: dict[str, ctypes.CDLL], monkeypatch: pytest.MonkeyPatch) -> None:
        self.driver = FakeDriver({}, self._run, memory=1 << 25)
        self._kernels = kernels
        monkeypatch.setattr(binding, "load", lambda: self.driver)
        monkeypatch.setattr(kernel_module.compiler, "load_cubin", lambda *_, **__: Cubin(b"", ""))  # type: ignore[attr-defined]
        monkeypatch.setattr(pack, "order_streams", lambda *_: None)
        calls = SimpleNamespace(**copies_to_host([], self._base))
        monkeypatch.setattr(cuda_driver, "device_context", lambda _: nullcontext(calls))
        self.context = binding.get_primary_context(0)

    @property
    def _base(self) -> int:
        return int(self.driver.memory.ctypes.data)

    def _run(self, _driver: FakeDriver, grid: Any, _block: Any, arguments: bytes) -> None:
        struct = (
            "PackArgs"
            if len(arguments) == layout.struct_dtype("PackArgs").itemsize
            else "ReachArgs"
        )
        args = np.frombuffer(arguments, layout.struct_dtype(struct)).copy()
        for name in ADDRESSES[struct]:
            args[name] += self._base
        if struct == "PackArgs":
            for name in ("positions", "radii", "colors"):
                args[name]["data"] += self._base
        blocks = grid[0] if struct == "ReachArgs" else 3
        self._kernels[struct].go(blocks, THREADS, ctypes.c_uint64(args.ctypes.data))

    def there(self, array: NDArray[Any]) -> DeviceArray:
        source = np.ascontiguousarray(array)
        with self.context.activate() as driver:
            address = int(driver.mem_alloc(source.nbytes))
        self.driver.view(address, source.nbytes)[:] = source.view(np.uint8).ravel()
        return replace(describe_array(source), address=address, device=0)

    def place(self, *given: Any) -> Any:
        return placed_spheres.place_spheres(0, *given)


@pytest.fixture
def gpu(kernels: dict[str, ctypes.CDLL], monkeypatch: pytest.MonkeyPatch) -> Iterator[Gpu]:
    with cleared(binding.get_primary_context, transfer.get_staging, kernel_module.load_pass):
        yield Gpu(kernels, monkeypatch)


def packed_by(device: Any, scene: Scene) -> tuple[SceneBuffers, Camera]:
    return pack_with_camera(scene, scene.render, placer=device and device.place)


def there_of(buffers: SceneBuffers) -> placed_spheres.PlacedSpheres:
    assert isinstance(buffers.placed, placed_spheres.PlacedSpheres)
    return buffers.placed


def records(buffers: SceneBuffers, gpu: Gpu) -> NDArray[np.float32]:
    data = gpu.driver.view(there_of(buffers).memory.address("records"), 16 * buffers.count)
    return data.view(np.float32).reshape(-1, 4)


def random_set(rng: np.random.Generator, count: int, **more: Any) -> SphereSet:
    kind = rng.choice(["float32", "float64"])
    radius = rng.lognormal(-3.0, 1.0, count).astype(kind) if rng.integers(2) else 0.05
    centers = rng.normal(0.0, 2.0, (count, 3)).astype(kind)
    turn = Transform(rotate=(10.0, 20.0, 30.0), scale=3.0, translate=(1.0, 2.0, 3.0))
    return SphereSet(centers, radius, transform=turn if rng.integers(2) else None, **more)


@pytest.mark.parametrize("seed", range(6))
def test_the_reach_is_that_of_the_host(gpu: Gpu, seed: int) -> None:
    rng = np.random.default_rng(seed)
    spheres = random_set(rng, int(rng.integers(1, 3000)))
    buffers, _ = packed_by(gpu, Scene([spheres]))
    normals = rng.normal(0.0, 1.0, (int(rng.integers(1, 9)), 3))
    columns = place_on_host([spheres], buffers.space)
    for center, limit in ((None, np.inf), (rng.normal(0.0, 1.0, 3), float(rng.uniform(0.1, 2.0)))):
        found = there_of(buffers).reach(normals, center, limit)
        given = None if center is None else center.tolist()
        wanted = core().reach(columns, normals, np.empty(0, np.intp), given, limit, 1)
        assert found[:2] == tuple(wanted[:2])
        if center is not None:
            assert found == tuple(wanted)
    rows = rng.integers(0, buffers.count, 100)
    for found_column, column in zip(there_of(buffers).taken(rows), columns, strict=True):
        assert found_column.tobytes() == column[rows].tobytes()


@pytest.mark.parametrize("seed", range(8))
def test_a_scene_is_packed_as_on_the_host(
    gpu: Gpu, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Arrays of the host go there in chunks; camera, tables and digest are the same."""
    rng = np.random.default_rng(seed)
    monkeypatch.setattr(placed_spheres, "CHUNK_ROWS", int(rng.integers(1, 700)))
    monkeypatch.setattr("raytracer.packing.buffers.DIGEST_BLOCK", 1024)
    sets = [random_set(rng, int(rng.integers(1, 900)), color="red") for _ in range(3)]
    ground = raytracer.Ground(fade=2.0) if rng.integers(2) else None
    camera = [None, Camera(position=(5.0, 6.0, 7.0)), Camera(type="orthographic")][seed % 3]
    scene = Scene(sets, camera=camera, ground=ground)
    here, of_host = packed_by(None, scene)
    buffers, of_gpu = packed_by(gpu, scene)
    assert vars(of_gpu) == vars(of_host)
    assert records(buffers, gpu).tobytes() == np.stack(here.primitives, axis=1).tobytes()
    assert "columns" not in vars(there_of(buffers)), "the host has no copy"
    assert buffers.digest() == here.digest()
    assert "columns" not in vars(there_of(buffers)), "the digest is of parts"
    rows = slice(0, sets[0].count)
    assert buffers.placed.radii(rows) == here.placed.radii(rows)
    assert buffers.nbytes == here.nbytes - 16 * here.count
    buffers.release()
    pose = fit_camera(of_gpu, buffers.balls, buffers.space, 4 / 3)[0]
    repack_view(buffers, replace(scene, camera=of_gpu), scene.render, pose)
    assert "columns" not in vars(there_of(buffers)), "nor do other views need them"


@pytest.mark.parametrize("kind", ["float32", "float64", "float16", "int32"])
@pytest.mark.parametrize("colored", ["uint8", "float32", None])
def test_arrays_of_a_gpu_stay_there(gpu: Gpu, kind: str, colored: str | None) -> None:
    rng = np.random.default_rng(3)
    centers = rng.normal(0.0, 20.0, (800, 3)).astype(kind)
    radius = rng.uniform(1.0, 9.0, 800).astype(kind)
    color: Any = "teal" if colored is None else rng.uniform(0.0, 255.0, (800, 3)).astype(colored)
    color = color / np.float32(255) if colored == "float32" else color
    there = color if isinstance(color, str) else gpu.there(color)
    of_gpu = Scene.from_arrays(gpu.there(centers), gpu.there(radius), there)
    of_host = Scene.from_arrays(centers, radius, color)
    (here, camera), (buffers, fitted) = packed_by(None, of_host), packed_by(gpu, of_gpu)
    assert vars(camera) == vars(fitted)
    assert records(buffers, gpu).tobytes() == np.stack(here.primitives, axis=1).tobytes()
    if colored is not None:
        assert isinstance(buffers.colors, DeviceColors)
        data = gpu.driver.view(there_of(buffers).memory.address("color"), 12 * 800)
        assert data.tobytes() == here.color.tobytes()
    assert not [name for name in vars(of_gpu.spheres[0]) if "host" in name]
    assert buffers.digest() == here.digest()
    assert of_gpu.spheres[0].centers.tolist() == centers.tolist()


def test_colours_beside_a_ground_are_rows_of_both(gpu: Gpu) -> None:
    rng = np.random.default_rng(3)
    centers, color = rng.random((500, 3)), rng.integers(0, 256, (500, 3), np.uint8)
    ground = raytracer.Ground(color="navy")
    here, _ = packed_by(None, Scene.from_arrays(centers, 0.1, color, ground=ground))
    buffers, _ = packed_by(gpu, Scene.from_arrays(centers, 0.1, gpu.there(color), ground=ground))
    data = gpu.driver.view(there_of(buffers).memory.address("color"), 12 * 501)
    assert data.tobytes() == here.color.tobytes()


def test_large_spheres_are_found_there(gpu: Gpu) -> None:
    rng = np.random.default_rng(0)
    centers, radius = rng.random((500, 3)), np.full(500, 0.01)
    centers[77], radius[77] = (0.0, -1e5, 0.0), 1e5
    here, _ = packed_by(None, Scene.from_arrays(centers, radius))
    buffers, _ = packed_by(gpu, Scene.from_arrays(gpu.there(centers), gpu.there(radius)))
    assert here.large_id.tolist() == buffers.large_id.tolist() == [77]
    assert here.large.tobytes() == buffers.large.tobytes()
