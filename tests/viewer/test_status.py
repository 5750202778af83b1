"""The numbers over the picture."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from raytracer.film.tone_settings import ToneSettings
from raytracer.viewer.messages import Frame
from raytracer.viewer.status import PLAIN, TECHNICAL, frame_rate, rays, status, tone_words


@pytest.mark.parametrize(
    ("rate", "text"),
    [
        (0.0, "0 rays/s"),
        (12.34, "12.3 rays/s"),
        (999.4, "999 rays/s"),
        (999.6, "1 krays/s"),
        (999_700.0, "1 Mrays/s"),
        (1_234_567.0, "1.23 Mrays/s"),
        (3.2e9, "3.2 Grays/s"),
        (999.7e9, "1 Trays/s"),
    ],
)
def test_rates_for_people(rate: float, text: str) -> None:
    assert rays(rate) == text


@given(rate=st.floats(0.0, 9e14))
def test_a_rate_has_three_digits_and_no_exponent(rate: float) -> None:
    number, unit = rays(rate).split()
    scale = {"rays/s": 1.0, "krays/s": 1e3, "Mrays/s": 1e6, "Grays/s": 1e9, "Trays/s": 1e12}[unit]
    assert "e" not in number or rate < 1e-3
    assert float(number) * scale == pytest.approx(rate, rel=0.0051, abs=1e-6)


@pytest.mark.parametrize("rate", [2.0, 24.0, 120.0, 350.0])
def test_frames_a_second_are_those_of_the_last_second(rate: float) -> None:
    """Also where only the latest frames are remembered, and where it was slower before."""
    stamps = [*np.arange(0.0, 8.0, 0.9), *(10.0 + np.arange(2.0 * rate + 1.0) / rate)]
    for kept in (stamps, stamps[-100:]):
        assert frame_rate(kept, stamps[-1]) == pytest.approx(rate)
        assert frame_rate(kept, stamps[-1] + 0.2) == pytest.approx(rate)


def test_no_frames_a_second() -> None:
    assert frame_rate([], 5.0) == 0.0
    assert frame_rate([4.5], 5.0) == 0.0
    assert frame_rate([4.5, 4.5], 5.0) == 0.0
    assert frame_rate([3.0, 3.01, 3.02], 5.0) == 0.0


def window(frame: Frame | None, tone: ToneSettings | None = None) -> Any:
    """What `status` reads of one."""
    job = SimpleNamespace(about={"backend": {"name": "cpu", "device": "Test Processor"}})
    scene = SimpleNamespace(counts=lambda: {"sphere": 12345, "capsule": 2})
    loaded_scene = SimpleNamespace(name="a.toml", scene=scene, job=job)
    tone = tone or ToneSettings()
    viewer = SimpleNamespace(loaded_scene=loaded_scene, frame=frame, tone=tone, overlay=PLAIN)
    presenter = SimpleNamespace(label="texture upload")
    return SimpleNamespace(viewer=viewer, presenter=presenter, rate=24.4)


def frame(samples: int, size: tuple[int, int] = (64, 48), rate: float = 2.5e6) -> Frame:
    from raytracer.viewer.messages import RenderRequest

    loaded_scene: Any = None
    seen_buffers: Any = SimpleNamespace(view=SimpleNamespace(size=(64, 48)))
    return Frame(
        RenderRequest(loaded_scene, seen_buffers, ToneSettings(), 16),
        None,
        size,
        samples,
        rate,
        0.01,
    )


def test_status_says_what_is_shown() -> None:
    assert status(window(None)) == ["a.toml   12,345 spheres, 2 capsules", "H for help"]
    assert status(window(frame(1, (32, 24))))[1] == "quick draft, samples follow"
    assert status(window(replace(frame(1), draft=True)))[1] == "quick draft, samples follow"
    assert status(window(frame(3)))[1] == "3 of 16 samples per pixel"
    assert status(window(frame(16)))[1] == "16 samples per pixel, finished"
    toned = status(window(frame(2), ToneSettings(exposure=1.0, tone="agx")))
    assert toned[2:] == ["exposure +1.00, tone curve agx", "H for help"]


def test_what_is_technical_comes_after_it() -> None:
    shown = window(frame(1, (32, 24)))
    plain = status(shown)
    shown.viewer.overlay = TECHNICAL
    assert status(shown) == [
        *plain, "", "Test Processor", "32x24 pixels rendered", "2.5 Mrays/s, 24 frames/s",
        "shown by texture upload",
    ]  # fmt: skip
    shown.viewer.frame = frame(16, rate=0.0)
    assert "24 frames/s" in status(shown)
    shown.viewer.frame = None
    assert status(shown)[2:] == ["", "Test Processor"]


@pytest.mark.parametrize(
    ("tone", "words"),
    [
        ({}, ""),
        ({"exposure": "auto"}, "automatic exposure"),
        ({"exposure": -1 / 3, "tone": "aces"}, "exposure -0.33, tone curve aces"),
    ],
)
def test_tone_in_words(tone: dict[str, Any], words: str) -> None:
    assert tone_words(ToneSettings(**tone)) == words
