"""Reading in a worker process, for libraries that hang or crash on damaged files.

A reader that needs a library (`registry.LIBRARIES`) runs in a worker, which receives the file
descriptor, keeps the source, and answers its calls. The kernel ends a worker that takes too long,
even in compiled code or after this process has ended. A worker serves one file after another, so
that a library is imported once for all frames. It opens no connection, and once a library is
imported, no file but those in the folder of the first one (`files.sandbox`); files elsewhere get
another worker. Its memory is limited, too. A library may be damaged by a file that it refuses: at
a file at which a worker crashes that has read others before, a new one tries again.
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
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any, NamedTuple, TypeVar

import numpy as np

from raytracer.config.errors import NO_MEMORY, DataFileError, MemoryNeedError, UserError, quote
from raytracer.config.warning import collect_warnings, warn
from raytracer.files import inputs, sandbox
from raytracer.files.access import OpenFile, reopen_file, require_file, translate_errors
from raytracer.files.references import find_folders, require_no_reference
from raytracer.files.sandbox import is_below
from raytracer.model.particle_source import Particles, ParticleSource, Value, parse_time
from raytracer.particles import array_source
from raytracer.system.memory import MIB, format_size, require_room
from raytracer.system.resources import available_memory, data_memory

T = TypeVar("T")
TIMEOUT_VARIABLE = "RAYTRACER_READ_TIMEOUT"  # in seconds; 0 is no limit
MIN_LIMIT = 120.0  # least time limit in seconds, sufficient on a busy machine
MIN_PROCESSOR = 30.0  # the same of processor time, for libraries that loop
MIN_SPEED = 1e5  # least reading speed of a library in bytes per second; ours are ten times faster
HEAD = 8  # bytes of the length of a request
TIMERS = (signal.ITIMER_REAL, signal.ITIMER_PROF)  # of the limits of a request
ENDS = (-signal.SIGALRM, -signal.SIGPROF, -signal.SIGKILL)  # by limits of time, and of the system
READY = b"+"  # the first byte that a worker sends
MAX_IDLE = 2  # most processes that wait for a file
MIN_MEMORY = 512 * MIB  # least memory that a library may use for a file, beside that of threads
THREAD_MEMORY = 32 * MIB  # bytes of a thread that a library may start, one on each core
MAX_RATIO = 2000  # most bytes of memory for each byte of a file; deflate reaches 1,033
_CODE = """
import sys
there = {0!r}
sys.path[:] = [path for path in sys.path if path not in there] + there
from raytracer.files.sandbox import leave_network
leave_network()  # before NumPy starts threads
from raytracer.particles.isolated import main
main({1}, {2!r}, {3!r})
"""


class Answer(NamedTuple):
    value: Any
    error: UserError | None
    notes: list[tuple[str, str]]  # new warnings of the source
    read: list[tuple[Path, str]]  # further files that were opened, with their names in messages
    warnings: list[str]  # that were raised


class _ReaderProcess:
    """A process that reads one file after another in `folders`. Raises UserError: it cannot
    start."""

    def __init__(self, folders: set[str]) -> None:
        self.folders = {each: _folder_identity(each) for each in folders}
        self._files = 0  # that this process has taken
        self._start()

    def _start(self) -> None:
        self._socket, theirs = socket.socketpair()
        self._answers = self._socket.makefile("rb")
        self._scratch = TemporaryDirectory(prefix="raytracer-", ignore_cleanup_errors=True)
        with theirs, TemporaryFile() as said:
            code = _CODE.format(
                _module_path(), theirs.fileno(), self._scratch.name, sorted(self.folders)
            )
            try:
                self._process = subprocess.Popen(
                    [sys.executable, "-P", "-c", code], pass_fds=(theirs.fileno(),),
                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said,
                )  # fmt: skip
            except (OSError, ValueError, TypeError) as problem:  # in a program that embeds Python
                self._answers.close()
                self._socket.close()
                self._scratch.cleanup()
                raise _no_start(getattr(problem, "strerror", None) or str(problem)) from None
            theirs.close()
            if not self._is_ready():
                why = _describe_end(self.end())
                said.seek(0)
                last = said.read().decode("utf-8", "replace").strip().rpartition("\n")[2]
                raise _no_start(f"{why}: {last}" if last else why)

    def _is_ready(self) -> bool:
        """Wait for the first byte. Raises UserError: it takes too long."""
        self._socket.settimeout(limit := choose_time_limit(0))
        try:
            return self._answers.read(1) == READY
        except TimeoutError:
            self.end(kill=True)
            raise _no_start(f"it took longer than {limit:,.0f} s") from None
        except BaseException:
            self.end(kill=True)
            raise
        finally:
            if self._socket.fileno() >= 0:
                self._socket.settimeout(None)

    @property
    def ended(self) -> bool:
        return self._process.poll() is not None

    def can_serve(self, folders: set[str]) -> bool:
        """Whether it may read in `folders`: another folder of the same name is not its own."""
        are_same = all(_folder_identity(each) == known for each, known in self.folders.items())
        return are_same and all(is_below(each, self.folders) for each in folders)

    def open(
        self, file: OpenFile, what: str, atoms: int | None, module: str, name: str, *arguments: Any
    ) -> Answer:
        """Take a file, and call a module's function, or its source without a name, with it; `what`
        is the name of its format in messages, `atoms` their number if only the topology states it.
        """
        self._file, self._what, self._limit = file, what, choose_time_limit(file.size)
        is_set = bool(os.environ.get(TIMEOUT_VARIABLE, "").strip())
        self._processor = 0.0 if is_set else MIN_PROCESSOR + file.size / MIN_SPEED
        path = file.path if file.is_standard_input else file.path.absolute()
        about = path, file.source, file.is_standard_input, what, atoms
        self._files += 1
        self._opening = about, module, name, *arguments
        self._frame: int | None = None
        return self.ask("open", *self._opening)

    def go_to(self, frame: int) -> Answer:
        self._frame = frame
        return self.ask("member", "go_to", frame)

    def ask(self, operation: str, *arguments: Any) -> Answer:
        """Return the answer to a request: a method of `_ReaderServer`, and its arguments. Raises
        UserError: the file is damaged, of another format, or takes too long."""
        try:
            answer = self._exchange(operation, *arguments)
        except EOFError:
            code = self.end()
            if self._files == 1 or code in ENDS:
                raise self._explain_end(code) from None
            answer = self._ask_again(operation, *arguments)
        for path, name in answer.read:
            require_file(path, name)  # notes that it is an input
        for sentence in answer.warnings:
            warn(sentence)
        if answer.error is not None:
            raise answer.error
        return answer

    def _exchange(self, operation: str, *arguments: Any) -> Answer:
        """Return the answer to a request. Raises EOFError: the process has ended."""
        descriptor = self._file.file.fileno() if operation == "open" else None
        try:
            self._send(operation, arguments, (self._limit or 0.0, self._processor), descriptor)
            data, sizes = pickle.load(self._answers)
            buffers = [np.empty(size, np.uint8) for size in sizes]
            if any(self._answers.readinto(each.data) < len(each) for each in buffers):
                raise EOFError
        except (EOFError, OSError, ValueError, pickle.UnpicklingError):
            raise EOFError from None
        except BaseException:  # Ctrl-C: the answer may be incomplete
            self.end(kill=True)
            raise
        answer: Answer = pickle.loads(data, buffers=buffers)
        return answer

    def _ask_again(self, operation: str, *arguments: Any) -> Answer:
        """Return the answer of a new process that has taken no other file."""
        self._start()
        self._files = 1
        try:
            if operation != "open":
                self._exchange("open", *self._opening)
                if self._frame is not None:
                    self._exchange("member", "go_to", self._frame)
            return self._exchange(operation, *arguments)
        except EOFError:
            raise self._explain_end(self.end()) from None

    def _explain_end(self, code: int) -> UserError:
        """Return the error about a process that has ended with a code."""
        source, what = self._file.source, self._what
        if code in (-signal.SIGALRM, -signal.SIGPROF) and self._limit is not None:
            is_busy = code == -signal.SIGPROF
            limit = (
                f"{self._processor:,.0f} s of processor time"
                if is_busy
                else f"{self._limit:,.0f} s"
            )
            return DataFileError(
                f"{source}: took longer than {limit} to read as {what}, so it is "
                f"probably damaged; {TIMEOUT_VARIABLE} sets another limit, 0 none"
            )
        if code == -signal.SIGKILL:
            return MemoryNeedError(
                f"{source}: the process that read it as {what} was killed (SIGKILL), as the system "
                "does when memory runs out: free some, or use a part of the file"
            )
        return DataFileError(
            f"{source}: is damaged, or not a valid {what} file, or needs more than "
            f"{format_size(choose_memory_limit(self._file.size))} of memory: its library "
            f"{_describe_end(code)}"
        )

    def close(self) -> None:
        """Leave the file, and wait for another; at most `MAX_IDLE` processes wait."""
        try:
            self._send("close", ())
        except (OSError, ValueError):  # it has ended
            self.end(kill=True)
            return
        _idle.append(self)
        while len(_idle) > MAX_IDLE:
            _idle.pop(0).end(kill=True)

    def _send(
        self,
        operation: str,
        arguments: Any,
        limits: tuple[float, float] = (0.0, 0.0),
        descriptor: int | None = None,
    ) -> None:
        data = pickle.dumps((operation, arguments, limits))
        descriptors = [] if descriptor is None else [descriptor]
        socket.send_fds(self._socket, [len(data).to_bytes(HEAD, "little")], descriptors)
        self._socket.sendall(data)

    def end(self, kill: bool = False) -> int:
        """End the process, by force if necessary; return its exit code."""
        self._answers.close()
        self._socket.close()
        code = None
        if not kill:
            with suppress(subprocess.TimeoutExpired):
                code = self._process.wait(1.0)
        if code is None:
            self._process.kill()
            code = self._process.wait()
        self._scratch.cleanup()
        return code


def _module_path() -> list[str]:
    """Return the folders of modules of this process, but not the current one, where data are."""
    paths = [os.path.realpath(path) for path in sys.path]
    return [path for path in paths if path != os.path.realpath("")]


def _folder_identity(folder: str) -> tuple[int, int] | None:
    """Return device and inode of a folder, or None."""
    try:
        status = os.stat(folder)  # noqa: PTH116
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino


def _describe_end(code: int) -> str:
    """Return how a process ended, by its exit code."""
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"crashed ({signal.Signals(-code).name})"
    except ValueError:
        return f"crashed (signal {-code})"


def _no_start(why: str) -> UserError:
    return UserError(
        f"the process in which libraries read files cannot start ({quote(why, 200)}): see whether "
        f"'{sys.executable} -c \"import raytracer\"' works, and whether memory or processes are "
        "limited here"
    )


_idle: list[_ReaderProcess] = []


@atexit.register
def _end_all() -> None:
    while _idle:
        _idle.pop().end(kill=True)


def _free_worker(file: OpenFile) -> _ReaderProcess:
    """Return a process that may read a file."""
    folders = find_folders(file)
    status = os.fstat(file.file.fileno())
    if not status.st_nlink:  # a temporary file, of no folder
        folders.add(f"/{status.st_dev}:{status.st_ino}")
    for each in [each for each in _idle if each.ended]:
        _idle.remove(each)
        each.end()
    place = next((i for i, each in enumerate(_idle) if each.can_serve(folders)), None)
    return _ReaderProcess(folders) if place is None else _idle.pop(place)


def call_in_process(file: OpenFile, function: Callable[..., T], what: str, *arguments: Any) -> T:
    """Call a module's function with a file, and further arguments, in a worker. Raises UserError:
    from the function, or the file is damaged, or takes too long."""
    worker = _free_worker(file)
    try:
        place = function.__module__, function.__name__
        result: T = worker.open(file, what, None, *place, *arguments).value
    finally:
        worker.close()
    return result


def _remote_property(name: str) -> Any:
    """Return a property that fetches a value of the worker's source, once for each frame."""

    def value(source: "SubprocessSource") -> Any:
        if name not in source.known:
            source.known[name] = source.ask("member", name)
        return source.known[name]

    return property(value)


