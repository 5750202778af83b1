"""The CUDA backend over a stand-in driver: memory, constants, films, the cut into launches."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from raytracer import Camera, Ground, RenderSettings, Scene, SphereSet
from raytracer.backends import group
from raytracer.backends.base import Bands
from raytracer.backends.cuda import driver as binding
from raytracer.backends.cuda import kernel, run, tone, transfer
from raytracer.backends.cuda import scene as scene_module
from raytracer.backends.cuda.cache import Cubin
from raytracer.backends.cuda.film import CudaFilm
from raytracer.backends.cuda.launch import (
    GROWTH,
    MIN_SAMPLES,
    TARGET_SECONDS,
    Pacer,
    PictureTiles,
    iterate_launches,
)
from raytracer.backends.cuda.run import CudaDevice
from raytracer.backends.group import DeviceGroup
from raytracer.backends.kernel_sources import Kernel
from raytracer.config.errors import BackendError
from raytracer.film.film import Film
from raytracer.model.render_space import Space
from raytracer.packing.buffers import Bvh, SceneBuffers, SphereColumns, build_bvh
from raytracer.packing.pack import pack
from raytracer.packing.view import View, make_frame
from raytracer.system import layout
from support.fake_cuda import FakeDriver, cleared

COUNT = 37
WIDTH, HEIGHT = 19, 10
KERNEL = Kernel(
    name="fake",
    title="Fake",
    idea="none",
    block=(128, 1, 1),
    needs=("sm_80+",),
    source="",
    path=Path("fake.cu"),
    translation_unit=Path("fake.cu"),
    place="kernels/cuda/fake.cu",
)


def add_samples(driver: FakeDriver, grid: Any, block: Any, arguments: bytes) -> None:
    """Add a number that depends on pixel and sample to the pixels of the launch's tiles."""
    args = np.frombuffer(arguments, layout.struct_dtype("RenderArgs"))[0]
    part = driver.view(*driver.symbols["c_frame"]).view(layout.struct_dtype("Frame"))[0]["film"]
    width, height = int(part["x1"] - part["x0"]), int(part["y1"] - part["y0"])
    tiles = int(args["tile_end"] - args["tile_begin"])
    assert grid[0] == -(-tiles // (block[0] // 32))
    spheres = driver.view(int(args["spheres"]), COUNT * 16).view(np.float32)
    assert (spheres == np.arange(COUNT * 4)).all()
    assert args["color_id"] == 0  # an empty array has no address
    film = driver.view(int(args["film"]), width * height * 16).view(np.float32)
    film = film.reshape(height, width, 4)
    y, x = np.mgrid[:height, :width]
    tile = x // 8 + (y // 4) * args["tiles_x"]
    own = (args["tile_begin"] <= tile) & (tile < args["tile_end"])
    for sample in range(args["sample_begin"], args["sample_begin"] + args["sample_count"]):
        film[own] += ((x + 100 * y)[own] * 0.1 + sample * 0.3)[:, None].astype(np.float32)


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeDriver]:
    rooms = {"Camera": 1, "Light": 4, "Material": 4, "LargeSphere": 1, "Frame": 1}
    names = ("c_camera", "c_lights", "c_materials", "c_large", "c_frame")
    sizes = {
        name: room * layout.struct_dtype(struct).itemsize
        for name, (struct, room) in zip(names, rooms.items(), strict=True)
    }
    fake = FakeDriver(sizes | {"c_spheres": 1024}, add_samples)
    monkeypatch.setattr(binding, "load", lambda: fake)
    monkeypatch.setattr(binding, "format_label", lambda: "fake 1.0")
    monkeypatch.setattr(run, "explain_missing", lambda _: None)
    monkeypatch.setattr(scene_module, "production", lambda *_: KERNEL)
    monkeypatch.setattr(kernel, "production", lambda *_: KERNEL)
    monkeypatch.setattr(kernel.compiler, "load_cubin", lambda *_, **__: Cubin(b"c_spheres", ""))  # type: ignore[attr-defined]
    monkeypatch.setattr(transfer, "CHUNK", 64)
    caches = (
        binding.get_primary_context,
        transfer.get_staging,
        kernel.render_kernel,
        tone.compile_passes,
    )
    with cleared(*caches):
        yield fake
    assert fake.depth == 0


