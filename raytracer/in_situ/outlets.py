"""Outlets: where a simulation's states go, a view that takes the latest or a movie that takes all.

An outlet runs in a process of its own, at the lowest priority, or in a thread of the simulation's
process, which CUDA needs to share its memory.
"""

from __future__ import annotations

import os
import subprocess
import sys
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.reduction import send_handle
from queue import SimpleQueue
from threading import Thread
from time import perf_counter, sleep
from typing import Any, NamedTuple

from raytracer.device_array import LEGACY_STREAM, device_array
from raytracer.errors import RaytracerError, UserError, shown
from raytracer.in_situ.copies import Copies
from raytracer.in_situ.feed import COLUMN, Feed
from raytracer.in_situ.fronts import show
from raytracer.in_situ.mailbox import ProcessLink, Reader, ThreadLink, Writer, control_memory
from raytracer.scene.arrays import Where, as_array
from raytracer.sphere_update import is_readable
from raytracer.warning import warn

SHARE = 0.015
"""Largest share of the simulation's time that copying takes."""

INTERVAL = 1.0 / 60.0
"""Fewest seconds between two copies: no view draws more states."""

PATIENCE = 5.0
"""Seconds in which a process that was told to end must end before it is killed."""

LOOK = 0.001
"""Seconds between two looks whether a process has ended, or a movie has taken a state."""


class Points(NamedTuple):
    """What was logged of a set: arrays, which belong to the simulation, and other values."""

    arrays: dict[str, Any]  # of NumPy or another package, on the host or on a GPU
    values: dict[str, Any]
    stream: int = LEGACY_STREAM  # on which arrays of a GPU are complete

    def on_host(self, name: str) -> Points:
        """Return the same with arrays of NumPy; name: of the set. Raises UserError."""
        where = Where(f"log_points '{shown(name)}'")
        arrays = {
            key: as_array(device_array(array, key, self.stream) or array, key, where)
            for key, array in self.arrays.items()
        }
        return self._replace(arrays=arrays)

    def near(self, name: str, gpu: int | None, copies: Copies) -> Points:
        """Return the same with copies of arrays on a GPU that it reads, and others on the host."""
        if gpu is None:
            return self.on_host(name)
        near, left = dict[str, Any](), dict[str, Any]()
        for key, array in self.arrays.items():
            found = device_array(array, key, self.stream)
            kind = "values" if key.startswith(COLUMN) else key
            if found is not None and is_readable(kind, found, len(self.arrays["positions"]), gpu):
                near[key] = copies.copy(key, found, self.stream)
            else:
                left[key] = array
        return self._replace(arrays=near | self._replace(arrays=left).on_host(name).arrays)


class Runner(ABC):
    """Where the reader of a mailbox runs."""

    writer: Writer

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
    """A process; arguments as for `fronts.show`. Raises UserError: it cannot be started."""

    def __init__(self, kind: str, settings: Mapping[str, Any]) -> None:
        control = control_memory()
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
            self._connection.send((kind, dict(settings), control.size))
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
            kind, *values = self._connection.recv()
        except (EOFError, OSError):
            raise UserError(f"live: the view ended at once ({self._how()})") from None
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
    """No runner: somebody else shows the feed, as a widget in a notebook, until the end."""

    def __init__(self) -> None:
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


class ThreadRunner(InlineRunner):
    """A thread; arguments as for `fronts.show`."""

    def __init__(self, kind: str, settings: Mapping[str, Any]) -> None:
        super().__init__()
        self._said: SimpleQueue[str | RaytracerError] = SimpleQueue()
        self._error: UserError | None = None
        self._thread = Thread(
            target=self._run, args=(kind, settings), name=f"live {kind}", daemon=True
        )
        self._thread.start()

    def _run(self, kind: str, settings: Mapping[str, Any]) -> None:
        try:
            show(kind, self.feed, settings, self._said.put)
        except RaytracerError as error:
            self._error = UserError(*error.sentences)
        except BaseException as error:
            self._error = UserError(f"live: the view ended ({type(error).__name__}: {error})")
            raise
        finally:  # whoever waits in `ready` goes on
            self._said.put(self._error or "")

    def ready(self) -> str:
        said = self._said.get()
        if isinstance(said, RaytracerError):
            raise said
        return said

    @property
    def has_ended(self) -> bool:
        return not self._thread.is_alive()

    def close(self) -> None:
        self.feed.close()

    def wait(self, seconds: float | None = None) -> bool:
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def kill(self) -> None:
        """A thread ends by itself: as a daemon, with the process at the latest."""

    def error(self) -> UserError | None:
        return self._error


