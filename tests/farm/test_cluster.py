"""Workers of a Dask cluster; here they are threads of the test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import raytracer
from raytracer.errors import DataFileError, UserError
from raytracer.farm.choice import crew_of
from raytracer.farm.cluster import ClusterCrew
from raytracer.farm.crew import in_order
from raytracer.farm.shared import Shared
from support import farm

SMALL: dict[str, Any] = {"width": 32, "height": 18, "samples": 1, "backend": "cpu"}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, protocol="tcp", host="127.0.0.1",
        dashboard_address=None, worker_dashboard_address=None,
    ) as cluster:  # fmt: skip
        yield cluster.scheduler_address


def test_calls_and_shared_values(address: str, tmp_path: Path) -> None:
    with crew_of(None, address, "cpu", 0) as crew:
        assert crew.size == 1
        shared = crew.share(Shared.of({"folder": tmp_path}))
        sums = list(in_order(crew, farm.adds, [(shared, 1) for _ in range(6)]))
        assert sorted(sums) == [1, 2, 3, 4, 5, 6]
        assert len(list(tmp_path.iterdir())) == 1
        with pytest.raises(DataFileError, match="nothing here"):
            list(in_order(crew, farm.fails, [("nothing here",)]))


def test_an_animation_has_the_bytes_of_one_process(address: str, tmp_path: Path) -> None:
    path = tmp_path / "a.xyz"
    path.write_text("".join(f"2\n\nO 0 0 0\nH {k + 1} 0 0\n" for k in range(6)))
    raytracer.animate(path, **SMALL).save(tmp_path / "a.gif", farm=address)
    raytracer.animate(path, **SMALL).save(tmp_path / "b.gif")
    assert (tmp_path / "a.gif").read_bytes() == (tmp_path / "b.gif").read_bytes()


def test_no_scheduler_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("raytracer.farm.cluster.TIMEOUT", 0.1)
    with pytest.raises(UserError, match="no Dask scheduler answers at tcp://127"):
        ClusterCrew("tcp://127.0.0.1:1", "auto")