def scene(lights: int = 1, count: int = COUNT) -> tuple[SceneBuffers, Bvh]:
    zeros = np.zeros(count, np.float32)
    none = np.zeros(0, np.int32)
    frame = make_frame(width=WIDTH, height=HEIGHT, x1=WIDTH, y1=HEIGHT)
    camera = np.ones(1, layout.struct_dtype("Camera"))
    camera["lens_radius"] = 0.0  # a pinhole
    materials = np.zeros(1, layout.struct_dtype("Material"))
    buffers = SceneBuffers(
        placed=SphereColumns(zeros, zeros, zeros, zeros),
        colors=np.ones((1, 3), np.float32),
        color_id=none,
        material_id=none,
        view=View(camera, np.ones(lights, layout.struct_dtype("Light")), materials, frame),
        space=Space((0.0, 0.0, 0.0), 1.0),
    )
    spheres = np.arange(count * 4, dtype=np.float32).reshape(count, 4)
    order = np.arange(count, dtype=np.int32)
    return buffers, Bvh(np.zeros((3, 80), np.uint8), order, spheres)


def expose(device: CudaDevice, parts: list[int], budget: int | None = None) -> Film:
    buffers, bvh = scene()
    with device.scene(buffers, bvh) as made, blank(device) as film:
        if budget is not None:
            made.pacer.budget = budget
        for count in parts:
            film.add(made, buffers.view, count)
        return film.to_host()


def blank(device: CudaDevice) -> CudaFilm:
    return device.film(Film.blank(WIDTH, HEIGHT))


def test_film_holds_the_sum_of_all_samples(driver: FakeDriver) -> None:
    film = expose(CudaDevice(), [3])
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    expected = 3 * (x + 100 * y) * 0.1 + (0 + 1 + 2) * 0.3
    assert driver.launches == 1
    np.testing.assert_allclose(film.sums[..., 2], expected, rtol=1e-6)


def test_film_does_not_depend_on_the_cut(driver: FakeDriver) -> None:
    whole = expose(CudaDevice(), [6])
    assert driver.launches == 1
    driver.seconds_per_launch = 1.0  # slow, so that the budget stays small
    cut = expose(CudaDevice(), [6], budget=64)
    assert driver.launches > 30
    assert whole.sums.tobytes() == cut.sums.tobytes()


@pytest.mark.parametrize("budget", [1 << 20, 64])
def test_bands_are_those_rows_of_the_film(driver: FakeDriver, budget: int) -> None:
    """Also with samples that follow those before, in as many groups as the budget asks for."""
    whole = expose(CudaDevice(), [5]).sums
    driver.seconds_per_launch = 1.0  # slow, so that the budget stays small
    buffers, bvh = scene()
    bands, seen = [(0, 4), (8, HEIGHT)], list[float]()
    device = CudaDevice()
    with device.scene(buffers, bvh) as made, blank(device) as film:
        made.pacer.budget = budget
        film.add(made, buffers.view, 3, bands=bands)
        seconds = film.add(made, buffers.view, 2, seen.append, bands=bands)
        assert not film.host.sums.any()
        assert (
            film.to_host(bands).sums.any(axis=(1, 2)) == ([True] * 4 + [False] * 4 + [True] * 2)
        ).all()
        film.add(made, buffers.view, 5, first=0, bands=[(4, 8)])
        np.testing.assert_array_equal(film.to_host().sums, whole)
    assert seconds == len(seen) == (1.0 if budget > 64 else 2.0)
    assert seen[-1] == 1.0
    assert driver.live == {}


