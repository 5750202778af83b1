"""Outlets: where a simulation's states go, a view that takes the latest or a movie that takes all.

An outlet runs in a process of its own, at the lowest priority. On a GPU, too: there a thread of the
simulation's process would take Python's lock and queue its work among that of the simulation.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.reduction import send_handle
from time import perf_counter, sleep
from typing import Any

from raytracer.errors import BackendError, UserError
from raytracer.in_situ.feed import Feed
from raytracer.in_situ.gpu_memory import GpuMemory
from raytracer.in_situ.mailbox import Control, Memory, Writer, mailbox
from raytracer.in_situ.points import Given, Points
from raytracer.warning import warn

SHARE = 0.005  # largest share of the simulation's time that copying takes
INTERVAL = 1.0 / 60.0  # fewest seconds between two copies: no view draws more states
PATIENCE = 5.0  # seconds in which a process that was told to end must end before it is killed
LOOK = 0.001  # seconds between two looks whether a movie has taken a state


class ProcessRunner:
    """A process with the reader of a mailbox.

    Args:
        kind, settings: as for `process.FRONTS`.
        gpu: number of the GPU that renders, or None.

    Attributes:
        writer: the side of the simulation.
        gpu: number of the GPU whose memory both sides share, when it is ready; None: arrays come to
            the host.

    Raises:
        UserError: it cannot be started.
    """

    def __init__(self, kind: str, settings: Mapping[str, Any], gpu: int | None) -> None:
        control = Control()
        self.gpu, handle = gpu, None
        self._trial: GpuMemory | None = None
        if gpu is not None:
            try:
                self._trial = GpuMemory(1, gpu)
                handle = self._trial.handle()
            except BackendError:  # arrays come to the host
                self.gpu = self._trial = None
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
            self._connection.send((kind, dict(settings), handle))
        except Exception as error:  # of pickle, of whatever class
            self._connection.close()
            self._process.wait()
            raise UserError(
                f"live: a setting cannot be sent to another process ({error})"
            ) from None
        send_handle(self._connection, control.descriptor, self._process.pid)
        self.writer = Writer(control, self._share, self._wake)

    def _share(self, index: int, generation: int, memory: Memory | GpuMemory) -> None:
        """Send the descriptor or the handle of memory."""
        with suppress(OSError):  # the reader has ended
            if isinstance(memory, GpuMemory):
                self._connection.send(("gpu memory", index, generation, memory.handle()))
            else:
                self._connection.send(("memory", index, generation, memory.size))
                send_handle(self._connection, memory.descriptor, self._process.pid)

    def _wake(self) -> None:
        """Send a message; the reader waits for one at a time, so that none is held up."""
        with suppress(OSError):
            self._connection.send(("wake",))

    def ready(self) -> str:
        """Wait until it is ready; returns the address of a page, or "". Raises UserError."""
        try:
            if self._trial is not None and not self._connection.recv():
                self.gpu = None
            kind, *values = self._connection.recv()
        except (EOFError, OSError):
            raise UserError(f"live: the view ended at once ({self._how()})") from None
        self._trial = None
        if kind == "error":
            raise UserError(*values)
        return str(values[0])

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def close(self) -> None:
        """Tell it to end."""
        with suppress(OSError):
            self._connection.send(("close",))

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
        with suppress(EOFError, OSError):
            while self._connection.poll():
                kind, *values = self._connection.recv()
                if kind == "error":
                    return UserError(*values)
        code = self._process.poll()
        return None if not code else UserError(f"live: the view ended ({self._how()})")

    def _how(self) -> str:
        code = self._process.wait()
        return f"exit code {code}" if code >= 0 else f"signal {-code}"


class InlineRunner:
    """No process: a widget of a notebook shows the feed until the end; see `ProcessRunner`."""

    def __init__(self, gpu: int | None) -> None:
        self.gpu = gpu
        self.writer, reader = mailbox()
        self.feed = Feed(reader)
        self.is_closed: Callable[[], bool] | None = None
        """Returns whether what shows the feed was closed; None: it was not."""

    def ready(self) -> str:
        return ""

    @property
    def has_ended(self) -> bool:
        return self.is_closed is not None and self.is_closed()

    def close(self) -> None:
        """The last state stays shown."""

    def wait(self, seconds: float | None = None) -> bool:
        return True

    def kill(self) -> None:
        """There is nothing to end."""

    def error(self) -> UserError | None:
        return None


class _Outlet:
    """Where states go.

    Args:
        runner: shows them.
        logged: what the simulation has logged last of each set, by name.
    """

    def __init__(self, runner: ProcessRunner | InlineRunner, logged: Mapping[str, Given]) -> None:
        self.runner, self.writer, self._logged = runner, runner.writer, logged
        self._sent = dict[str, Given]()
        self.due = 0.0
        """Time before which no step is taken."""
        self.is_taken = False
        """Whether the sets of this step are copied."""
        self.has_ended = False
        self.error: UserError | None = None  # that ended it
        self._unpublished = False
        self._about: Mapping[str, Any] = {}  # of the latest state

    def _write(self, name: str) -> None:
        given = self._sent[name] = self._logged[name]  # what is wrong is said once
        points = Points.of(name, given).near(name, self.runner.gpu)
        self.writer.write(name, points.arrays, points.values, points.stream)
        self._unpublished = True

    def _write_newer(self) -> None:
        """Copy the sets of steps that were not taken."""
        for name in [n for n, given in self._logged.items() if given is not self._sent.get(n)]:
            self._write(name)

    def _publish(self, waits: bool = False) -> None:
        """Publish what was written, unless the reader is busy; waits: retry until it is not."""
        while self._unpublished and not self.writer.publish(self._about):
            if not waits:
                return
            sleep(LOOK)
        self._unpublished = False

    def look(self) -> bool:
        """Return whether it still shows something; warn once of an error that ended it."""
        if not self.has_ended and self.runner.has_ended:
            self.has_ended, self.error = True, self.runner.error()
            if self.error is not None:
                warn(str(self.error))
        return not self.has_ended


class View(_Outlet):
    """A view that takes the latest state.

    A state is copied at most once in each `INTERVAL`, and as long as copying takes at most `SHARE`
    of the time; `flush` copies one that was left out.
    """

    _spent = 0.0
    """Seconds of copying in this step."""

    def begin(self) -> None:
        """Begin a step, which is taken if it is time."""
        self.is_taken = not self.has_ended and perf_counter() >= self.due
        if self.is_taken:
            self._publish()  # of fewer sets than in the step before, or the reader was looking
            self._spent = 0.0

    def log(self, name: str, about: Mapping[str, Any], is_last: bool) -> None:
        """Take a set of points of a step that is taken.

        about: what holds for the state as a whole. is_last: whether no other set follows in this
        step, as far as is known.
        """
        start = perf_counter()
        self._about = about
        try:
            self._write(name)
            if is_last:
                self._write_newer()
                self._publish()
        finally:
            end = perf_counter()
            self._spent += end - start
            self.due = end + max(self._spent * (1.0 / SHARE - 1.0), INTERVAL - self._spent)

    def flush(self, about: Mapping[str, Any]) -> None:
        """Publish what was logged and not published."""
        self._about = about
        self._write_newer()
        self._publish(waits=True)

    def finish(self) -> None:
        """Wait for the end of the process, and kill it after `PATIENCE`."""
        if self.runner.wait(PATIENCE):
            self.look()
        else:
            self.runner.kill()
            self.has_ended = True


class Movie(_Outlet):
    """A movie of every n-th step; the simulation waits if it is faster.

    A state is published when the next step begins: only then it is known to have all of its sets.
    """

    def __init__(
        self, runner: ProcessRunner | InlineRunner, logged: Mapping[str, Given], every: int
    ) -> None:
        super().__init__(runner, logged)
        self._every, self._step = every, -1

    def begin(self) -> None:
        self.flush(self._about)
        self._step += 1
        self.is_taken = self._step % self._every == 0
        if self.is_taken:  # when the state before is taken, or the movie has failed
            while not (self.writer.is_taken or self.runner.has_ended):
                sleep(LOOK)

    def log(self, name: str, about: Mapping[str, Any], is_last: bool) -> None:
        self._about = about
        self._write(name)

    def flush(self, about: Mapping[str, Any]) -> None:
        if self._unpublished:
            self._write_newer()
        self._publish(waits=True)

    def finish(self) -> None:
        self.runner.wait()  # until the last frames are rendered
        error = self.error or self.runner.error()
        if error is not None:
            raise error