class Outlet(ABC):
    """Where states go.

    Args:
        runner: shows them.
        gpu: number of the GPU that shows them, in this process; None: arrays come to the host.
    """

    def __init__(self, runner: Runner, gpu: int | None = None) -> None:
        self.runner, self.writer = runner, runner.writer
        self._gpu, self._copies = gpu, defaultdict[str, Copies](Copies)
        self.has_ended = False
        self.error: UserError | None = None  # that ended it
        self._unpublished = False
        self._about: Mapping[str, Any] = {}  # of the latest state

    @abstractmethod
    def begin(self) -> None:
        """Begin a step."""

    @abstractmethod
    def log(self, name: str, points: Points, about: Mapping[str, Any], is_last: bool) -> None:
        """Take a set of points.

        about: what holds for the state as a whole. is_last: whether no other set follows in this
        step, as far as is known.
        """

    @abstractmethod
    def flush(self) -> None:
        """Publish what was logged and not published."""

    @abstractmethod
    def finish(self) -> None:
        """Wait until it has ended, after it was told to."""

    def _write(self, name: str, points: Points) -> None:
        """Copy a set of points, to be published."""
        points = points.near(name, self._gpu, self._copies[name])
        self.writer.write(name, points.arrays, points.values)
        self._unpublished = True

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

    def __init__(self, runner: Runner, gpu: int | None = None) -> None:
        super().__init__(runner, gpu)
        self._is_taken = True  # whether the sets of this step are copied
        self._due = 0.0  # when the next step may be copied
        self._spent = 0.0  # seconds of copying in this step
        self._unsent: dict[str, Points] = {}  # newer than what was copied

    def begin(self) -> None:
        if self._unpublished:  # fewer sets than in the step before, or the reader was looking
            self._publish()
        self._is_taken = perf_counter() >= self._due
        self._spent = 0.0

    def log(self, name: str, points: Points, about: Mapping[str, Any], is_last: bool) -> None:
        self._about = about
        if not self._is_taken:
            self._unsent[name] = points
            return
        start = perf_counter()
        self._unsent.pop(name, None)
        self._write(name, points)
        if is_last:
            self._write_unsent()  # sets of steps that were left out
            self._publish()
        end = perf_counter()
        self._spent += end - start
        self._due = end + max(self._spent * (1.0 / SHARE - 1.0), INTERVAL - self._spent)

    def flush(self) -> None:
        self._write_unsent()
        while self._unpublished:  # the reader looks for some microseconds
            self._publish()

    def finish(self) -> None:
        if not self.runner.wait(PATIENCE):
            self.runner.kill()
        self.look()

    def _write_unsent(self) -> None:
        for name, points in self._unsent.items():
            self._write(name, points)
        self._unsent = {}

    def _publish(self) -> None:
        self._unpublished = not self.writer.publish(self._about)


class Movie(Outlet):
    """A movie of the states of every so many steps; the simulation waits if it is faster.

    A state is published when the next step begins: only then it is known to have all of its sets.
    """

    def __init__(self, runner: Runner, every: int, gpu: int | None = None) -> None:
        super().__init__(runner, gpu)
        self._every, self._step = every, -1
        self._unsent: dict[str, Points] = {}  # of steps without a frame

    def begin(self) -> None:
        self.flush()
        self._step += 1
        if self._step % self._every == 0:
            self._wait()

    def log(self, name: str, points: Points, about: Mapping[str, Any], is_last: bool) -> None:
        if self._step % self._every == 0:
            self._about = about
            self._unsent.pop(name, None)
            self._write(name, points)
        else:
            self._unsent[name] = points

    def flush(self) -> None:
        if self._unpublished:
            for name, points in self._unsent.items():
                self._write(name, points)
            self._unsent = {}
        while self._unpublished:
            self._unpublished = not self.writer.publish(self._about)

    def finish(self) -> None:
        self.runner.wait()  # until the last frames are rendered
        error = self.error or self.runner.error()
        if error is not None:
            raise error

    def _wait(self) -> None:
        """Wait until the state before is taken, or the movie has failed."""
        while not (self.writer.is_taken or self.runner.has_ended):
            sleep(LOOK)
