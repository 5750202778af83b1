"""Render settings refuse values of other types; limits are in tests/scene/test_tables.py."""

from __future__ import annotations

import numpy as np
import pytest

from raytracer.errors import SceneError
from raytracer.settings import FILTERS, RenderSettings


def test_filter_radii() -> None:
    radii = [RenderSettings(filter=f).resolved_filter_radius for f in FILTERS]
    assert radii == [0.0, 0.5, 1.0, 1.5]
    assert RenderSettings(filter="tent", filter_radius=2.0).resolved_filter_radius == 2.0
    assert RenderSettings(filter="point", filter_radius=2.0).resolved_filter_radius == 0.0


def test_override_keeps_what_is_none() -> None:
    settings = RenderSettings(samples=7).override(width=np.int64(10), samples=None, shadows=False)
    assert (settings.width, settings.samples, settings.shadows) == (10, 7, False)
    assert type(settings.width) is int
    with pytest.raises(SceneError, match=r"render\.width"):
        settings.override(width=0)
