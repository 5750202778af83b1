"""Interop that fails, at the start or later: pictures go by way of the host from then on."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from raytracer.backends.cuda import pictures
from raytracer.errors import BackendError
from raytracer.viewer.presenters import Presenter

SIZE = (64, 48)
CUDA: Any = SimpleNamespace(shares_display=True, number=1)


class Driver:
    """What fails of a CUDA driver, and what was asked of it."""

    def __init__(self) -> None:
        self.registered: list[tuple[int, int]] = []
        self.released = self.copied = self.fetched = 0
        self.refuses_map = self.refuses_texture = self.lost = False

    def picture(self, width: int = 64, height: int = 48) -> Any:
        def to_host() -> NDArray[np.uint8]:
            if self.lost:
                raise BackendError("the GPU is lost")
            self.fetched += 1
            return np.zeros((height, width, 4), np.uint8)

        return SimpleNamespace(size=(width, height), to_host=to_host)


class Canvas:
    """A canvas without OpenGL."""

    texture = 7

    def __init__(self) -> None:
        self.size = (0, 0)
        self.filled: list[tuple[int, ...]] = []

    def allocate(self, size: tuple[int, int]) -> None:
        self.size = size

    def fill(self, pixels: Any) -> None:
        self.filled.append(pixels.shape)


@pytest.fixture
def canvas() -> Any:
    return Canvas()


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch, canvas: Any) -> Driver:
    """Instead of the one of the machine."""
    driver = Driver()

    class Interop:
        def __init__(self, texture: int, ordinal: int) -> None:
            assert ordinal == CUDA.number, "the device that the pictures are on"
            if driver.refuses_texture:
                raise BackendError("CUDA: the texture is refused")
            driver.registered.append(canvas.size)

        def copy(self, picture: Any) -> None:
            if driver.refuses_map:
                raise BackendError("CUDA: the mapping is refused")
            driver.copied += 1

        def close(self) -> None:
            driver.released += 1

    monkeypatch.setattr(pictures, "Interop", Interop)
    return driver


def test_interop_as_long_as_it_works(driver: Driver, canvas: Any) -> None:
    shown = Presenter(CUDA, canvas, SIZE)
    for size in (SIZE, SIZE, (32, 24)):
        shown.present(driver.picture(*size), canvas)
    assert shown.label == "CUDA-OpenGL interop"
    assert (driver.copied, driver.fetched) == (3, 0)
    assert driver.registered == [SIZE, (32, 24)]
    shown.close()
    assert driver.released == 2


@pytest.mark.parametrize("what", ["refuses_map", "refuses_texture"])
def test_interop_that_fails_later_is_left_for_the_host(
    driver: Driver, canvas: Any, what: str
) -> None:
    shown = Presenter(CUDA, canvas, SIZE)
    shown.present(driver.picture(), canvas)
    setattr(driver, what, True)
    shown.present(driver.picture(80, 60), canvas)
    assert canvas.filled == [(60, 80, 4)], "the same picture is shown"
    assert shown.label.startswith("page-locked memory (interop failed: CUDA: the ")
    assert driver.released == len(driver.registered)
    setattr(driver, what, False)
    shown.present(driver.picture(), canvas)
    assert (driver.copied, driver.fetched) == (1, 2), "it is not tried again"
    shown.close()


def test_a_lost_gpu_ends_with_its_sentence(driver: Driver, canvas: Any) -> None:
    shown = Presenter(CUDA, canvas, SIZE)
    driver.refuses_map = driver.lost = True
    with pytest.raises(BackendError, match="the GPU is lost"):
        shown.present(driver.picture(), canvas)
    shown.close()
