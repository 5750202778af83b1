"""What the machine offers and what a render needs: threads, memory, the package's own folders."""

from __future__ import annotations

import errno
import os
import sys
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING

from raytracer.errors import MemoryNeedError, UserError, shown_value

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


START_SPACE, START_DATA = 96 << 20, 48 << 20
"""Bytes of address space, and those of them that can be written, in which NumPy can be imported.
Its linear algebra ends the process where there is less."""

_UNMAPPED = ("cannot allocate memory", "failed to map segment")
"""What the linker says of a library for which there is no memory."""


def require_start() -> None:
    """Refuse to start where NumPy cannot be imported. Raises MemoryNeedError."""
    import resource

    limits = (
        (resource.RLIMIT_AS, "VmSize:", START_SPACE, "v"),
        (resource.RLIMIT_DATA, "VmData:", START_DATA, "d"),
    )
    for limit, field, need, option in limits:
        left = _left(limit, field)
        if left is not None and left < need:
            raise MemoryNeedError(
                f"{need >> 20} MiB of address space are needed to start and {left >> 20} MiB is "
                f"free: allow more by ulimit -{option}"
            )


def is_lack_of_memory(error: BaseException | None) -> bool:
    """Whether an exception, or one behind it, means that the process gets no more memory."""
    while error is not None:
        if isinstance(error, MemoryError):
            return True
        if isinstance(error, OSError) and error.errno == errno.ENOMEM:
            return True
        if isinstance(error, SystemError) and _is_limited():
            return True  # an extension of Python got none and did not say so
        if isinstance(error, ImportError) and any(w in str(error).lower() for w in _UNMAPPED):
            return True
        error = error.__cause__ or error.__context__
    return False


def _is_limited() -> bool:
    """Whether there is a limit of address space; takes no memory to find out, for there is none."""
    try:
        import resource
    except ImportError:
        return False
    kinds = resource.RLIMIT_AS, resource.RLIMIT_DATA
    return any(resource.getrlimit(kind)[0] != resource.RLIM_INFINITY for kind in kinds)


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
    limits = ((resource.RLIMIT_AS, "VmSize:"), (resource.RLIMIT_DATA, "VmData:"))
    figures = [left for each in limits if (left := _left(*each, root)) is not None]
    return min(figures) if figures else None


def _left(limit: int, field: str, root: Path = Path("/")) -> int | None:
    """Bytes that a limit of this process leaves; None without it.

    field: of /proc/self/status, what counts against it.
    """
    import resource

    allowed = resource.getrlimit(limit)[0]
    if allowed == resource.RLIM_INFINITY:
        return None
    used = [int(t.split()[1]) for t in _lines(root / "proc/self/status") if t.startswith(field)]
    return max(allowed - used[0] * 1024, 0) if used else None


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
