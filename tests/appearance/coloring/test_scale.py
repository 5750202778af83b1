"""Colour scales: the colours of matplotlib, missing values, ticks of legends."""

import re
import sys
import unicodedata
from typing import Any

import numpy as np
import pytest

from raytracer.annotations.legend import find_ticks
from raytracer.appearance.coloring import by_scale as limits
from raytracer.appearance.coloring import maps
from raytracer.appearance.coloring.dates import parse_dates
from raytracer.appearance.coloring.scale import ColorScale
from raytracer.config.errors import SceneError
from raytracer.model.colors import linear_to_srgb


@pytest.mark.parametrize("name", [*maps.NAMES, "viridis_r"])
def test_maps_are_those_of_matplotlib(name: str) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    values = np.linspace(-2.0, 3.0, 4001)
    wanted = matplotlib.colormaps[name](matplotlib.colors.Normalize(-2.0, 3.0)(values))
    found = linear_to_srgb(ColorScale(name, low=-2.0, high=3.0).rgb(values))
    np.testing.assert_array_equal(np.round(255 * found), np.round(255 * wanted[:, :3]))


@pytest.mark.parametrize(
    ("kind", "norm"),
    [("log", "LogNorm(1.0, 1e4)"), ("symlog", "SymLogNorm(2.0, vmin=-1e3, vmax=1e4, base=10)")],
)
def test_positions_are_those_of_matplotlib(kind: str, norm: str) -> None:
    colors = pytest.importorskip("matplotlib.colors")
    low = 1.0 if kind == "log" else -1e3
    values = np.concatenate([np.linspace(low, 1e4, 500), [1.5, 3.0, low]])
    scale = ColorScale(kind=kind, low=low, high=1e4, threshold=2.0)
    wanted = eval(norm, vars(colors).copy())(values)
    np.testing.assert_allclose(scale.positions(values), wanted, rtol=0, atol=1e-12)


def test_values_beyond_the_range_and_missing_ones() -> None:
    scale = ColorScale(["black", "white"], low=1.0, high=2.0, missing="red")
    values = np.array([-np.inf, 0.0, 1.0, 2.0, 9.0, np.inf, np.nan], np.float32)
    rgb = scale.rgb(values)
    assert rgb.dtype == np.float32
    np.testing.assert_array_equal(rgb[:, 0], [0, 0, 0, 1, 1, 1, 1])
    np.testing.assert_array_equal(rgb[:, 1], [0, 0, 0, 1, 1, 1, 0])


def test_steps_of_a_discrete_scale() -> None:
    scale = ColorScale("gray", "discrete", 0.0, 8.0, steps=4)
    assert scale.ids([0.0, 1.9, 2.1, 8.0]).tolist() == [0, 0, 1, 3]
    assert scale.srgb_table(4)[:, 0].tolist() == [0, 85, 170, 255]
    assert [tick.text for tick in scale.ticks()] == ["0", "2", "4", "6", "8"]


@pytest.mark.parametrize("values", [np.array(["b", "a", "c"]), np.array([b"b", b"a", b"c"])])
def test_categories(values: Any) -> None:
    scale = ColorScale("tab10", "categorical", names=("a", "b"), label="type")
    assert scale.ids(values).tolist() == [1, 0, 2]
    assert [name for name, _ in scale.categories()] == ["a", "b"]
    assert scale.categories()[1][1] == (0xFF / 255, 0x7F / 255, 0x0E / 255)
    assert scale.ticks() == []


@pytest.mark.parametrize(
    ("arguments", "texts"),
    [
        ({"low": 0, "high": 5}, ["0", "1", "2", "3", "4", "5"]),
        ({"low": -3.2, "high": 12.9}, ["0", "5", "10"]),
        ({"low": 0, "high": 1e7}, ["0", "2e6", "4e6", "6e6", "8e6", "1e7"]),
        ({"low": 7.0, "high": 7.0}, ["7"]),
        ({"kind": "log", "low": 3, "high": 45}, ["5", "10", "20"]),
        ({"kind": "log", "low": 1, "high": 1e3}, ["1", "10", "100", "1000"]),
        ({"kind": "symlog", "low": -1e3, "high": 1e3}, ["-100", "-1", "0", "1", "100"]),
        ({"low": 1e9, "high": 5e9}, ["1e9", "2e9", "3e9", "4e9", "5e9"]),
        ({"low": 1e9, "high": 1e9 + 6}, [f"100000000{i}" for i in (0, 2, 4, 6)]),
        ({"low": 2459000.5, "high": 2459004.5}, [f"245900{i}" for i in (1, 2, 3, 4)]),
        ({"low": -1e9 - 5, "high": -1e9}, [f"-100000000{i}" for i in (5, 4, 3, 2, 1, 0)]),
        ({"low": 1.0, "high": 1.0 + 2e-9, "kind": "discrete", "steps": 2},
         ["1.000000000", "1.000000001", "1.000000002"]),
        ({"low": 1e-9, "high": 1.0000003e-9},
         ["1e-9", "1.0000001e-9", "1.0000002e-9", "1.0000003e-9"]),
        ({"low": 1e17, "high": 1e17 + 10}, ["100000000000000000", "100000000000000016"]),
        ({"low": 1e17, "high": 1e17 + 32},
         ["100000000000000000", "100000000000000016", "100000000000000032"]),
    ],
)  # fmt: skip
def test_ticks(arguments: dict[str, Any], texts: list[str]) -> None:
    scale = ColorScale(**arguments)
    found = scale.ticks()
    assert [tick.text for tick in found] == texts
    assert all(0.0 <= tick.position <= 1.0 for tick in found)
    assert all(float(tick.text) == pytest.approx(tick.value, rel=1e-15) for tick in found)


