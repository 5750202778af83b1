"""Interop that fails, at the start or later: pictures go by way of the host from then on."""

from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock, call

import pytest

from raytracer.backends.cuda import pictures
from raytracer.errors import BackendError
from raytracer.viewer.presenters import Presenter

SIZE = (64, 48)
CUDA: Any = SimpleNamespace(shares_display=True, number=1)


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> MagicMock:
    """Instead of CUDA and OpenGL: its `Interop`, `to_host` of pictures, and `canvas`."""
    driver = MagicMock()
    driver.canvas.texture = 7
    monkeypatch.setattr(pictures, "Interop", driver.Interop)
    return driver


def present(shown: Presenter, driver: MagicMock, size: tuple[int, int] = SIZE) -> None:
    shown.present(SimpleNamespace(size=size, to_host=driver.to_host), driver.canvas)


def test_interop_as_long_as_it_works(driver: MagicMock) -> None:
    shown = Presenter(CUDA, driver.canvas, SIZE)
    for size in (SIZE, SIZE, (32, 24)):
        present(shown, driver, size)
    assert shown.label == "CUDA-OpenGL interop"
    assert driver.canvas.allocate.call_args_list == [call(SIZE), call((32, 24))]
    assert driver.Interop().copy.call_count == 3
    driver.to_host.assert_not_called()


@pytest.mark.parametrize("fails", ["the mapping", "the texture"])
def test_interop_that_fails_later_is_left_for_the_host(driver: MagicMock, fails: str) -> None:
    shown = Presenter(CUDA, driver.canvas, SIZE)
    present(shown, driver)
    broken = driver.Interop().copy if fails == "the mapping" else driver.Interop
    broken.side_effect, count = BackendError(f"CUDA: {fails} is refused; restart"), 0
    for size in (SIZE if fails == "the mapping" else (80, 60), SIZE):
        present(shown, driver, size)
        count = count or driver.Interop.call_count
    assert driver.canvas.fill.call_count == 2
    assert driver.Interop.call_count == count, "it is not tried again"
    assert shown.label == f"page-locked memory (interop failed: CUDA: {fails} is refused)"
    driver.to_host.side_effect = BackendError("the GPU is lost")
    with pytest.raises(BackendError, match="the GPU is lost"):
        present(shown, driver)