@pytest.mark.parametrize("copied", [False, True])
def test_several_gpus_give_the_bytes_of_one(
    driver: FakeDriver, monkeypatch: pytest.MonkeyPatch, copied: bool
) -> None:
    """Their rows are copied to the host, or to the first GPU."""
    monkeypatch.setattr(group, "BAND_HEIGHT", 4)
    binding.connect.cache_clear()
    buffers, bvh = scene()
    several = DeviceGroup([CudaDevice(number) for number in range(3)])

    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    with several.scene(buffers, bvh) as made, several.film(Film.blank(WIDTH, HEIGHT)) as film:
        assert made.nbytes == sum(driver.live.values())
        film.add(made, buffers.view, 2)
        if copied:
            assert film.to_host().sums.tobytes() == expose(CudaDevice(), [2]).sums.tobytes()
        else:
            assert film._merge_films().to_host().sums.tobytes() == film.to_host().sums.tobytes()
        with pytest.raises(KeyboardInterrupt):
            film.add(made, buffers.view, 1, interrupt)
        assert film.samples == 2
        film.add(made, buffers.view, 1)
        film.add(made, buffers.view, 2)
        assert (
            film._merge_films().to_host().sums.tobytes() == expose(CudaDevice(), [5]).sums.tobytes()
        )
        film.clear()
        film.add(made, buffers.view, 2)
        with pytest.raises(KeyboardInterrupt):
            film.add(made, buffers.view, 1, interrupt)
        assert film.samples == 0
        assert not film.to_host().sums.any()
    assert driver.live == {}


@pytest.mark.filterwarnings("ignore:ground.height")
@pytest.mark.parametrize("height", [3.0, -3.0], ids=["above", "below"])
def test_a_list_has_no_record_of_a_ground(driver: FakeDriver, height: float) -> None:
    """Kernels that test a list leave out as many of its last records as there are large spheres."""
    camera = Camera(position=(0.0, height, 9.0), look_at=(0.0, 0.0, 0.0))
    spheres = [SphereSet([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]], 0.5)]
    settings = RenderSettings(width=WIDTH, height=HEIGHT)
    buffers = pack(Scene(spheres, camera=camera, ground=Ground(), render=settings))
    view = buffers.view
    with CudaDevice().scene(buffers, build_bvh(buffers)) as made:
        arguments = made.make_arguments(view, scene_module.make_tiles(view))
        assert arguments["sphere_count"][0] - view.large_count == 2
        taken = made.find_kernel(view)
        with made._context.lock, made._context.activate():
            made.fill(taken, view)
    filled = driver.view(*driver.symbols["c_spheres"]).view(np.float32).reshape(-1, 4)
    assert (filled[:2, 3] > 0.0).all()
    assert (filled[2, 3] > 0.0) == (height > 0.0)


@pytest.mark.parametrize("kept", [0, 2])
def test_interrupt_leaves_the_samples_that_the_host_has(driver: FakeDriver, kept: int) -> None:
    """A film that only the device has is empty afterwards."""
    buffers, bvh = scene()
    device = CudaDevice()

    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    with device.scene(buffers, bvh) as made, blank(device) as film:
        film.add(made, buffers.view, 2)
        if kept:
            film.to_host()
        with pytest.raises(KeyboardInterrupt):
            film.add(made, buffers.view, 1, interrupt)
        assert driver.depth == 0
        assert film.samples == kept
        film.add(made, buffers.view, 5 - kept)
        assert film.to_host().sums.tobytes() == expose(device, [5]).sums.tobytes()


def test_a_film_begins_with_the_samples_of_the_host_and_anew_when_cleared(
    driver: FakeDriver,
) -> None:
    buffers, bvh = scene()
    device = CudaDevice()
    begun = expose(device, [2])
    with device.scene(buffers, bvh) as made, device.film(begun.copy()) as film:
        film.add(made, buffers.view, 3)
        assert film.to_host().sums.tobytes() == expose(device, [5]).sums.tobytes()
        film.clear()
        assert film.samples == 0
        assert not film.to_host().sums.any()
        film.add(made, buffers.view, 2)
        assert film.to_host().sums.tobytes() == begun.sums.tobytes()
        film.restore(expose(device, [4]).sums)
        assert film.to_host().sums.tobytes() == expose(device, [4]).sums.tobytes()


