"""Sinks: where a simulation's states go, a view that takes the latest or a movie that takes all.

A sink runs in a process of its own, at the lowest priority. On a GPU, too: there a thread of the
simulation's process would take Python's lock and queue its work among that of the simulation.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from math import inf
from multiprocessing import Pipe
from multiprocessing.reduction import send_handle
from time import perf_counter, sleep
from typing import Any

from raytracer.config.errors import UserError
from raytracer.config.warning import warn
from raytracer.in_situ.feed import Feed
from raytracer.in_situ.memory import GpuMemory, is_shareable
from raytracer.in_situ.points import Given, Points
from raytracer.in_situ.state_channel import StateWriter, make_channel

SHARE = 0.005  # largest share of the simulation's time that copying takes
INTERVAL = 1.0 / 60.0  # fewest seconds between two copies: no view draws more states
PATIENCE = 5.0  # seconds in which a process that was told to end must end before it is killed
LOOK = 0.001  # seconds between two looks at what a process has sent


class ProcessRunner:
    """A process with the reader of a channel; see `process` for the messages and settings. `gpu` is
    the number of the GPU whose memory both sides share; None: arrays come to the host. Raises
    UserError: it cannot be started."""

    def __init__(self, kind: str, settings: Mapping[str, Any], gpu: int | None) -> None:
        self.gpu = gpu if gpu is not None and is_shareable(gpu) else None
        self._address: str | None = None
        self._error: UserError | None = None
        self.writer = StateWriter(self._send, self._receive_sent)
        self._connection, other = Pipe()
        modules = os.pathsep.join(filter(None, sys.path))  # it imports what the caller does
        with other:
            try:
                self._process = subprocess.Popen(
                    [sys.executable, "-P", "-m", "raytracer.in_situ.process", str(other.fileno())],
                    env=os.environ | {"PYTHONPATH": modules}, stdin=subprocess.DEVNULL,
                    pass_fds=[other.fileno()],
                )  # fmt: skip
            except OSError as error:
                raise UserError(
                    f"live: no process can be started ({error.strerror}): end others"
                ) from None
        try:
            self._connection.send((kind, dict(settings)))
        except Exception as error:  # of pickle, of whatever class
            self._connection.close()
            self._process.wait()
            raise UserError(
                f"live: a setting cannot be sent to another process ({error})"
            ) from None

    def _send(self, kind: str, *content: Any) -> None:
        """Send a message, and with memory its handle or descriptor."""
        with suppress(OSError):  # the reader has ended
            if kind != "memory":
                self._connection.send((kind, *content))
                return
            number, memory = content
            if isinstance(memory, GpuMemory):
                self._connection.send((kind, number, memory.handle()))
            else:
                self._connection.send((kind, number, memory.size))
                send_handle(self._connection, memory.descriptor, self._process.pid)
                memory.close_descriptor()

    def _receive_sent(self) -> None:
        """Take what the reader has sent."""
        with suppress(EOFError, OSError):
            while self._connection.poll():
                self._receive(*self._connection.recv())

    def _receive(self, kind: str, *content: Any) -> None:
        if kind == "ready":
            self._address = content[0]
        elif kind == "error":
            self._error = UserError(*content)
        else:
            self.writer.receive(kind, *content)

    def wait_until_ready(self) -> str:
        """Wait until it is ready; returns the address of a page, or "". Raises UserError."""
        try:
            while self._address is None:
                self._receive(*self._connection.recv())
                if self._error is not None:
                    raise self._error
        except (EOFError, OSError):
            raise UserError(f"live: the view ended at once ({self._describe_end()})") from None
        return self._address

    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def close(self) -> None:
        """Tell it to end."""
        self._send("close")

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until it has ended; False if it has not after so many seconds."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def kill(self) -> None:
        self._process.terminate()
        if not self.wait(PATIENCE):
            self._process.kill()
            self._process.wait()

    def error(self) -> UserError | None:
        """Return why it ended, after it has."""
        self._receive_sent()
        if self._error is None and self._process.poll():
            return UserError(f"live: the view ended ({self._describe_end()})")
        return self._error

    def _describe_end(self) -> str:
        code = self._process.wait()
        return f"exit code {code}" if code >= 0 else f"signal {-code}"


class InlineRunner:
    """No process: a widget of a notebook shows the feed until the end."""

    def __init__(self, gpu: int | None) -> None:
        self.gpu = gpu
        self.writer, reader = make_channel()
        self.feed = Feed(reader)
        self.has_ended: Callable[[], bool] = lambda: False

    def wait_until_ready(self) -> str:
        return ""

    def close(self) -> None:
        """The last state stays shown."""

    def wait(self, seconds: float | None = None) -> bool:
        return True

    def kill(self) -> None:
        """There is nothing to end."""

    def error(self) -> UserError | None:
        return None


class _Sink:
    """Where states go. logged: what the simulation has logged last of each set, by name."""

    def __init__(self, runner: ProcessRunner | InlineRunner, logged: Mapping[str, Given]) -> None:
        self.runner, self.writer, self._logged = runner, runner.writer, logged
        self._sent = dict[str, Given]()
        self._is_taken = False  # whether the sets of this step are copied
        self.has_ended = False
        self._about: Mapping[str, Any] = {}  # of the latest state

    def _write(self, name: str, seconds: float = inf) -> None:
        """Copy a set, or give up if none of its memory becomes free for so many seconds."""
        until = perf_counter() + seconds
        given = self._logged[name]
        self._sent[name] = given  # before an error: it is reported once, not at every step
        points = Points.of(name, given).move_to(name, self.runner.gpu)
        while not self.writer.write(name, points.arrays, points.values, points.stream):
            if self.runner.has_ended() or perf_counter() >= until:
                del self._sent[name]
                return
            sleep(LOOK)

    def _write_newer(self, seconds: float = inf) -> None:
        """Copy the sets of steps that were not taken."""
        for name in [n for n, given in self._logged.items() if given is not self._sent.get(n)]:
            self._write(name, seconds)

    def is_shown(self) -> bool:
        """Return whether it still shows something; warn once of an error that ended it."""
        if not self.has_ended and self.runner.has_ended():
            self.has_ended = True
            if (error := self.runner.error()) is not None:
                warn(str(error))
        return not self.has_ended


class ViewSink(_Sink):
    """A view that takes the latest state: one in each `INTERVAL`, as long as copying takes at most
    `SHARE` of the time; `flush` copies one that was left out."""

    _spent = _due = 0.0
    """Seconds of copying in this step, and the time before which the next one is not taken."""

    def accepts(self, step: int | None) -> bool:
        """Return whether it takes the next set; step: the number of the step that it begins."""
        if step is not None:
            self._is_taken = perf_counter() >= self._due
            if self._is_taken:
                self.writer.publish(self._about)  # of fewer sets than in the step before
                self._spent = 0.0
        return self._is_taken and self.is_shown()

    def log(self, name: str, about: Mapping[str, Any], is_last: bool) -> None:
        """Take a set of points of a step that is taken. about: what holds for the whole state.
        is_last: whether no other set follows in this step, as far as is known."""
        start = perf_counter()
        self._about = about
        try:
            self._write(name, 0.0)
            if is_last:
                self._write_newer(0.0)
                self.writer.publish(about)
        finally:
            end = perf_counter()
            self._spent += end - start
            self._due = end + max(self._spent * (1.0 / SHARE - 1.0), INTERVAL - self._spent)

    def flush(self, about: Mapping[str, Any]) -> None:
        """Publish what was logged and not published; wait at most `PATIENCE` for free memory."""
        self._about = about
        self._write_newer(PATIENCE)
        self.writer.publish(about)

    def finish(self) -> None:
        """Wait for the end of the process, and kill it after `PATIENCE`."""
        if self.runner.wait(PATIENCE):
            self.is_shown()
        else:
            self.runner.kill()
            self.has_ended = True


class MovieSink(_Sink):
    """A movie of every n-th step; the simulation waits if it is faster. A state is published when
    the next step begins: only then it is known to have all of its sets."""

    def __init__(
        self, runner: ProcessRunner | InlineRunner, logged: Mapping[str, Given], every: int
    ) -> None:
        super().__init__(runner, logged)
        self._every = every

    def accepts(self, step: int | None) -> bool:
        """Return whether it takes the next set; it waits until the state before is taken."""
        if step is not None:
            self.flush(self._about)
            self._is_taken = step % self._every == 0
            while self._is_taken and self.is_shown() and not self.writer.is_taken:
                sleep(LOOK)
        return self._is_taken and self.is_shown()

    def log(self, name: str, about: Mapping[str, Any], is_last: bool) -> None:
        self._about = about
        self._write(name)

    def flush(self, about: Mapping[str, Any]) -> None:
        if self.writer.has_new:
            self._write_newer()
            self.writer.publish(self._about)

    def finish(self) -> None:
        self.runner.wait()  # until the last frames are rendered
        if (error := self.runner.error()) is not None:
            raise error
