"""Workers that are processes of this machine.

They run `python -m raytracer.farm.process`; `multiprocessing` would run the caller's script again
in each. A thread passes calls to a free worker through a socket. If a worker is killed, a new
process repeats its call; `ProcessPoolExecutor` would give up all calls.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from multiprocessing import Pipe
from pathlib import Path
from queue import SimpleQueue
from threading import Lock
from typing import Any

from raytracer.backends.select import devices, gpus_of
from raytracer.errors import UserError
from raytracer.farm.crew import Crew
from raytracer.farm.shared import Shared
from raytracer.resources import THREADS_VARIABLE, thread_count

VISIBLE = "CUDA_VISIBLE_DEVICES"  # the variable that limits the GPUs that a process sees
MAX_ENDS = 5  # how many workers may end during a call before it is given up
PATIENCE = 5.0  # seconds in which a terminated worker must end before it is killed
Place = Mapping[str, str]  # environment variables with the GPU or the number of cores of a worker


def places(count: int, backend: str, threads: int) -> list[Place]:
    """Return the environments of `count` workers: GPUs in turn, or a share of the cores.

    Args:
        count: number of workers.
        backend: by name; "cuda", "cuda:all" and "auto" use all GPUs, "cuda:0,2" these in turn,
            "cuda:1" that one, "cpu" none.
        threads: total of all workers; 0 uses every core that the process may use.
    """
    total = thread_count(threads)
    shares = [total * (k + 1) // count - total * k // count for k in range(count)]
    variables = [{THREADS_VARIABLE: str(max(each, 1))} for each in shares]
    gpus = _gpus() if backend != "cpu" else []
    numbers = gpus_of(backend) or range(len(gpus))
    if len(numbers) > 1:
        for k, place in enumerate(variables):
            place[VISIBLE] = gpus[numbers[k % len(numbers)]]
    return list(variables)


def _gpus() -> list[str]:
    """Return the GPUs that this process sees, as `CUDA_VISIBLE_DEVICES` names them."""
    count = sum(each["backend"] == "cuda" and each["available"] for each in devices())
    named = [each.strip() for each in os.environ.get(VISIBLE, "").split(",") if each.strip()]
    return named[:count] if named else [str(number) for number in range(count)]


class LocalCrew(Crew):
    """Processes of this machine, one for each place; `processes` has them by number."""

    def __init__(self, places: Sequence[Place], backend: str = "auto") -> None:
        self._places, self.backend = places, backend
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._free: SimpleQueue[int] = SimpleQueue()
        for number in range(len(places)):
            self._free.put(number)
        self._threads = ThreadPoolExecutor(len(places), "workers")
        self._lock = Lock()
        self._is_closed = False
        self.processes: dict[int, WorkerProcess] = {}

    @property
    def size(self) -> int:
        return len(self._places)

    def share(self, shared: Shared) -> Shared:
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(
                prefix="raytracer-", ignore_cleanup_errors=True
            )
        try:
            return shared.in_file(Path(self._folder.name))
        except OSError as error:
            raise UserError(
                f"{self._folder.name}: cannot write the scene for the workers "
                f"({error.strerror}): set TMPDIR to another folder"
            ) from None

    def submit(self, call: Callable[..., Any], *arguments: Any) -> Future[Any]:
        return self._threads.submit(self._result, (call, arguments))

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            running = list(self.processes.values())
        self._threads.shutdown(wait=False, cancel_futures=True)
        for process in running:
            process.terminate()
        for process in running:
            process.end()
        self._threads.shutdown()
        if self._folder is not None:
            self._folder.cleanup()

    def _result(self, message: Any) -> Any:
        """Return the result of a call, repeated by new processes if they end."""
        number = self._free.get()
        how = "the crew was closed"
        try:
            for _ in range(MAX_ENDS):
                if (process := self._process(number)) is None:
                    break
                try:
                    is_result, value = process.call(message)
                except (EOFError, OSError):
                    how = process.end()
                    continue
                if not is_result:
                    raise value
                return value
        finally:
            self._free.put(number)
        raise UserError(
            f"workers: {MAX_ENDS} processes in a row ended at the same task ({how}): if memory is "
            "short, use fewer workers"
        )

    def _process(self, number: int) -> WorkerProcess | None:
        """Return the process of a place, started if needed; None if the crew is closed."""
        with self._lock:
            if self._is_closed:
                return None
            process = self.processes.get(number)
            if process is None or process.has_ended:
                try:
                    process = self.processes[number] = WorkerProcess(self._places[number])
                except OSError as error:
                    raise UserError(
                        f"workers: a process cannot be started ({error.strerror}): use fewer"
                    ) from None
            return process


class WorkerProcess:
    """A process that makes calls, with additional environment variables.

    Raises:
        OSError: it cannot be started.
    """

    def __init__(self, place: Place) -> None:
        self.has_ended = False
        self._connection, other = Pipe()
        modules = os.pathsep.join(filter(None, sys.path))  # a worker imports what the caller does
        with other:
            # Standard output belongs to the command.
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "raytracer.farm.process", str(other.fileno())],
                env=os.environ | dict(place) | {"PYTHONPATH": modules},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[other.fileno()],
            )
        self.pid = self._process.pid

    def call(self, message: tuple[Callable[..., Any], tuple[Any, ...]]) -> tuple[bool, Any]:
        """Make a call; return whether it succeeded, and its result or exception.

        Raises:
            EOFError, OSError: the process has ended.
        """
        self._connection.send(message)
        answer: tuple[bool, Any] = self._connection.recv()
        return answer

    def terminate(self) -> None:
        """Send SIGTERM; callable from any thread."""
        with suppress(OSError):
            self._process.terminate()

    def end(self) -> str:
        """End the process, wait for it, and return how it ended."""
        self.has_ended = True
        self.terminate()
        try:
            code = self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:  # as in a library of a format
            self._process.kill()
            code = self._process.wait()
        return f"exit code {code}" if code >= 0 else f"signal {-code}"
