"""Threads and memory of the machine, signals, folders of the package."""

from __future__ import annotations

import errno
import os
import re
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from operator import index
from typing import TYPE_CHECKING

from raytracer._native import core
from raytracer.config.errors import UserError, quote_value

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable
    from pathlib import Path

THREADS_VARIABLE = "RAYTRACER_THREADS"

CLOSING = "closing"
"""Name of the thread that waits for the last work of a view, which may take for ever."""

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

MAX_THREADS = 16
NO_THREADS = (
    "no thread could be started: processes or memory are limited here (ulimit -u, -v or -d, or "
    "pids.max of a container); allow more, or end others"
)
UNLIMITED = 1 << 62  # limits of control groups from here on mean none; version 1 has almost 2^63


@contextmanager
def hold_signals() -> Iterator[None]:
    """Handle signals that come during a block after it: for imports of libraries that swallow what
    handlers raise."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    held: list[int] = []
    handlers = {number: signal.getsignal(number) for number in {signal.SIGINT, *SIGNALS}}
    for number, handler in handlers.items():
        if callable(handler):
            signal.signal(number, lambda number, _: held.append(number))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            if callable(handler):
                signal.signal(number, handler)
        if held:
            signal.raise_signal(held[0])


def is_lack_of_memory(error: BaseException | None) -> bool:
    """Whether an exception, or its cause, means that memory has run out."""
    while error is not None:
        if isinstance(error, MemoryError):
            return True
        if isinstance(error, OSError) and error.errno == errno.ENOMEM:
            return True
        error = error.__cause__ or error.__context__
    return False


def is_lack_of_threads(error: BaseException) -> bool:
    """Whether an exception means that no thread can be started."""
    return isinstance(error, RuntimeError) and str(error).startswith("can't start new thread")


def kernels_folder() -> Path:
    from pathlib import Path

    return Path(str(_find_folder("kernels")))  # on disk, where compilers read them


def scenes_folder() -> Traversable:
    return _find_folder("scenes")


def _find_folder(name: str) -> Traversable:
    from importlib.resources import files

    folder = files("raytracer") / name
    if not folder.is_dir():
        core()  # raises InstallError in sources without either
    return folder


def choose_thread_count(threads: int = 0) -> int:
    """Return the number of threads to use, at most MAX_THREADS per core; 0 uses RAYTRACER_THREADS
    or every core that the process may use."""
    try:
        threads = index(threads)
    except Exception:  # whatever a foreign object raises
        raise UserError(f"threads: {quote_value(threads)} is not a whole number") from None
    if threads < 0:
        raise UserError(f"threads = {quote_value(threads)}: give 1 or more, or 0 for every core")
    if threads:
        return min(threads, MAX_THREADS * _usable_cores())
    value = os.environ.get(THREADS_VARIABLE, "").strip()
    if not value:
        return _usable_cores()
    if not value.isdecimal() or len(value) > 9 or int(value) == 0:
        raise UserError(
            f"{THREADS_VARIABLE}={quote_value(value)}: set it to a whole number of at least 1"
        )
    return min(int(value), MAX_THREADS * _usable_cores())


def choose_busy_threads(threads: int = 0) -> int:
    """Return the number of threads for work that needs memory for each: at most one per core."""
    return min(choose_thread_count(threads), _usable_cores())


def _usable_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def peak_memory() -> int:
    # ru_maxrss begins with the value of the parent process.
    highest = _field(_read_system_file("/proc/self/status"), b"VmHWM:")
    if highest is not None:
        return highest * 1024
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def data_memory() -> int:
    """Return the bytes of this process that `ulimit -d` counts."""
    return 1024 * (_field(_read_system_file("/proc/self/status"), b"VmData:") or 0)


def available_memory(root: str | Path = "/") -> int | None:
    """Return the bytes that the process can allocate without swapping; None if unknown.

    This is the minimum over the system, all control groups of the process, and `ulimit -v` and
    `ulimit -d`, which limit address space.
    """
    figures = [*_group_memory(root), *_shell_memory(root)]
    if (
        available := _field(_read_system_file(f"{root}/proc/meminfo"), b"MemAvailable:")
    ) is not None:
        figures.append(available * 1024)
    return min(figures, default=None)


def _shell_memory(root: str | Path) -> Iterator[int]:
    import resource

    for limit, field in ((resource.RLIMIT_AS, b"VmSize:"), (resource.RLIMIT_DATA, b"VmData:")):
        allowed = resource.getrlimit(limit)[0]
        if allowed != resource.RLIM_INFINITY:
            used = _field(_read_system_file(f"{root}/proc/self/status"), field) or 0
            yield max(allowed - used * 1024, 0)


def _group_memory(root: str | Path) -> list[int]:
    """Return the bytes that each control group above the process leaves, versions 1 and 2."""
    figures = []
    for line in os.fsdecode(_read_system_file(f"{root}/proc/self/cgroup")).splitlines():
        _, controllers, group = line.split(":", 2)
        if not controllers:
            base, names = "sys/fs/cgroup", ("memory.max", "memory.current", b"inactive_file ")
        elif "memory" in controllers.split(","):
            base = "sys/fs/cgroup/memory"
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", b"total_inactive_file ")
        else:
            continue
        top, folder = f"{root}/{base}", f"{root}/{base}/{group.strip('/')}"
        while len(folder) >= len(top):
            figures += _group_remainder(folder, *names)
            folder = folder.rpartition("/")[0]
    return figures


def _group_remainder(folder: str, limit: str, usage: str, cache: bytes) -> list[int]:
    """Return limit less usage; droppable file pages do not count as used."""
    allowed, used = (_number(f"{folder}/{name}") for name in (limit, usage))
    if allowed is None or used is None or allowed >= UNLIMITED:
        return []
    droppable = _field(_read_system_file(f"{folder}/memory.stat"), cache) or 0
    return [max(allowed - used + droppable, 0)]


def _number(path: str) -> int | None:
    """Return the number in a file; None if it is missing or "max"."""
    text = _read_system_file(path).strip()
    return int(text) if text.isdigit() else None


def _field(text: bytes, name: bytes) -> int | None:
    """Return the number after a name at the start of a line, or None."""
    found = re.search(rb"^%s\s*(\d+)" % name, text, re.MULTILINE)
    return int(found[1]) if found else None


def _read_system_file(path: str | Path) -> bytes:
    """Return the content of a file of the system; b"" if it cannot be read. `Path.read_text` takes
    several times as long, and a dozen such files are read for each data file."""
    try:
        with FileIO(path) as file:
            return file.readall()
    except OSError:
        return b""
