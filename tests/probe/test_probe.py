"""The probe itself: its list, and that it compiles for GPUs where there is none."""

import re
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from support.probe import SOURCES, Probe, cubin, functions, listed


def test_every_function_is_listed_once_and_has_a_body_for_each_side() -> None:
    """C++ would compile the same name with other numbers, as another function."""
    text = (SOURCES / "functions.h").read_text(encoding="utf-8")
    names = Counter(name for name, _ in listed(text))
    assert set(names.values()) == {1}
    bodies = Counter(re.findall(r"^PROBE\((\w+)\)", text, re.MULTILINE))
    assert bodies == names
    for_cuda = re.findall(r"RT_DEVICE void eval_(\w+)\(", text)
    assert set(for_cuda) <= set(names)


def test_functions_have_the_numbers_of_their_list(probes: Callable[[str], Probe]) -> None:
    assert functions()["sphere_surface"] == (10, 7, True)
    assert probes("portable")("sphere_chord", np.ones((5, 7))).shape == (5, 2)


@pytest.mark.usefixtures("cuda_compiler")
def test_it_compiles_for_gpus() -> None:
    code = cubin("sm_80")
    for name in functions():
        assert f"scalar_{name}\0".encode() in code
