"""Trajectories in one table, and tables with times that are none."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raytracer import UserError, load
from raytracer.model.data_file import DataFile
from raytracer.particles import long_table
from raytracer.particles.formats import csv
from raytracer.particles.read import count_frames, read, read_row
from support.particle_files import write

POINTS = np.random.default_rng(31).normal(size=(3, 5, 3)).round(6)
"""Positions of five particles at three times."""


def table(names: str, rows: list[tuple[object, ...]]) -> str:
    return "\n".join([names, *(",".join(map(str, row)) for row in rows)]) + "\n"


ROWS = [(t, 0.5 * t, n, *POINTS[t, n]) for t in range(3) for n in range(5)]


@pytest.mark.parametrize(
    ("names", "time"),
    [("step,time_ps,id,x,y,z", (1, "ps")), ("frame,m,TrackID,x,y,z", (2, "steps")),
     ("m,t,particle,x,y,z", (1, "")), ("m,Time,ID,Position X,Position Y,Position Z", (1, ""))],
)  # fmt: skip
def test_frames(tmp_path: Path, names: str, time: tuple[float, str]) -> None:
    path = write(tmp_path / "a.csv", table(names, ROWS))
    clock, identity = next(n for n in names.split(",")[:2] if n != "m"), names.split(",")[2]
    assert count_frames(path) == 3
    np.testing.assert_array_equal(read(path).centers, POINTS[0])
    assert "has 3 frames" in str(read(path).notes)
    file = DataFile(path, frame=-1)
    last = read(file, wanted=lambda columns: [identity])
    np.testing.assert_array_equal(last.centers, POINTS[2])
    np.testing.assert_array_equal(last.extra[identity], np.arange(5))
    assert last.time == time
    assert f"with the same '{clock}' are a frame, since each '{identity}' rec" in str(last.notes)
    assert read_row(file, 3, 5)[identity] == 3


def test_rows_in_any_order_and_without_a_track(tmp_path: Path) -> None:
    """TrackMate has spots that are in no track."""
    rows: list[tuple[object, ...]] = [*ROWS, (1, 0.5, "None", 9, 9, 9)]
    mixed = [rows[place] for place in np.random.default_rng(32).permutation(len(rows))]
    path = write(tmp_path / "a.csv", table("FRAME,POSITION_T,TRACK_ID,x,y,z", mixed))
    assert count_frames(path) == 3
    second = read(DataFile(path, frame=1)).centers
    assert {*map(tuple, second.tolist())} == {*map(tuple, [*POINTS[1].tolist(), [9, 9, 9]])}


@pytest.mark.parametrize(
    ("names", "rows"),
    [
        ("t,id,x,y,z", [(0.1 * n, n, n, 0, 0) for n in range(12)]),  # each has its own time
        ("frame,id,x,y,z", [(n % 3, n, n, 0, 0) for n in range(12)]),  # of localisations
        ("time,id,x,y,z", [(n // 6, n % 2, n, 0, 0) for n in range(12)]),  # of a group
        ("T,id,x,y,z", [(n % 3, n // 3, n, 0, 0) for n in range(12)]),  # temperatures
        ("frame,id,x,y,z", [(7, n, n, 0, 0) for n in range(12)]),  # of one time
    ],
)
def test_tables_that_are_no_trajectories(
    tmp_path: Path, names: str, rows: list[tuple[object, ...]]
) -> None:
    path = write(tmp_path / "a.csv", table(names, rows))
    assert count_frames(path) == 1
    assert len(read(path).centers) == 12


def test_other_formats_than_text(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    step, _, ident, x, y, z = np.array(ROWS).T
    np.savez(path, frame=step, id=ident, x=x, y=y, z=z)
    assert count_frames(path) == 3
    np.testing.assert_array_equal(read(DataFile(path, frame=1)).centers, POINTS[1])


def test_another_frame_costs_only_its_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table is parsed for its first frame alone, if it is not too large to be kept."""
    parsed: list[Any] = []
    load_rows = csv.Source.load_rows

    def counted(source: Any, layout: Any, names: Any) -> Any:
        parsed.append(names)
        return load_rows(source, layout, names)

    monkeypatch.setattr(csv.Source, "load_rows", counted)
    for size, most in (("small", 1 << 30), ("large", 1)):
        monkeypatch.setattr(long_table, "KEPT_BYTES", most)
        text = table("step,time_ps,id,element,x,y,z", [(*row[:3], "CH"[row[2] % 2], *row[3:])
                                                       for row in ROWS])  # fmt: skip
        path = write(tmp_path / f"{size}.csv", text)
        first = read(DataFile(path, frame=0), wanted=lambda columns: ["id"])
        parsed.clear()
        second = read(DataFile(path, frame=1), wanted=lambda columns: ["id"])
        assert bool(parsed) == (size == "large")
        np.testing.assert_array_equal(second.centers, POINTS[1])
        np.testing.assert_array_equal(second.extra["id"], first.extra["id"])
        assert second.time == (0.5, "ps")
        assert second.notes == first.notes
        assert second.labels is not None
        assert second.labels.ids.tolist() == [0, 1, 0, 1, 0]
    path.write_text(text.replace("0.5,", "0.75,"), encoding="utf-8")
    assert read(DataFile(path, frame=1)).time == (0.75, "ps")


def test_rows_without_a_time_are_told(tmp_path: Path) -> None:
    rows: list[tuple[object, ...]] = [*ROWS, ("", "", 7, 9, 9, 9)]
    data = read(write(tmp_path / "a.csv", table("frame,time_ps,id,x,y,z", rows)))
    np.testing.assert_array_equal(data.centers, POINTS[0])
    assert "rows without a value of 'frame' are left out: 1" in str(data.notes)


@pytest.mark.parametrize("form", ['"[{}, {}, {}]"', '"({}; {}; {})"', "[{} {} {}]"])
def test_quoted_vectors(tmp_path: Path, form: str) -> None:
    """As pandas writes lists; those of other lengths are errors."""
    rows = "".join(f"{n},{form.format(*point)},0.5\n" for n, point in enumerate(POINTS[0]))
    path = write(tmp_path / "a.csv", f"id,position,radius\n{rows}")
    np.testing.assert_array_equal(read(path).centers, POINTS[0])
    np.testing.assert_array_equal(read(path).radius, [0.5] * 5)
    assert read_row(DataFile(path), 2, 5)["id"] == 2
    text = 'id,position,m\n1,"[0.5, 1.5, 2.5]",7\n2,"{}",8\n3,"[7, 8, 9]",9\n'
    with pytest.raises(UserError, match="line 3, column 'position_x'"):
        read(write(tmp_path / "b.csv", text.format("[4, 5]")))
    with pytest.raises(UserError, match="line 3, column 'position_x': there is no value"):
        load(write(tmp_path / "c.csv", text.format("[None, 5, 6]")))


def test_sets_of_hdf5_move_together(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    path, fixed = tmp_path / "a.h5", np.zeros((2, 3))
    with h5py.File(path, "w") as file:
        file["particles/wall/position"] = fixed
        for name in ("solute", "solvent"):
            file[f"particles/{name}/position/value"] = POINTS
            file[f"particles/{name}/position/step"] = np.arange(3)
    assert count_frames(path) == 3
    for frame in range(3):
        moved = POINTS[frame]
        expected = np.concatenate([moved, moved, fixed])
        np.testing.assert_array_equal(read(DataFile(path, frame=frame)).centers, expected)
