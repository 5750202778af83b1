"""Types of settings and of keys in scene files: check, JSON Schema, wording.

`Kind.plain` is the JSON Schema of the values in scene files, and `Kind.checked` converts values
from Python, command lines and files. Messages, help and reference follow from these.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from importlib import import_module
from math import inf
from typing import Any

from raytracer.config.arguments import (
    MAX_WHOLE,
    check_items,
    check_real,
    check_text,
    check_truth,
    check_whole,
    check_word,
)
from raytracer.config.errors import SceneError, UserError, find_nearest_name, quote_value

Schema = dict[str, Any]
Check = Callable[[Any, str], Any]  # of a value and the name of its field

TEXT: Schema = {"type": "string"}
TRUTH: Schema = {"type": "boolean"}
NUMBER: Schema = {"type": "number"}


def array_schema(item: Schema, count: int) -> Schema:
    """Return the JSON Schema of a list with a fixed number of items."""
    return {"type": "array", "items": item, "minItems": count, "maxItems": count}


def words_schema(words: Iterable[str]) -> Schema:
    """Return the JSON Schema of one of some words."""
    return {"type": "string", "enum": list(words)}


def import_name(name: str) -> Any:
    """Import and return "package.module:name"."""
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)


class FieldType:
    """The type of a field's value."""

    plain: Mapping[type, Schema] = {}  # of its values in a scene file, by their type in Python
    noun = ""  # name of such a value in messages
    wording = ""  # what the reference says beside the words and the limits; by default the noun
    metavar = ""  # the value in the help of an option; "" shows the words
    options: Mapping[str, Any] = {}  # further arguments of `click.Option`
    check: Check  # converts a value to its plain type; raises UserError, which names the field

    def __init__(
        self, plain: Mapping[type, Schema], check: Check | None = None, **others: Any
    ) -> None:
        vars(self).update({"plain": plain, "check": check, "wording": others.get("noun", "")})
        vars(self).update(others)

    def checked(self, value: Any, name: str) -> Any:
        """Return a value in its plain type; raises UserError, which names the field."""
        return self.check(value, name)

    def typed(self, text: str) -> Any:
        """Convert a text of the command line: a number, true, false, or the text itself."""
        if bool in self.plain and text in ("true", "false"):
            return text == "true"
        return parse_option_number(text) if {int, float} & self.plain.keys() else text

    def parse_option(self, text: str, name: str) -> Any:
        """Return the value of an option."""
        return self.checked(self.typed(text), name)

    @property
    def words(self) -> list[str]:
        """The texts that are valid; [] if none or any is."""
        words: list[str] = self.plain.get(str, {}).get("enum", [])
        return words

    def schema(self) -> Schema:
        kinds: list[Schema] = []
        kinds += (each for each in self.plain.values() if each not in kinds)
        return kinds[0] if len(kinds) == 1 else {"anyOf": kinds}

    def tables(self) -> list[Any]:
        """Return the tables that a value may be, one for each type of object."""
        return []

    def values(self) -> str:
        """Return the possible values in words; "" if the help says enough."""
        if self.plain.keys() == {bool}:
            return "true or false"
        words = ["true", "false"] if bool in self.plain else []
        words += [f'`"{word}"`' for word in self.words]
        return ", or ".join(filter(None, [", ".join(words), self.wording or self.limits()]))

    def limits(self) -> str:
        """Return the range in words, or ""."""
        for schema in self.plain.values():
            low, above = schema.get("minimum"), schema.get("exclusiveMinimum")
            high, least = schema.get("maximum"), low if above is None else above
            if least is None:
                continue
            if high is not None and above is None:
                return f"{low:,} to {high:,}"
            upper = "" if high is None else f", at most {high:,}"
            return f"{'at least' if above is None else 'above'} {least:.15g}{upper}"
        return ""

    @property
    def is_switch(self) -> bool:
        """Whether an option with such a value is a pair of flags: --name and --no-name."""
        return bool in self.plain and self.plain.keys() <= {bool, str} and len(self.words) < 2

    def choices(self) -> str:
        """Return the value in the help of an option: "[auto|NUMBER]"."""
        are_shown = bool in self.plain and self.plain.keys() <= {bool, str}
        words = [*["true", "false"] * are_shown, *self.words, *filter(None, [self.metavar])]
        return f"[{'|'.join(words)}]" if self.words else self.metavar or "TEXT"


class Integer(FieldType):
    """A whole number of low..high."""

    noun, metavar = "a whole number", "INTEGER"

    def __init__(self, low: int, high: int | None = None) -> None:
        schema = {"type": "integer", "minimum": low} | ({} if high is None else {"maximum": high})
        self.plain = {int: schema}
        self.check = partial(check_whole, low=low, high=MAX_WHOLE if high is None else high)


