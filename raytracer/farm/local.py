"""Workers that are processes of this machine.

They are started as `python -m raytracer.farm.process`, and not by `multiprocessing`, which would
run the script of the caller again in each of them. A thread for each worker hands it one call after
another through a socket. If the worker ends, by whatever signal, another process takes its place
and makes the call again; `concurrent.futures` would give up all calls in this case.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from multiprocessing import Pipe
from pathlib import Path
from queue import SimpleQueue
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any

from raytracer.errors import UserError
from raytracer.farm.crew import Crew
from raytracer.resources import THREADS_VARIABLE, thread_count

if TYPE_CHECKING:
    from raytracer.farm.shared import Shared

VISIBLE = "CUDA_VISIBLE_DEVICES"
"""The variable that says which GPUs a process sees."""

MAX_ENDS = 5
"""How many workers may end at a call before it is given up: some may end for other reasons."""

PATIENCE = 5.0
"""Seconds in which a worker must end that was asked to."""

Place = Mapping[str, str]
"""Variables of the environment that say which GPU or how many cores a worker takes."""


def places(count: int, backend: str, threads: int) -> list[Place]:
    """Return what each worker takes: GPUs in turn, and a share of the cores.

    Args:
        count: number of workers.
        backend: by name; "cuda" and "auto" take all GPUs, "cuda:1" that one, "cpu" none.
        threads: of all workers together; 0 takes every core that the process may use.
    """
    total = thread_count(threads)
    shares = [total * (k + 1) // count - total * k // count for k in range(count)]
    found: list[dict[str, str]] = [{THREADS_VARIABLE: str(max(each, 1))} for each in shares]
    gpus = _gpus() if backend in ("auto", "cuda") else []
    if len(gpus) > 1:
        for k, place in enumerate(found):
            place[VISIBLE] = gpus[k % len(gpus)]
    return list(found)


def _gpus() -> list[str]:
    """Return the GPUs that this process sees, as `CUDA_VISIBLE_DEVICES` names them."""
    from raytracer.backends.select import devices

    count = sum(each["backend"] == "cuda" and each["available"] for each in devices())
    named = [each.strip() for each in os.environ.get(VISIBLE, "").split(",") if each.strip()]
    return named[:count] if named else [str(number) for number in range(count)]


class LocalCrew(Crew):
    """Processes of this machine.

    Args:
        places: what each of them takes.

    Attributes:
        processes: those that run now, by the number of their place.
    """

    def __init__(self, places: Sequence[Place]) -> None:
        self._places = places
        self._folder: Path | None = None
        self._calls: SimpleQueue[tuple[Future[Any], Any] | None] = SimpleQueue()
        self._lock = Lock()
        self._is_closed = False
        self.processes: dict[int, WorkerProcess] = {}
        self._threads = [
            Thread(target=self._serve, args=(number,), daemon=True) for number in range(len(places))
        ]
        for thread in self._threads:
            thread.start()

    @property
    def size(self) -> int:
        return len(self._places)

    def share(self, shared: Shared) -> Any:
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="raytracer-"))
        try:
            return shared.in_file(self._folder)
        except OSError as error:
            raise UserError(
                f"{self._folder}: the scene cannot be written there for the workers "
                f"({error.strerror}): TMPDIR names another folder"
            ) from None

    def submit(self, call: Callable[..., Any], *arguments: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self._calls.put((future, (call, arguments)))
        return future

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            running = list(self.processes.values())
        for process in running:
            process.stop()
        for _ in self._threads:
            self._calls.put(None)
        for process in running:
            process.end()
        for thread in self._threads:
            thread.join()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _serve(self, number: int) -> None:
        """Hand calls to one worker until the crew is closed; on a thread of its own."""
        while (task := self._calls.get()) is not None:
            future, message = task
            if self._is_closed:
                future.cancel()
            if future.set_running_or_notify_cancel():
                try:
                    is_result, value = self._made(number, message)
                except Exception as error:  # arguments that cannot be sent
                    is_result, value = False, error
                (future.set_result if is_result else future.set_exception)(value)
        if number in self.processes:
            self.processes[number].end()

    def _made(self, number: int, message: Any) -> tuple[bool, Any]:
        """Make a call, on one process after another if they end; returns as `WorkerProcess.ask`."""
        how = "the crew was closed"
        for _ in range(MAX_ENDS):
            with self._lock:
                if self._is_closed:
                    break
                if number not in self.processes:
                    self.processes[number] = WorkerProcess(self._places[number])
            try:
                return self.processes[number].ask(message)
            except (EOFError, OSError):
                how = self.processes.pop(number).end()
        raise UserError(
            f"workers: {MAX_ENDS} processes in a row ended at the same task ({how}): if memory is "
            "short, take fewer workers"
        )


class WorkerProcess:
    """A process that makes calls.

    Args:
        place: variables of its environment.

    Raises:
        OSError: it cannot be started.
    """

    def __init__(self, place: Place) -> None:
        self._connection, other = Pipe()
        modules = os.pathsep.join(filter(None, sys.path))  # a worker imports what the caller does
        with other:
            # Its words belong on standard error; standard output is that of the command.
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "raytracer.farm.process", str(other.fileno())],
                env=os.environ | dict(place) | {"PYTHONPATH": modules},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[other.fileno()],
            )

    @property
    def pid(self) -> int:
        """Number of the process."""
        return self._process.pid

    def ask(self, message: tuple[Callable[..., Any], tuple[Any, ...]]) -> tuple[bool, Any]:
        """Make a call, and return whether it gave a result, and that or what it raised.

        Raises:
            EOFError, OSError: the process has ended.
        """
        self._connection.send(message)
        answer: tuple[bool, Any] = self._connection.recv()
        return answer

    def stop(self) -> None:
        """Ask the process to end, from any thread."""
        with suppress(OSError):
            self._process.terminate()

    def end(self) -> str:
        """End the process, wait for it, and return how it ended."""
        self.stop()
        try:
            code = self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:  # as in a library of a format
            self._process.kill()
            code = self._process.wait()
        return f"exit code {code}" if code >= 0 else f"signal {-code}"
