"""The CUDA backend on a GPU: pictures like the CPU's, and a good neighbour to other libraries."""

import ctypes
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import raytracer
from raytracer.backends.cuda import launch
from raytracer.backends.group import divide_rows
from raytracer.film.film import Film
from raytracer.rendering.pipeline import prepare
from reference import RefScene, View
from support.pictures import Bench
from support.project import shoot, to_project
from support.scenes import KEY, one_ball, random_scene

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("cuda")]

WIDTH, HEIGHT = 161, 91  # no multiple of a tile

SCENES = {
    "three balls": random_scene(1, 3),
    "mirrors": random_scene(2, 300, mirror=True),
    "orthographic": random_scene(3, 300, ortho=True),
    "more than constant memory holds": random_scene(4, 20_000),
    "nothing": random_scene(5, 0),
    "one ball": one_ball(View((0.0, 0.0, 4.0), (0.0, 0.0, 0.0)), lights=(KEY,)),
    "inside a ball": one_ball(View((0.0, 0.0, 0.5), (0.0, 0.0, 0.0)), lights=(KEY,)),
    "transparent": random_scene(6, 50).but(transparent=True),
}


def sums(**settings: Any) -> NDArray[np.float32]:
    """The film of a picture with mirrors, rendered on the GPU."""
    scene = to_project(SCENES["mirrors"])
    image = raytracer.render(scene, backend="cuda", width=WIDTH, height=HEIGHT, **settings)
    return np.asarray(image.film.sums)


@pytest.fixture
def tiny_launches(monkeypatch: pytest.MonkeyPatch) -> None:
    """A device that seems so slow that each launch gets a few tiles only."""
    monkeypatch.setattr(launch, "TARGET_SECONDS", 1e-5)
    monkeypatch.setattr(launch, "FIRST_SAMPLES", 500)
    monkeypatch.setattr(launch, "FIRST_SAMPLES_WATCHED", 500)


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("filter_name", ["point", "gaussian"])
def test_picture_is_that_of_the_cpu(pictures: Bench, name: str, filter_name: str) -> None:
    scene: RefScene = SCENES[name]
    cpu, gpu = (
        shoot(scene, WIDTH, HEIGHT, backend=backend, samples=4, filter=filter_name)
        for backend in ("cpu", "cuda")
    )
    pictures.agree(cpu, gpu, tolerance=2 / 255, share=1e-3, mean=1e-4, srgb=True, what=name)


def test_crop_is_that_part_of_the_picture() -> None:
    whole = sums(samples=2)
    part = sums(samples=2, crop=(13, 7, 90, 50))
    assert part.tobytes() == whole[7:50, 13:90].tobytes()


@pytest.mark.usefixtures("tiny_launches")
def test_many_launches_give_the_bytes_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[float] = []
    many = sums(samples=3, progress=told.append)
    monkeypatch.undo()
    assert len(told) > 3
    assert told[-1] == 1.0
    assert many.tobytes() == sums(samples=3).tobytes()


@pytest.mark.usefixtures("tiny_launches")
def test_bands_side_by_side_give_the_bytes_of_one_film() -> None:
    size = {"width": WIDTH, "height": HEIGHT, "samples": 3}
    with prepare(to_project(SCENES["mirrors"]), size, backend="cuda") as job:
        together = np.zeros((HEIGHT, WIDTH, 4), np.float32)
        for bands in divide_rows(HEIGHT, 2):
            with job.device.film(Film.blank(WIDTH, HEIGHT)) as film:
                film.add(job.scene, job.view, 2, bands=bands[::-1])  # in any order
                film.add(job.scene, job.view, 1, first=2, bands=bands)
                host = film.to_host(bands)
            for top, bottom in bands:
                together[top:bottom] = host.sums[top:bottom]
    assert together.tobytes() == sums(samples=3).tobytes()


def test_samples_in_two_renders_give_the_bytes_of_one() -> None:
    scene = to_project(SCENES["mirrors"])
    size = {"backend": "cuda", "width": WIDTH, "height": HEIGHT}
    first = raytracer.render(scene, samples=3, **size)  # type: ignore[arg-type]
    both = raytracer.render(scene, samples=5, film=first.film, **size)  # type: ignore[arg-type]
    assert both.film.samples == 8
    assert both.film.sums.tobytes() == sums(samples=8).tobytes()


