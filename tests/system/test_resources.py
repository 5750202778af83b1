"""Threads, memory limits as the system states them, and refusals that say what fits."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from raytracer.config.errors import MemoryNeedError, UserError
from raytracer.system import memory, resources


def write(root: Path, files: dict[str, str]) -> Path:
    """Files by path and content under a folder."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return root


MEMINFO = {"proc/meminfo": "MemTotal: 9000 kB\nMemAvailable: 8000 kB\n"}


def test_threads_come_from_the_argument_then_the_variable_then_the_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(resources.THREADS_VARIABLE, "3")
    assert resources.choose_thread_count(5) == 5
    assert resources.choose_thread_count() == 3
    monkeypatch.delenv(resources.THREADS_VARIABLE)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {2, 5, 7}, raising=False)
    assert resources.choose_thread_count() == 3
    monkeypatch.setattr(resources, "_usable_cores", lambda: 2)
    assert resources.choose_thread_count(3) == 3
    assert resources.choose_thread_count(100_000) == 2 * resources.MAX_THREADS
    assert resources.choose_busy_threads(100_000) == 2
    assert resources.choose_busy_threads(1) == 1
    monkeypatch.setenv(resources.THREADS_VARIABLE, "9" * 9)
    assert resources.choose_thread_count() == 2 * resources.MAX_THREADS
    for value in ("many", "0", "000", "-2", "1.5"):
        monkeypatch.setenv(resources.THREADS_VARIABLE, value)
        with pytest.raises(UserError, match="RAYTRACER_THREADS"):
            resources.choose_thread_count()
    with pytest.raises(UserError, match="threads = -1"):
        resources.choose_thread_count(-1)


CGROUP, V1 = "sys/fs/cgroup", "sys/fs/cgroup/memory"
NO_LIMIT = "9223372036854771712\n"


@pytest.mark.parametrize(
    ("files", "available"),
    [
        (MEMINFO, 8000 * 1024),
        ({}, None),
        (  # version 2 limits on every level
            MEMINFO | {
                "proc/self/cgroup": "0::/a/b\n",
                f"{CGROUP}/a/memory.max": "5000000\n",
                f"{CGROUP}/a/memory.current": "4000000\n",
                f"{CGROUP}/a/memory.stat": "anon 1\ninactive_file 500000\n",
                f"{CGROUP}/a/b/memory.max": "max\n",
                f"{CGROUP}/a/b/memory.current": "3000000\n",
            },
            1_500_000,
        ),
        (
            MEMINFO | {
                "proc/self/cgroup": "5:cpu,cpuacct:/x\n4:memory:/job\n",
                f"{V1}/memory.limit_in_bytes": NO_LIMIT,
                f"{V1}/memory.usage_in_bytes": "6000000\n",
                f"{V1}/job/memory.limit_in_bytes": "4000000\n",
                f"{V1}/job/memory.usage_in_bytes": "3900000\n",
                f"{V1}/job/memory.stat": "cache 9\ntotal_inactive_file 100\n",
            },
            100_100,
        ),
        (
            {
                "proc/self/cgroup": "4:memory:/\n",
                f"{V1}/memory.limit_in_bytes": NO_LIMIT,
                f"{V1}/memory.usage_in_bytes": "6000000\n",
            },
            None,
        ),
        (  # a field is known by its whole name
            {
                "proc/meminfo": "NotMemAvailable: 1 kB\nMemAvailable:    8000 kB\n",
                "proc/self/cgroup": "0::/a\n",
                f"{CGROUP}/a/memory.max": "5000000\n",
                f"{CGROUP}/a/memory.current": "4000000\n",
                f"{CGROUP}/a/memory.stat": "inactive_file_huge 1\ntotal_inactive_file 2\n",
            },
            1_000_000,
        ),
    ],
)  # fmt: skip
def test_memory_that_the_system_and_its_groups_leave(
    files: dict[str, str], available: int | None, tmp_path: Path
) -> None:
    assert resources.available_memory(write(tmp_path, files)) == available


def test_what_is_proposed_fits_with_a_little_less_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is free changes between two runs of the same command."""
    monkeypatch.setattr(memory, "available_memory", lambda: 2**30)
    with pytest.raises(MemoryNeedError) as caught:
        memory.require_host(memory.MemoryEstimate(10, 100_000, 50_000))
    size = str(caught.value).split("a picture of ")[1].split(" ")[0]
    width, height = (int(side) for side in size.split("x"))
    plain = memory.MemoryEstimate(10, width, height)
    assert replace(plain, film=".exr").extra > plain.extra
    assert width == pytest.approx(2 * height, rel=0.01)
    monkeypatch.setattr(memory, "available_memory", lambda: 2**30 - 7 * memory.MIB)
    memory.require_host(plain)


def test_limits_of_the_shell_count(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import resource

    unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    limits = {resource.RLIMIT_AS: unlimited, resource.RLIMIT_DATA: unlimited}
    monkeypatch.setattr(resource, "getrlimit", limits.__getitem__)
    root = write(tmp_path, {"proc/self/status": "VmSize:\t3000 kB\nVmData:\t1000 kB\n"})
    assert resources.available_memory(root) is None
    limits[resource.RLIMIT_AS] = (10_000 * 1024, resource.RLIM_INFINITY)
    assert resources.available_memory(root) == 7000 * 1024
    limits[resource.RLIMIT_DATA] = (1500 * 1024, resource.RLIM_INFINITY)
    assert resources.available_memory(root) == 500 * 1024


def test_every_thread_that_renders_needs_memory() -> None:
    """As many as there are, but no more than parts of a small picture."""
    one = memory.MemoryEstimate(count=10, width=640, height=640, threads=1)
    for threads in (2, 5):
        added = replace(one, threads=threads).extra - one.extra
        assert added == (threads - 1) * memory.THREAD
    small = replace(one, width=64, height=64)
    assert replace(small, threads=5).extra == small.extra
