"""Two GPUs as one device: the bytes of one GPU, of films and of pictures developed on the first."""

from collections import Counter
from functools import partial
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer.backends.cuda import striped_memory
from raytracer.backends.cuda.driver import call, get_primary_context
from raytracer.backends.cuda.run import CudaDevice
from raytracer.backends.group import DeviceGroup
from raytracer.config.tone_settings import ToneSettings
from raytracer.film.film import Film
from raytracer.rendering.pipeline import prepare
from support.device_arrays import OnGpu
from support.project import to_project
from support.scenes import random_scene

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("cuda")]

SIZE = WIDTH, HEIGHT = 321, 203  # no multiple of a tile, some bands

SCENES: dict[str, tuple[raytracer.Scene, dict[str, Any]]] = {
    "list": (to_project(random_scene(1, 3)), {}),
    "mirrors": (to_project(random_scene(2, 300, mirror=True)), {}),
    "tiny spheres": (to_project(random_scene(3, 100_000)), {}),
    "occlusion": (to_project(random_scene(4, 300)), {"integrator": "ao"}),
    "paths": (to_project(random_scene(5, 300, mirror=True)), {"integrator": "path"}),
    "bonds": (to_project(random_scene(6, 300)), {"bonds": 0.4, "style": "ball-and-stick"}),
}


@pytest.fixture(autouse=True)
def two_gpus(cuda: str) -> None:
    if sum(each["backend"] == cuda for each in raytracer.devices()) < 2:
        pytest.skip("cuda: there is one GPU")


@pytest.mark.parametrize("backend", ["cuda:0,1", "cuda:1,0", "cuda:all"])
@pytest.mark.parametrize("name", SCENES)
def test_any_picture_has_the_bytes_of_one_gpu(name: str, backend: str) -> None:
    scene, more = SCENES[name]
    options: dict[str, Any] = {"width": WIDTH, "height": HEIGHT, "aovs": ["depth", "id"]} | more
    images = []
    for each in ("cuda:0", backend):
        first = raytracer.render(scene, backend=each, samples=3, **options)
        images.append(raytracer.render(scene, backend=each, samples=6, film=first.film, **options))
    one, several = images
    assert several.film.sums.tobytes() == one.film.sums.tobytes()
    for variable, values in one.film.aovs.items():
        assert several.film.aovs[variable].tobytes() == values.tobytes()


