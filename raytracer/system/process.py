"""The process of the command: its standard streams, and the signals that end it.

If standard error is closed or full, messages are lost and the command continues. If standard output
cannot be written, the command ends with code 1 and a message; if the reader of a pipe has closed
it, with code 141 and none, as after SIGPIPE.

SIGINT, SIGTERM and SIGHUP raise `Terminated` in the main thread, so that temporary files are
removed before the process ends.
"""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
import warnings
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any

from raytracer.config.errors import RaytracerError
from raytracer.system.resources import CLOSING, SIGNALS

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class Terminated(KeyboardInterrupt):
    def __init__(self, number: int = signal.SIGINT) -> None:
        super().__init__(number)
        self.number = signal.Signals(number)

    @property
    def exit_code(self) -> int:
        """The exit code that shells report for this signal."""
        return 128 + self.number

    @property
    def name(self) -> str:
        return "Ctrl-C" if self.number == signal.SIGINT else self.number.name


class StreamError(RaytracerError):
    """Standard output cannot be written."""


class _StandardStream(io.FileIO):
    """Standard output, whose first error ends the command, or standard error, without errors."""

    failed = False

    def write(self, data: ReadableBuffer, /) -> int:
        size = memoryview(data).nbytes
        if self.failed:
            return size
        try:
            return super().write(data)
        except OSError as error:
            if self.fileno() == 2:
                return size
            self.failed = True
            if error.errno == errno.EPIPE:
                raise Terminated(signal.SIGPIPE) from None
            raise StreamError(f"standard output: cannot be written ({error.strerror})") from None


def run(command: Callable[[], int], stopped: Callable[[BaseException], int]) -> int:
    """Set up streams and signals and run a command; return its exit code."""
    _open_streams()
    if not sys.warnoptions:  # `raytracer.config.warning` has the warnings for users
        warnings.simplefilter("ignore", RuntimeWarning)
    try:
        _take_signals()
        code = _finish(command())
    except KeyboardInterrupt as stop:
        code = _finish(stopped(stop))
    for number in SIGNALS:  # the interpreter has nothing to clean up
        if signal.getsignal(number) not in (signal.SIG_IGN, None):
            signal.signal(number, signal.SIG_DFL)
    threads = sys.modules.get("threading")
    if threads and any(each.name == CLOSING for each in threads.enumerate()):
        os._exit(code)  # the interpreter would wait for that work
    return code


def _open_streams() -> None:
    """Replace the streams; closed ones become the null device, or the next file would be one."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    for number in (1, 2):
        os.set_blocking(number, True)  # another program that shares the pipe may have changed it
    sys.stdout, sys.stderr = _text(1, sys.stdout), _text(2, sys.stderr)


def _text(number: int, old: Any) -> io.TextIOWrapper:
    """Return a text stream like the old one; characters that its encoding lacks are escaped."""
    raw = _StandardStream(number, "w", closefd=False)
    return io.TextIOWrapper(
        io.BufferedWriter(raw), getattr(old, "encoding", None), "backslashreplace",
        line_buffering=number == 2 or raw.isatty(),
    )  # fmt: skip


def _take_signals() -> None:
    """Raise `Terminated` for signals, except ignored ones (nohup)."""
    for number in SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _terminate)


def _terminate(number: int, _: FrameType | None) -> None:
    """Raise on the first signal; the next one ends the process at once."""
    for each in SIGNALS:
        if signal.getsignal(each) is _terminate:
            signal.signal(each, _end)
    raise Terminated(number)


def _end(number: int, _: FrameType | None) -> None:
    from raytracer.files import output

    output.remove_temporary_files()
    signal.signal(number, signal.SIG_DFL)
    signal.raise_signal(number)


def _finish(code: int) -> int:
    try:
        sys.stdout.flush()
    except Terminated as stop:
        return stop.exit_code
    except StreamError as error:
        print(f"raytracer: {error}", file=sys.stderr)
        return code or error.exit_code
    return code
