"""Columns of dates, from arrays, tables and files: a scale in time."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer.annotations.legend import find_ticks
from raytracer.config.errors import SceneError

CENTERS = np.stack([np.arange(5.0), np.zeros(5), np.zeros(5)], axis=1)
TIMES = np.array(["2024-01-01", "2024-01-11", "NaT", "2024-03-01", "2024-01-21"], "M8[s]")
TEXTS = [str(np.datetime_as_string(each, timezone="UTC")) if each == each else "" for each in TIMES]
"""As 2024-01-01T00:00:00Z."""


def of_arrays(values: Any) -> Any:
    return raytracer.Scene.from_arrays(CENTERS, 0.3, columns={"seen": values})


def table(kind: str, values: Any) -> Any:
    package = pytest.importorskip(kind)
    columns = dict(zip("xyz", CENTERS.T, strict=True))
    return raytracer.Scene.from_object(package.DataFrame({**columns, "seen": values}))


def csv(folder: Path) -> Path:
    rows = [f"{x},{y},{z},{time}" for (x, y, z), time in zip(CENTERS, TEXTS, strict=True)]
    (folder / "a.csv").write_text("\n".join(["x,y,z,seen", *rows, ""]))
    return folder / "a.csv"


def parquet(folder: Path) -> Path:
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet as files

    columns = dict(zip("xyz", CENTERS.T, strict=True))
    files.write_table(arrow.table({**columns, "seen": TIMES}), folder / "a.parquet")
    return folder / "a.parquet"


def npz(folder: Path) -> Path:
    np.savez(folder / "a.npz", position=CENTERS, seen=TIMES)
    return folder / "a.npz"


SOURCES: dict[str, Callable[[Path], Any]] = {
    "datetime64": lambda _: of_arrays(TIMES),
    "days": lambda _: of_arrays(TIMES.astype("M8[D]")),
    "texts": lambda _: of_arrays(TEXTS),
    "objects": lambda _: table("pandas", [t.item() and t.item().date() for t in TIMES]),
    "pandas": lambda _: table("pandas", TIMES),
    "zones": lambda _: table(
        "pandas", pytest.importorskip("pandas").to_datetime(TIMES).tz_localize("Asia/Tokyo")
    ),
    "polars": lambda _: table("polars", TIMES.astype("M8[ms]")),
    "csv": csv,
    "parquet": parquet,
    "npz": npz,
}


@pytest.mark.parametrize("name", SOURCES)
def test_dates_are_a_scale(tmp_path: Path, name: str) -> None:
    """With the colours of as many seconds, grey where one is missing, and dates in the legend."""
    source = SOURCES[name](tmp_path)
    scene = raytracer.load(source) if not isinstance(source, raytracer.Scene) else source
    styled = scene.styled(color_by="seen", range=(None, "2024-02-20"))
    zone = 9 * 3600 if name == "zones" else 0
    seconds = [1704067200.0, 1704931200.0, np.nan, 1709251200.0, 1705795200.0]
    (scale,) = styled.color_scales
    assert scale.low == seconds[0] - zone
    assert scale.high == 1708387200.0
    wanted = scale.ids(np.array(seconds) - zone)
    spheres = styled.spheres[0]
    assert spheres.color_id is not None
    np.testing.assert_array_equal(np.asarray(spheres.color_id), wanted)
    assert wanted[2] == len(scale.palette) - 1
    assert all(
        mark.text in ("2024-01", "2024-02") or len(mark.text) == 10 for mark in find_ticks(scale)
    )


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"color_scale": "log"}, "'seen' holds dates, whose scale is linear, discrete or"),
        ({"range": (1, 5)}, "'seen' holds dates, and 1 is a number: give dates or percentiles"),
        ({"color_by": "x", "range": ("2024-01-01", None)}, "'x' holds numbers, and 2024-01-01 is"),
        ({"range": ("2024-13-01", None)}, "is not a range"),
    ],
)
def test_ranges_and_scales_of_dates(settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(SceneError, match=problem):
        of_arrays(TIMES).styled(**{"color_by": "seen", **settings})


def test_dates_may_be_categories() -> None:
    scene = of_arrays(TIMES.astype("M8[D]"))
    (scale,) = scene.styled(color_by="seen", color_scale="categorical").color_scales
    assert scale.names[:2] == ("2024-01-01", "2024-01-11")
    colors = {"2024-01-01": "red", "2024-01-11": "blue"}
    (scale,) = scene.styled(color_by="seen", map=colors).color_scales
    assert scale.is_categorical
