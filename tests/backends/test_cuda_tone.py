"""Pictures made on the device against those of the CPU, from the same film."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image as Pillow

import raytracer
from raytracer.commands.cli import main
from raytracer.config.tone_settings import CURVES, METERS, ToneSettings
from raytracer.film.film import Film, develop
from support.films import film_of, in_front_of, natural, wild

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("cuda")]

GUARD = 64  # bytes behind the picture that nobody may touch


@cache
def film_named(name: str) -> Film:
    """Made when it is asked for, since some are large."""
    if name == "crop before a gradient":
        whole = in_front_of(natural(300, 200, samples=5), (0.9, 0.2, 0.1), (0.1, 0.5, 1.0))
        part = whole.sums[50:170, 31:241].copy()
        return Film(part, 5, 31, 50, 300, 200, backdrop=whole.backdrop)
    return FILMS[name]()


FILMS: dict[str, Callable[[], Film]] = {
    "natural": lambda: natural(317, 123),
    "wild": lambda: wild(200, 130),
    "one pixel": lambda: natural(1, 1),
    "one column": lambda: natural(1, 5000),
    "one row": lambda: natural(5000, 1),
    "large": lambda: natural(2049, 1100),
    "black": lambda: film_of(np.full((40, 50, 4), [0, 0, 0, 1], np.float32)),
    "empty": lambda: Film.blank(33, 65),
    "before white": lambda: in_front_of(natural(317, 123, samples=16), (1.0,) * 3, (1.0,) * 3),
    "before a gradient": lambda: in_front_of(natural(2049, 1100), (0.9, 0.2, 0.1), (0.1, 0.5, 1.0)),
}


def on_device(
    film: Film, settings: ToneSettings, bits: int = 8, neighbor_weight: float = 0.0
) -> tuple[NDArray[Any], NDArray[np.void]]:
    """Picture and histogram of a film that is copied to the device."""
    from raytracer.backends.cuda.driver import get_primary_context
    from raytracer.backends.cuda.tone import tone_kernels
    from raytracer.backends.cuda.transfer import get_staging

    kernels, copies = tone_kernels(0), get_staging(0)
    out = np.full(film.sums.size * bits // 8 + GUARD, 0xAB, np.uint8)
    with get_primary_context(0).activate() as driver:
        sums, codes = driver.mem_alloc(film.sums.nbytes), driver.mem_alloc(out.nbytes)
        copies.to_device(film.sums, int(sums))
        copies.to_device(out, int(codes))
        kernels.develop(
            film, int(sums), settings, int(codes), bits=bits, statistics=True,
            neighbor_weight=neighbor_weight,
        )  # fmt: skip
        copies.to_host(int(codes), out)
        histogram = kernels.read_histogram()
        sums.free()
        codes.free()
    assert (out[-GUARD:] == 0xAB).all()
    codes_of = np.uint8 if bits == 8 else np.uint16
    return out[:-GUARD].view(codes_of).reshape(film.sums.shape), histogram


@pytest.mark.parametrize("shape", [(1, 1), (5, 1), (3, 31), (1, 33), (61, 93), (17, 64)])
def test_a_smoothed_picture_is_that_of_the_cpu(shape: tuple[int, int]) -> None:
    film = film_of(np.random.default_rng(3).random((*shape, 4), np.float32))
    settings = ToneSettings(dither=False)
    picture, _ = on_device(film, settings, neighbor_weight=0.3)
    np.testing.assert_allclose(
        picture, develop(film, settings, neighbor_weight=0.3)[0], rtol=0, atol=1
    )


@pytest.mark.parametrize("name", [*FILMS, "crop before a gradient"])
@pytest.mark.parametrize("curve", CURVES)
def test_picture_is_that_of_the_cpu(name: str, curve: str) -> None:
    film = film_named(name)
    for settings, bits in (
        (ToneSettings(tone=curve), 8),
        (ToneSettings("auto", curve, dither=True), 8),
        (ToneSettings(-1.7, curve), 16),
    ):
        wanted, _ = develop(film, settings, bits)
        found, _ = on_device(film, settings, bits)
        difference = np.abs(found.astype(np.int64) - wanted.astype(np.int64))
        assert difference.max() <= 1, (settings, bits)


@pytest.mark.parametrize("name", [*FILMS, "crop before a gradient"])
@pytest.mark.parametrize("meter", METERS)
def test_histogram_is_that_of_the_cpu(name: str, meter: str) -> None:
    film = film_named(name)
    settings = ToneSettings("auto", meter=meter)
    _, wanted = develop(film, settings)
    _, found = on_device(film, settings)
    for field in ("bins", "darkest", "brightest"):
        assert np.array_equal(found[field], wanted[field]), field
    for field in ("luminance_sum", "log2_sum"):
        assert found[field] == pytest.approx(wanted[field], rel=1e-5, abs=1e-3), field
    assert found["exposure"] == pytest.approx(wanted["exposure"], abs=1e-3)
    for field in ("clipped", "black"):
        assert abs(int(found[field][0]) - int(wanted[field][0])) <= film.sums.size * 1e-5, field


def test_every_launch_finds_clean_counters_and_says_the_same() -> None:
    film = film_named("large")
    tallies = {on_device(film, ToneSettings("auto", dither=True))[1].tobytes() for _ in range(5)}
    assert len(tallies) == 1


@pytest.mark.parametrize("curve", CURVES)
def test_only_the_picture_leaves_the_device(
    curve: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command develops where it rendered: the film is not copied, the picture is the same."""
    from raytracer.backends.cuda import driver

    copied: list[int] = []

    def count(name: str) -> None:
        copy = getattr(driver.load(), name)

        def counting(target: NDArray[Any], *rest: Any) -> None:
            copied.append(target.nbytes)
            copy(target, *rest)

        monkeypatch.setattr(driver.load(), name, counting)

    scene = tmp_path / "balls.npz"
    rng = np.random.default_rng(3)
    np.savez(scene, centers=rng.normal(size=(200, 3)), radii=np.full(200, 0.2))
    size = ["--width", "161", "--height", "91", "--samples", "3"]
    tone_words = ["--exposure", "auto", "--tone", curve, "--dither"]
    count("memcpy_dtoh")
    count("memcpy_dtoh_async")
    even = ["--brightness", "1"]  # which is not measured then, by first hits
    words = ["render", str(scene), "--backend", "cuda", "-q", *size, *even, *tone_words]
    assert main([*words, "-o", str(tmp_path / "a.png")]) == 0
    picture = 161 * 91 * 4  # bytes, a quarter of the film's
    assert picture <= sum(copied) < 1.5 * picture  # with tables of the kernels that were loaded
    options: dict[str, Any] = {"width": 161, "height": 91, "samples": 3, "brightness": 1.0}
    image = raytracer.render(scene, backend="cuda", **options)
    again = image.tonemap(exposure="auto", tone=curve, dither=True)
    with Pillow.open(tmp_path / "a.png") as read:
        found = np.asarray(read).astype(np.int64)
    assert np.abs(found - again.to_uint8()).max() <= 1


def test_a_film_kept_on_the_device_comes_home_when_asked_for() -> None:
    from raytracer.rendering import pipeline

    scene = raytracer.Scene.from_arrays(np.zeros((1, 3)), np.ones(1))
    with pipeline.prepare(scene, {"width": 40, "height": 30}, backend="cuda") as job:
        films = [job.device.film(Film.blank(40, 30)) for _ in range(2)]
        for film in films:  # side by side, neither in the way of the other
            job.accumulate(film, 4)
        first = films[0].to_host().sums.copy()
        for film in films:
            job.accumulate(film, 4)
        assert films[0].host.sums.tobytes() == first.tobytes()
        sums = [film.to_host().sums for film in films]
    assert all(film.samples == 8 for film in films)
    assert first.any()
    assert (sums[0] != first).any()
    assert sums[1].tobytes() == sums[0].tobytes()
