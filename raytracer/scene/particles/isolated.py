"""Reading in a worker process, for libraries that hang or crash on damaged files.

A reader that needs a library (`registry.LIBRARIES`) runs in a worker, which receives the file
descriptor, keeps the source, and answers its calls. The kernel ends a worker that takes too long,
even in compiled code or after this process has ended. A worker serves one file after another, so
that a library is imported once for all frames.
"""

import atexit
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
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from raytracer.errors import DataFileError, MemoryNeedError, UserError, shown
from raytracer.files import inputs
from raytracer.files.access import OpenFile, reading, reopened, require_file
from raytracer.memory import require_room
from raytracer.scene.particles import array_source
from raytracer.scene.particles.source import Particles, ParticleSource, Value, moment_of
from raytracer.warning import collected, warn

T = TypeVar("T")
TIMEOUT_VARIABLE = "RAYTRACER_READ_TIMEOUT"  # in seconds; 0 is no limit
MIN_LIMIT = 120.0  # least time limit in seconds, sufficient on a busy machine
MIN_SPEED = 1e5  # least reading speed of a library in bytes per second; ours are ten times faster
HEAD = 8  # bytes of the length of a request


class Answer(NamedTuple):
    value: Any
    error: UserError | None
    notes: list[tuple[str, str]]  # new warnings of the source
    read: list[tuple[Path, str]]  # further files that were opened, with their names in messages
    warnings: list[str]  # that were raised


class _Worker:
    """A process that reads one file after another."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair()
        self._answers = self._socket.makefile("rb")
        with theirs:
            descriptor = theirs.fileno()
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", f"from {__name__} import main; main({descriptor})"],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                pass_fds=(descriptor,),
            )  # fmt: skip

    @property
    def ended(self) -> bool:
        return self._process.poll() is not None

    def open(
        self, file: OpenFile, what: str, atoms: int | None, module: str, name: str, *arguments: Any
    ) -> Answer:
        """Take a file, and call a module's function, or its source without a name, with it; `what`
        is the name of its format in messages, `atoms` their number if only the topology states it.
        """
        self._file, self._what, self._limit = file, what, time_limit(file.size)
        path = file.path if file.is_standard_input else file.path.absolute()
        about = path, file.source, file.is_standard_input, what, atoms
        return self.ask("open", about, module, name, *arguments, descriptor=file.file.fileno())

    def ask(self, operation: str, *arguments: Any, descriptor: int | None = None) -> Answer:
        """Return the answer to a request: a method of `_Server`, and its arguments. Raises
        UserError: the file is damaged, of another format, or takes too long."""
        try:
            self._send(operation, arguments, self._limit or 0.0, descriptor)
            data, sizes = pickle.load(self._answers)
            buffers = [np.empty(size, np.uint8) for size in sizes]
            if any(self._answers.readinto(each.data) < len(each) for each in buffers):
                raise EOFError
        except (EOFError, OSError, ValueError, pickle.UnpicklingError):  # it has ended
            why = f"is damaged, or not a valid {self._what} file"
            if self.end() == -signal.SIGALRM and self._limit is not None:
                why = f"took longer than {self._limit:,.0f} s to read as {self._what}, so it is "
                why += f"probably damaged; {TIMEOUT_VARIABLE} sets another limit, 0 none"
            raise DataFileError(f"{self._file.source}: {why}") from None
        except BaseException:  # Ctrl-C: the answer may be incomplete
            self.end(kill=True)
            raise
        answer: Answer = pickle.loads(data, buffers=buffers)
        for path, name in answer.read:
            require_file(path, name)  # notes that it is an input
        for sentence in answer.warnings:
            warn(sentence)
        if answer.error is not None:
            raise answer.error
        return answer

    def close(self) -> None:
        """Leave the file, and wait for another."""
        try:
            self._send("close", (), 0.0)
            _idle.append(self)
        except (OSError, ValueError):  # it has ended
            self.end(kill=True)

    def _send(
        self, operation: str, arguments: Any, limit: float, descriptor: int | None = None
    ) -> None:
        data = pickle.dumps((operation, arguments, limit))
        descriptors = [] if descriptor is None else [descriptor]
        socket.send_fds(self._socket, [len(data).to_bytes(HEAD, "little")], descriptors)
        self._socket.sendall(data)

    def end(self, kill: bool = False) -> int:
        """End the process, by force if necessary; return its exit code."""
        self._answers.close()
        self._socket.close()
        if not kill:
            with suppress(subprocess.TimeoutExpired):
                return self._process.wait(1.0)
        self._process.kill()
        return self._process.wait()


_idle: list[_Worker] = []


@atexit.register
def _end_all() -> None:
    while _idle:
        _idle.pop().end(kill=True)


def _free_worker() -> _Worker:
    while _idle and _idle[-1].ended:
        _idle.pop().end()
    return _idle.pop() if _idle else _Worker()


def call(file: OpenFile, function: Callable[..., T], what: str, *arguments: Any) -> T:
    """Call a module's function with a file, and further arguments, in a worker. Raises UserError:
    from the function, or the file is damaged, or takes too long."""
    worker = _free_worker()
    try:
        place = function.__module__, function.__name__
        result: T = worker.open(file, what, None, *place, *arguments).value
    finally:
        worker.close()
    return result


def _value(name: str) -> Any:
    """Return a property that fetches a value of the worker's source, once for each frame."""

    def value(source: "IsolatedSource") -> Any:
        if name not in source.known:
            source.known[name] = source.ask("member", name)
        return source.known[name]

    return property(value)


