"""Reading in a process of its own, for libraries that hang or end the process over damaged files.

A reader that needs a library (`registry.LIBRARIES`) runs in a worker. It gets the descriptor of a
file, keeps its source, and answers what the source here is asked; large arrays come back in shared
memory. The kernel ends a worker that takes too long, also in compiled code and when this process
has ended. A worker that has answered is used for the next file, which makes frame after frame fast.
"""

from __future__ import annotations

import atexit
import mmap
import os
import pickle
import signal
import socket
import subprocess
import sys
import weakref
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from math import isfinite
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle, send_handle
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from raytracer.errors import NO_MEMORY, DataFileError, MemoryNeedError, UserError, shown
from raytracer.files import inputs
from raytracer.files.access import OpenFile, opened, reopened
from raytracer.memory import require_room
from raytracer.resources import is_lack_of_memory
from raytracer.scene.particles import loaded
from raytracer.scene.particles.source import Particles, ParticleSource, Value
from raytracer.warning import collected, warn

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from raytracer.scene.particles.labels import Labels

T = TypeVar("T")

TIMEOUT_VARIABLE = "RAYTRACER_READ_TIMEOUT"
"""Environment variable: seconds that a library may take over a file; 0 is no limit."""

LEAST_SECONDS = 120.0
"""Seconds that a library may take over any file: also on a machine that is busy."""

SLOWEST = 1e5
"""Bytes in a second that a library reads at least; those here read more than ten times as many."""

IDLE_SECONDS = 30.0
"""Seconds without a question after which a worker ends."""

SHARED_BYTES = 1 << 16
"""Size from which an array comes back in shared memory."""


class Question(NamedTuple):
    """What a worker is asked.

    Args:
        operation: name of a method of `_Server`.
        arguments: of the method.
        limit: seconds that it may take; 0 is no limit.
    """

    operation: str
    arguments: tuple[Any, ...]
    limit: float


class Answer(NamedTuple):
    """What a worker answers.

    Args:
        value: of the method.
        error: that it raised, or None.
        notes: of the source, that are new.
        read: further files that were opened, with their names in messages.
        warnings: that were raised.
    """

    value: Any
    error: UserError | None
    notes: list[tuple[str, str]]
    read: list[tuple[Path, str]]
    warnings: list[str]


class _EndedError(Exception):
    """A worker has ended; `code` is its exit code, or a signal, negative."""

    def __init__(self, code: int) -> None:
        self.code = code


