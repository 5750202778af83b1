"""The probe itself: its list, and that it compiles for GPUs where there is none."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from raytracer.backends.cuda.compile import find_nvcc
from support.probe import Probe, cubin, functions


def test_every_function_is_listed_once_with_its_numbers(probes: Callable[[str], Probe]) -> None:
    listed = functions()
    assert {"log2", "sphere_nearest", "camera_ray", "pixel_light"} <= set(listed)
    assert listed["sphere_surface"] == (10, 7, True)
    assert probes("portable")("sphere_chord", np.ones((5, 7))).shape == (5, 2)


@pytest.mark.skipif(find_nvcc() is None, reason="nvcc is missing")
def test_it_compiles_for_gpus() -> None:
    code = cubin("sm_80")
    for name in functions():
        assert f"scalar_{name}\0".encode() in code