def test_memory_is_given_back_once(driver: FakeDriver) -> None:
    buffers, bvh = scene()
    device = CudaDevice()
    made = device.scene(buffers, bvh)
    assert made.nbytes == sum(driver.live.values()) == 3 * 80 + COUNT * 20 + 12
    film = blank(device)
    film.add(made, buffers.view, 1)
    assert sum(driver.live.values()) == made.nbytes + WIDTH * HEIGHT * 16
    for held in (made, film, made, film):
        held.close()
    assert driver.live == {}
    assert made.nbytes == 0
    device.scene(buffers, bvh)  # dropped without close
    assert driver.live == {}


IDS = np.array([0] * (COUNT - 1) + [2], np.int32)
MISFITS: dict[str, tuple[dict[str, Any], dict[str, int]]] = {
    "lights": ({}, {"light_count": 2}),
    "lights: fewer": ({}, {"light_count": -1}),
    "materials: fewer": ({}, {"material_count": 2}),
    "materials: fewer than": ({"materials": np.zeros(0, layout.struct_dtype("Material"))}, {}),
    "material_id: points behind": ({"material_id": IDS}, {"material_mode": 1}),
    "material_id: fewer": ({}, {"material_mode": 1}),
    "color: fewer": ({}, {"color_mode": 1}),
    "color_id: fewer": ({}, {"color_mode": 2}),
    "large: fewer": ({}, {"large_count": 1}),
    "there is no such mode": ({}, {"color_mode": 9}),
    "the crop is empty": ({}, {"x0": WIDTH}),
    "holds not one": ({"camera": np.ones(0, layout.struct_dtype("Camera"))}, {}),
}


@pytest.mark.parametrize("words", MISFITS)
def test_a_view_that_does_not_fit_the_scene_is_refused_before_a_launch(
    driver: FakeDriver, words: str
) -> None:
    """As on the CPU, by the same check. First hits look at neither lights nor materials."""
    arrays, fields = MISFITS[words]
    buffers, bvh = scene()
    buffers = replace(buffers, material_id=arrays.get("material_id", buffers.material_id))
    tables = {name: table for name, table in arrays.items() if name != "material_id"}
    view = replace(buffers.view.but(sample_count=1, **fields), **tables)
    device = CudaDevice()
    with device.scene(buffers, bvh) as made, blank(device) as film:
        with pytest.raises(ValueError, match=words):
            film._accumulate(made, view, None, None)
        if words.startswith(("color", "large", "there", "the crop", "holds")):
            with pytest.raises(ValueError, match=words):
                made.trace_first_hits(view)
    assert driver.launches == 0


