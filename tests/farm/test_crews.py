"""Workers of this machine and of a Dask cluster: what they get, return, and how they end."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import raytracer
from raytracer.errors import DataFileError, UserError
from raytracer.farm.choice import check_crew, crew_of
from raytracer.farm.cluster import ClusterCrew
from raytracer.farm.crew import in_order
from raytracer.farm.local import VISIBLE, LocalCrew, places
from raytracer.farm.shared import Shared
from raytracer.resources import THREADS_VARIABLE
from support import farm


def test_results_come_in_order_and_deaths_are_made_good(tmp_path: Path) -> None:
    """A call that kills its worker at the first time is made again on another one."""
    marks = [(tmp_path / str(k), k) for k in range(8)]
    with LocalCrew([{}, {}]) as crew:
        assert list(in_order(crew, farm.dies_once, marks[:3])) == [0, 1, 2]
        assert [one for (one,) in in_order(crew, farm.listed, [(k,) for k in range(8)])] == [
            *range(8)
        ]
        with pytest.raises(
            UserError, match=r"5 processes in a row ended at the same task \(signal 9"
        ):
            list(in_order(crew, farm.dies, [()]))
        with pytest.raises(DataFileError, match="nothing here"):
            list(in_order(crew, farm.fails, [("nothing here",)]))
        assert list(in_order(crew, farm.dies_once, marks[3:4])) == [3]


def test_a_value_is_opened_once_by_each_worker(tmp_path: Path) -> None:
    with LocalCrew([{}]) as crew:
        shared = crew.share(Shared.of({"folder": tmp_path}))
        assert list(in_order(crew, farm.adds, [(shared, k) for k in range(4)])) == [0, 1, 3, 6]
        assert len(list(tmp_path.iterdir())) == 1
        other = crew.share(Shared.of({"folder": tmp_path}))
        assert list(in_order(crew, farm.adds, [(other, 5)])) == [5]
    with pytest.raises(UserError, match="cannot be sent to another process"):
        Shared.of(lambda: None)


def test_workers_are_gone_when_the_crew_is_closed() -> None:
    with LocalCrew([{}, {}]) as crew:
        list(in_order(crew, farm.listed, [(k,) for k in range(2)]))
        assert isinstance(crew, LocalCrew)
        numbers = [process.pid for process in crew.processes.values()]
        future = crew.submit(farm.sleeps, 60.0)
    assert future.done()
    for number in numbers:
        with pytest.raises(ProcessLookupError):
            os.kill(number, signal.SIGKILL)


def test_what_a_worker_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    shares = [place[THREADS_VARIABLE] for place in places(3, "cpu", 8)]
    assert shares == ["2", "3", "3"]
    assert [p[THREADS_VARIABLE] for p in places(3, "cpu", 2)] == ["1", "1", "1"]
    gpus = [{"backend": "cuda", "available": True}] * 2
    monkeypatch.setattr("raytracer.farm.local.devices", lambda: gpus)
    monkeypatch.delenv(VISIBLE, raising=False)
    assert [p.get(VISIBLE) for p in places(3, "auto", 0)] == ["0", "1", "0"]
    assert [p.get(VISIBLE) for p in places(2, "cuda:1", 0)] == [None, None]
    monkeypatch.setenv(VISIBLE, "4,7")
    assert [p.get(VISIBLE) for p in places(2, "cuda", 0)] == ["4", "7"]
    for backend, seen in (("cuda:all", ["4", "7", "4"]), ("cuda:1,0", ["7", "4", "7"])):
        assert [p.get(VISIBLE) for p in places(3, backend, 0)] == seen
        with crew_of(3, None, backend, 0) as crew:
            assert crew.backend == "cuda"  # a worker sees its GPU alone
    with crew_of(2, None, "cuda:1", 0) as crew:
        assert crew.backend == "cuda:1"


@pytest.mark.parametrize(
    ("workers", "address", "words"),
    [
        (0, None, "workers: must be at least 1, not 0"),
        (None, "node17", "'node17' is not the address of a Dask scheduler"),
        (None, "tcp://node17", "'tcp://node17' is not the address"),
        (None, "http://a:1", "'http://a:1' is not the address"),
        (None, 7, "farm: 7 is not the address"),
        (2, "tcp://127.0.0.1:1", "not both"),
    ],
)
def test_workers_that_there_are_not(workers: int | None, address: Any, words: str) -> None:
    with pytest.raises(UserError, match=words):
        check_crew(workers, address)


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
