"""Progress on a terminal: the current stage, and a bar for rendering."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress

DELAY = 1.0  # seconds before the bar is shown

_CLEAR = "\r\x1b[K"


class StageLine:
    """Shows a stage until the next one begins; called with its name, or "" at the end."""

    def __init__(self, show: bool | None = None) -> None:
        self._show = sys.stderr.isatty() if show is None else show

    def __call__(self, text: str) -> None:
        if self._show:
            print(_CLEAR, text and f"{text} …", sep="", end="", file=sys.stderr, flush=True)

    def __enter__(self) -> StageLine:
        return self

    def __exit__(self, *_: object) -> None:
        self("")


class ProgressBar:
    """Shows progress, speed and remaining time; called with the fraction of `samples` that is done.
    show: None if standard error is a terminal."""

    def __init__(self, samples: int = 0, show: bool | None = None, delay: float = DELAY) -> None:
        self._samples = samples
        self._show = sys.stderr.isatty() if show is None else show
        self._delay = delay
        self._start = time.perf_counter()
        self._begun: tuple[int, float] | None = None
        self._bar: Progress | None = None

    def __call__(self, fraction: float) -> None:
        elapsed = time.perf_counter() - self._start
        self._update(fraction, rate_text(fraction * self._samples / max(elapsed, 1e-9)))

    def frames(self, done: int, total: int) -> None:
        """Show the finished frames of an animation; those of an earlier run are not timed."""
        now = time.perf_counter()
        if self._begun is None or now - self._start < 0.1:
            self._begun = done, now
        first, since = self._begun
        rate = (done - first) / (now - since) if now > since else 0.0
        self._update(done / total, f"{done}/{total} frames  {rate:.2f} frames/s")

    def _update(self, fraction: float, rate: str) -> None:
        is_early = time.perf_counter() - self._start < self._delay
        if not self._show or is_early or (self._bar is None and fraction >= 1.0):
            return
        if self._bar is None:
            self._bar = self._open()
        self._bar.update(self._bar.task_ids[0], completed=fraction, rate=rate)

    def _open(self) -> Progress:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        bar = Progress(
            TextColumn("render"), BarColumn(),
            TextColumn("{task.percentage:3.0f}%  {task.fields[rate]}"), TimeRemainingColumn(),
            console=Console(stderr=True, force_terminal=True), transient=True,
        )  # fmt: skip
        bar.add_task("render", total=1.0, rate="")
        bar.start()
        return bar

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()


def rate_text(rate: float, what: str = "samples") -> str:
    for unit in ("", "k", "M"):
        if rate < 1000:
            return f"{rate:.1f} {unit}{what}/s"
        rate /= 1000
    return f"{rate:.1f} G{what}/s"