def _method(name: str) -> Any:
    return lambda source, *arguments: source.ask("member", name, *arguments)


class SubprocessSource(ParticleSource):
    """The source of a file in a worker; `module` is below this folder, see `registry.Format`, and
    `what` the name of the format in messages."""

    columns, count, frames, box, gravity = map(
        _remote_property, ("columns", "count", "frames", "box", "gravity")
    )
    time, bonds, bond_columns, further_files = map(
        _remote_property, ("time", "bonds", "bond_columns", "further_files")
    )
    has_pieces, lacks_atoms, surrounded = map(
        _remote_property, ("has_pieces", "lacks_atoms", "surrounded")
    )
    # Stated by the first frame alone, they are set for the others.
    units = _remote_property("units").setter(lambda source, value: source.known.update(units=value))
    frame_starts, load, labels_of_atoms = map(_method, ("frame_starts", "load", "labels_of_atoms"))

    def __init__(
        self, file: OpenFile, module: str, variant: str, what: str, atoms: int | None = None
    ) -> None:
        super().__init__(file, variant)
        self._worker = _free_worker(file)
        close = weakref.finalize(self, self._worker.close)
        self.known: dict[str, Any] = {}
        try:
            made = self._worker.open(file, what, atoms, f"{__package__}.{module}", "", variant)
        except BaseException:  # which may keep this source for long
            close()
            raise
        self.notes += made.notes

    def go_to(self, frame: int) -> None:
        super().go_to(frame)
        self.known.clear()
        self.notes += self._worker.go_to(frame).notes

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


