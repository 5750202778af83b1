"""The data flow from a scene to an image: crops, continued films, replayed samples."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer.backends.base import SAMPLES_A_PASS, CpuDevice
from raytracer.backends.group import DeviceGroup
from raytracer.backends.select import select_device
from raytracer.config.errors import BackendError, MemoryNeedError, UserError
from raytracer.rendering import pipeline


def scene(**changes: Any) -> raytracer.Scene:
    """Three spheres, one of them a mirror, small enough to render at once."""
    size = {"width": 24, "height": 16, "samples": 4} | changes
    centers = np.array([[0.0, 0.0, 0.0], [1.5, 0.2, 0.1], [-1.4, 0.1, 0.3]])
    return raytracer.Scene.from_arrays(
        centers,
        np.array([1.0, 0.5, 0.6]),
        np.array([[200, 30, 30], [30, 200, 30], [30, 30, 200]], np.uint8),
        material=raytracer.Material(mirror=0.3),
        render=raytracer.RenderSettings(**size),
    )


def render(**options: Any) -> raytracer.Image:
    """The scene on two threads of the CPU."""
    return raytracer.render(scene(), backend="cpu", threads=2, **options)


def test_a_picture_has_what_was_asked_for() -> None:
    image = render(width=20, samples=3)
    assert image.array.shape == (16, 20, 4)
    assert image.film.samples == 3
    assert np.isfinite(image.array).all()
    assert image.array[..., :3].std() > 0.01
    assert image.metadata["settings"]["width"] == 20
    assert image.metadata["spheres"] == 3
    stages = {"start", "load", "pack", "digest", "build", "upload", "frame"}
    assert set(image.timings) == stages
    assert min(image.timings.values()) >= 0.0


@pytest.mark.parametrize("crop", [(0, 0, 25, 16), (-1, 0, 5, 5), (3, 3, 3, 9), (9, 3, 4, 9)])
def test_crops_outside_are_refused(crop: tuple[int, int, int, int]) -> None:
    with pytest.raises(UserError, match="not a rectangle within the picture"):
        render(crop=crop)


def test_an_empty_scene_is_its_background() -> None:
    scene = raytracer.Scene(
        background=raytracer.Background(color="#ffffff"),
        render=raytracer.RenderSettings(width=4, height=3, samples=2),
    )
    with pytest.warns(raytracer.RaytracerWarning, match="the scene has no spheres"):
        image = raytracer.render(scene, backend="cpu")
    assert np.array_equal(image.to_uint8(), np.full((3, 4, 3), 255, np.uint8))


def test_progress_ends_at_one_and_may_stop_the_render() -> None:
    seen: list[float] = []
    render(samples=SAMPLES_A_PASS + 2, progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == pytest.approx(1.0)

    def stop(fraction: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        render(progress=stop)


def test_what_does_not_fit_is_refused_before_it_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("raytracer.system.memory.available_memory", lambda: 1000)
    monkeypatch.setattr("raytracer.backends.base.build_bvh", lambda *_: pytest.fail("was built"))
    with pytest.raises(MemoryNeedError, match="3 spheres at 24x16 need about"):
        render()


def test_more_than_the_backend_counts_is_refused_before_it_is_packed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(CpuDevice, "max_spheres", 2)
    monkeypatch.setattr("raytracer.packing.pack.pack", lambda *_: pytest.fail("was packed"))
    with pytest.raises(UserError, match="has 3 spheres and the cpu backend takes at most 2"):
        render()


def test_backends_are_selected_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "raytracer.backends.select._explain_missing_cuda", lambda *_: "it is missing"
    )
    assert select_device("cpu").name == "cpu"
    assert select_device("auto").describe()["passed_over"] == {"cuda": "it is missing"}
    with pytest.raises(BackendError, match="it is missing"):
        select_device("cuda")
    names = "gpu|cuda:|cuda:-1|cuda:x|cuda:1 |cpu:0|auto:1|cuda:99999|cuda:0,|cuda:0, 1|cuda:all,1"
    for unknown in names.split("|"):
        with pytest.raises(BackendError, match=f"there is no backend '{unknown}'"):
            select_device(unknown)
    cpu, cuda = raytracer.devices()
    assert (cpu["backend"], cpu["available"], cpu["reason"]) == ("cpu", True, None)
    assert (cuda["backend"], cuda["available"], cuda["reason"]) == ("cuda", False, "it is missing")


@pytest.mark.parametrize(("name", "numbers"), [("cuda:1,0", [1, 0]), ("cuda:all", [0, 1, 2])])
def test_several_gpus_are_selected_by_their_numbers(
    monkeypatch: pytest.MonkeyPatch, name: str, numbers: list[int]
) -> None:
    class Device(CpuDevice):
        def __init__(self, number: int, _threads: int) -> None:
            super().__init__(1)
            self.number = number

    count = 3
    driver = SimpleNamespace(Device=SimpleNamespace(count=lambda: count))
    monkeypatch.setattr("raytracer.backends.cuda.driver.load", lambda: driver)
    monkeypatch.setattr("raytracer.backends.cuda.run.CudaDevice", Device)
    monkeypatch.setattr(
        "raytracer.backends.select._explain_missing_cuda",
        lambda n=0: f"no GPU {n}" if n > 2 else None,
    )
    chosen = select_device(name)
    assert isinstance(chosen, DeviceGroup)
    assert [device.number for device in chosen.devices] == numbers
    assert chosen.number == numbers[0]
    count = 1
    assert isinstance(select_device("cuda:all"), Device)
    with pytest.raises(BackendError, match="the cuda backend cannot run here: no GPU 7"):
        select_device("cuda:0,7")
    with pytest.raises(BackendError, match="cuda:1,0,1 names a GPU twice"):
        select_device("cuda:1,0,1")


@pytest.mark.parametrize("gpus", [1, 3])
def test_a_striped_scene_is_told_in_the_metadata(gpus: int) -> None:
    class Device(CpuDevice):
        def scene(self, *given: Any) -> Any:
            made = super().scene(*given)
            made.striped_over = gpus
            return made

    with pipeline.prepare(scene(), backend=Device(1)) as job:
        assert job.about["backend"].get("striped_over", 1) == gpus
        assert ("striped_over" in job.about["backend"]) == (gpus > 1)