@pytest.mark.usefixtures("tiny_launches")
def test_interrupted_render_leaves_a_device_that_works(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sums(samples=1, progress=interrupt)
    monkeypatch.undo()
    assert sums(samples=1).any()


def test_context_is_the_primary_one_and_is_put_back() -> None:
    from raytracer.backends.cuda.driver import get_primary_context

    cuda = ctypes.CDLL("libcuda.so.1")
    before, current, primary = (ctypes.c_void_p() for _ in range(3))
    assert cuda.cuInit(0) == 0
    assert cuda.cuCtxGetCurrent(ctypes.byref(before)) == 0  # that of another package, or none
    sums(samples=1)
    assert cuda.cuCtxGetCurrent(ctypes.byref(current)) == 0
    assert current.value == before.value
    assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(primary), 0) == 0
    with get_primary_context(0).activate():
        assert cuda.cuCtxGetCurrent(ctypes.byref(current)) == 0
        assert current.value == primary.value
    assert cuda.cuDevicePrimaryCtxRelease_v2(0) == 0


def test_pytorch_works_before_between_and_after() -> None:
    torch = pytest.importorskip("torch")
    numbers = torch.arange(1000, device="cuda", dtype=torch.float64)
    before = sums(samples=1)
    assert float(numbers.sum()) == 499_500
    assert sums(samples=1).tobytes() == before.tobytes()
    assert float((numbers * 2).sum()) == 999_000


def test_repeated_renders_leave_no_memory_behind() -> None:
    from raytracer.backends.cuda.driver import get_primary_context

    def left_behind() -> int:
        before, _ = get_primary_context(0).measure_memory()
        for _ in range(10):
            sums(samples=1)
        return int(before - get_primary_context(0).measure_memory()[0])

    sums(samples=1)
    # Other processes use the GPU too; memory that is left behind would be so each time.
    assert any(left_behind() <= 1 << 20 for _ in range(20))


def test_large_array_goes_to_the_device_and_back() -> None:
    from raytracer.backends.cuda.driver import get_primary_context
    from raytracer.backends.cuda.transfer import CHUNK, get_staging

    rng = np.random.default_rng(7)
    sent = rng.integers(0, 256, 3 * CHUNK + 12_345, np.uint8)
    back = np.zeros_like(sent)
    with get_primary_context(0).activate() as driver:
        memory = driver.mem_alloc(sent.nbytes)
        get_staging(0).to_device(sent, int(memory))
        get_staging(0).to_host(int(memory), back)
        memory.free()
    assert (sent == back).all()


def test_errors_are_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    from raytracer.backends.cuda.driver import PrimaryContext
    from raytracer.backends.cuda.run import CudaDevice
    from raytracer.backends.kernel_sources import read_production_kernel

    with pytest.raises(raytracer.UserError, match="there is no GPU 99"):
        CudaDevice(99)
    elsewhere = replace(read_production_kernel("render_packet"), needs=("sm_70",))
    with pytest.raises(raytracer.UserError, match=r"render_packet\.cu needs sm_70; this GPU is"):
        sums_with(CudaDevice(kernel=elsewhere))
    monkeypatch.setattr(PrimaryContext, "measure_memory", lambda _: (1000, 1 << 30))
    with pytest.raises(raytracer.UserError, match="GPU memory"):
        sums_with(CudaDevice())


def sums_with(device: Any) -> None:
    from raytracer.model.settings import RenderSettings
    from raytracer.packing.pack import pack

    buffers = pack(to_project(SCENES["three balls"]), RenderSettings())
    device.scene(buffers).close()


def test_device_is_described() -> None:
    from raytracer.backends.cuda.probe import list_devices

    first = list_devices()[0]
    assert 0 < first["memory_free"] <= first["memory_total"]
    assert first["architecture"].startswith("sm_")
    assert first["multiprocessors"] > 0