def choose_time_limit(size: int) -> float | None:
    """Return the time limit in seconds for a file of a size; None is no limit. Raises UserError:
    the environment variable is not a number of seconds."""
    text = os.environ.get(TIMEOUT_VARIABLE, "").strip()
    if not text:
        return MIN_LIMIT + size / MIN_SPEED
    seconds = parse_time(text)
    if seconds is None or seconds.value < 0.0:
        raise UserError(
            f"{TIMEOUT_VARIABLE}: '{quote(text, 40)}' is not a number of seconds, 0 or above"
        )
    return seconds.value or None


def choose_memory_limit(size: int) -> int:
    """Return the bytes that a library may use for a file of a size: the free memory, but not far
    more than files of this size can need."""
    most = MIN_MEMORY + THREAD_MEMORY * (os.cpu_count() or 1) + MAX_RATIO * size
    free = available_memory()
    return most if free is None else min(most, free)


class _ReaderServer:
    limit = 0  # bytes of memory for the file, once it is limited

    def __init__(self, descriptor: int, scratch: str, folders: Sequence[str]) -> None:
        self._scratch, self._folders = scratch, folders
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
            operation, arguments, limits = pickle.loads(self._socket.recv(size, socket.MSG_WAITALL))
            if operation == "close":
                self._close()
                continue
            for timer, limit in zip(TIMERS, limits, strict=True):
                signal.setitimer(timer, limit)
            if self.limit and operation != "open":
                self._limit_memory()
            self._send(self._answer(operation, (*descriptors, *arguments)))
            for timer in TIMERS:
                signal.setitimer(timer, 0.0)

    def open(
        self, descriptor: int, about: tuple[Any, ...], module: str, name: str, *arguments: Any
    ) -> Any:
        """Call a function, or the class of a source, with a file; keep a source."""
        self._close()
        path, _, is_standard_input, _, atoms = about
        self._file = reopen_file(descriptor, path, self._name)
        self._file.is_standard_input = is_standard_input
        self._file.atoms = None if atoms is None else lambda: atoms
        require_no_reference(self._file)
        array_source.confine = self._confine
        reader: Any = import_module(module)
        names = [name] if name else ["make_source", "FileSource", "Source"]
        made = next(getattr(reader, name) for name in names if hasattr(reader, name))(
            self._file, *arguments
        )
        if not isinstance(made, ParticleSource):
            return made
        self._source = made
        return None

    def _confine(self) -> None:
        """Limit what a library may open and use, once it is imported."""
        sandbox.confine(self._folders, self._file.file.fileno(), self._scratch)
        self._limit_memory()

    def _limit_memory(self) -> None:
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))  # none, to know the free memory
        self.limit = choose_memory_limit(self._file.size)
        limit = data_memory() + self.limit
        limit = limit if most == resource.RLIM_INFINITY else min(limit, most)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, most))

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
        with collect_warnings() as warnings:
            try:
                with translate_errors(self._name, self._what):
                    value = getattr(self, operation)(*arguments)
            except UserError as problem:  # its traceback would keep a library's file open
                error = problem.with_traceback(None)
                error.__cause__ = error.__context__ = None
            except BaseException as problem:  # chemfiles' is not an Exception
                why = quote(str(problem), 160)
                error = DataFileError(f"{self._name}: cannot be read as {self._what} ({why})")
        if isinstance(error, MemoryNeedError) and str(error).endswith(NO_MEMORY) and self.limit:
            error = MemoryNeedError(
                f"{self._name}: reading its {self._file.size:,} bytes as {self._what} takes more "
                f"than {format_size(self.limit)} of memory: free some, unless the file is damaged"
            )
        read = [(each.path, each.name) for each in inputs.list_inputs()]
        inputs.forget_files()
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


def main(descriptor: int, scratch: str, folders: Sequence[str]) -> None:
    """Serve requests from a socket; `scratch` is a folder for temporary files, `folders` those of
    the files."""
    import shutil
    import warnings

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles it
    for number in (signal.SIGALRM, signal.SIGPROF):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGALRM, signal.SIGPROF])
    warnings.simplefilter("ignore")
    array_source.is_isolated = True
    with suppress(EOFError, OSError):
        server = _ReaderServer(descriptor, scratch, folders)
        os.write(descriptor, READY)
        with open(os.devnull, "wb") as null:  # noqa: PTH123
            os.dup2(null.fileno(), 2)
        server.serve()
    shutil.rmtree(scratch, ignore_errors=True)  # if the other process was killed
