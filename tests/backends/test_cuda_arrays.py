"""Arrays on a real GPU: packed where they are, on the caller's stream, and pictures given there."""

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import raytracer
from raytracer import UserError
from raytracer.config.warning import RaytracerWarning
from raytracer.model.colors import linear_rgb
from raytracer.packing.sphere_update import SphereUpdate
from raytracer.system import layout
from raytracer.system.device_array import DeviceArray, device_array
from support.device_arrays import (
    KINDS,
    SPACE,
    STRIDES,
    TURNED,
    OnGpu,
    check_packed,
    hosts,
    numbers,
)  # fmt: skip

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("cuda")]

COUNT = 100_000


def package(name: str) -> Callable[[NDArray[Any]], Any]:
    """How a package copies an array of NumPy to the GPU; skips where it cannot."""
    if name == "driver":
        return OnGpu
    module: Any = pytest.importorskip(name, exc_type=ImportError)
    to_gpu: dict[str, Callable[[NDArray[Any]], Any]] = {
        "torch": lambda array: module.from_numpy(array).cuda(),
        "cupy": lambda array: module.asarray(array),
        "jax": lambda array: module.device_put(array, module.devices("gpu")[0]),
        "warp": lambda array: module.array(array, device="cuda:0"),
        "numba.cuda": lambda array: module.to_device(array),
        "pycuda.gpuarray": lambda array: module.to_gpu(array),
    }

    def there(array: NDArray[Any]) -> Any:
        from raytracer.backends.cuda.driver import get_primary_context

        with get_primary_context(0).activate():  # PyCUDA takes the current one
            return to_gpu[name](np.ascontiguousarray(array))

    try:
        there(np.zeros(1, np.float32))
    except Exception as error:  # built without CUDA, or for another driver
        pytest.skip(f"{name} does not reach the GPU: {error}")
    return there


os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # tests share the GPU
PACKAGES = ["driver", "torch", "cupy", "jax", "warp", "numba.cuda", "pycuda.gpuarray"]


