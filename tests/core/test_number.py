"""log2_, exp2_, pow_ and their fast forms against float64, the same bits in lanes; the probe."""

import re
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from reference.scene import Array
from support.probe import ISAS, SOURCES, Floats, Probe, cubin, functions, listed

COUNT = 40_000
HALF_ULP = 2.0**-24


def positive(low: float, high: float) -> Floats:
    """Numbers from 2**low to 2**high, even in their logarithm, and many near 1."""
    rng = np.random.default_rng(1)
    exponents = np.concatenate([rng.uniform(low, high, COUNT), rng.uniform(-1, 1, COUNT)])
    return np.asarray(np.exp2(np.clip(exponents, low, high)), np.float32)


def worst(found: Floats, exact: Array, size: Array | float) -> float:
    """The largest error in parts of `size`."""
    return float((np.abs(found[:, 0] - exact) / size).max())


def slack(probe: Probe, function: str) -> float:
    """How many times as far off the functions with `fast_` may be: GPUs approximate them."""
    return 4.0 if probe.is_cuda and function.startswith("fast_") else 1.0


@pytest.mark.parametrize(
    ("function", "low", "high"), [("log2", -126, 127.9), ("fast_log2", -34, 17)]
)
def test_log2(probe: Probe, function: str, low: float, high: float) -> None:
    """Within 5 half-ulps of the result near 1, too, where it goes through zero; the hardware's
    error is absolute there."""
    x = positive(low, high)
    exact = np.log2(x.astype(np.float64))
    factor = slack(probe, function)
    size = np.abs(exact) + 1e-30 if factor == 1.0 else np.maximum(np.abs(exact), 1.0)
    assert worst(probe(function, x), exact, size) < 5 * HALF_ULP * factor


@pytest.mark.parametrize(("function", "end"), [("exp2", 126), ("fast_exp2", 125)])
def test_exp2(probe: Probe, function: str, end: int) -> None:
    x = np.linspace(-end, end, COUNT).astype(np.float32)
    exact = np.exp2(x.astype(np.float64))
    assert worst(probe(function, x), exact, exact) < 5 * HALF_ULP * slack(probe, function)


def test_exp2_of_whole_numbers(probe: Probe) -> None:
    whole = np.arange(-126, 127)
    assert (probe("exp2", whole.astype(np.float32))[:, 0] == np.exp2(whole.astype(float))).all()


@pytest.mark.parametrize("function", ["pow", "fast_pow"])
def test_pow(probe: Probe, function: str) -> None:
    """The error of the logarithm counts as often as the exponent makes of it."""
    rng = np.random.default_rng(2)
    a = rng.uniform(0, 1, COUNT).astype(np.float32)
    b = np.exp2(rng.uniform(-3, 8, COUNT)).astype(np.float32)
    power = b * np.log2(a.astype(np.float64))
    exact, bound = np.exp2(power), 4 * HALF_ULP * (1 + np.abs(power))
    if probe.is_cuda and function == "fast_pow":  # 2^-22 of the logarithm, and at least 2^-22
        bound = 4 * bound + 4 * HALF_ULP * b
    found = probe(function, a, b)
    large = power > -124
    assert worst(found[large], exact[large], (exact * bound)[large]) < 1
    assert (found[power < -127] < 2.0**-125).all()


def test_pow_at_its_ends(probe: Probe) -> None:
    assert probe("pow", [0.0, 0.0, 1.0, 1.0], [0.0, 2.0, 0.0, 300.0])[:, 0].tolist() == [1, 0, 1, 1]
    assert probe("fast_pow", [0.0, 1.0], [2.2, 2.2])[:, 0].tolist() == [0, 1]


def test_quotient(probe: Probe) -> None:
    a, b = positive(-20, 20), positive(-30, 30)[::-1]
    exact = a.astype(np.float64) / b
    # Rounded once, but for the last digits on a GPU.
    assert worst(probe("quotient", a, b), exact, exact) <= (4 if probe.is_cuda else 1) * HALF_ULP


# ---- the same bits on every target

