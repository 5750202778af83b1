"""What the machine offers and what a render needs: threads, memory, the package's own folders."""

from __future__ import annotations

import os
import sys
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING

from raytracer.errors import UserError, shown_value

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

THREADS_VARIABLE = "RAYTRACER_THREADS"

MOST_THREADS = 16
"""Most threads for each usable core."""


NO_THREADS = (
    "no thread could be started: processes or memory are limited here (ulimit -u, -v or -d, or "
    "pids.max of a container); allow more, or end others"
)
"""What a lack of threads is called."""


def is_lack_of_threads(error: BaseException) -> bool:
    """Whether an exception of Python means that the system has no more threads for the process."""
    return isinstance(error, RuntimeError) and str(error).startswith("can't start new thread")


def kernels() -> Traversable:
    """The folder of the kernel sources, in a wheel and in a source tree alike."""
    return _folder("kernels")


def scenes() -> Traversable:
    """The folder of the example scenes."""
    return _folder("scenes")


def _folder(name: str) -> Traversable:
    from importlib.resources import files

    found = files("raytracer") / name
    if not found.is_dir():
        from raytracer import _core  # noqa: F401 - raises InstallError in sources without either
    return found


def thread_count(asked: int = 0) -> int:
    """How many threads to use.

    asked: the user's number; 0 takes RAYTRACER_THREADS or else every core that the process may
        use. More than MOST_THREADS per core make a render slower and take memory: they are cut
        to that.
    Raises UserError for a negative number or a variable that is no number.
    """
    try:
        asked = index(asked)
    except Exception:  # whatever a foreign object raises
        raise UserError(f"threads: {shown_value(asked)} is not a whole number") from None
    if asked < 0:
        raise UserError(f"threads = {shown_value(asked)}: give 1 or more, or 0 for every core")
    if asked:
        return min(asked, MOST_THREADS * _usable_cores())
    value = os.environ.get(THREADS_VARIABLE, "").strip()
    if not value:
        return _usable_cores()
    digits = value.lstrip("0")
    if not value.isdecimal() or not digits:
        raise UserError(
            f"{THREADS_VARIABLE}={shown_value(value)}: set it to a whole number of at least 1"
        )
    # Nine digits are more than any limit, and Python refuses to convert thousands of them.
    return min(int(digits[:9]), MOST_THREADS * _usable_cores())


def busy_threads(asked: int = 0) -> int:
    """How many threads to use for work that needs memory for each, and no more than the cores give.

    Arguments and errors as for `thread_count`.
    """
    return min(thread_count(asked), _usable_cores())


def _usable_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def held_memory() -> int:
    """Bytes of memory that the process holds now (resident set)."""
    for line in _lines(Path("/proc/self/status")):
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return peak_memory()


def peak_memory() -> int:
    """Bytes of memory that the process has held at most."""
    for line in _lines(Path("/proc/self/status")):
        # Its ru_maxrss begins with that of the process that started it.
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    try:
        import resource
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def available_address_space(root: Path = Path("/")) -> int | None:
    """Bytes that `ulimit -v` and `ulimit -d` leave the process; None without a limit."""
    try:
        import resource
    except ImportError:
        return None
    figures = []
    for limit, field in ((resource.RLIMIT_AS, "VmSize:"), (resource.RLIMIT_DATA, "VmData:")):
        allowed = resource.getrlimit(limit)[0]
        used = [int(t.split()[1]) for t in _lines(root / "proc/self/status") if t.startswith(field)]
        if allowed != resource.RLIM_INFINITY and used:
            figures.append(max(allowed - used[0] * 1024, 0))
    return min(figures) if figures else None


def available_memory(root: Path = Path("/")) -> int | None:
    """Bytes that the process may still allocate without swapping; None where nobody says.

    The least of what the system has available and what every control group above the process
    leaves. root: where /proc and /sys are (tests bring their own).
    """
    figures = [*_system_memory(root), *_group_memory(root)]
    return min(figures) if figures else None


def _system_memory(root: Path) -> list[int]:
    for line in _lines(root / "proc/meminfo"):
        if line.startswith("MemAvailable:"):
            return [int(line.split()[1]) * 1024]
    return []


def _group_memory(root: Path) -> list[int]:
    """What each control group on the way up leaves, versions 1 and 2."""
    figures = []
    for line in _lines(root / "proc/self/cgroup"):
        _, controllers, group = line.split(":", 2)
        if not controllers:
            base, names = "sys/fs/cgroup", ("memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            base = "sys/fs/cgroup/memory"
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        else:
            continue
        top = root / base
        folder = top / group.lstrip("/")
        for level in (folder, *folder.parents):
            figures += _left_in_group(level, *names)
            if level == top:
                break
    return figures


def _left_in_group(folder: Path, limit: str, usage: str, cache: str) -> list[int]:
    """Limit less usage; file pages that can be dropped do not count as used."""
    allowed, used = _number(folder / limit), _number(folder / usage)
    if allowed is None or used is None:
        return []
    droppable = 0
    for line in _lines(folder / "memory.stat"):
        key, _, value = line.partition(" ")
        if key == cache:
            droppable = int(value)
    return [max(allowed - used + droppable, 0)]


def _number(path: Path) -> int | None:
    """The number in a file; None if it is missing or says "max"."""
    text = " ".join(_lines(path)).strip()
    return int(text) if text.isdecimal() else None


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:
        return []
