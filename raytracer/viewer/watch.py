"""Files that are looked at for changes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from raytracer.errors import RaytracerError

if TYPE_CHECKING:
    from collections.abc import Callable

    from raytracer.viewer.stage import Stage

EVERY = 0.25
"""Seconds between two looks."""

Stamp = tuple[int, int]


class Watch:
    """Loads a scene anew, in a thread of its own, when one of its files changes.

    files: to begin with. load: gives the new stage, or raises a sentence.
    loaded, broken: told of the stage or of the sentence, in that thread.
    """

    def __init__(
        self,
        files: Sequence[Path],
        load: Callable[[], Stage],
        loaded: Callable[[Stage], None],
        broken: Callable[[str], None],
    ) -> None:
        self._load, self._loaded, self._broken = load, loaded, broken
        self._seen = {path: stamp(path) for path in files}
        self._thread: Thread | None = None

    def look(self, _: float = 0.0) -> bool:
        """Begin to load if a file changed; whether it did."""
        if self._thread is not None and self._thread.is_alive():
            return False
        now = {path: stamp(path) for path in self._seen}
        if None in now.values() or now == self._seen:
            return False
        self._seen = now
        self._thread = Thread(target=self._read, name="load", daemon=True)
        self._thread.start()
        return True

    def join(self, seconds: float) -> None:
        """Wait for a load that is under way."""
        if self._thread is not None:
            self._thread.join(seconds)

    def _read(self) -> None:
        try:
            stage = self._load()
        except RaytracerError as error:
            self._broken(str(error))
            return
        # Of a file that was known already the stamp from before the load counts.
        self._seen = {path: self._seen.get(path) or stamp(path) for path in stage.files()}
        self._loaded(stage)


def stamp(path: Path) -> Stamp | None:
    """Time and size of a file; None while it is missing, as it is when an editor renames."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
