"""Loading in the main thread while its window shows progress and responds.

A second thread interrupts the first ten times a second, like a signal, to handle window events:
Python code and the compiled parts check for it between steps, as for Ctrl-C. Closing the window
thus ends loading at once, and nothing else must be thread-safe.
"""

from __future__ import annotations

import _thread
import signal
from threading import Event, Thread, current_thread, main_thread
from time import perf_counter
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Self

from raytracer.pipeline import Notice
from raytracer.viewer.frames import loading_text

if TYPE_CHECKING:
    from raytracer.viewer.window import PreviewWindow

INTERVAL = 0.1  # seconds between two checks of the window

SIGNAL = signal.SIGURG
"""The signal that interrupts the main thread; systems send it only on request. It is simulated, not
sent: a real one would interrupt the reading of files."""


class _Closed(KeyboardInterrupt):
    """The window was closed: loading ends as after Ctrl-C."""

    number = SIGNAL


class Loading:
    """Shows loading progress in a window, in a `with` block; called with each stage.

    The block ends early if the window is to be closed.
    """

    def __init__(self, window: PreviewWindow, name: str, notice: Notice | None) -> None:
        self._window, self._name, self._notice = window, name, notice
        self._stage, self._start = "", perf_counter()
        self._ended, self._looks = Event(), False
        self._thread = Thread(target=self._ask, name="loading", daemon=True)
        self._before: Any = None

    def __call__(self, stage: str) -> None:
        self._stage = stage
        if self._notice is not None:
            self._notice(stage)
        self._look()

    def __enter__(self) -> Self:
        self._look()
        if current_thread() is main_thread():  # in other threads, only stages check
            self._before = signal.signal(SIGNAL, self._look)
            try:
                self._thread.start()
            except BaseException:  # after Ctrl-C __exit__ is not called
                self._ended.set()
                raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> bool:
        self._ended.set()
        if self._thread.ident is not None:
            self._thread.join()
            signal.signal(SIGNAL, self._before)
        return isinstance(error, _Closed)

    def _ask(self) -> None:
        while not self._ended.wait(INTERVAL):
            _thread.interrupt_main(SIGNAL)

    def _look(self, _number: int = 0, _frame: FrameType | None = None) -> None:
        if self._ended.is_set() or self._looks:
            return
        self._looks = True
        try:
            seconds = int(perf_counter() - self._start)
            since = f", {seconds} s" if seconds else ""
            self._window.wait_with(loading_text(self._name, self._stage, since))
        finally:
            self._looks = False
        if self._window.wants_to_close:
            raise _Closed
