"""The numbers over the picture."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from raytracer.tone_settings import ToneSettings
from raytracer.viewer.orders import Frame
from raytracer.viewer.status import frame_rate, rays, status


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
    stage = SimpleNamespace(name="a.toml", buffers=SimpleNamespace(count=12345), job=job)
    viewer = SimpleNamespace(stage=stage, frame=frame, tone=tone or ToneSettings())
    presenter = SimpleNamespace(label="texture upload")
    return SimpleNamespace(viewer=viewer, presenter=presenter, rate=24.4)


def frame(samples: int, size: tuple[int, int] = (64, 48), rate: float = 2.5e6) -> Frame:
    full = np.zeros(1, [("width", "i4"), ("height", "i4")])
    full["width"], full["height"] = 64, 48
    from raytracer.viewer.orders import Order

    stage: Any = None
    look: Any = SimpleNamespace(frame=full)
    return Frame(Order(stage, look, ToneSettings(), 16), None, size, samples, rate, 0.01)


def test_status_says_what_is_shown() -> None:
    assert status(window(None)) == ["a.toml   12,345 spheres", "Test Processor"]
    moving = status(window(frame(1, (32, 24))))
    assert moving[2:] == [
        "32x24   1 of 16 samples", "2.5 Mrays/s   24 frames/s", "texture upload", "H for help",
    ]  # fmt: skip
    done = status(window(frame(16)))
    assert "2.5 Mrays/s   finished" in done
    assert "finished" in status(window(frame(16, rate=0.0)))
    toned = status(window(frame(2), ToneSettings(exposure=1.0, tone="agx")))
    assert "--exposure 1 --tone agx" in toned
    assert toned[-1] == "H for help"