class Number(FieldType):
    """A finite number of low..high; with `above`, low itself is refused."""

    noun, metavar = "a number", "NUMBER"

    def __init__(self, low: float = -inf, high: float = inf, above: bool = False) -> None:
        limits = {"exclusiveMinimum" if above else "minimum": low, "maximum": high}
        # Whole numbers without a point.
        short = {key: int(n) if n == int(n) else n for key, n in limits.items() if abs(n) < inf}
        self.plain = {int: {"type": "number", **short}, float: {"type": "number", **short}}
        self.check = partial(check_real, low=low, high=high, above=above)


Truth = partial(FieldType, {bool: TRUTH}, check_truth, noun="true, false", wording="")
Text = partial(FieldType, {str: TEXT}, check_text, noun="text", wording="")


class WordChoice(FieldType):
    """One of some words, called `what` in messages."""

    def __init__(self, words: Iterable[str], what: str = "choice") -> None:
        self.plain = {str: words_schema(words)}
        self.noun = ", ".join(map(repr, self.words))
        self.check = partial(check_word, known=self.words, what=what)


class AnyOf(FieldType):
    """A value of one of several types; types with fixed words come first.

    Args:
        made: makes the value of the checked one.
        others: as of `FieldType`; by default they are derived from the types.
    """

    def __init__(
        self, *kinds: FieldType, made: Callable[[Any], Any] = lambda checked: checked, **others: Any
    ) -> None:
        self.kinds, self.made = kinds, made
        wording = [
            k.wording or k.limits() or (k.noun if float in k.plain else "")
            for k in kinds
            if not k.words and k.plain.keys() != {bool}
        ]
        metavar = "|".join(filter(None, (kind.metavar for kind in kinds)))
        plain = {each: schema for kind in kinds for each, schema in kind.plain.items()}
        derived = {"wording": ", or ".join(filter(None, wording)), "metavar": metavar}
        derived["noun"] = " or ".join(kind.noun for kind in kinds)
        super().__init__(plain, **(derived | others))

    def checked(self, value: Any, name: str) -> Any:
        if isinstance(value, str) and value not in self.words:
            value = self.typed(value)
        meant = None
        for kind in self.kinds:
            try:
                return self.made(kind.checked(value, name))
            except UserError as mistake:
                meant = meant or (mistake if _explains_best(kind, value) else None)
        raise meant or SceneError(f"{name}: must be {self.noun}, not {quote_value(value)}")

    def tables(self) -> list[Any]:
        return [table for kind in self.kinds for table in kind.tables()]


def _explains_best(kind: FieldType, value: object) -> bool:
    """Whether the message of this type explains best what is wrong with a value."""
    has_items = list in kind.plain or dict in kind.plain
    if isinstance(value, str):
        if {",", "="} & {*value}:
            return has_items
        return str in kind.plain and (not kind.words or bool(find_nearest_name(value, kind.words)))
    return isinstance(value, tuple(kind.plain)) or (list in kind.plain and isinstance(value, tuple))


def parse_option_number(text: str) -> float | str:
    """Return the number in a text of the command line, or else the text."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


class Numbers(FieldType):
    """A fixed number of numbers, of low..high or of the type `item`; "1,2,3" as a text.

    accepts: what must be true of all of them together. between: a regular expression of what
    separates them in a text.
    """

    def __init__(
        self, count: int, noun: str, metavar: str, low: float = -inf, high: float = inf,
        item: FieldType | None = None, accepts: Callable[[Any], bool] = bool, between: str = ",",
    ) -> None:  # fmt: skip
        self.item, self.accepts, self.between = item or Number(low, high), accepts, between
        self.plain = {list: array_schema(self.item.schema(), count)}
        self.count, self.noun, self.wording, self.metavar = count, noun, noun, metavar

    def checked(self, value: Any, name: str) -> Any:
        given = value
        if isinstance(value, str):  # of the command line
            words = re.split(self.between, value.lower())
            given = [parse_option_number(word) for word in words] if all(words) else ""
        try:
            parts = check_items(given, name)
        except UserError:
            parts = []
        if len(parts) == self.count:
            parts = [self.item.checked(part, f"{name}[{i}]") for i, part in enumerate(parts)]
            if self.accepts(parts):
                return tuple(parts)
        raise SceneError(f"{name}: {quote_value(value)} is not {self.noun}")


Percentiles = partial(
    Numbers, 2, "two percentiles, 0 <= low < high <= 100", "LOW,HIGH", 0, 100,
    accepts=lambda pair: pair[0] < pair[1],
)  # fmt: skip
Vector3 = partial(Numbers, 3, "three numbers", "X,Y,Z")
Direction = partial(Numbers, 3, "a direction: three numbers, not all 0", "X,Y,Z", accepts=any)


def Axis(axes: Mapping[str, tuple[float, float, float]]) -> FieldType:  # noqa: N802
    """A direction: three finite numbers, or one of `axes` by its name, "z" or "-z"."""
    return AnyOf(
        WordChoice(axes, "axis"), Vector3(), made=lambda value: axes.get(value, value),
        noun=f"three numbers or an axis ({', '.join(axes)})",
    )  # fmt: skip
