"""Progress on a terminal: the current stage, and a bar for rendering."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from threading import Timer
    from types import TracebackType
    from typing import Self

    from rich.progress import Progress

# Seconds before anything is shown.
DELAY = 1.0

# Return to the start of the line and clear it.
_CLEAR = "\r\x1b[K"


class StageLine:
    """Shows a stage that takes longer than a delay in one line. It is called with its name.

    An empty name ends the stage. A timer writes the line, because a stage reports only its start.

    Args:
        show: True always, False never, None if standard error is a terminal.
        delay: seconds before the line is shown.
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
        """Clear the line of the previous stage."""
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
    """Shows progress, samples per second and remaining time. It is called with the fraction done.

    Args:
        samples: number of samples of the whole render, in all pixels.
        show: True always, False never, None if standard error is a terminal.
        delay: seconds before the bar is shown.
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
        rate = self._rate(fraction, elapsed)
        self._bar.update(self._bar.task_ids[0], completed=fraction, rate=rate)

    def _rate(self, fraction: float, elapsed: float) -> str:
        """Return the speed so far for people."""
        return rate_text(fraction * self._samples / elapsed)

    def _open(self) -> Progress:
        """Start the bar; its library is imported here to save time."""
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

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()


class FrameBar(ProgressBar):
    """Shows finished frames, frames per second and remaining time of an animation.

    It is called with the numbers of finished frames and of all frames. Those that an earlier run
    finished are passed over in no time and do not count.

    Args:
        show, delay: as of `ProgressBar`.
    """

    def __init__(self, show: bool | None = None, delay: float = DELAY) -> None:
        super().__init__(0, show, delay)
        self._done, self._all = 0, 1
        self._first: tuple[int, float] | None = None

    def frames(self, done: int, total: int) -> None:
        """Show how many frames are finished."""
        self._done, self._all = done, total
        now = time.perf_counter()
        if self._first is None or now - self._start < 0.1:
            self._first = done, now
        self(done / total)

    def _rate(self, fraction: float, elapsed: float) -> str:
        first, since = self._first or (0, self._start)
        seconds = time.perf_counter() - since
        rate = (self._done - first) / seconds if seconds > 0.0 else 0.0
        return f"{self._done}/{self._all} frames  {rate:.2f} frames/s"


def rate_text(rate: float) -> str:
    """Return a rate in samples per second for people."""
    for unit in ("", "k", "M"):
        if rate < 1000:
            return f"{rate:.1f} {unit}samples/s"
        rate /= 1000
    return f"{rate:.1f} Gsamples/s"
