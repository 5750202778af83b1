"""A preview in a process of its own, commanded and looked at by a test."""

import socket
import subprocess
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import numpy as np
from numpy.typing import NDArray

from support.display import LIMIT
from support.host import State

RUN = "import sys; from support import host; sys.exit(host.main(*sys.argv[1:]))"
TESTS = Path(__file__).resolve().parents[1]


class Remote:
    """A window under test.

    arguments: of the command line. folder: where it runs, and where its output is kept.
    environment: with DISPLAY. ratio: pixels a point, as on displays with a high density.
    """

    def __init__(
        self, arguments: list[str], folder: Path, environment: dict[str, str], ratio: float = 1.0
    ) -> None:
        here, there = socket.socketpair()
        self._folder = folder
        command = [sys.executable, "-u", "-X", "faulthandler", "-c", RUN]
        command += [str(there.fileno()), str(ratio), *arguments]
        paths = [str(TESTS), str(TESTS.parent)]
        with self._out.open("w") as out, self._err.open("w") as err:
            self.process = subprocess.Popen(
                command, cwd=folder, stdout=out, stderr=err, pass_fds=[there.fileno()],
                env=environment | {"PYTHONPATH": ":".join([*paths, *_inherited(environment)])},
            )  # fmt: skip
        there.close()
        self._requests = Connection(here.detach())

    @property
    def _out(self) -> Path:
        return self._folder / "out.txt"

    @property
    def _err(self) -> Path:
        return self._folder / "err.txt"

    @property
    def printed(self) -> str:
        return self._out.read_text()

    @property
    def complained(self) -> str:
        return self._err.read_text()

    def ask(self, name: str, *arguments: Any) -> Any:
        try:
            self._requests.send((name, arguments))
            if self._requests.poll(LIMIT):
                return self._requests.recv()
        except (EOFError, OSError):
            pass
        raise AssertionError(f"no answer to {name}{arguments}\n{self.printed}\n{self.complained}")

    @property
    def state(self) -> State:
        found: State = self.ask("state")
        return found

    def until(self, reached: Callable[[State], object], what: str) -> State:
        end = monotonic() + LIMIT
        while not reached(state := self.state):
            assert monotonic() < end, f"waited for {what}; now {state}\n{self.complained}"
            sleep(0.01)
        return state

    def rest(self) -> State:
        return self.until(lambda s: s.rest, "a picture at rest")

    def fresh(self) -> State:
        self.ask("fresh")
        return self.rest()

    def shot(self, text: bool = False) -> NDArray[np.uint8]:
        """What it draws, uint8 (h, w, 3)."""
        return np.asarray(self.ask("shot", text))

    def press(self, name: str) -> None:
        """Press a key and let it go, by pyglet's event; a name as in `controls`."""
        self.ask("key", "press", name)
        self.ask("key", "release", name)

    def ends(self) -> int:
        return self.process.wait(LIMIT)

    def stop(self) -> None:
        self._requests.close()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(LIMIT)


def _inherited(environment: dict[str, str]) -> list[str]:
    return [path for path in environment.get("PYTHONPATH", "").split(":") if path]