def test_an_upload_that_fails_gives_everything_back(
    driver: FakeDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = CudaDevice()
    with device.scene(*scene()):
        pass  # the kernel is loaded by now
    copies: list[int] = []

    def copy(address: int, source: Any, stream: Any) -> None:
        copies.append(address)
        if len(copies) == 8:
            raise driver.Error("cuMemcpyHtoDAsync failed: unknown error")

    monkeypatch.setattr(driver, "memcpy_htod_async", copy)
    with pytest.raises(BackendError, match="CUDA failed"):
        device.scene(*scene())
    assert driver.live == {}
    assert not device.turn()._is_owned()  # type: ignore[attr-defined]


def test_failed_launch_is_a_sentence_and_costs_nothing(driver: FakeDriver) -> None:
    buffers, bvh = scene()
    device = CudaDevice()
    driver.fail_launch = "an illegal memory access was encountered"
    with device.scene(buffers, bvh) as made, blank(device) as film:
        with pytest.raises(BackendError, match="restart the process"):
            film.add(made, buffers.view, 1)
        assert not film.to_host().sums.any()


def test_kernel_of_another_layout_is_refused(driver: FakeDriver) -> None:
    driver.view(*driver.symbols["layout_table"]).view(np.int32)[0] += 16
    with pytest.raises(BackendError, match="differently"):
        CudaDevice().scene(*scene())


TILE = (8, 4)


def picture(
    width: int, height: int, samples: int = 1, first: int = 0, bands: Bands | None = None
) -> PictureTiles:
    return PictureTiles(width, height, TILE, first, samples, bands)


@given(
    width=st.integers(1, 300),
    height=st.integers(1, 300),
    samples=st.integers(1, 5),
    first=st.integers(0, 1000),
    rates=st.lists(st.floats(1e3, 1e8), min_size=1, max_size=5),
    budget=st.integers(512, 1 << 16),
)
def test_pieces_cover_every_sample_of_every_tile_once_and_in_order(
    width: int, height: int, samples: int, first: int, rates: list[float], budget: int
) -> None:
    whole = picture(width, height, samples, first)
    pacer = Pacer(budget)
    next_sample = [first] * whole.tiles
    for index, ((piece,),) in enumerate(iterate_launches(whole, pacer)):
        assert piece.tiles > 0
        for tile in range(piece.tile_begin, piece.tile_end):
            assert next_sample[tile] == piece.sample_begin
            next_sample[tile] += piece.sample_count
        work = piece.tiles * whole.tile_pixels * piece.sample_count
        # a crumb may join the last piece of a sample
        assert work <= max(pacer.budget * 1.5, whole.tile_pixels)
        pacer.record(work, work / rates[index % len(rates)])
    assert set(next_sample) == {first + samples}


@given(
    width=st.integers(1, 100),
    rows=st.lists(st.integers(1, 9), min_size=1, max_size=6),
    samples=st.integers(1, 9),
    budget=st.integers(1, 1 << 16),
)
def test_groups_cover_every_sample_of_their_bands_once_and_in_order(
    width: int, rows: list[int], samples: int, budget: int
) -> None:
    """Every other stretch of rows is a band; the last one ends at any row."""
    edges = [0, *(4 * sum(rows[: k + 1]) for k in range(len(rows)))]
    edges[-1] -= 3
    bands = list(pairwise(edges))[::2]
    whole = picture(width, edges[-1], samples, 7, bands)
    pacer = Pacer(budget)
    seen: dict[int, list[int]] = {}
    for pieces_beside in iterate_launches(whole, pacer):
        assert len(pieces_beside) == len(bands)
        numbers = [n for band in pieces_beside for n in range(band[0].tile_begin, band[0].tile_end)]
        assert len(numbers) == len(set(numbers))
        assert len({len(band) for band in pieces_beside}) == 1
        for piece in chain.from_iterable(pieces_beside):
            for tile in range(piece.tile_begin, piece.tile_end):
                new = range(piece.sample_begin, piece.sample_begin + piece.sample_count)
                seen.setdefault(tile, []).extend(new)
    inside = {
        row * whole.tiles_x + column
        for y0, y1 in bands
        for row in range(y0 // 4, -(-y1 // 4))
        for column in range(whole.tiles_x)
    }
    assert set(seen) == inside
    assert all(each == list(range(7, 7 + samples)) for each in seen.values())


def test_slow_card_is_brought_down_to_the_target() -> None:
    rate = 5e6
    pacer = Pacer()
    lengths = []
    for ((piece,),) in iterate_launches(picture(1920, 1080, samples=8), pacer):
        work = piece.tiles * 32 * piece.sample_count
        lengths.append(work / rate)
        pacer.record(work, work / rate)
    assert max(lengths[1:]) <= 1.5 * TARGET_SECONDS
    assert len(lengths) == pytest.approx(1920 * 1080 * 8 / rate / TARGET_SECONDS, rel=0.3)


def test_fast_card_grows_step_by_step() -> None:
    rate = 2e9
    pacer = Pacer()
    works = []
    for ((piece,),) in iterate_launches(picture(1920, 1080, samples=256), pacer):
        works.append(piece.tiles * 32 * piece.sample_count)
        pacer.record(works[-1], works[-1] / rate)
    assert all(later <= earlier * GROWTH for earlier, later in pairwise(works))
    assert max(works) / rate == pytest.approx(TARGET_SECONDS, rel=0.1)


def test_budget_never_falls_below_what_fills_a_gpu() -> None:
    pacer = Pacer()
    pacer.record(samples=32, seconds=100.0)
    assert pacer.budget == MIN_SAMPLES
    pacer = Pacer(500)
    pacer.record(samples=500, seconds=100.0)
    assert pacer.budget == 500
