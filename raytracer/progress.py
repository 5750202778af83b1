"""What a terminal shows of work that takes longer than a moment."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from threading import Timer
    from types import TracebackType

    from rich.progress import Progress

# Shorter renders are not worth a bar (seconds).
DELAY = 1.0

# Back to the start of the line, and clear it.
_CLEAR = "\r\x1b[K"


class StageLine:
    """Called with what is being done now; shows that in one line where it takes long.

    An empty text says that nothing is.

    The work itself says nothing before it is done, so that a timer has to write the line.
    show: True always, False never, None if standard error is a terminal.
    """

    def __init__(self, show: bool | None = None, delay: float = DELAY) -> None:
        self._show = sys.stderr.isatty() if show is None else show
        self._delay = delay
        self._timer: Timer | None = None
        self._written = False

    def __call__(self, text: str) -> None:
        self._end()
        if self._show and text:
            from threading import Timer

            self._timer = Timer(self._delay, self._write, [f"{text} …"])
            self._timer.daemon = True
            self._timer.start()

    def _write(self, text: str) -> None:
        self._written = True
        print(text, end="", file=sys.stderr, flush=True)

    def _end(self) -> None:
        """Take the line of the stage before back."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer.join()
            self._timer = None
        if self._written:
            print(_CLEAR, end="", file=sys.stderr, flush=True)
            self._written = False

    def __enter__(self) -> StageLine:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()


class ProgressBar:
    """Called with the fraction done; shows the rate in samples per second and the time left.

    samples: how many samples the whole render takes.
    show: True always, False never, None if standard error is a terminal.
    """

    def __init__(self, samples: int, show: bool | None = None, delay: float = DELAY) -> None:
        self._samples = samples
        self._show = sys.stderr.isatty() if show is None else show
        self._forced = show is True
        self._delay = delay
        self._start = time.perf_counter()
        self._bar: Progress | None = None

    def __call__(self, fraction: float) -> None:
        elapsed = time.perf_counter() - self._start
        if not self._show or elapsed < self._delay or (self._bar is None and fraction >= 1.0):
            return
        if self._bar is None:
            self._bar = self._open()
        rate = rate_text(fraction * self._samples / elapsed)
        self._bar.update(self._bar.task_ids[0], completed=fraction, rate=rate)

    def _open(self) -> Progress:
        """Start the bar; its library is imported only now."""
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        console = Console(stderr=True, force_terminal=True if self._forced else None)
        bar = Progress(
            TextColumn("render"),
            BarColumn(),
            TextColumn("{task.percentage:3.0f}%  {task.fields[rate]}"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
        )
        bar.add_task("render", total=1.0, rate="")
        bar.start()
        return bar

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()


def rate_text(rate: float) -> str:
    """Samples a second for people."""
    for unit in ("", "k", "M"):
        if rate < 1000:
            return f"{rate:.1f} {unit}samples/s"
        rate /= 1000
    return f"{rate:.1f} Gsamples/s"
