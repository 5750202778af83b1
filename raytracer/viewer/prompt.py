"""Prompt: questions that a user answers by typing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from raytracer.viewer.actions import action

if TYPE_CHECKING:
    from raytracer.viewer.viewer import Viewer

MOST_LETTERS = 500
"""Longest answer."""

MOST_NAMES = 8
"""Most columns that a hint names."""


@dataclass(frozen=True)
class Question:
    """A question.

    Args:
        label: what is asked.
        hint: examples, and what Enter does.
        answer: takes what was typed; it may raise UserError.
        default: shown while nothing is typed.
        letters: characters that an answer can have; "" are all.
    """

    label: str
    hint: str
    answer: Callable[[str], None]
    default: str = ""
    letters: str = ""

    def kept(self, text: str) -> str:
        """Return the characters of a text that an answer can have."""
        if self.letters:
            return "".join(letter for letter in text if letter in self.letters)
        return "".join(letter for letter in text if letter.isprintable())

    def lines(self, typed: str) -> str:
        """Return the question with the answer so far, for people."""
        return f"{self.label}: {typed or self.default}▏\n{self.hint}"


class DataQuestions:
    """What is asked about the data.

    Args:
        viewer: what asks.
    """

    def __init__(self, viewer: Viewer) -> None:
        self._viewer = viewer

    @action()
    def ask_color(self) -> None:
        """Type the column or the expression that colours follow."""
        self._ask(
            "colour by", f"{self._columns()}, sqrt(x**2 + y**2), ...; empty: the scene's colours",
            lambda typed: self._viewer.do("color-by", typed), "",
        )  # fmt: skip

    @action()
    def ask_map(self) -> None:
        """Type the name of a colour map."""
        self._ask(
            "colour map", "viridis, magma, coolwarm, turbo, ...; _r behind a name reverses it",
            lambda typed: self._viewer.do("set-map", typed), "viridis",
        )  # fmt: skip

    @action()
    def ask_range(self) -> None:
        """Type the values at the ends of the colours."""
        self._ask(
            "range of colours", "0,5 or p1,p99 for percentiles; empty: all values",
            lambda typed: self._viewer.do("set-range", typed), "",
        )  # fmt: skip

    @action()
    def ask_selection(self) -> None:
        """Type the condition that selected particles fulfil."""
        self._ask(
            "select", "z > 3 and type == 'O', every 10, connected to id == 7, ...; columns are "
            f"{self._columns()}",
            lambda typed: self._viewer.do("select", typed), "",
        )  # fmt: skip

    @action()
    def ask_movie(self) -> None:
        """Type the name of a movie, and render it."""
        self._ask(
            "movie", ".mp4, .webm, .gif or frames/####.png; Enter renders it in the background",
            lambda typed: self._viewer.do("animate", typed or None),
            str(self._viewer.keys.movie_path()),
        )  # fmt: skip

    def _columns(self) -> str:
        names = self._viewer.data.columns
        more = ", ..." if len(names) > MOST_NAMES else ""
        return ", ".join(names[:MOST_NAMES]) + more

    def _ask(self, label: str, hint: str, answer: Callable[[str], None], default: str) -> None:
        self._viewer.ask(Question(label, f"{hint}\nEnter takes it, Esc cancels", answer, default))
