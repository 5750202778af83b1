"""Several devices as one: the bytes of one device, whatever is rendered and however it ends.

The devices are CPUs whose films keep their sums to themselves, as those of GPUs do.
"""

from __future__ import annotations

from dataclasses import replace
from time import sleep
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import raytracer
from raytracer.backends import group
from raytracer.backends.base import (
    Bands,
    CpuDevice,
    CpuFilm,
    CpuScene,
    DeviceScene,
    HostPicture,
    ProgressCall,
)
from raytracer.backends.group import DeviceGroup, GroupFilm, divide_rows
from raytracer.config.errors import BackendError
from raytracer.config.tone_settings import ToneSettings
from raytracer.film.film import Film
from raytracer.packing.buffers import Bvh, SceneBuffers
from raytracer.packing.view import View
from raytracer.rendering.pipeline import PreparedScene, prepare
from support.project import to_project
from support.scenes import random_scene

SIZE = WIDTH, HEIGHT = 61, 47  # no multiple of a tile


class ApartFilm(CpuFilm):
    """A film whose sums are copied to the host when they are asked for."""

    def __init__(self, device: ApartDevice, host: Film) -> None:
        super().__init__(device, host)
        self._own = CpuFilm(device, replace(host, sums=host.sums.copy()))
        self._apart = device

    def _accumulate(
        self, scene: DeviceScene, view: View, progress: ProgressCall | None,
        bands: Bands | None = None,
    ) -> float:  # fmt: skip
        self._apart.rows += sum(end - begin for begin, end in bands or [(0, HEIGHT)])
        if self._apart.error is not None:
            raise self._apart.error
        while self._apart.is_stuck:
            assert progress is not None
            progress(0.0)
            sleep(0.001)
        return self._own._accumulate(scene, view, progress, bands)

    def to_host(self, bands: Bands | None = None) -> Film:
        for begin, end in bands or [(0, len(self.host.sums))]:
            self.host.sums[begin:end] = self._own.host.sums[begin:end]
        return self.host

    def develop(self, settings: ToneSettings, bits: int = 8, *, measured: bool = True) -> Any:
        self.to_host()
        return super().develop(settings, bits, measured=measured)

    def develop_into(self, settings: ToneSettings, picture: HostPicture) -> None:
        self.to_host()
        super().develop_into(settings, picture)

    def copy_rows(self, other: ApartFilm, bands: Bands) -> None:
        sums, others = self.to_host().sums, other.to_host(bands).sums
        for begin, end in bands:
            sums[begin:end] = others[begin:end]
        self.restore(sums)

    def clear(self) -> None:
        self._own.clear()
        self.host.samples, self.host.counts = 0, None

    def restore(self, sums: NDArray[np.float32]) -> None:
        super().restore(sums)
        self._own.restore(sums)


class ApartDevice(CpuDevice):
    """A CPU with memory of its own; `rows` counts those to which samples were added."""

    def __init__(self) -> None:
        super().__init__(1)
        self.rows = 0
        self.error: BaseException | None = None
        self.is_stuck = False
        self.scenes: list[CpuScene] = []

    def place(self, *_: Any) -> None:  # type: ignore[override]
        """Leave it to the host."""

    def film(self, host: Film) -> ApartFilm:
        return ApartFilm(self, host)

    def scene(self, buffers: SceneBuffers, tree: Bvh | None = None) -> CpuScene:
        if self.error is not None:
            raise self.error
        self.scenes.append(super().scene(buffers, tree))
        return self.scenes[-1]