class Packing:
    """Packs updates into memory of its own on the first GPU."""

    def __init__(self) -> None:
        from raytracer.backends.cuda.driver import get_primary_context
        from raytracer.backends.cuda.memory import DeviceMemory
        from raytracer.backends.cuda.pack import Packer
        from raytracer.backends.cuda.transfer import NON_BLOCKING

        self.context = get_primary_context(0)
        self._memory = DeviceMemory(self.context)
        with self.context.activate() as driver:
            self.packer, self.stream = Packer(0), driver.Stream(NON_BLOCKING)
            sizes = {"records": 16 * COUNT, "color": 12 * COUNT, "info": 48}
            self.places = {name: self._memory.allocate(name, n) for name, n in sizes.items()}
            for name, size in sizes.items():
                driver.memset_d32_async(self.places[name], 0, size // 4, self.stream)

    def queue(self, update: SphereUpdate) -> None:
        with self.context.lock, self.context.activate():
            records, color, info = self.places.values()
            self.packer.pack(update, records, color, info, self.stream)

    def results(self, count: int = COUNT) -> tuple[NDArray[np.float32], NDArray[np.float32], Any]:
        from raytracer.backends.cuda.pack import decode_info

        records, color = np.empty((count, 4), np.float32), np.empty((count, 3), np.float32)
        info = np.empty(1, layout.struct_dtype("PackInfo"))
        with self.context.activate() as driver:
            self.stream.synchronize()
            for array, place_of in zip((records, color, info), self.places.values(), strict=True):
                driver.memcpy_dtoh(array.reshape(-1).view(np.uint8), place_of)
        return records, color, decode_info(info)

    def __call__(self, update: SphereUpdate) -> tuple[Any, Any, Any]:
        self.queue(update)
        return self.results(update.count)


@pytest.fixture
def packing() -> Iterator[Packing]:
    packing = Packing()
    yield packing
    packing.packer.close()
    packing._memory.close()


def update(positions: Any = None, radii: Any = None, colors: Any = None, **more: Any) -> Any:
    """An update by arrays of any package; those of NumPy stay on the host."""
    linear, offset = SPACE.affine_from(TURNED)
    given: list[Any] = [
        each if each is None or isinstance(each, np.ndarray) else device_array(each)
        for each in (positions, radii, colors)
    ]
    count = next(len(each) for each in given if each is not None)
    scale = TURNED.scale / SPACE.scale
    arrays = dict(zip(("positions", "radii", "colors"), given, strict=True))
    change = SphereUpdate(
        0, count, **arrays, color_space="srgb", first_color=0, linear=linear, offset=offset,
        scale=scale,
    )  # fmt: skip
    return replace(change, **more)


@pytest.mark.parametrize("name", PACKAGES)
@pytest.mark.parametrize("kind", KINDS)
def test_records_have_the_bytes_of_the_host(packing: Packing, name: str, kind: str) -> None:
    if name == "jax" and kind in ("float64", "int64"):
        pytest.skip("JAX has 64 bits on request alone")
    there = package(name)
    positions, radii = numbers(kind, (COUNT, 3)), np.abs(numbers(kind, (COUNT,), 2))
    records, _, info = packing(update(there(positions), there(radii)))
    check_packed(records, info, hosts(positions, radii))


@pytest.mark.parametrize("strides", STRIDES)
@pytest.mark.parametrize("kind", ["float32", "float64", "float16"])
def test_arrays_of_any_strides(packing: Packing, kind: str, strides: str) -> None:
    positions = STRIDES[strides](numbers(kind, (COUNT, 3)))
    radii = STRIDES[strides](np.abs(numbers(kind, (COUNT, 1), 2)))[:, 0]
    records, _, _ = packing(update(OnGpu(positions), OnGpu(radii)))
    assert records.tobytes() == hosts(positions, radii).tobytes()


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_arrays_of_the_host_are_copied(packing: Packing, kind: str) -> None:
    for seed in (1, 2):  # the copies of the first call are used again
        positions, radii = numbers(kind, (COUNT, 3), seed), np.abs(numbers(kind, (COUNT,), seed))
        records, _, _ = packing(update(positions, radii))
        assert records.tobytes() == hosts(positions, radii).tobytes()
        records, _, _ = packing(update(OnGpu(positions), np.array([0.5])))
        assert records.tobytes() == hosts(positions, 0.5).tobytes()


@pytest.mark.parametrize("space", ["srgb", "linear"])
@pytest.mark.parametrize("kind", ["uint8", "float16", "float32", "float64"])
def test_colours_are_those_of_the_host(packing: Packing, kind: str, space: str) -> None:
    rng = np.random.default_rng(4)
    colors = rng.integers(0, 256, (COUNT, 3)).astype(np.uint8) if kind == "uint8" else None
    colors = rng.random((COUNT, 3)).astype(kind) if colors is None else colors
    _, made, info = packing(update(colors=OnGpu(colors), color_space=space))
    assert made.tobytes() == linear_rgb(colors, space).tobytes()
    assert info.wrong == {}


@pytest.mark.parametrize("kind", ["linear", "discrete", "log", "symlog"])
def test_values_are_coloured_by_their_scale(packing: Packing, kind: str) -> None:
    low = 0.01 if kind == "log" else -1.0
    scale = raytracer.ColorScale("viridis", kind, low=low, high=2.0)
    values = np.random.default_rng(5).normal(0.5, 1.5, COUNT)
    values[:3] = np.nan, np.inf, -np.inf
    _, made, _ = packing(update(colors=OnGpu(values), color_map=scale.color_map()))
    is_other = (made != scale.rgb(values)).any(axis=1)
    assert is_other.mean() <= (1e-4 if "log" in kind else 0.0)


@pytest.mark.parametrize(
    ("part", "value", "word"),
    [("positions", np.nan, "center"), ("radii", -1.0, "radius"), ("positions", 1e30, "reach")],
)
def test_the_first_wrong_sphere_is_named_and_stays(
    packing: Packing, part: str, value: float, word: str
) -> None:
    given = {"positions": numbers("float64", (COUNT, 3)), "radii": np.full(COUNT, 0.5)}
    good, _, _ = packing(update(**{name: OnGpu(array) for name, array in given.items()}))
    given[part][[70_000, 90_000]] = value
    records, _, info = packing(update(**{name: OnGpu(array) for name, array in given.items()}))
    assert records.tobytes() == good.tobytes()
    assert info.wrong == {word: 70_000}
    with pytest.raises(UserError, match="sphere 70000 "):
        info.check()


def test_arrays_are_read_and_written_again_in_the_order_of_the_callers_stream(
    packing: Packing,
) -> None:
    """Each of many copies to one array is packed before the next one."""
    many = 20
    versions = [numbers("float32", (COUNT, 3), seed) for seed in range(many)]
    array = OnGpu(versions[0])
    kept = []
    with packing.context.activate() as driver:
        stream = driver.Stream(1)
        locked = driver.pagelocked_empty(many * versions[0].size, np.float32)
        locked[:] = np.concatenate([each.reshape(-1) for each in versions])
        for each in locked.reshape(many, -1):
            driver.memcpy_htod_async(int(array.memory), each, stream)
            packing.queue(update(array, np.array([0.5]), stream=int(stream.handle)))
            result = driver.mem_alloc(16 * COUNT)
            driver.memcpy_dtod_async(
                int(result), packing.places["records"], 16 * COUNT, packing.stream
            )
            kept.append(result)
        packing.stream.synchronize()
        for version, result in zip(versions, kept, strict=True):
            records = np.empty((COUNT, 4), np.float32)
            driver.memcpy_dtoh(records, int(result))
            assert records.tobytes() == hosts(version, 0.5).tobytes()
            result.free()


def test_pytorchs_stream_is_waited_for(packing: Packing) -> None:
    torch: Any = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("this PyTorch has no CUDA")
    source = torch.from_numpy(numbers("float32", (COUNT, 3))).cuda()
    stream = torch.cuda.Stream()
    for factor in (1.0, 2.0):
        with torch.cuda.stream(stream):
            torch.cuda._sleep(50_000_000)
            moved = source * factor
            found = device_array(moved, "positions", stream)
            packing.queue(update(found, np.array([0.5]), stream=stream.cuda_stream))
            moved.zero_()  # after it was read
        records, _, _ = packing.results()
        expected = hosts(numbers("float32", (COUNT, 3)) * np.float32(factor), 0.5)
        assert records.tobytes() == expected.tobytes()


def test_nothing_is_allocated_after_the_first_call(packing: Packing) -> None:
    positions, host = OnGpu(numbers("float32", (COUNT, 3))), numbers("float32", (COUNT, 3))
    for each in (positions, host):
        packing(update(each, np.array([0.5])))
    before = packing.packer.nbytes

    def taken() -> int:
        free, _ = packing.context.measure_memory()
        for each in (positions, host) * 10:
            packing(update(each, np.array([0.5])))
        return free - packing.context.measure_memory()[0]

    # Other processes use the GPU too; memory that updates take would be taken each time.
    assert min(taken() for _ in range(5)) <= 1 << 21
    assert packing.packer.nbytes == before


def test_a_graph_packs_what_the_array_holds_then(packing: Packing) -> None:
    from raytracer.backends.cuda.driver import load_bindings

    first, second = (numbers("float32", (COUNT, 3), seed) for seed in (1, 2))
    array = OnGpu(first)
    with packing.context.lock, packing.context.activate() as driver:
        change = update(array, np.array([0.5]), stream=int(packing.stream.handle))
        graph = load_bindings().Graph(packing.stream, lambda: packing.queue(change))
        for version in (first, second):
            driver.memcpy_htod(int(array.memory), version.tobytes())
            graph.launch()
            records, _, info = packing.results()
            assert records.tobytes() == hosts(version, 0.5).tobytes()
            assert info.wrong == {}


def test_addresses_that_are_not_on_a_gpu_are_refused() -> None:
    class Wrong:
        def __init__(self) -> None:
            array = np.zeros((4, 3))
            self.kept = array
            self.__cuda_array_interface__ = {
                "shape": (4, 3), "typestr": "<f8", "data": (array.ctypes.data, False), "version": 3,
            }  # fmt: skip

    with pytest.raises(UserError, match="positions: its address is not in the memory of a GPU"):
        device_array(Wrong(), "positions")


def test_another_gpus_array_is_refused(packing: Packing) -> None:
    elsewhere = replace(device_array(OnGpu(np.zeros((4, 3)))) or pytest.fail("none"), device=7)
    with pytest.raises(UserError, match="positions: is on GPU 7, and the scene is on GPU 0: copy"):
        packing.queue(update(elsewhere))


@pytest.mark.parametrize("name", PACKAGES)
def test_arrays_come_to_the_host_wherever_arrays_do(name: str) -> None:
    positions = numbers("float32", (1000, 3))
    spheres = raytracer.SphereSet(package(name)(positions), 0.5)
    assert spheres.centers.tobytes() == positions.tobytes()
    image = raytracer.render(
        {"centers": package(name)(positions)}, width=16, height=16, backend="cpu"
    )
    assert image.to_uint8().any()


@pytest.mark.parametrize("strides", STRIDES)
def test_strided_arrays_come_to_the_host(strides: str) -> None:
    array = STRIDES[strides](numbers("float64", (100, 3)))
    found = device_array(OnGpu(array))
    assert found is not None
    assert found.to_host().tobytes() == array.tobytes()


SIZE: dict[str, Any] = {"width": 64, "height": 48, "samples": 2, "backend": "cuda"}


def picture_there(kind: str) -> tuple[DeviceArray, NDArray[np.uint8]]:
    scene = raytracer.Scene.from_arrays(numbers("float32", (1000, 3)), 1.0)
    if kind == "image":
        image = raytracer.render(scene, **SIZE)
        return image.device_array(), np.asarray(image.pixels(8), np.uint8)
    with raytracer.LiveScene(scene, **SIZE) as live:
        return live.device_pixels(), live.pixels()


@pytest.mark.parametrize("kind", ["image", "live"])
def test_a_picture_on_the_gpu_is_that_of_the_host(kind: str) -> None:
    there, here = picture_there(kind)
    assert there.shape == here.shape
    assert np.array_equal(np.asarray(there), here)
    torch: Any = pytest.importorskip("torch")
    if torch.cuda.is_available():
        assert np.array_equal(torch.from_dlpack(there).cpu().numpy(), here)


@pytest.mark.parametrize("kind", ["image", "live"])
def test_a_picture_on_the_gpu_goes_to_cupy_without_a_copy(kind: str) -> None:
    cupy: Any = pytest.importorskip("cupy")
    there, here = picture_there(kind)
    for taken in (cupy.asarray(there), cupy.from_dlpack(there)):
        assert taken.data.ptr == there.address
        assert np.array_equal(taken.get(), here)


def test_live_pictures_of_arrays_on_the_gpu_are_those_of_the_host() -> None:
    positions, colors = numbers("float32", (1000, 3)), np.random.default_rng(6).random((1000, 3))
    scene = raytracer.Scene.from_arrays(positions, 1.0, colors)
    pictures = []
    kinds: list[Callable[[NDArray[Any]], Any]] = [lambda array: array, OnGpu]
    for kind in kinds:
        with raytracer.LiveScene(scene, **SIZE) as live:
            if not live._job.scene.can_update:  # type: ignore[union-attr]
                pytest.skip("scenes on a GPU are not updated in place")
            live.update(kind(positions + 1), kind(np.full(1000, 0.5)))
            live.update(colors=kind(colors[::-1].astype(np.float32)))
            pictures.append(live.pixels())
    assert np.array_equal(pictures[0], pictures[1])


@pytest.mark.parametrize("excess", [-1.0, 1e300])
@pytest.mark.parametrize("count", [100, 20_000])
def test_radii_on_the_gpu_make_large_spheres_as_those_of_the_host(
    count: int, excess: float
) -> None:
    """With trees that are built for each picture and that are refitted."""
    rng = np.random.default_rng(8)
    positions = rng.uniform(-1.0, 1.0, (count, 3))
    radii = rng.uniform(0.3, 0.6, count) * count ** (-1 / 3)
    scene = raytracer.Scene.from_arrays(positions, radii)
    sunk, huge = positions.copy(), radii.copy()
    sunk[7], huge[7] = (0.0, -4e6 - 1.2, 0.0), 4e6
    pictures: list[list[bytes]] = []
    kinds: list[Callable[[NDArray[Any]], Any]] = [lambda array: array, OnGpu]
    for kind in kinds:
        with raytracer.LiveScene(scene, **SIZE) as live:
            live._open().scene.max_excess = excess
            live.update(kind(positions + 0.01), kind(0.9 * radii))
            found = [live.pixels().tobytes()]
            assert len(live._kept[1].large) == 0
            for each, sizes in ((sunk, huge), (sunk + 0.01, huge), (positions, radii)):
                live.update(kind(each), kind(sizes))
                found.append(live.pixels().tobytes())
                assert len(live._kept[1].large) == (each is not positions)
        pictures.append(found)
    assert pictures[0] == pictures[1]
    assert len(set(pictures[0])) == 4


CYCLES = 1 << 28
"""Cycles of the GPU for which a stream sleeps: about 0.15 s, far longer than an update."""


@pytest.fixture
def torch() -> Any:
    module: Any = pytest.importorskip("torch")
    if not module.cuda.is_available():
        pytest.skip("torch does not reach the GPU")
    return module


@pytest.mark.parametrize("name", ["positions", "values", "another number"])
def test_copies_to_the_host_wait_for_a_stream_of_torch(name: str, torch: Any) -> None:
    """CUDA's default stream, on which they are made, does not wait for those of PyTorch."""
    expected = numbers("float32", (1000, 3))
    scene = raytracer.Scene.from_arrays(np.zeros((7 if " " in name else 1000, 3)), 1.0, "red")
    with raytracer.LiveScene(scene, **SIZE) as live:
        live.pixels()
        stream, source = torch.cuda.Stream(), torch.from_numpy(expected).cuda()
        array = torch.zeros_like(source)
        torch.cuda.synchronize()
        with torch.cuda.stream(stream):
            torch.cuda._sleep(CYCLES)
            array.copy_(source)
        if name == "values":
            live.update(values=array[:, 0], stream=stream)
            scale = live.color_scale
            assert scale is not None
            assert (scale.low, scale.high) == (expected[:, 0].min(), expected[:, 0].max())
        else:
            live.update(array, stream=stream)
            assert np.array_equal(live.scene.spheres[0].centers, expected)


def test_pictures_wait_for_the_stream_that_reads_the_last_one(torch: Any) -> None:
    positions = numbers("float32", (1000, 3))
    scene = raytracer.Scene.from_arrays(positions, 1.0)
    with raytracer.LiveScene(scene, **SIZE) as live:
        expected = live.pixels()
        live.device_pixels()
        first, second = torch.cuda.Stream(), torch.cuda.Stream()
        picture = live.device_pixels(stream=first)
        with torch.cuda.stream(first):
            torch.cuda._sleep(CYCLES)
            copy = torch.from_dlpack(picture).clone()
        live.update(positions + 1)
        live.device_pixels(stream=second)
        torch.cuda.synchronize()
        assert np.array_equal(copy.cpu().numpy(), expected)
        assert not np.array_equal(live.pixels(), expected)


def pixels_of(*arrays: Any, **more: Any) -> NDArray[np.uint8]:
    scene = raytracer.Scene.from_arrays(*arrays, ground=raytracer.Ground(), **more)
    return np.asarray(raytracer.render(scene, **SIZE).pixels(8), np.uint8)


@pytest.mark.parametrize("name", PACKAGES)
def test_a_scene_of_arrays_on_the_gpu_is_rendered_there(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = package(name)
    positions = numbers("float32", (COUNT, 3))
    radii = np.random.default_rng(3).uniform(0.1, 1.0, COUNT).astype(np.float32)
    colors = np.random.default_rng(4).integers(0, 256, (COUNT, 3)).astype(np.uint8)
    arrays = positions, radii, colors
    expected = pixels_of(*arrays)
    scene = raytracer.Scene.from_arrays(*map(there, arrays), ground=raytracer.Ground())
    with raytracer.LiveScene(scene, **SIZE) as live:
        assert np.array_equal(live.pixels(), expected)
        assert not [each for each in vars(scene.spheres[0]) if "host" in each], "no copy was made"
        assert "columns" not in vars(live._kept[1].placed)
        live.update(there(positions + np.float32(1)))
        moved = live.pixels()
    with raytracer.LiveScene(
        raytracer.Scene.from_arrays(*arrays, ground=raytracer.Ground()), **SIZE
    ) as live:
        live.update(positions + np.float32(1))
        assert np.array_equal(live.pixels(), moved)
    images = [
        raytracer.render(raytracer.Scene.from_arrays(*each), **SIZE)
        for each in (map(there, arrays), arrays)
    ]
    digests = {image.metadata["scene"]["digest"] for image in images}
    assert len(digests) == 1
    assert images[0].film.sums.tobytes() == images[1].film.sums.tobytes()


@pytest.mark.parametrize("part", ["centers", "radius", "color"])
def test_a_scene_of_wrong_arrays_on_the_gpu_is_refused(part: str) -> None:
    arrays = {
        "centers": numbers("float32", (COUNT, 3)),
        "radius": np.ones(COUNT, np.float32),
        "color": np.ones((COUNT, 3), np.float32),
    }
    arrays[part].reshape(COUNT, -1)[77_777, 0] = np.nan
    scene = raytracer.Scene.from_arrays(*map(OnGpu, arrays.values()))
    with pytest.raises(UserError, match=f"{part}: (sphere|colour) 77777 "):
        raytracer.render(scene, **SIZE)


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_arrays_of_the_host_are_packed_in_parts(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes and camera are those of the scene that the host packs."""
    from raytracer.backends.cuda import placed_spheres, run
    from raytracer.system import memory

    positions = numbers(kind, (COUNT, 3))
    positions[5] = 1e6  # which the camera leaves out
    with pytest.warns(RaytracerWarning, match="1 of 100,000 spheres is far away"):
        expected = pixels_of(positions, 0.5)
    for module in (memory, run):
        monkeypatch.setattr(module, "MIN_PLACED", 5000)
    monkeypatch.setattr(placed_spheres, "CHUNK_ROWS", 7777)
    with pytest.warns(RaytracerWarning, match="1 of 100,000 spheres is far away"):
        assert np.array_equal(pixels_of(positions, 0.5), expected)


@pytest.mark.parametrize("count", [300, 20_000])
def test_spheres_beside_solids_move_in_place(count: int) -> None:
    rng = np.random.default_rng(5)
    first, other = rng.random((2, count, 3))
    rods = raytracer.CapsuleSet(rng.random((20, 3)), rng.random((20, 3)), 0.01, "red")
    tips = raytracer.ConeSet(rng.random((20, 3)), rng.random((20, 3)), 0.02)

    def scene(centers: NDArray[Any]) -> raytracer.Scene:
        spheres = raytracer.SphereSet(centers, 0.01, rng.random((count, 3)))
        spheres.color[:] = 0.5
        return raytracer.Scene([spheres], capsules=[rods], cones=[tips])

    with raytracer.LiveScene(scene(first), **SIZE) as live:
        live.pixels()
        assert live._can_move
        for positions in (other, first + 0.01, OnGpu(other)):
            live.update(positions)
            moved = live.pixels()
        camera = live.camera
    with raytracer.LiveScene(scene(first), **SIZE) as live:
        live._can_move = False  # packed anew
        live.update(other)
        assert live.camera == camera
        assert np.array_equal(live.pixels(), moved)


def test_sums_on_the_gpu_are_those_of_the_film() -> None:
    scene = raytracer.Scene.from_arrays(numbers("float32", (1000, 3)), 1.0)
    with raytracer.LiveScene(scene, **SIZE) as live:
        sums = live.device_sums(5).to_host()
        assert sums.tobytes() == live.render(5).film.sums.tobytes()
