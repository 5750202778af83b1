"""One process of a test run at a time: what one has compiled, the others find in the cache."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager

from raytracer.backends.cuda.cache import make_own_folder


@contextmanager
def alone(task: str) -> Iterator[None]:
    """Hold the lock of a task; the processes of pytest-xdist wait for each other here."""
    folder = make_own_folder()
    with (folder / f"{task}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
