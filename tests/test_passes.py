"""Renders for a time, in passes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer import Film, UserError
from raytracer.passes import add_in_passes
from support.films import film_of, noise_of
from support.project import to_project
from support.scenes import random_scene

SCENE = to_project(random_scene(7, 250))
SMALL: dict[str, Any] = {"width": 48, "height": 32, "samples": 4, "integrator": "ao"}


@pytest.mark.parametrize("parts", [(50, 50), (10, 90), (98, 2)])
def test_noise_of_known_samples(parts: tuple[int, int]) -> None:
    """Normal light with a standard deviation of a fifth of its mean, whichever way it is cut."""
    rng = np.random.default_rng(8)
    light = rng.normal(3.0, 0.6, (sum(parts), 40, 50, 4)).astype(np.float32)
    light[:, :20] = 0.0  # nothing was hit there
    light[..., 3] = light[..., 3] > 0
    earlier = light[: parts[0]].sum(axis=0)
    film = film_of(light.sum(axis=0, dtype=np.float32), sum(parts))
    film.sums[30, 3] = np.nan
    assert noise_of(film, earlier, parts[0]) == pytest.approx(0.2 / 10, rel=0.05)
    assert noise_of(film_of(film.sums * 0, 100), earlier * 0, 50) == 0


class Clock:
    """A film on a device of which each sample takes a second, and the time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        self.host = Film.blank(2, 2)
        self.parts: list[int] = []
        monkeypatch.setattr("raytracer.passes.time.perf_counter", lambda: self.now)

    @property
    def samples(self) -> int:
        return self.host.samples

    def add(self, count: int, report: Any) -> float:
        self.parts.append(count)
        self.host.samples += count
        self.host.sums += np.float32(count)
        self.now += count
        if report is not None:
            report(1.0)
        return float(count)

    def to_host(self) -> Film:
        return self.host


def test_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passes double and the last one fits; a film that is begun has a first pass of one sample."""
    clock = Clock(monkeypatch)
    fractions: list[float] = []
    run = add_in_passes(clock, clock.add, 11.5, fractions.append)  # type: ignore[arg-type]
    assert run == 11
    assert clock.parts == [1, 1, 2, 4, 3]
    assert fractions == sorted(fractions)
    clock.parts.clear()
    add_in_passes(clock, clock.add, 0.5)  # type: ignore[arg-type]
    assert clock.parts == [1]


def test_arguments_of_render() -> None:
    assert raytracer.render(SCENE, time=1e-9, **SMALL).film.samples == 1
    for wrong in (0, -1.0, float("nan"), "1"):
        with pytest.raises(UserError, match="time"):
            raytracer.render(SCENE, time=wrong, **SMALL)  # type: ignore[arg-type]
    with pytest.raises(UserError, match=r"render.noise"):
        raytracer.render(SCENE, noise=0.0, **SMALL)
