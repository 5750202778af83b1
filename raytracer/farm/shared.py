"""Values that are sent to each worker once.

A value is pickled once. It travels as a file to workers of the same machine, and as bytes to those
of a cluster. A worker keeps what it made of the last value.
"""

from __future__ import annotations

import atexit
import pickle
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Any

from raytracer._version import __version__
from raytracer.errors import UserError, shown


@dataclass(frozen=True)
class Shared:
    token: str  # tells values apart
    data: bytes | None  # None where a file holds it
    path: Path | None = None  # of that file
    version: str = __version__  # of the program that made it

    @classmethod
    def of(cls, value: object) -> Shared:
        """Pickle a value. Raises UserError if that fails."""
        try:
            data = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
        except Exception as error:  # whatever a foreign object raises
            raise _unsent(error) from error
        return cls(secrets.token_hex(16), data)

    def in_file(self, folder: Path) -> Shared:
        """Return the same value, stored in a new file in a folder."""
        path = folder / self.token
        path.write_bytes(self.data or b"")
        return replace(self, data=None, path=path)

    def load(self) -> Any:
        """Return the value. Raises UserError: the worker has another version of the program."""
        if self.version != __version__:
            raise UserError(
                f"workers: have version {__version__} of raytracer instead of "
                f"{self.version}: install the same one"
            )
        data = self.data if self.path is None else self.path.read_bytes()
        try:
            return pickle.loads(data or b"")
        except (AttributeError, ImportError) as error:  # of a class of the caller's script
            raise _unsent(error) from error


def _unsent(error: Exception) -> UserError:
    return UserError(
        f"workers: the scene cannot be sent to another process ({shown(str(error), 200)}): save it "
        "to a file, and give its path"
    )


_lock = Lock()
_opened: tuple[str, Any] | None = None


@contextmanager
def opened(shared: Shared, make: Callable[[Any], Any]) -> Iterator[Any]:
    """Give `make(value)`, which is kept until another value comes.

    Threads of one process take turns, since each call uses all threads of its worker.
    """
    global _opened
    with _lock:
        if _opened is None or _opened[0] != shared.token:
            _close()
            _opened = shared.token, make(shared.load())
        yield _opened[1]


@atexit.register
def _close() -> None:
    global _opened
    if _opened is not None:
        old, _opened = _opened[1], None
        with suppress(Exception):
            old.close()
