"""The kinds of value that settings and keys of scene files hold: check, JSON Schema, words.

Each kind checks arguments of the Python interface and, more strictly, the values of a scene file.
Those of scenes alone, colours and tables, are in `raytracer.scene.kinds`.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, nan
from typing import Any

from raytracer.arguments import (
    MOST,
    as_float,
    is_truth,
    items,
    one_of,
    real,
    text,
    truth,
    vector,
    whole,
)
from raytracer.errors import (
    MOST_SENTENCES,
    TEXT_LETTERS,
    UserError,
    shown,
    shown_value,
    suggestion,
)

Schema = dict[str, Any]


class Mistakes:
    """The mistakes in the values of a scene file, in the order in which they are found.

    Args:
        toml: whether the file is TOML, in which tables are written with brackets.
    """

    def __init__(self, toml: bool = True) -> None:
        self.sentences: list[str] = []
        self.toml = toml

    @property
    def full(self) -> bool:
        """Whether further sentences are only counted: the search for a near name takes a while."""
        return len(self.sentences) >= MOST_SENTENCES

    def add(self, place: str, problem: str) -> None:
        """Add a mistake at a key, for example "render.width"."""
        self.sentences.append(f"{place or 'the file'}: {problem}")

    def must_be(self, place: str, wanted: str, value: Any) -> None:
        """Add that a value must be something else; a large value is not shown."""
        found = "a table" if type(value) is dict else shown_value(value)
        end = f", not {found}" if len(found) < TEXT_LETTERS else ""
        self.add(place, f"must be {wanted}{end}")


class Kind:
    """The kind of value that a field takes."""

    def checked(self, value: Any, name: str, error: type[UserError]) -> Any:
        """Return an argument of the Python interface in its plain type; raises `error`."""
        raise NotImplementedError

    def find_mistakes(self, value: Any, place: str, mistakes: Mistakes) -> None:
        """Add what is wrong with a value of a scene file: text, number, truth value, list, table.

        Scene files are strict: a truth value is no number, and a text is none either.
        """
        raise NotImplementedError

    def schema(self) -> Schema:
        """Return the JSON Schema of a value."""
        raise NotImplementedError

    def values(self) -> str:
        """Return in words which values there are, "" for those of which the help says enough."""
        return ""

    def limits(self) -> str:
        """Return the range in words, "" where there is none."""
        return ""

    def option(self) -> dict[str, Any]:
        """Return the arguments of `click.Option` for an option that takes such a value.

        With "is_switch" it is one of two flags: --name and --no-name.
        """
        return {"type": str}


class Integer(Kind):
    """A whole number of low..high."""

    def __init__(self, low: int, high: int | None = None) -> None:
        self.low, self.high = low, high

    def checked(self, value: Any, name: str, error: type[UserError]) -> int:
        return whole(value, name, self.low, MOST if self.high is None else self.high, error)

    def find_mistakes(self, value: Any, place: str, mistakes: Mistakes) -> None:
        if type(value) is not int:
            mistakes.must_be(place, "a whole number", value)
        elif value < self.low:
            mistakes.must_be(place, f"at least {self.low}", value)
        elif self.high is not None and value > self.high:
            mistakes.must_be(place, f"at most {self.high}", value)

    def schema(self) -> Schema:
        upper = {} if self.high is None else {"maximum": self.high}
        return {"type": "integer", "minimum": self.low} | upper

    def values(self) -> str:
        return self.limits()

    def limits(self) -> str:
        return f"at least {self.low}" if self.high is None else f"{self.low:,} to {self.high:,}"

    def option(self) -> dict[str, Any]:
        return {"type": int}


class Number(Kind):
    """A finite number of low..high; with `above`, low itself is refused."""

    def __init__(self, low: float = -inf, high: float = inf, above: bool = False) -> None:
        self.low, self.high, self.above = low, high, above

    def checked(self, value: Any, name: str, error: type[UserError]) -> float:
        return real(value, name, self.low, self.high, self.above, error)

    def find_mistakes(self, value: Any, place: str, mistakes: Mistakes) -> None:
        if type(value) not in (int, float):
            mistakes.must_be(place, "a number", value)
        elif not -inf < value < inf or not is_float(value):
            mistakes.must_be(place, "a finite number", value)
        elif value < self.low or (self.above and value == self.low):
            mistakes.must_be(place, self._lower(), value)
        elif value > self.high:
            mistakes.must_be(place, f"at most {self.high:.15g}", value)

    def schema(self) -> Schema:
        limits: Schema = {"type": "number"}
        if self.low > -inf:
            limits["exclusiveMinimum" if self.above else "minimum"] = _short(self.low)
        if self.high < inf:
            limits["maximum"] = _short(self.high)
        return limits

    def values(self) -> str:
        return self.limits()

    def limits(self) -> str:
        if self.low == -inf:
            return ""
        if self.high == inf or self.above:
            upper = "" if self.high == inf else f", at most {_short(self.high):,}"
            return self._lower() + upper
        return f"{_short(self.low):,} to {_short(self.high):,}"

    def option(self) -> dict[str, Any]:
        return {"type": float}

    def _lower(self) -> str:
        return f"{'above' if self.above else 'at least'} {self.low:.15g}"


def is_float(value: float) -> bool:
    """Whether a whole number of a file is within the range of floats."""
    try:
        float(value)
    except OverflowError:
        return False
    return True


def _short(number: float) -> float:
    """A limit as it is written: whole numbers without a point."""
    return int(number) if number == int(number) else number


class Truth(Kind):
    """True or false."""

    def checked(self, value: Any, name: str, error: type[UserError]) -> bool:
        return truth(value, name, error)

    def find_mistakes(self, value: Any, place: str, mistakes: Mistakes) -> None:
        if type(value) is not bool:
            mistakes.must_be(place, "true or false", value)

    def schema(self) -> Schema:
        return {"type": "boolean"}

    def values(self) -> str:
        return "true or false"

    def option(self) -> dict[str, Any]:
        return {"is_switch": True}


class Text(Kind):
    """A text."""

    def checked(self, value: Any, name: str, error: type[UserError]) -> str:
        return text(value, name, error)

    def find_mistakes(self, value: Any, place: str, mistakes: Mistakes) -> None:
        if type(value) is not str:
            mistakes.must_be(place, "text", value)

    def schema(self) -> Schema:
        return {"type": "string"}


class Choice(Kind):
    """One of some words.

    Args:
        words: all of them.
        noun: what they are called in a message, "filter" for example.
    """

    def __init__(self, words: tuple[str, ...], noun: str = "") -> None:
        self.words, self.noun = words, noun

    def checked(self, value: Any, name: str, error: type[UserError]) -> str:
        return one_of(value, name, self.words, self.noun, error)

    def find_mistakes(self, value: Any, place: str, mistakes: Mistakes) -> None:
        if type(value) is not str:
            *first, last = (f"'{word}'" for word in self.words)
            mistakes.must_be(place, f"{', '.join(first)} or {last}", value)
        elif value not in self.words:
            hint = "" if mistakes.full else suggestion(value, self.words)
            mistakes.add(place, f"'{shown(value)}' is not known; {hint}")

    def schema(self) -> Schema:
        return {"type": "string", "enum": list(self.words)}

    def values(self) -> str:
        return ", ".join(f'`"{word}"`' for word in self.words)

    def option(self) -> dict[str, Any]:
        return {"metavar": f"[{'|'.join(self.words)}]"}


class Words(Kind):
    """True, false or one of some words."""

    def __init__(self, *words: str) -> None:
        self.words = words

    def checked(self, value: Any, name: str, error: type[UserError]) -> bool | str:
        if isinstance(value, str) and value in self.words:
            return str.__str__(value)
        try:
            return truth(value, name, error)
        except UserError:
            listed = " nor ".join(f"'{word}'" for word in self.words)
            raise error(
                f"{name}: {shown_value(value)} is neither true, false nor {listed}"
            ) from None

    def find_mistakes(self, value: Any, place: str, mistakes: Mistakes) -> None:
        if type(value) is str and value not in self.words:
            hint = "" if mistakes.full else suggestion(value, ("true", "false", *self.words))
            mistakes.add(place, f"'{shown(value)}' is not known; {hint}")
        elif type(value) not in (bool, str):
            listed = " or ".join(f"'{word}'" for word in self.words)
            mistakes.must_be(place, f"true, false or {listed}", value)

    def schema(self) -> Schema:
        return {"enum": [True, False, *self.words]}

    def values(self) -> str:
        return ", ".join(("true", "false", *(f'`"{word}"`' for word in self.words)))

    def option(self) -> dict[str, Any]:
        return {"is_switch": True}


class NumberOr(Number):
    """A number, or a word.

    Args:
        word: for example "auto".
        low, high: limits of the number; it is finite in any case.
        unit: what the number counts.
    """

    def __init__(self, word: str, low: float, high: float, unit: str) -> None:
        super().__init__(low, high)
        self.word, self.unit = word, unit

    def checked(self, value: Any, name: str, error: type[UserError]) -> Any:
        if isinstance(value, str) and value == self.word:
            return self.word
        try:
            # of a text too, as the command line has it
            number = nan if is_truth(value) else as_float(value)
        except Exception:  # whatever a foreign object raises
            number = nan
        if self.low <= number <= self.high and abs(number) != inf:
            return number
        limits = "" if self.high == inf else f" between {self.low:g} and {self.high:g}"
        raise error(
            f"{name}: {shown_value(value)} is neither '{self.word}' nor {self.unit}{limits}"
        )

    def find_mistakes(self, value: Any, place: str, mistakes: Mistakes) -> None:
        if type(value) is not str:
            super().find_mistakes(value, place, mistakes)
        elif value != self.word:
            mistakes.must_be(place, f'a number or "{self.word}"', value)

    def schema(self) -> Schema:
        return {"anyOf": [super().schema(), {"const": self.word}]}

    def values(self) -> str:
        numbers = self.unit if self.high == inf else f"{self.low:g} to {self.high:g}"
        return f'{numbers}, or `"{self.word}"`'

    def option(self) -> dict[str, Any]:
        return {"metavar": f"{self.unit.upper()}|{self.word}"}


class Percentiles(Kind):
    """Two percentiles, the lower one first."""

    def checked(self, value: Any, name: str, error: type[UserError]) -> tuple[float, float]:
        said = isinstance(value, str)  # on the command line
        ends = [_number(end) for end in value.split(",")] if said else items(value, name, error)
        if len(ends) != 2:
            raise error(f"{name}: {shown_value(value)} is not two percentiles, low and high")
        low, high = (real(end, name, error=error) for end in ends)
        if not 0.0 <= low < high <= 100.0:
            raise error(
                f"{name}: {low:g},{high:g} is not two percentiles with 0 <= low < high <= 100"
            )
        return low, high

    def find_mistakes(self, value: Any, place: str, mistakes: Mistakes) -> None:
        ends = value if type(value) is list and len(value) == 2 else ()
        numbers = [end for end in ends if type(end) in (int, float)]
        if len(numbers) != 2 or not 0.0 <= numbers[0] < numbers[1] <= 100.0:
            mistakes.must_be(place, self.values(), value)

    def schema(self) -> Schema:
        end = {"type": "number", "minimum": 0, "maximum": 100}
        return {"type": "array", "items": end, "minItems": 2, "maxItems": 2}

    def values(self) -> str:
        return "two percentiles, 0 <= low < high <= 100"

    def option(self) -> dict[str, Any]:
        return {"metavar": "LOW,HIGH"}


def _number(text: str) -> float | str:
    """Return the number that a text says, or else the text."""
    try:
        return float(text)
    except ValueError:
        return text


class Vector3(Kind):
    """Three finite numbers."""

    def checked(self, value: Any, name: str, error: type[UserError]) -> tuple[float, float, float]:
        if isinstance(value, str) and value.count(",") == 2:  # on the command line
            value = [_number(part) for part in value.split(",")]
        return vector(value, name, error)

    def find_mistakes(self, value: Any, place: str, mistakes: Mistakes) -> None:
        if type(value) is not list:
            mistakes.must_be(place, "a list", value)
            return
        count = len(mistakes.sentences)
        for index, number in enumerate(value[:3]):
            if type(number) not in (int, float):
                mistakes.must_be(f"{place}[{index}]", "a number", number)
            elif not -inf < number < inf or not is_float(number):
                mistakes.must_be(f"{place}[{index}]", "a finite number", number)
        if len(value) != 3 and len(mistakes.sentences) == count:
            mistakes.add(place, f"needs three numbers, has {len(value)}")

    def schema(self) -> Schema:
        return {"type": "array", "items": {"type": "number"}, "minItems": 3, "maxItems": 3}

    def option(self) -> dict[str, Any]:
        return {"metavar": "X,Y,Z"}


class Axis(Vector3):
    """A direction: three finite numbers, or an axis by its name.

    Args:
        axes: the vectors by name: "z" and "-z", for example.
    """

    def __init__(self, axes: Mapping[str, tuple[float, float, float]]) -> None:
        self.axes = axes

    def checked(self, value: Any, name: str, error: type[UserError]) -> tuple[float, float, float]:
        if not isinstance(value, str):
            return vector(value, name, error)
        if "," in value:  # on the command line
            return vector([_number(part) for part in value.split(",")], name, error)
        return self.axes[one_of(value, name, self.axes, "axis", error)]

    def find_mistakes(self, value: Any, place: str, mistakes: Mistakes) -> None:
        if type(value) is not str:
            super().find_mistakes(value, place, mistakes)
        elif value not in self.axes:
            hint = "" if mistakes.full else suggestion(value, self.axes)
            mistakes.add(place, f"'{shown(value)}' is no axis; {hint}")

    def schema(self) -> Schema:
        return {"anyOf": [super().schema(), {"type": "string", "enum": list(self.axes)}]}

    def values(self) -> str:
        return "three numbers, " + ", ".join(f'`"{name}"`' for name in self.axes)

    def option(self) -> dict[str, Any]:
        return {"metavar": f"[{'|'.join(self.axes)}|X,Y,Z]"}


class AxisOr(Vector3):
    """A word, or a direction of three finite numbers.

    Args:
        words: all of them.
        noun: what they are called in a message.
    """

    def __init__(self, words: tuple[str, ...], noun: str) -> None:
        self.words, self.noun = words, noun

    def checked(self, value: Any, name: str, error: type[UserError]) -> Any:
        if isinstance(value, str) and "," not in value:
            return one_of(value, name, self.words, self.noun, error)
        numbers = super().checked(value, name, error)
        if not any(numbers):
            raise error(f"{name}: has no length, so it is no direction")
        return numbers

    def find_mistakes(self, value: Any, place: str, mistakes: Mistakes) -> None:
        if type(value) is not str:
            super().find_mistakes(value, place, mistakes)
        elif value not in self.words:
            hint = "" if mistakes.full else suggestion(value, self.words)
            mistakes.add(place, f"'{shown(value)}' is not known; {hint}")

    def schema(self) -> Schema:
        return {"anyOf": [super().schema(), {"type": "string", "enum": list(self.words)}]}

    def values(self) -> str:
        return ", ".join(f'`"{word}"`' for word in self.words) + ", or three numbers"

    def option(self) -> dict[str, Any]:
        return {"metavar": f"[{'|'.join(self.words)}|X,Y,Z]"}