@pytest.mark.parametrize("numbers", [(0, 1), (1, 0)])
@pytest.mark.parametrize("name", ["mirrors", "paths", "bonds"])
def test_a_striped_scene_has_the_bytes_of_one_gpu(
    name: str, numbers: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    if reason := striped_memory.explain_missing(numbers):
        pytest.skip(f"cuda: {reason}")
    monkeypatch.setattr(striped_memory, "STRIPE", 2 << 20)
    options: dict[str, Any] = {"width": WIDTH, "height": HEIGHT} | SCENES[name][1]
    if name == "bonds":
        options["bonds"] = 0.05
    scene = to_project(random_scene(7, 300_000 if name != "bonds" else 60_000, mirror=True))
    several = DeviceGroup([CudaDevice(number) for number in numbers], is_striped=True)
    with prepare(scene, options, backend="cuda:0") as job:
        with job.device.film(Film.blank(*SIZE)) as film:
            film.add(job.scene, job.view, 5)
            sums = film.to_host().sums.tobytes()
        hits = job.scene.trace_first_hits(job.view).tobytes()
    made = Counter[int]()
    monkeypatch.setattr(striped_memory, "call", partial(count_memory, made))
    with prepare(scene, options, backend=several) as job:
        assert job.scene.striped_over == job.about["backend"]["striped_over"] == 2
        assert set(made) == set(numbers)
        with job.device.film(Film.blank(*SIZE)) as film:
            for samples in (2, 3):
                film.add(job.scene, job.view, samples)
            assert film.to_host().sums.tobytes() == sums
        assert job.scene.trace_first_hits(job.view).tobytes() == hits


def count_memory(made: Counter[int], name: str, *arguments: Any) -> Any:
    """Call the driver, and add the bytes of physical memory that are asked of each GPU."""
    if name == "cuMemCreate":
        made[arguments[1].location.id] += arguments[0]
    return call(name, *arguments)


def test_adaptive_samples_have_the_bytes_of_one_gpu() -> None:
    scene, options = SCENES["paths"][0], {"width": WIDTH, "height": HEIGHT, "noise": 0.1}
    one, several = (
        raytracer.render(scene, backend=backend, integrator="path", **options)  # type: ignore[arg-type]
        for backend in ("cuda:0", "cuda:0,1")
    )
    assert several.film.sums.tobytes() == one.film.sums.tobytes()
    assert several.film.pixel_counts().tobytes() == one.film.pixel_counts().tobytes()


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("copied", [False, True])
def test_pictures_are_developed_on_the_first_gpu(bits: int, copied: bool) -> None:
    """Between samples, also of drafts, with rows that are copied from GPU to GPU."""
    tone = ToneSettings(exposure="auto", tone="aces")
    made: list[list[bytes]] = []
    for backend in ("cuda:0", "cuda:0,1"):
        size = {"width": WIDTH, "height": HEIGHT, "integrator": "ao"}
        with (
            prepare(SCENES["mirrors"][0], size, backend=backend) as job,
            job.device.film(Film.blank(*SIZE)) as film,
        ):
            found, picture = list[bytes](), job.device.picture()
            for view, samples in ((job.view.as_draft(), 1), (job.view, 2), (job.view, 5)):
                if view.draft:
                    film.clear()
                film.add(job.scene, view, samples)
                if copied:
                    found.append(film.to_host().sums.tobytes())
                found += [array.tobytes() for array in film.develop(tone, bits)]
                film.develop_into(ToneSettings(), picture)
                found.append(picture.to_host().tobytes())
            found.append(film.to_host().sums.tobytes())
            picture.close()
        made.append(found)
    assert made[0] == made[1]


def test_an_interrupt_ends_both(monkeypatch: pytest.MonkeyPatch) -> None:
    from raytracer.backends.cuda import launch

    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    size = {"width": WIDTH, "height": HEIGHT}
    sums = list[bytes]()
    for backend in ("cuda:0", "cuda:0,1"):
        with (
            prepare(SCENES["mirrors"][0], size, backend=backend) as job,
            job.device.film(Film.blank(*SIZE)) as film,
        ):
            film.add(job.scene, job.view, 2)
            film.to_host()
            with monkeypatch.context() as slow:
                slow.setattr(launch, "TARGET_SECONDS", 1e-5)
                with pytest.raises(KeyboardInterrupt):
                    film.add(job.scene, job.view, 1000, interrupt)
            assert film.samples == 2
            film.add(job.scene, job.view, 2)
            sums.append(film.to_host().sums.tobytes())
    assert sums[0] == sums[1]


def test_memory_of_both_is_given_back() -> None:

    def free() -> list[int]:
        return [get_primary_context(number).measure_memory()[0] for number in range(2)]

    def left_behind() -> int:
        before = free()
        for _ in range(5):
            raytracer.render(SCENES["mirrors"][0], backend="cuda:0,1", width=WIDTH, height=HEIGHT)
        return max(b - a for b, a in zip(before, free(), strict=True))

    left_behind()
    assert min(left_behind() for _ in range(5)) <= 1 << 20


@pytest.mark.parametrize("kind", ["of the host", "of the first GPU"])
def test_updates_in_place_have_the_bytes_of_one_gpu(kind: str) -> None:
    """More spheres than constant memory takes; the scene is packed by the first GPU."""
    rng = np.random.default_rng(0)
    positions, colors = rng.random((20_000, 3), np.float32), rng.random((20_000, 3), np.float32)
    there: Any = OnGpu if kind == "of the first GPU" else np.asarray
    size: dict[str, Any] = {"width": WIDTH, "height": HEIGHT, "samples": 2}
    pictures = []
    for backend in ("cuda:0", "cuda:0,1"):
        scene = raytracer.Scene.from_arrays(there(positions), 0.01, there(colors))
        with raytracer.LiveScene(scene, backend=backend, **size) as live:
            found = [live.pixels().tobytes()]
            for step in range(3):
                live.update(there(positions + np.float32(0.02 * step)), colors=there(colors[::-1]))
                found.append(live.pixels().tobytes())
            assert live._can_move
        pictures.append(found)
    assert pictures[0] == pictures[1]
