"""What is left out of frames: said for each frame that is read alone, and counted over a movie."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from raytracer.config.errors import pluralize
from raytracer.config.warning import warn

MAX_LISTED = 8  # most frames that a warning lists


class LeftOut:
    """What is left out of the frames of a movie."""

    def __init__(self) -> None:
        self.unreadable: dict[int, str] = {}  # frames that cannot be read, and why
        self.places: dict[int, int] = {}  # numbers of particles without finite positions, by frame
        self.empty: set[int] = set()  # frames without particles
        self.frame = 0  # that is being read

    def sentence(self, name: str, count: int) -> str:
        """Return a warning about a file of `count` frames, or "" if nothing is left out."""
        parts = []
        if frames := sorted(self.unreadable):
            one = len(frames) == 1
            parts.append(
                f"{len(frames):,} cannot be read, so {'a frame' if one else 'frames'} next to "
                f"{'it is' if one else 'them are'} shown ({_join_frames(frames)}: "
                f"{self.unreadable[frames[0]]})"
            )
        if places := self.places:
            lost = pluralize(sum(places.values()), "particle")
            have = "has" if len(places) == 1 else "have"
            parts.append(
                f"{len(places):,} {have} particles whose positions are not finite, which are left "
                f"out ({lost}, {_join_frames(places)})"
            )
        if empty := self.empty:
            holds = "holds no particles and is" if len(empty) == 1 else "hold no particles and are"
            parts.append(f"{len(empty):,} {holds} empty ({_join_frames(empty)})")
        return f"{name}: of {pluralize(count, 'frame')}, {'; '.join(parts)}" if parts else ""


def _join_frames(frames: Iterable[int]) -> str:
    known = sorted(frames)
    more = ", ..." if len(known) > MAX_LISTED else ""
    return f"frame{'s' * (len(known) > 1)} {', '.join(map(str, known[:MAX_LISTED]))}{more}"


_counting: ContextVar[LeftOut | None] = ContextVar("counting", default=None)


@contextmanager
def count_left_out(left_out: LeftOut, frame: int) -> Iterator[None]:
    """In the block, which reads a frame of a movie, count what is left out instead of saying it."""
    left_out.frame = frame
    token = _counting.set(left_out)
    try:
        yield
    finally:
        _counting.reset(token)


def leave_out_nonfinite(source: str, count: int, total: int) -> None:
    """Say or count that particles without finite positions are left out."""
    if (left_out := _counting.get()) is not None:
        left_out.places[left_out.frame] = count
        return
    why = "is left out, since its position is" if count == 1 else (
        "are left out, since their positions are"
    )  # fmt: skip
    warn(f"{source}: {count:,} of {pluralize(total, 'particle')} {why} not finite")


def warn_of_empty(source: str) -> None:
    """Say or count that there are no particles."""
    if (left_out := _counting.get()) is not None:
        left_out.empty.add(left_out.frame)
    else:
        warn(f"{source}: holds no particles")