@pytest.mark.parametrize("kind", ["linear", "log", "symlog", "discrete"])
@pytest.mark.parametrize("span", [10.0, 1e-3, 1e4])
@pytest.mark.parametrize("low", [1e9, 2459000.5, 1.7e9, -3e12, 5e-7, 1e5])
def test_numbers_of_a_legend_differ(kind: str, low: float, span: float) -> None:
    """Whatever is added to the values, and as numbers that are those of the ticks."""
    if kind == "log" and low < 0.0:
        return
    scale = ColorScale(kind=kind, low=low, high=low + span)
    marks = [mark for mark in find_ticks(scale) if mark.text]
    assert len({mark.text for mark in marks}) == len(marks) > 1
    gap = min(np.diff([mark.value for mark in marks]))
    for mark in marks:
        power = re.fullmatch(r"(−?[\d.]*)×?10([⁻⁰¹²³⁴-⁹]+)", mark.text)
        number = f"{power[1] or 1}e{power[2]}" if power else mark.text
        found = float(unicodedata.normalize("NFKC", number).replace("−", "-"))
        assert abs(found - mark.value) <= 1e-3 * gap
        assert low <= mark.value <= low + span


def seconds(time: str) -> float:
    return float(np.datetime64(time, "us").astype(np.int64)) / 1e6


@pytest.mark.parametrize(
    ("low", "high", "texts"),
    [
        ("1900-01-01", "2024-06-01", ["1900", "1950", "2000"]),
        ("2020-05-01", "2024-06-01", ["2021", "2022", "2023", "2024"]),
        ("2024-01-01", "2024-03-20", ["2024-01", "2024-02", "2024-03"]),
        ("2024-02-27", "2024-03-02",
         ["2024-02-27", "2024-02-28", "2024-02-29", "2024-03-01", "2024-03-02"]),
        ("2024-05-05T22:00", "2024-05-06T02:00",
         [f"2024-05-{t}:00" for t in ("05 22", "05 23", "06 00", "06 01", "06 02")]),
        ("2024-05-05T20:00", "2024-05-05T20:00:02", [f"2024-05-05 20:00:0{i}" for i in (0, 1, 2)]),
        ("2024-05-05T20:00", "2024-05-05T20:00:00.5",
         [f"2024-05-05 20:00:00.{i}" for i in (0, 1, 2, 3, 4, 5)]),
        ("2024-05-05", "2024-05-05", ["2024-05-05 00:00:00"]),
        ("0001-01-01", "2024-01-01", ["0500", "1000", "1500", "2000"]),
    ],
)  # fmt: skip
def test_ticks_of_dates(low: str, high: str, texts: list[str]) -> None:
    scale = ColorScale(low=seconds(low), high=seconds(high), dates=True)
    found = scale.ticks()
    assert [tick.text for tick in found] == texts
    for tick in found:
        assert tick.value == pytest.approx(seconds(tick.text.replace(" ", "T")), abs=1e-5)
        assert scale.low <= tick.value <= scale.high


@pytest.mark.parametrize(
    ("texts", "wanted"),
    [
        (["2024-01-31", "1969-12-31"], [1706659200.0, -86400.0]),
        (["2024-01-31T18:00Z", "2024-01-31 18:00:00.25"], [1706724000.0, 1706724000.25]),
        (["2024-01-31T18:00+01:00", "2024-01-31T18:00:00-0230"], [1706720400.0, 1706733000.0]),
        (["2024-01-31T18:00:00.123456789", "", "NaT"], [1706724000.123456, np.nan, np.nan]),
        (["2024-01-31", "H"], None),
        (["2024-13-31"], None),
        (["2024-01"], None),
        (["1", "2"], None),
        (["", "NaT"], None),
        ([], None),
    ],
)
def test_dates_of_texts(texts: list[str], wanted: Any) -> None:
    found = parse_dates(texts)
    if wanted is None:
        assert found is None
    else:
        np.testing.assert_array_equal(found, wanted)


def test_maps_of_other_packages() -> None:
    cmcrameri = pytest.importorskip("cmcrameri.cm")
    colorcet = pytest.importorskip("colorcet")
    wanted = np.round(255 * cmcrameri.cmaps["batlow"](np.arange(256))[:, :3])
    np.testing.assert_array_equal(maps.load_map("batlow"), wanted)
    np.testing.assert_array_equal(maps.load_map("cmc.batlow_r"), wanted[::-1])
    fire = [list(bytes.fromhex(color[1:])) for color in colorcet.palette["fire"]]
    np.testing.assert_array_equal(maps.load_map("cet_fire"), fire)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("matplotlib", "cmcrameri", "cmcrameri.cm", "colorcet"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(
        SceneError, match=r"pip install 'raytracer\[maps\]' adds those of matplotlib"
    ):
        maps.load_map("some_map")
    assert len(maps.load_map("magma")) == 256
    maps.load_map.cache_clear()
    for each in maps.NAMES:  # which need none, reversed too
        np.testing.assert_array_equal(maps.load_map(f"{each}_r"), maps.load_map(each)[::-1])
    maps.load_map.cache_clear()


def test_percentiles_of_parts_with_missing_values() -> None:
    values, percents = np.random.default_rng(3).normal(size=1000), [0.0, 37.5, 100.0]
    parts = [np.append(values[:10], np.nan), np.append(values[10:], [np.inf, np.nan])]
    assert limits.find_percentiles(parts, percents) == pytest.approx(
        np.percentile(values, percents)
    )