AROUND, SIDE, SHARE = (-9.0, 9.0), (-1.0, 1.0), (0.0, 1.0)
# Inputs of functions whose numbers must be in a range: low and high of each, or "bits".
RANGES: dict[str, Sequence[tuple[float, float] | str]] = {
    "log2": [(1e-30, 1e30)],
    "exp2": [(-120, 120)],
    "pow": [(0, 1), (0, 60)],
    "quotient": [(0.01, 9), (0.01, 9)],
    "sample_1d": ["bits", "bits"],
    "sample_2d": ["bits", "bits"],
    "sphere_chord": [*[AROUND] * 3, (0.1, 5), *[SIDE] * 3],
    "sphere_nearest": [*[AROUND] * 3, (0.1, 5), *[SIDE] * 3],
    "sphere_surface": [*[AROUND] * 3, (0.1, 5), *[AROUND] * 3, *[SIDE] * 3],
    "phong_eval": [*[SHARE] * 3, (1, 99), SHARE, *[SIDE] * 9],
    "bsdf_eval": [*[SHARE] * 6, (1, 99), SHARE, *[SIDE] * 9],
    "bsdf_sample": [SHARE, *[SIDE] * 6],
    "light_sample": [AROUND] * 3,
    "camera_ray": ["bits", "bits"],
}
UNIFORM = {
    "camera": {"forward": (0, 0, -1), "right": (0.6, 0.1, 0), "up": (0, 0.5, 0.1)},
    "frame": {"width": 640, "height": 480, "seed": 5, "filter": 3, "filter_radius": 1.5},
    "light": {"vector": (1, 2, 3), "falloff": 1},
    "integer": (5, 3, 1, 2),
}


def inputs(function: str) -> list[np.ndarray]:
    """Rows within the function's ranges; not a multiple of any number of lanes."""
    rng = np.random.default_rng(3)
    columns: list[np.ndarray] = []
    for place in RANGES[function]:
        if isinstance(place, str):
            columns.append(rng.integers(0, 2000, 1003, dtype=np.uint32))
        else:
            columns.append(rng.uniform(*place, 1003).astype(np.float32))
    return columns


def check_same(probes: Callable[[str], Probe], function: str, *targets: str) -> None:
    """Assert that a function has the same bits on two targets."""
    columns = inputs(function)
    one, other = (probes(target)(function, *columns, **UNIFORM) for target in targets)
    np.testing.assert_array_equal(one.view(np.uint32), other.view(np.uint32))


@pytest.mark.parametrize("function", RANGES)
@pytest.mark.parametrize("isa", ISAS)
def test_a_lane_is_a_float(probes: Callable[[str], Probe], isa: str, function: str) -> None:
    check_same(probes, function, isa, f"{isa} scalar")


# On a GPU quotients are made by another algorithm.
@pytest.mark.parametrize("function", [name for name in RANGES if name != "quotient"])
@pytest.mark.parametrize("target", ["avx512", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_targets_with_a_fused_multiply_add_agree(
    probes: Callable[[str], Probe], target: str, function: str
) -> None:
    check_same(probes, function, "avx2 scalar", target)


def test_sine_and_cosine(probe: Probe) -> None:
    turns = np.linspace(0, 1, COUNT).astype(np.float32)
    exact = 2 * np.pi * turns.astype(np.float64)
    found = probe("sincos_turns", turns)
    assert np.abs(found - np.stack([np.sin(exact), np.cos(exact)], axis=1)).max() < 4 * HALF_ULP
    quarters = probe("sincos_turns", np.arange(5, dtype=np.float32) / 4)
    assert quarters.tolist() == [[0, 1], [1, 0], [0, -1], [-1, 0], [0, 1]]


def test_the_angle_of_a_quotient(probe: Probe) -> None:
    rng = np.random.default_rng(4)
    pairs = np.exp(rng.uniform(-60, 60, (COUNT, 2))).astype(np.float32)
    pairs[1::2, 1] = pairs[1::2, 0] * rng.uniform(0.1, 10, len(pairs[1::2])).astype(np.float32)
    y, x = np.concatenate([pairs, [(0, 1), (1, 0), (1, 1)]]).astype(np.float32).T
    exact = np.arctan2(y.astype(np.float64), x)
    found = probe("atan_quotient", y, x)[:, 0]
    np.testing.assert_allclose(found, exact, rtol=5 * HALF_ULP, atol=1e-37)


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
