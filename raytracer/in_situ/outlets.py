"""Outlets: where a simulation's states go, a view that takes the latest or a movie that takes all.

An outlet runs in a process of its own, at the lowest priority. On a GPU, too: there a thread of the
simulation's process would take Python's lock and queue its work among that of the simulation.
"""

from __future__ import annotations

import os
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.reduction import send_handle
from time import perf_counter, sleep
from typing import Any

from raytracer.errors import BackendError, UserError
from raytracer.in_situ.feed import Feed
from raytracer.in_situ.gpu_memory import GpuMemory
from raytracer.in_situ.mailbox import ProcessLink, Reader, ThreadLink, Writer, control_memory
from raytracer.in_situ.points import Given, Logged
from raytracer.warning import warn

SHARE = 0.005
"""Largest share of the simulation's time that copying takes."""

INTERVAL = 1.0 / 60.0
"""Fewest seconds between two copies: no view draws more states."""

PATIENCE = 5.0
"""Seconds in which a process that was told to end must end before it is killed."""

LOOK = 0.001
"""Seconds between two looks whether a process has ended, or a movie has taken a state."""


class Runner(ABC):
    """Where the reader of a mailbox runs.

    Attributes:
        writer: the side of the simulation.
        gpu: number of the GPU whose memory both sides share, when it is ready; None: arrays come to
            the host.
    """

    writer: Writer
    gpu: int | None

    @abstractmethod
    def ready(self) -> str:
        """Wait until it is ready; returns the address of a page, or "". Raises UserError."""

    @property
    @abstractmethod
    def has_ended(self) -> bool:
        """Whether it has ended."""

    @abstractmethod
    def close(self) -> None:
        """Tell it to end."""

    @abstractmethod
    def wait(self, seconds: float | None = None) -> bool:
        """Wait until it has ended; False if it has not after so many seconds."""

    @abstractmethod
    def kill(self) -> None:
        """End it by force."""

    @abstractmethod
    def error(self) -> UserError | None:
        """Return why it ended, after it has."""


class ProcessRunner(Runner):
    """A process; kind and settings as for `fronts.show`, gpu: number of the one that renders.

    Raises:
        UserError: it cannot be started.
    """

    def __init__(self, kind: str, settings: Mapping[str, Any], gpu: int | None) -> None:
        control = control_memory()
        self.gpu, handle = gpu, None
        self._trial: GpuMemory | None = None
        if gpu is not None:
            try:
                self._trial = GpuMemory(1, gpu)
                handle = self._trial.handle()
            except BackendError:  # arrays come to the host
                self.gpu = self._trial = None
        self._look_at = 0.0  # when the process is looked at again
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
            self._connection.send((kind, dict(settings), control.size, handle))
        except Exception as error:  # of pickle, of whatever class
            self._connection.close()
            self._process.wait()
            raise UserError(
                f"live: a setting cannot be sent to another process ({error})"
            ) from None
        send_handle(self._connection, control.descriptor, self._process.pid)
        self.writer = Writer(control, ProcessLink(control, self._connection, self._process.pid))

    def ready(self) -> str:
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
        now = perf_counter()
        if self._process.returncode is None and now >= self._look_at:  # at most every `LOOK`
            self._look_at = now + LOOK
            self._process.poll()
        return self._process.returncode is not None

    def close(self) -> None:
        with suppress(OSError):
            self._connection.send(("close",))

    def wait(self, seconds: float | None = None) -> bool:
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


class InlineRunner(Runner):
    """No runner: somebody else shows the feed, as a widget in a notebook, until the end.

    gpu: number of the one that renders; None: the CPU.
    """

    def __init__(self, gpu: int | None) -> None:
        self.gpu = gpu
        control, link = control_memory(), ThreadLink()
        link.reader = Reader(control, link)
        self.feed, self.writer = Feed(link.reader), Writer(control, link)
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


class Outlet(ABC):
    """Where states go.

    Args:
        runner: shows them.
        logged: what the simulation has logged.
    """

    def __init__(self, runner: Runner, logged: Logged) -> None:
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

    @abstractmethod
    def begin(self) -> bool:
        """Begin a step; whether it is taken."""

    @abstractmethod
    def log(self, name: str, about: Mapping[str, Any], is_last: bool) -> None:
        """Take a set of points of a step that is taken.

        about: what holds for the state as a whole. is_last: whether no other set follows in this
        step, as far as is known.
        """

    @abstractmethod
    def flush(self, about: Mapping[str, Any]) -> None:
        """Publish what was logged and not published."""

    @abstractmethod
    def finish(self) -> None:
        """Wait until it has ended, after it was told to."""

    def _write(self, name: str) -> None:
        """Copy a set of points, to be published."""
        self._sent[name] = self._logged.given[name]  # what is wrong is said once
        points = self._logged.points(name).near(name, self.runner.gpu)
        self.writer.write(name, points.arrays, points.values, points.stream)
        self._unpublished = True

    def _write_newer(self) -> None:
        """Copy the sets of steps that were not taken."""
        for name in self._logged.newer(self._sent):
            self._write(name)

    def look(self) -> bool:
        """Return whether it still shows something; warn once of an error that ended it."""
        if not self.has_ended and self.runner.has_ended:
            self.has_ended, self.error = True, self.runner.error()
            if self.error is not None:
                warn(str(self.error))
        return not self.has_ended


class View(Outlet):
    """A view that takes the latest state.

    A state is copied at most once in each `INTERVAL`, and as long as copying takes at most `SHARE`
    of the time; `flush` copies one that was left out.
    """

    def __init__(self, runner: Runner, logged: Logged) -> None:
        super().__init__(runner, logged)
        self._spent = 0.0  # seconds of copying in this step

    def begin(self) -> bool:
        self.is_taken = not self.has_ended and perf_counter() >= self.due
        if self.is_taken:
            if self._unpublished:  # fewer sets than in the step before, or the reader was looking
                self._publish()
            self._spent = 0.0
        return self.is_taken

    def log(self, name: str, about: Mapping[str, Any], is_last: bool) -> None:
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
        self._about = about
        self._write_newer()
        while self._unpublished:
            self._publish()
            if self._unpublished:  # the reader looks for some microseconds
                sleep(LOOK)

    def finish(self) -> None:
        if self.runner.wait(PATIENCE):
            self.look()
        else:
            self.runner.kill()
            self.has_ended = True

    def _publish(self) -> None:
        self._unpublished = not self.writer.publish(self._about)


class Movie(Outlet):
    """A movie of the states of every so many steps; the simulation waits if it is faster.

    A state is published when the next step begins: only then it is known to have all of its sets.
    """

    def __init__(self, runner: Runner, logged: Logged, every: int) -> None:
        super().__init__(runner, logged)
        self._every, self._step = every, -1

    def begin(self) -> bool:
        self.flush(self._about)
        self._step += 1
        self.is_taken = self._step % self._every == 0
        if self.is_taken:
            self._wait()
        return self.is_taken

    def log(self, name: str, about: Mapping[str, Any], is_last: bool) -> None:
        self._about = about
        self._write(name)

    def flush(self, about: Mapping[str, Any]) -> None:
        if self._unpublished:
            self._write_newer()
        while self._unpublished:
            self._unpublished = not self.writer.publish(self._about)
            if self._unpublished:
                sleep(LOOK)

    def finish(self) -> None:
        self.runner.wait()  # until the last frames are rendered
        error = self.error or self.runner.error()
        if error is not None:
            raise error

    def _wait(self) -> None:
        """Wait until the state before is taken, or the movie has failed."""
        while not (self.writer.is_taken or self.runner.has_ended):
            sleep(LOOK)