@pytest.fixture(autouse=True)
def low_bands(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small picture has several bands."""
    monkeypatch.setattr(group, "BAND_HEIGHT", 4)


@pytest.fixture(params=[2, 3, 20])
def several(request: pytest.FixtureRequest) -> DeviceGroup:
    """Fewer devices than bands, or more."""
    return group_of(int(request.param))


def group_of(count: int) -> DeviceGroup:
    return DeviceGroup([ApartDevice() for _ in range(count)], is_striped=False)  # type: ignore[misc]


def balls(**settings: Any) -> raytracer.Scene:
    return to_project(random_scene(2, 300, **settings))


def job_on(device: Any, **settings: Any) -> PreparedScene:
    size = {"width": WIDTH, "height": HEIGHT}
    return prepare(balls(mirror=True), size | settings, backend=device, threads=1)


def sums_of(samples: int, first: int = 0, **settings: Any) -> NDArray[np.float32]:
    with job_on("cpu", **settings) as job, job.device.film(Film.blank(*SIZE)) as film:
        film.add(job.scene, job.view, samples, first=first)
        return film.to_host().sums.copy()


def blank(job: PreparedScene) -> GroupFilm:
    film = job.device.film(Film.blank(*SIZE))
    assert isinstance(film, GroupFilm)
    return film


@pytest.mark.parametrize(("height", "count"), [(1, 2), (4, 2), (47, 3), (2160, 2), (9_999, 8)])
def test_rows_are_divided_evenly(height: int, count: int) -> None:
    rows = np.zeros(height, np.int32)
    shares = divide_rows(height, count)
    assert 1 <= len(shares) <= count
    for share in shares:
        for begin, end in share:
            assert begin % 4 == 0
            rows[begin:end] += 1
    assert (rows == 1).all()
    assert len(shares[0]) - len(shares[-1]) <= 1


@pytest.mark.parametrize("seed", range(5))
def test_any_picture_has_the_bytes_of_one_device(several: DeviceGroup, seed: int) -> None:
    """Of any size, crop, samples before and after, settings and variables."""
    rng = np.random.default_rng(seed)
    width, height = (int(side) for side in rng.integers(1, 80, 2))
    x0, y0 = int(rng.integers(width)), int(rng.integers(height))
    crop = x0, y0, int(rng.integers(x0, width)) + 1, int(rng.integers(y0, height)) + 1
    integrator = ("direct", "ao", "path")[seed % 3]
    options: dict[str, Any] = {
        "width": width, "height": height, "integrator": integrator, "seed": seed, "threads": 1,
        "crop": crop if seed % 2 else None, "transparent": seed % 4 == 0,
        "aovs": ["depth", "id", "samples"],
        "tone": {"exposure": "auto", "bloom": 0.1 * (seed % 3 == 2)},
    }  # fmt: skip
    if seed % 4 == 3:
        options |= {"noise": 0.1, "max_samples": 1000}
    scene, images = balls(mirror=True), []
    for backend in ("cpu", several):
        before = raytracer.render(scene, backend=backend, samples=2, **options)  # type: ignore[arg-type]
        images.append(
            raytracer.render(scene, backend=backend, samples=3, film=before.film, **options)  # type: ignore[arg-type]
        )
    alone, image = images
    assert image.film.sums.any() or not alone.film.sums.any()
    assert image.film.sums.tobytes() == alone.film.sums.tobytes()
    assert image.film.samples == alone.film.samples
    assert image.film.pixel_counts().tobytes() == alone.film.pixel_counts().tobytes()
    for name, values in alone.film.aovs.items():
        assert image.film.aovs[name].tobytes() == values.tobytes()
    for bits in (8, 16):
        assert image.pixels(bits).tobytes() == alone.pixels(bits).tobytes()
    assert image.statistics == alone.statistics


def test_every_device_renders_its_share(several: DeviceGroup) -> None:
    with job_on(several) as job, blank(job) as film:
        film.add(job.scene, job.view, 1)
        rows = [device.rows for device in several.devices]  # type: ignore[attr-defined]
        assert sum(rows) == HEIGHT
        assert max(rows) - min(rows) <= 4 + HEIGHT % 4
        about = job.about["backend"]
        assert about["device"] == f"{len(rows)} x {CpuDevice().describe()['device']}"
        assert job.scene.nbytes == len(rows) * job.scene.scenes[0].nbytes  # type: ignore[attr-defined]


@pytest.mark.parametrize("bits", [8, 16])
def test_a_picture_is_developed_between_samples(several: DeviceGroup, bits: int) -> None:
    """Before and after the sums are copied to the host, which a developed film may leave out."""
    tone = ToneSettings(exposure="auto", tone="aces")
    with job_on(several) as job, blank(job) as film, job_on("cpu") as other:
        picture = job.device.picture()
        with other.device.film(Film.blank(*SIZE)) as one:
            for samples, copied in ((1, False), (2, True), (1, False), (3, False)):
                film.add(job.scene, job.view, samples)
                one.add(other.scene, other.view, samples)
                if copied:
                    assert film.to_host().sums.tobytes() == one.to_host().sums.tobytes()
                pixels, histogram = film.develop(tone, bits)
                expected, counted = one.develop(tone, bits)
                assert pixels.tobytes() == expected.tobytes()
                assert histogram.tobytes() == counted.tobytes()
                film.develop_into(tone, picture)
                assert isinstance(picture, HostPicture)
                assert picture.pixels.tobytes() == one.develop(tone, 8)[0].tobytes()
                assert film.develop(tone, measured=False)[0].tobytes() == picture.pixels.tobytes()
                assert picture.to_host().tobytes() == picture.pixels.tobytes()
            assert film.to_host().sums.tobytes() == one.to_host().sums.tobytes()


def test_samples_follow_a_draft_or_samples_of_other_rows(several: DeviceGroup) -> None:
    settings: dict[str, Any] = {"integrator": "ao", "filter": "gaussian"}
    bands = [[(0, 4), (8, 24)], [(24, HEIGHT), (4, 8)]]
    with job_on(several, **settings) as job, blank(job) as film:
        draft = job.view.as_draft()
        film.add(job.scene, draft, 1)
        picture = job.device.picture()
        film.develop_into(ToneSettings(), picture)
        film.add(job.scene, job.view, 2)
        drawn = film.to_host().sums.copy()
        film.clear()
        assert film.samples == 0
        for rows in bands:
            film.add(job.scene, job.view, 2, first=0, bands=rows)
        assert film.to_host().sums.tobytes() == sums_of(2, **settings).tobytes()
        with pytest.raises(ValueError, match="all rows"):
            film.add(job.scene, draft, 1, bands=bands[0])
    with job_on("cpu", **settings) as job, job.device.film(Film.blank(*SIZE)) as one:
        one.add(job.scene, draft, 1)
        expected = HostPicture()
        one.develop_into(ToneSettings(), expected)
        one.add(job.scene, job.view, 2)
        assert drawn.tobytes() == one.to_host().sums.tobytes()
    assert isinstance(picture, HostPicture)
    assert picture.pixels.tobytes() == expected.pixels.tobytes()


@pytest.mark.parametrize("kept", [0, 2])
@pytest.mark.parametrize("by", ["progress", "first", "other"])
def test_an_end_before_the_end_leaves_the_samples_of_the_host(kept: int, by: str) -> None:
    """A film that only the devices have is empty afterwards."""
    several = group_of(3)
    first, _, other = several.devices
    assert isinstance(first, ApartDevice)
    assert isinstance(other, ApartDevice)

    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    error = BackendError("the GPU is lost")
    with job_on(several) as job, blank(job) as film:
        film.add(job.scene, job.view, 2)
        if kept:
            film.to_host()
        if by == "progress":
            with pytest.raises(KeyboardInterrupt):
                film.add(job.scene, job.view, 100, interrupt)
        else:
            broken = first if by == "first" else other
            broken.error = error
            with pytest.raises(BackendError, match="is lost"):
                film.add(job.scene, job.view, 100)
            broken.error = None
        assert film.samples == kept
        assert film.to_host().sums.any() == (kept > 0)
        film.add(job.scene, job.view, 5 - kept)
        assert film.to_host().sums.tobytes() == sums_of(5).tobytes()


def test_scenes_are_closed_together_also_where_one_cannot_be_made() -> None:
    several = group_of(3)
    one, _, other = several.devices
    assert isinstance(one, ApartDevice)
    assert isinstance(other, ApartDevice)
    with job_on(several) as job:
        assert all(scene.nbytes for scene in one.scenes)
        hits = job.scene.trace_first_hits(job.view)
        with job_on("cpu") as alone:
            assert hits.tobytes() == alone.scene.trace_first_hits(alone.view).tobytes()
            with blank(job) as film, pytest.raises(TypeError, match="takes no CpuScene"):
                film.add(alone.scene, alone.view, 1)
        with several.turn():
            assert job.scene.describe(job.view) == {}
    assert not any(scene.nbytes for scene in one.scenes)
    other.error = BackendError("the GPU's memory is full")
    with pytest.raises(BackendError, match="is full"):
        job_on(several)
    assert not any(scene.nbytes for scene in one.scenes)


def test_an_environment_map_is_replaced_on_every_device(several: DeviceGroup) -> None:
    skies = [raytracer.Environment(color=color) for color in ("navy", "orange")]
    scenes = [replace(balls(), environment=sky) for sky in skies]
    settings = {"width": WIDTH, "height": HEIGHT, "integrator": "path"}
    jobs = [prepare(scene, settings, backend="cpu", keep=True) for scene in scenes]
    with prepare(scenes[0], settings, backend=several) as job, blank(job) as film:
        assert jobs[1].kept is not None
        job.scene.set_sky(jobs[1].kept[1].view.sky)
        film.add(job.scene, jobs[1].view, 1)
        with jobs[1].device.film(Film.blank(*SIZE)) as one:
            one.add(jobs[1].scene, jobs[1].view, 1)
            assert film.to_host().sums.tobytes() == one.to_host().sums.tobytes()


@pytest.mark.parametrize("changes", [("positions",), ("positions", "radii", "colors"), ("colors",)])
def test_updates_of_a_live_scene_have_the_bytes_of_one_device(
    changes: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    arrays = rng.random((300, 3)), rng.uniform(0.01, 0.1, 300), rng.random((300, 3))
    names, others = ("positions", "radii", "colors"), [array[::-1].copy() for array in arrays]
    given = {name: each for name, each in zip(names, others, strict=True) if name in changes}

    def pack_anew(*_: object) -> None:
        raise AssertionError("the scene is packed anew")

    monkeypatch.setattr(raytracer.LiveScene, "_pack_anew", pack_anew)
    pictures = []
    for device in ("cpu", group_of(3)):
        scene = raytracer.Scene.from_arrays(*arrays)
        with raytracer.LiveScene(scene, backend=device, width=WIDTH, height=HEIGHT) as live:
            live.update(**given)
            pictures.append(live.pixels().tobytes())
            with pytest.raises(raytracer.UserError, match="positions: sphere 7 lies at"):
                live.update(np.where(np.arange(300)[:, None] == 7, np.nan, others[0]))
            assert live.pixels().tobytes() == pictures[-1], "a wrong update changes no device"
    assert pictures[0] == pictures[1]