def _method(name: str) -> Any:
    return lambda source, *arguments: source.ask("member", name, *arguments)


class IsolatedSource(ParticleSource):
    """The source of a file in a worker; `module` is below this folder, see `registry.Format`, and
    `what` the name of the format in messages."""

    columns, count, frames, box, gravity = map(
        _value, ("columns", "count", "frames", "box", "gravity")
    )
    time, bonds, bond_columns, further_files = map(
        _value, ("time", "bonds", "bond_columns", "further_files")
    )
    has_pieces, lacks_atoms, surrounded = map(_value, ("has_pieces", "lacks_atoms", "surrounded"))
    frame_starts, load, labels_of_atoms = map(_method, ("frame_starts", "load", "labels_of_atoms"))

    def __init__(
        self, file: OpenFile, module: str, variant: str, what: str, atoms: int | None = None
    ) -> None:
        super().__init__(file, variant)
        self._worker = _free_worker()
        weakref.finalize(self, self._worker.close)
        self.known: dict[str, Any] = {}
        made = self._worker.open(file, what, atoms, f"{__package__}.{module}", "", variant)
        self.notes += made.notes

    def go_to(self, frame: int) -> None:
        super().go_to(frame)
        self.known.clear()
        self.ask("member", "go_to", frame)

    def particles(self, names: Mapping[str, str]) -> Particles:
        particles: Particles = self.ask("particles", dict(names), list(self.also))
        return particles

    def row(self, index: int, count: int, used: Container[str]) -> Iterator[tuple[str, Value]]:
        left_out = {name for name in self.columns if name in used}
        yield from self.ask("member", "row", index, count, left_out)

    def ask(self, operation: str, *arguments: Any) -> Any:
        answer = self._worker.ask(operation, *arguments)
        self.notes += answer.notes
        return answer.value


def time_limit(size: int) -> float | None:
    """Return the time limit in seconds for a file of a size; None is no limit. Raises UserError:
    the environment variable is not a number of seconds."""
    text = os.environ.get(TIMEOUT_VARIABLE, "").strip()
    if not text:
        return MIN_LIMIT + size / MIN_SPEED
    seconds = moment_of(text)
    if seconds is None or seconds.value < 0.0:
        raise UserError(
            f"{TIMEOUT_VARIABLE}: '{shown(text, 40)}' is not a number of seconds, 0 or above"
        )
    return seconds.value or None