class _Worker:
    """A process that answers questions, one after another."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            descriptor = theirs.fileno()
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", f"from {__name__} import main; main({descriptor})"],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                pass_fds=(descriptor,),
            )  # fmt: skip
        self._connection = Connection(ours.detach())

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, question: Question, descriptor: int | None = None) -> Answer:
        """Return the answer; `descriptor` of a file goes with the question. Raises _EndedError."""
        try:
            self.tell(question)
            if descriptor is not None:
                send_handle(self._connection, descriptor, self._process.pid)
            data, buffers = self._connection.recv()
            buffers = [self._shared(each) if isinstance(each, int) else each for each in buffers]
        except (EOFError, OSError):
            raise _EndedError(self.end()) from None
        except BaseException:  # Ctrl-C: an answer may be half received
            self.end(kill=True)
            raise
        answer: Answer = pickle.loads(data, buffers=buffers)
        return answer

    def tell(self, question: Question) -> None:
        """Ask what has no answer."""
        self._connection.send(question)

    def end(self, kill: bool = False) -> int:
        """End the process, if it does not end by itself; returns its exit code."""
        self._connection.close()
        if not kill:
            with suppress(subprocess.TimeoutExpired):
                return self._process.wait(1.0)
        self._process.kill()
        return self._process.wait()

    def _shared(self, size: int) -> mmap.mmap:
        """Return memory of the worker; its pages are there at once, so that they are counted."""
        descriptor = recv_handle(self._connection)
        try:
            return mmap.mmap(descriptor, size, mmap.MAP_SHARED | getattr(mmap, "MAP_POPULATE", 0))
        finally:
            os.close(descriptor)


_idle: list[_Worker] = []


@atexit.register
def _end_all() -> None:
    while _idle:
        _idle.pop().end(kill=True)


def _taken() -> _Worker:
    """Return a worker that nobody uses."""
    while _idle:
        with suppress(IndexError):  # another thread was faster
            worker = _idle.pop()
            if worker.is_alive:
                return worker
            worker.end()
    return _Worker()


class _Isolated:
    """A file in a worker.

    Args:
        file: the file, open.
        what: what messages call its format.
    """

    def __init__(self, file: OpenFile, what: str) -> None:
        self._file, self._what = file, what
        self._limit = time_limit(file.size)
        self._worker: _Worker | None = _taken()
        opening = _folder(), file.path, file.source, file.is_standard_input, what
        try:
            self._worker.ask(Question("open", opening, 0.0), file.file.fileno())
        except _EndedError:  # it had waited for too long
            self._worker = _Worker()
            self.ask("open", *opening, descriptor=file.file.fileno())

    def ask(self, operation: str, *arguments: Any, descriptor: int | None = None) -> Answer:
        """Return what the worker answers; `descriptor` of a file goes with the question.

        Raises:
            UserError: the file is damaged, of another format, or takes too long.
        """
        if self._worker is None:
            raise self._failure(1)
        question = Question(operation, arguments, self._limit or 0.0)
        try:
            answer = self._worker.ask(question, descriptor)
        except _EndedError as ended:
            self._worker = None
            raise self._failure(ended.code) from None
        except BaseException:
            self._worker = None
            raise
        for path, name in answer.read:
            with opened(path, name):  # which notes that it is an input
                pass
        for sentence in answer.warnings:
            warn(sentence)
        if answer.error is not None:
            raise answer.error
        return answer

    def close(self) -> None:
        """Let others use the worker."""
        worker, self._worker = self._worker, None
        if worker is not None:
            try:
                worker.tell(Question("close", (), 0.0))
                _idle.append(worker)
            except (OSError, ValueError):  # it has ended
                worker.end(kill=True)

    def _failure(self, code: int) -> DataFileError:
        """Return the error about a worker that has ended."""
        if code == -signal.SIGALRM and self._limit is not None:
            return DataFileError(
                f"{self._file.source}: took longer than {self._limit:,.0f} s to be read as "
                f"{self._what}, so it is likely damaged; {TIMEOUT_VARIABLE} sets another limit, 0 "
                "none"
            )
        return DataFileError(f"{self._file.source}: is damaged, or no {self._what} file")


def _folder() -> Path | None:
    """Return the current folder; None if it is there no more."""
    try:
        return Path.cwd()
    except OSError:
        return None


def call(file: OpenFile, function: Callable[[OpenFile], T], what: str) -> T:
    """Return what a function of a module says of a file, called in a process of its own.

    Args:
        file: the file.
        function: of a module, by its name; it gets the file.
        what: what messages call the format.

    Raises:
        UserError: that of the function, or the file is damaged, or takes too long.
    """
    isolated = _Isolated(file, what)
    try:
        result: T = isolated.ask("call", function.__module__, function.__name__).value
    finally:
        isolated.close()
    return result


def _asked(name: str) -> Any:
    """Return a property that has the value of that of the source in the worker."""
    return property(lambda source: source.value(name))


class IsolatedSource(ParticleSource):
    """The source of a file in a worker: it asks there, and keeps what it was told.

    Args:
        file: the file, open.
        module: below this folder; see `registry.Format`.
        variant: for its source.
        what: what messages call the format.
        atoms: their number, where the topology alone says it.
    """

    def __init__(
        self, file: OpenFile, module: str, variant: str, what: str, atoms: int | None = None
    ) -> None:
        super().__init__(file, variant)
        self._isolated = _Isolated(file, what)
        weakref.finalize(self, self._isolated.close)
        self._known: dict[str, Any] = {}
        self._ask("source", f"{__package__}.{module}", variant, atoms)

    columns = _asked("columns")
    count = _asked("count")
    frames = _asked("frames")
    box = _asked("box")
    gravity = _asked("gravity")
    further_files = _asked("further_files")
    time = _asked("time")
    bonds = _asked("bonds")
    bond_columns = _asked("bond_columns")
    has_pieces = _asked("has_pieces")
    surrounded = _asked("surrounded")

    def value(self, name: str) -> Any:
        """Return the value of a property."""
        if name not in self._known:
            self._known[name] = self._ask("value", name)
        return self._known[name]

    def frame_starts(self) -> NDArray[np.int64] | Sequence[int]:
        found: NDArray[np.int64] | Sequence[int] = self._ask("method", "frame_starts")
        return found

    def go_to(self, frame: int) -> None:
        super().go_to(frame)
        self._known.clear()
        self._ask("method", "go_to", frame)

    def load(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        found: dict[str, NDArray[Any]] = self._ask("method", "load", list(names))
        return found

    def particles(self, names: Mapping[str, str]) -> Particles:
        found: Particles = self._ask("particles", dict(names), list(self.also))
        return found

    def labels_of_atoms(self) -> Labels | None:
        found: Labels | None = self._ask("method", "labels_of_atoms")
        return found

    def row(self, index: int, count: int, used: Container[str]) -> Iterator[tuple[str, Value]]:
        left_out = {name for name in self.columns if name in used}
        yield from self._ask("row", index, count, left_out)

    def _ask(self, operation: str, *arguments: Any) -> Any:
        answer = self._isolated.ask(operation, *arguments)
        self.notes += answer.notes
        return answer.value


def time_limit(size: int) -> float | None:
    """Return the seconds that a library may take over a file of so many bytes; None is no limit.

    Raises:
        UserError: the environment variable is no number of seconds.
    """
    text = os.environ.get(TIMEOUT_VARIABLE, "").strip()
    if not text:
        return LEAST_SECONDS + size / SLOWEST
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not (isfinite(seconds) and seconds >= 0.0):
        raise UserError(
            f"{TIMEOUT_VARIABLE}: '{shown(text, 40)}' is not a number of seconds, 0 or above"
        )
    return seconds or None


class _Server:
    """What a worker does: each operation of a question is a method."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._file: OpenFile | None = None
        self._source: ParticleSource | None = None
        self._name = self._what = ""

    def serve(self) -> None:
        """Answer until there is nobody who asks."""
        with suppress(EOFError, OSError):
            while self._connection.poll(IDLE_SECONDS):
                question: Question = self._connection.recv()
                if question.operation == "close":
                    self._close()
                    continue
                signal.setitimer(signal.ITIMER_REAL, question.limit)
                self._send(self._answer(question))
                signal.setitimer(signal.ITIMER_REAL, 0.0)

    def open(
        self, folder: Path | None, path: Path, source: str, is_standard_input: bool, what: str
    ) -> None:
        """Take a file, whose descriptor follows."""
        self._close()
        if folder is not None:
            with suppress(OSError):
                os.chdir(folder)
        self._name, self._what = source, what
        self._file = reopened(recv_handle(self._connection), path, source)
        self._file.is_standard_input = is_standard_input

    def source(self, module: str, variant: str, atoms: int | None) -> None:
        """Make the source of the file."""
        found: Any = import_module(module)
        make: Callable[[OpenFile, str], ParticleSource]
        make = getattr(found, "opened_source", None) or found.Source
        assert self._file is not None
        self._file.atoms = None if atoms is None else lambda: atoms
        self._source = make(self._file, variant)

    def value(self, name: str) -> Any:
        """Return a property of the source."""
        return getattr(self._source, name)

    def method(self, name: str, *arguments: Any) -> Any:
        """Call a method of the source."""
        return getattr(self._source, name)(*arguments)

    def particles(self, names: Mapping[str, str], also: Sequence[str]) -> Particles:
        """Return the spheres, with further columns."""
        assert self._source is not None
        self._source.also = also
        return self._source.particles(names)

    def row(self, index: int, count: int, used: Container[str]) -> list[tuple[str, Value]]:
        """Return the values of one particle."""
        assert self._source is not None
        return list(self._source.row(index, count, used))

    def call(self, module: str, function: str) -> Any:
        """Call a function with the file."""
        return getattr(import_module(module), function)(self._file)

    def _answer(self, question: Question) -> Answer:
        value, error = None, None
        with collected() as warnings:
            try:
                value = getattr(self, question.operation)(*question.arguments)
            except UserError as problem:  # whose frames would keep a library's file open
                error = problem.with_traceback(None)
                error.__cause__ = error.__context__ = None
            except BaseException as problem:  # that of chemfiles is no Exception
                error = self._error(problem)
        read = [(each.path, each.name) for each in inputs.noted()]
        inputs.forget()
        notes: list[tuple[str, str]] = []
        if self._source is not None:
            notes, self._source.notes = self._source.notes, []
        return Answer(value, error, notes, read, warnings)

    def _error(self, problem: BaseException) -> UserError:
        """Return the error about what a library raised."""
        if isinstance(problem, Exception) and is_lack_of_memory(problem):
            return MemoryNeedError(f"{self._name}: {NO_MEMORY}")
        try:
            said = getattr(problem, "strerror", None) or problem  # without number and name
            text = str(said).strip().partition("\n")[0]
        except Exception:  # an exception that cannot be printed
            text = ""
        why = shown(text or type(problem).__name__, 160)
        return DataFileError(f"{self._name}: is damaged, or no {self._what} file ({why})")

    def _send(self, answer: Answer) -> None:
        """Send an answer, its large arrays as descriptors of shared memory."""
        buffers: list[pickle.PickleBuffer] = []
        data = pickle.dumps(answer, 5, buffer_callback=buffers.append)
        views = [buffer.raw() for buffer in buffers]
        large = [view for view in views if view.nbytes >= SHARED_BYTES]
        try:
            require_room(self._name, sum(view.nbytes for view in large))
        except MemoryNeedError as error:
            return self._send(answer._replace(value=None, error=error))
        self._connection.send(
            # Arrays of bytes, and not bytes, so that what is made of them can be written to.
            (data, [v.nbytes if v.nbytes >= SHARED_BYTES else bytearray(v) for v in views])
        )
        for view in large:
            descriptor = _anonymous()
            try:
                while view:
                    view = view[os.write(descriptor, view[: 1 << 30]) :]
                send_handle(self._connection, descriptor, os.getppid())
            finally:
                os.close(descriptor)
        return None

    def _close(self) -> None:
        self._source = None
        if self._file is not None:
            self._file.file.close()
            self._file = None


def _anonymous() -> int:
    """Return the descriptor of a new file that has no name and is in memory, where that exists."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("array")
    from tempfile import TemporaryFile

    with TemporaryFile() as file:
        return os.dup(file.fileno())


def main(descriptor: int) -> None:
    """Answer questions that come from a socket."""
    import warnings

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that asks decides
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGALRM])
    warnings.simplefilter("ignore")
    loaded.is_isolated = True
    _Server(Connection(descriptor)).serve()
