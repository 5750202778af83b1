"""Progress: the current stage, and a bar for rendering; on a terminal, in a log, in a notebook.

A terminal has one line that changes, and is empty at the end; a notebook has a bar of its own. What
is neither gets whole lines without control characters: each stage, and each tenth of a render.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import Any, Self

DELAY = 1.0  # seconds before the bar is shown
INTERVAL = 0.1  # seconds between changes of it
TENTHS = 10  # lines of a log for a whole render
MIN_WIDTH, WIDTH = 10, 40  # characters of the bar
COLUMNS = 80  # of a terminal that does not tell

_CLEAR = "\r\x1b[K"


def is_terminal() -> bool:
    """Whether standard error is a terminal that can change a line."""
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def columns() -> int:
    return os.get_terminal_size(sys.stderr.fileno()).columns or COLUMNS


_line = ""  # what stands on the line of the terminal


def write_line(text: str) -> None:
    """Replace what stands on the line of the terminal; "" clears it, before others print there."""
    global _line
    if text or _line:
        print(f"{_CLEAR}{text}", end="", file=sys.stderr, flush=True)
    _line = text


def _log(text: str) -> None:
    if sys.stderr is not None:  # None: a program without a console
        print(text, file=sys.stderr, flush=True)


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


class StageLine:
    """Shows a stage until the next one begins; called with its name, or "" at the end."""

    def __init__(self, show: bool | None = None) -> None:
        self._changes = is_terminal()
        self._show = self._changes if show is None else show

    def __call__(self, text: str) -> None:
        text = text and f"{text} …"
        if self._show and self._changes:
            write_line(text)
        elif self._show and text:
            _log(text)

    def __enter__(self) -> StageLine:
        return self

    def __exit__(self, *_: object) -> None:
        self("")


class ProgressBar:
    """Shows progress, speed and remaining time; called with the fraction of `samples` that is done.
    show: None if standard error is a terminal."""

    def __init__(self, samples: int = 0, show: bool | None = None, delay: float = DELAY) -> None:
        self._samples = samples
        self._show = is_terminal() if show is None else show
        self._start = time.perf_counter()
        self._due = self._start + delay  # of the next change
        self._begun: tuple[int, float] | None = None
        self._shown: _Terminal | _Log | _Notebook | None = None

    def __call__(self, fraction: float) -> None:
        elapsed = time.perf_counter() - self._start
        left = elapsed / fraction - elapsed if fraction > 0 else None
        self._update(fraction, format_rate(fraction * self._samples / max(elapsed, 1e-9)), left)

    def frames(self, done: int, total: int) -> None:
        """Show the finished frames of an animation; those of an earlier run are not timed."""
        now = time.perf_counter()
        if self._begun is None or now - self._start < 0.1:
            self._begun = done, now
        first, since = self._begun
        rate = (done - first) / (now - since) if now > since else 0.0
        left = (total - done) / rate if rate > 0 else None
        self._update(done / total, f"{done}/{total} frames  {rate:.2f} frames/s", left)

    def _update(self, fraction: float, rate: str, left: float | None) -> None:
        now = time.perf_counter()
        if not self._show or now < self._due or (self._shown is None and fraction >= 1.0):
            return
        if self._shown is None:
            self._shown = (_Notebook if _in_notebook() else _Terminal if is_terminal() else _Log)()
        self._due = now + self._shown.interval
        remaining = "" if left is None else f"  {format_duration(left)} left"
        self._shown.show(fraction, f"{fraction:4.0%}  {rate}{remaining}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown is not None:
            self._shown.close()


class _Terminal:
    interval = INTERVAL

    def show(self, fraction: float, text: str) -> None:
        room = columns() - 1  # the last one would begin another line
        width = min(WIDTH, room - len(f"render  {text}"))
        done = round(width * fraction)
        bar = f"render {'#' * done}{'-' * (width - done)} {text}"
        write_line(bar if width >= MIN_WIDTH else text.lstrip()[:room])

    def close(self) -> None:
        write_line("")


class _Log:
    interval = 0.0
    _tenths = 0

    def show(self, fraction: float, text: str) -> None:
        if (tenths := int(TENTHS * fraction + 1e-9)) > self._tenths:
            self._tenths = tenths
            _log(f"render {text}")

    def close(self) -> None:
        pass


class _Notebook:
    interval = INTERVAL

    def __init__(self) -> None:
        display: Any = import_module("IPython.display").display
        self._output = display({"text/plain": ""}, raw=True, display_id=True)

    def show(self, fraction: float, text: str) -> None:
        bar = f'<progress value="{fraction:.4f}" style="width: 20em"></progress> {text}'
        self._output.update({"text/plain": f"render {text}", "text/html": bar}, raw=True)

    def close(self) -> None:
        self._output.update({"text/plain": "", "text/html": ""}, raw=True)


def open_progress(
    progress: Callable[[float], None] | bool | None, samples: int
) -> AbstractContextManager[Callable[[float], None] | None]:
    """Return what is called with the fraction of `samples` that is done: a bar for True."""
    if isinstance(progress, bool):
        return ProgressBar(samples, show=progress)
    return nullcontext(progress)


def format_duration(seconds: float) -> str:
    """Return a duration in minutes and seconds, or in hours, too: "1:02:03"."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"


def format_rate(rate: float, what: str = "samples") -> str:
    for unit in ("", "k", "M"):
        if rate < 1000:
            return f"{rate:.1f} {unit}{what}/s"
        rate /= 1000
    return f"{rate:.1f} G{what}/s"