class _Server:
    def __init__(self, descriptor: int) -> None:
        self._socket = socket.socket(fileno=descriptor)
        self._answers = self._socket.makefile("wb")
        self._file: Any = None
        self._source: Any = None
        self._name = self._what = ""

    def serve(self) -> None:
        while True:
            head, descriptors, _, _ = socket.recv_fds(self._socket, HEAD, 1)
            if not head:  # the other process has ended
                return
            size = int.from_bytes(head, "little")
            operation, arguments, limit = pickle.loads(self._socket.recv(size, socket.MSG_WAITALL))
            if operation == "close":
                self._close()
                continue
            signal.setitimer(signal.ITIMER_REAL, limit)
            self._send(self._answer(operation, (*descriptors, *arguments)))
            signal.setitimer(signal.ITIMER_REAL, 0.0)

    def open(
        self, descriptor: int, about: tuple[Any, ...], module: str, name: str, *arguments: Any
    ) -> Any:
        """Call a function, or the class of a source, with a file; keep a source."""
        self._close()
        path, _, is_standard_input, _, atoms = about
        self._file = reopened(descriptor, path, self._name)
        self._file.is_standard_input = is_standard_input
        self._file.atoms = None if atoms is None else lambda: atoms
        reader: Any = import_module(module)
        names = [name] if name else ["opened_source", "FileSource", "Source"]
        made = next(getattr(reader, name) for name in names if hasattr(reader, name))(
            self._file, *arguments
        )
        if not isinstance(made, ParticleSource):
            return made
        self._source = made
        return None

    def member(self, name: str, *arguments: Any) -> Any:
        member = getattr(self._source, name)
        result = member(*arguments) if callable(member) else member
        return list(result) if isinstance(result, Iterator) else result

    def particles(self, names: Mapping[str, str], also: Sequence[str]) -> Any:
        self._source.also = also
        return self._source.particles(names)

    def _answer(self, operation: str, arguments: tuple[Any, ...]) -> Answer:
        value, error = None, None
        if operation == "open":
            _, (_, self._name, _, self._what, _), *_ = arguments
        with collected() as warnings:
            try:
                with reading(self._name, self._what):
                    value = getattr(self, operation)(*arguments)
            except UserError as problem:  # its traceback would keep a library's file open
                error = problem.with_traceback(None)
                error.__cause__ = error.__context__ = None
            except BaseException as problem:  # chemfiles' is not an Exception
                why = shown(str(problem), 160)
                error = DataFileError(f"{self._name}: cannot be read as {self._what} ({why})")
        read = [(each.path, each.name) for each in inputs.noted()]
        inputs.forget()
        notes = []
        if self._source is not None:
            notes, self._source.notes = self._source.notes, []
        return Answer(value, error, notes, read, warnings)

    def _send(self, answer: Answer) -> None:
        buffers: list[pickle.PickleBuffer] = []
        data = pickle.dumps(answer, 5, buffer_callback=buffers.append)
        arrays = [buffer.raw() for buffer in buffers]
        sizes = [array.nbytes for array in arrays]
        try:
            require_room(self._name, sum(sizes))
        except MemoryNeedError as error:
            return self._send(answer._replace(value=None, error=error))
        pickle.dump((data, sizes), self._answers)
        for array in arrays:
            self._answers.write(array)
        return self._answers.flush()

    def _close(self) -> None:
        self._source = None
        if self._file is not None:
            self._file.file.close()
            self._file = None


def main(descriptor: int) -> None:
    """Serve requests from a socket."""
    import warnings

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles it
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGALRM])
    warnings.simplefilter("ignore")
    array_source.is_isolated = True
    with suppress(EOFError, OSError):
        _Server(descriptor).serve()
