"""Workers that are processes of this machine.

They are started as `python -m raytracer.farm.process`, and not by `multiprocessing`, which would
run the script of the caller again in each of them. A thread for each worker hands it one call after
another through a socket. If the worker ends, by whatever signal, the call goes back to the front
of the queue, and another process takes the worker's place. `concurrent.futures` would give up all
calls in this case.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from multiprocessing import Pipe
from pathlib import Path
from threading import Condition, Thread
from typing import TYPE_CHECKING, Any

from raytracer.errors import UserError
from raytracer.farm.crew import Crew
from raytracer.resources import THREADS_VARIABLE, thread_count

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from raytracer.farm.shared import Shared

VISIBLE = "CUDA_VISIBLE_DEVICES"
"""The variable that says which GPUs a process sees."""

MOST_ENDS = 5
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


class _Task:
    """A call that waits, with the number of workers that it has ended."""

    def __init__(self, call: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self.message = call, arguments
        self.future: Future[Any] = Future()
        self.ends = 0
        self.is_begun = False

    def begin(self) -> bool:
        """Mark the call as running; False if it was given up."""
        self.is_begun = self.is_begun or self.future.set_running_or_notify_cancel()
        return self.is_begun


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
        self._tasks: deque[_Task] = deque()
        self._changed = Condition()
        self._is_closed = False
        self.processes: dict[int, WorkerProcess] = {}
        self._threads = [
            Thread(target=self._serve, args=(number,), name=f"worker {number}", daemon=True)
            for number in range(len(places))
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
        task = _Task(call, arguments)
        with self._changed:
            self._tasks.append(task)
            self._changed.notify()
        return task.future

    def close(self) -> None:
        with self._changed:
            self._is_closed = True
            for task in self._tasks:
                task.future.cancel()
            self._tasks.clear()
            running = list(self.processes.values())
            self._changed.notify_all()
        for process in running:
            process.stop()
        end = time.monotonic() + PATIENCE
        for thread in self._threads:
            thread.join(max(end - time.monotonic(), 0.0))
        if any(thread.is_alive() for thread in self._threads):
            for process in running:
                process.kill()  # as one that a library of a format does not leave
            for thread in self._threads:
                thread.join()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _serve(self, number: int) -> None:
        """Hand calls to one worker until the crew is closed; on a thread of its own."""
        process: WorkerProcess | None = None
        while (task := self._next()) is not None:
            try:
                if process is None:
                    process = self._started(number)
                outcome = process.ask(task.message)
            except (EOFError, OSError) as error:
                how = str(error) if process is None else process.end()
                process = None
                self._again(task, how)
                continue
            except Exception as error:  # arguments that cannot be sent
                task.future.set_exception(error)
                continue
            is_result, value = outcome
            (task.future.set_result if is_result else task.future.set_exception)(value)
        if process is not None:
            process.end()

    def _started(self, number: int) -> WorkerProcess:
        """Start the process of a place. Raises OSError: it cannot be started."""
        process = WorkerProcess(self._places[number])
        with self._changed:
            self.processes[number] = process
            if self._is_closed:
                process.stop()
        return process

    def _next(self) -> _Task | None:
        """Wait for a call; None when the crew is closed."""
        with self._changed:
            while True:
                if self._is_closed:
                    return None
                while self._tasks:
                    task = self._tasks.popleft()
                    if task.begin():
                        return task
                self._changed.wait()

    def _again(self, task: _Task, how: str) -> None:
        """Put a call back whose worker ended, unless it has ended several."""
        task.ends += 1
        with self._changed:
            if self._is_closed or task.ends >= MOST_ENDS:
                task.future.set_exception(
                    UserError(
                        f"workers: {task.ends} processes in a row ended at the same task ({how}): "
                        "if memory is short, take fewer workers"
                    )
                )
                return
            self._tasks.appendleft(task)
            self._changed.notify()


class WorkerProcess:
    """A process that makes calls.

    Args:
        place: variables of its environment.

    Raises:
        OSError: it cannot be started.
    """

    def __init__(self, place: Place) -> None:
        self._connection: Connection
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

    def kill(self) -> None:
        """End the process at once, from any thread."""
        with suppress(OSError):
            self._process.kill()

    def end(self) -> str:
        """End the process, wait for it, and return how it ended."""
        self._connection.close()
        self.stop()
        try:
            code = self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        if code >= 0:
            return f"exit code {code}"
        try:
            return signal.Signals(-code).name
        except ValueError:
            return f"signal {-code}"
