"""The command's process: its standard streams, and the signals that end it.

Standard error is for words to people: where it is closed or full, they are lost and the work goes
on. Standard output is a result: where it cannot be written, the command ends with 1 and a sentence,
or, where the reader of a pipe has gone, with 141 and none, as if SIGPIPE had ended it.

SIGINT, SIGTERM and SIGHUP raise `Terminated` in the main thread, so that what is half done is
cleaned up on the way out.
"""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from raytracer.errors import RaytracerError

if TYPE_CHECKING:
    from types import FrameType

    from typing_extensions import Buffer

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# Seconds until a signal is sent again whose exception was lost in a callback.
_AGAIN = 0.005
# Seconds for which words to people wait for a reader that has stopped reading.
_PATIENCE = 1.0


class Terminated(KeyboardInterrupt):
    """A signal asks the process to end."""

    def __init__(self, number: int = signal.SIGINT) -> None:
        super().__init__(number)
        self.number = signal.Signals(number)

    @property
    def exit_code(self) -> int:
        """What a shell shows of a program that this signal ended."""
        return 128 + self.number

    @property
    def name(self) -> str:
        """For people."""
        return "Ctrl-C" if self.number == signal.SIGINT else self.number.name


class StreamError(RaytracerError):
    """Standard output cannot be written."""


class _StandardOutput(io.FileIO):
    """Its errors are told apart from those of files; after the first nothing more is written."""

    failed = False

    def write(self, data: Buffer, /) -> int:
        if self.failed:
            return memoryview(data).nbytes
        try:
            return _write_waiting(self, data)
        except OSError as error:
            self.failed = True
            if error.errno == errno.EPIPE:
                raise Terminated(signal.SIGPIPE) from None
            raise StreamError(f"standard output: cannot be written ({error.strerror})") from None


class _StandardError(io.FileIO):
    """Nothing that goes wrong with it stops the work."""

    def write(self, data: Buffer, /) -> int:
        try:
            return _write_waiting(self, data, _PATIENCE)
        except OSError:
            return memoryview(data).nbytes


def _write_waiting(stream: io.FileIO, data: Buffer, seconds: float | None = None) -> int:
    """Write to a stream that may be full; gives the number of bytes.

    The descriptor is shared with other programs, one of which may have set it not to block.
    seconds: to wait for room; None waits for ever. Raises OSError.
    """
    while (count := io.FileIO.write(stream, data)) is None:
        import select

        if not select.select([], [stream], [], seconds)[1]:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
    return count


def run(command: Callable[[], int], stopped: Callable[[BaseException], int]) -> int:
    """Run a command with streams and signals set up; returns its exit code.

    command: handles `StreamError` itself, and `Terminated` as far as it can.
    stopped: says what a `Terminated` ended that came before or after the command; the exit code.
    """
    _open_streams()
    try:
        _take_signals()
        code = _finish(command())
    except KeyboardInterrupt as stop:
        code = _finish(stopped(stop))
    for number in SIGNALS:  # the interpreter's own end has nothing to clean up, and no words for it
        if signal.getsignal(number) not in (signal.SIG_IGN, None):
            signal.signal(number, signal.SIG_DFL)
    return code


def _open_streams() -> None:
    """Make sure that the three descriptors are open and the streams are ours.

    A closed descriptor would be that of the next file opened. The other direction of the null
    device keeps it taken, and reading or writing still fails as of a closed one.
    """
    for number, mode in ((0, os.O_WRONLY), (1, os.O_RDONLY), (2, os.O_RDWR)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)
    if sys.stdin is None:
        sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = _text(_StandardOutput(1, "w", closefd=False), sys.stdout)
    sys.stderr = _text(_StandardError(2, "w", closefd=False), sys.stderr, always_flush=True)


def _text(raw: io.FileIO, old: Any, always_flush: bool = False) -> io.TextIOWrapper:
    """A text stream like the old one; characters that its encoding lacks are escaped."""
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=getattr(old, "encoding", None),
        errors="backslashreplace",
        line_buffering=always_flush or raw.isatty(),
    )


def _take_signals() -> None:
    """Let the signals raise `Terminated`, but for those that are ignored (nohup)."""
    for number in SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _terminate)
    sys.unraisablehook = _after_callback


def _terminate(number: int, _: FrameType | None) -> None:
    """The first signal raises; the next ends the process at once, in case that the first hangs."""
    for each in SIGNALS:
        if signal.getsignal(each) is _terminate:
            signal.signal(each, _end)
    raise Terminated(number)


def _end(number: int, _: FrameType | None) -> None:
    from raytracer.files import output

    output.tidy()
    signal.signal(number, signal.SIG_DFL)
    signal.raise_signal(number)


def _after_callback(lost: sys.UnraisableHookArgs) -> None:
    """Send a signal again whose exception came up where it cannot be raised."""
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return
    from threading import Timer

    number = getattr(lost.exc_value, "number", signal.SIGINT)
    for each in SIGNALS:
        if signal.getsignal(each) is _end:
            signal.signal(each, _terminate)
    Timer(_AGAIN, os.kill, (os.getpid(), number)).start()


def _finish(code: int) -> int:
    """Write what standard output still holds; the exit code."""
    try:
        sys.stdout.flush()
    except Terminated as stop:
        return stop.exit_code
    except StreamError as error:
        print(f"raytracer: {error}", file=sys.stderr)
        return code or error.exit_code
    return code
