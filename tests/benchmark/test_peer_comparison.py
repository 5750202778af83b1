"""Statistics, comparison and the record."""

from __future__ import annotations

import pytest

from raytracer.benchmark import peer_comparison, table, timing
from raytracer.benchmark.peer_comparison import Side


def test_the_summary_interpolates() -> None:
    found = timing.summary([4.0, 1.0, 3.0, 2.0])
    assert found == {"median": 2.5, "min": 1.0, "q1": 1.75, "q3": 3.25}
    assert timing.summary([5.0]) == {"median": 5.0, "min": 5.0, "q1": 5.0, "q3": 5.0}


def test_the_ratio_is_to_the_fastest_mode_by_its_median() -> None:
    ours = Side([20.0, 30.0, 40.0], [6.0], 41.0, 1000, 500)
    peers = {
        "1": Side([10.0, 90.0, 95.0], [3.0], 90.0, 1000, 500),
        "16": Side([60.0, 50.0, 70.0], [5.0], 90.0, 1001, 500),
    }
    row = peer_comparison.compare("cloud", 7, (64, 64), ours, peers)
    assert row["fastest"] == "16"
    assert row["frame_ratio"] == pytest.approx(0.5)
    assert row["build_ratio"] == pytest.approx(1.5)
    assert row["agree"] is True
    texts = table.cells(row)
    assert "60*" in texts
    assert texts[-3:] == ["1,000 / 1,001", "500 / 500", "yes"]


@pytest.mark.parametrize(
    ("hits", "lit", "same"),
    [(500_000, 200_000, True), (500_004, 200_059, True), (500_006, 200_000, False),
     (500_000, 200_061, False), (500_000, None, None)],
)  # fmt: skip
def test_hits_and_lit_agree_within_the_stated_tolerance(
    hits: int, lit: int | None, same: bool | None
) -> None:
    peer = Side(hits=500_000, lit=200_000)
    assert peer_comparison.agree(Side(hits=hits, lit=lit), peer, 1_000_000) is same


def test_a_record_tells_no_places_of_the_machine() -> None:
    words = ["/some/where/embree.py", "--peer", "/opt/peer/driver", "--rounds", "3", "a/r1k"]
    expected = "python -m raytracer.benchmark.embree --peer driver --rounds 3 a/r1k"
    assert peer_comparison.command(words) == expected


def test_the_digest_of_all_sources_is_steady_and_not_that_of_the_gpu_alone() -> None:
    from raytracer.benchmark.digests import kernel_digest, sources_digest

    assert sources_digest() == sources_digest()
    assert sources_digest() != kernel_digest()
