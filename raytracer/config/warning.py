"""Warnings about input that is ignored or ambiguous.

In Python they are `RaytracerWarning` of the module `warnings`; commands and the preview collect and
show them instead.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from raytracer.config.errors import truncate

# The function of the innermost block of this thread; None outside of blocks.
_listener: ContextVar[Callable[[str], None] | None] = ContextVar("listener", default=None)


class RaytracerWarning(UserWarning):
    """Input was ignored or had to be interpreted; the message says what to do.

    `warnings.simplefilter("error", raytracer.RaytracerWarning)` turns them into errors,
    `warnings.simplefilter("ignore", raytracer.RaytracerWarning)` hides them.
    """


def warn(sentence: str) -> None:
    sentence = truncate(sentence)
    listener = _listener.get()
    if listener is not None:
        listener(sentence)
        return
    import warnings

    warnings.warn(sentence, RaytracerWarning, stacklevel=_depth())


@contextmanager
def redirect_warnings(listener: Callable[[str], None]) -> Iterator[None]:
    """Call `listener` with the warnings of this thread instead of raising them."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def collect_warnings() -> Iterator[list[str]]:
    """Collect the warnings of this thread, without repeats, instead of raising them."""
    sentences: list[str] = []

    def add(sentence: str) -> None:
        if sentence not in sentences:
            sentences.append(sentence)

    with redirect_warnings(add):
        yield sentences


def _depth() -> int:
    """Return the stack level for `warnings.warn` of the nearest caller outside of the package."""
    import sys

    inside = (__name__.partition(".")[0], "contextlib")  # which calls what it decorates
    level, frame = 1, sys._getframe(1)  # the caller of this function is `warn`
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in inside:
        level, frame = level + 1, frame.f_back
    return level
