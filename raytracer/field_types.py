"""Types of settings and of keys in scene files: check, JSON Schema, wording.

`Kind.plain` is the JSON Schema of the values in scene files, and `Kind.checked` converts values
from Python, command lines and files. Messages, help and reference follow from these.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from importlib import import_module
from math import inf
from typing import Any, NamedTuple

from raytracer.arguments import MAX_WHOLE, items, one_of, real, text, truth, whole
from raytracer.errors import (
    MAX_SENTENCES,
    TEXT_LETTERS,
    SceneError,
    UserError,
    nearest,
    shown,
    shown_value,
    suggestion,
)
from raytracer.warning import passed_to

Schema = dict[str, Any]
Check = Callable[..., Any]  # of a value, the name of its field, and `error`

TYPES = {
    bool: ["true", "false"],
    int: ["a whole number"],
    float: ["a number"],
    list: ["a list"],
    dict: ["a table"],
}
"""Names of value types in messages."""

TEXT: Schema = {"type": "string"}
TRUTH: Schema = {"type": "boolean"}
NUMBER: Schema = {"type": "number"}


def array(item: Schema, count: int) -> Schema:
    """Return the JSON Schema of a list with a fixed number of items."""
    return {"type": "array", "items": item, "minItems": count, "maxItems": count}


def one_of_words(words: Iterable[str]) -> Schema:
    """Return the JSON Schema of one of some words."""
    return {"type": "string", "enum": list(words)}


def loaded(name: str) -> Any:
    """Import and return "package.module:name"."""
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)


class Mistake(NamedTuple):
    """What is wrong at a key of a scene file, "render.width"; of a wrong name also the valid ones,
    of which the nearest is looked for if the sentence is shown."""

    place: str
    problem: str
    name: str = ""
    known: Collection[str] = ()

    def __str__(self) -> str:
        from raytracer.synonyms import REMOVED_KEYS

        hint = REMOVED_KEYS.get(self.place) or (
            suggestion(self.name, self.known) if self.known else ""
        )
        return f"{self.place or 'the file'}: {self.problem}" + f"; {hint}" * bool(hint)


def must_be(place: str, wanted: str, value: Any) -> Mistake:
    """Return that a value must be something else; a large value is not shown."""
    shown_as = "a table" if type(value) is dict else shown_value(value)
    return Mistake(
        place, f"must be {wanted}" + f", not {shown_as}" * (len(shown_as) < TEXT_LETTERS)
    )


class Kind:
    """The type of a field's value.

    Attributes:
        plain: JSON Schema of its values in a scene file, by their type in Python; other types are
            refused.
        check: converts a value to its plain type; raises `error`, which names the field.
        noun: name of such a value in messages; "" derives it from the types.
        wording: what the reference says beside the words and the limits; by default the noun.
        metavar: the value in the help of an option; "" shows the words.
        options: further arguments of `click.Option`.
        parsed: makes the value of a text in an option with several fields; None: by the types.
    """

    plain: Mapping[type, Schema] = {}
    noun = wording = metavar = ""
    options: Mapping[str, Any] = {}
    parsed: Callable[[str], Any] | None = None

    def __init__(
        self, plain: Mapping[type, Schema] | None = None, check: Check | None = None, **others: Any
    ) -> None:
        self.check = check
        others = {"wording": others.get("noun", "")} | others
        vars(self).update(({} if plain is None else {"plain": plain}) | others)

    def checked(self, value: Any, name: str, error: type[UserError]) -> Any:
        """Return a value in its plain type; raises `error`, which names the field."""
        assert self.check is not None
        return self.check(value, name, error=error)

    @property
    def words(self) -> list[str]:
        """The texts that are valid; [] if none or any is."""
        words: list[str] = self.plain.get(str, {}).get("enum", [])
        return words

    def expected(self) -> str:
        """Return the name of such a value in messages."""
        called = {**TYPES, str: [repr(word) for word in self.words] or ["text"]}
        types = [each for each in self.plain if not (each is int and float in self.plain)]
        *names, last = (name for each in types for name in called[each])
        return self.noun or (f"{', '.join(names)} or {last}" if names else last)

    def mistakes(self, value: Any, place: str) -> Iterator[Mistake | str]:
        """Yield what is wrong with a value of a scene file."""
        is_unknown = type(value) is str and self.words and value not in self.words
        if is_unknown and len(self.words) > 1:
            yield Mistake(place, f"'{shown(value)}' is not known", value, self.words)
        elif is_unknown or type(value) not in self.plain:
            yield must_be(place, self.expected(), value)
        else:
            try:
                with passed_to(lambda _: None):  # the objects that are made of the values warn
                    self.checked(value, place, SceneError)
            except SceneError as mistake:
                yield from mistake.sentences

    def require(self, value: Any, place: str) -> None:
        """Raise SceneError with all that is wrong with a value of a scene file."""
        if found := list(self.mistakes(value, place)):
            rest = (place for _ in found[MAX_SENTENCES:])  # which are counted
            raise SceneError(*map(str, found[:MAX_SENTENCES]), *rest)

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

    def option(self) -> dict[str, Any]:
        """Return the arguments of `click.Option` for an option with such a value; "is_switch" is a
        pair of flags: --name and --no-name."""
        is_switch = bool in self.plain and self.plain.keys() <= {bool, str}
        if is_switch and len(self.words) < 2:
            return {"is_switch": True}
        if self.plain.keys() <= {int, float} and self.plain:
            return {"type": float if float in self.plain else int}
        words = [*["true", "false"] * is_switch, *self.words, *filter(None, [self.metavar])]
        metavar = f"[{'|'.join(words)}]" if self.words else self.metavar
        return {"metavar": metavar, **self.options} if metavar else {"type": str}


class Integer(Kind):
    """A whole number of low..high."""

    def __init__(self, low: int, high: int | None = None) -> None:
        schema = {"type": "integer", "minimum": low} | ({} if high is None else {"maximum": high})
        check = partial(whole, low=low, high=MAX_WHOLE if high is None else high)
        super().__init__({int: schema}, check)


class Number(Kind):
    """A finite number of low..high; with `above`, low itself is refused."""

    def __init__(self, low: float = -inf, high: float = inf, above: bool = False) -> None:
        limits = {"exclusiveMinimum" if above else "minimum": low, "maximum": high}
        # Whole numbers without a point.
        short = {key: int(n) if n == int(n) else n for key, n in limits.items() if abs(n) < inf}
        schema: Schema = {"type": "number", **short}
        super().__init__(
            {int: schema, float: schema}, partial(real, low=low, high=high, above=above)
        )


Truth = partial(Kind, {bool: TRUTH}, truth)
Text = partial(Kind, {str: TEXT}, text)


class Choice(Kind):
    """One of some words, called `what` in messages."""

    def __init__(self, words: Iterable[str], what: str = "choice") -> None:
        schema = one_of_words(words)
        super().__init__({str: schema}, partial(one_of, known=schema["enum"], what=what))


class AnyOf(Kind):
    """A value of one of several types; types with fixed words come first.

    Args:
        check: as of `Kind`; by default the types are tried in turn.
        made: makes the value of the checked one.
        others: as of `Kind`; wording and metavar are by default derived from the types.
    """

    def __init__(
        self, *kinds: Kind, check: Check | None = None,
        made: Callable[[Any], Any] = lambda checked: checked, **others: Any,
    ) -> None:  # fmt: skip
        self.kinds, self.made = kinds, made
        wording = [
            k.wording or k.limits() or ("a number" if float in k.plain else "")
            for k in kinds
            if not k.words and k.plain.keys() != {bool}
        ]
        metavar = "|".join(filter(None, (kind.metavar for kind in kinds)))
        plain = {each: schema for kind in kinds for each, schema in kind.plain.items()}
        derived = {"wording": ", or ".join(filter(None, wording)), "metavar": metavar}
        super().__init__(plain, check or self._tried, **(derived | others))

    def _tried(self, value: Any, name: str, error: type[UserError]) -> Any:
        if isinstance(value, str) and value not in self.words:
            value = self._typed(value)
        meant = None
        for kind in self.kinds:
            try:
                return self.made(kind.checked(value, name, error))
            except UserError as mistake:
                meant = meant or (mistake if _is_meant(kind, value) else None)
        raise meant or error(f"{name}: must be {self.expected()}, not {shown_value(value)}")

    def mistakes(self, value: Any, place: str) -> Iterator[Mistake | str]:
        if len(self.kinds) == 2 and self.tables():  # a value, or a table
            return self.kinds[type(value) is dict].mistakes(value, place)
        return super().mistakes(value, place)

    def schema(self) -> Schema:
        plain = super().schema()
        tables = [table.schema() for table in self.tables()]
        return {"anyOf": [*plain.get("anyOf", [plain]), *tables]} if tables else plain

    def tables(self) -> list[Any]:
        return [table for kind in self.kinds for table in kind.tables()]

    def _typed(self, text: str) -> Any:
        """Convert a text of the command line: a number, true, false, or the text itself."""
        if bool in self.plain and text in ("true", "false"):
            return text == "true"
        return number_of(text) if int in self.plain else text


def _is_meant(kind: Kind, value: object) -> bool:
    """Whether the message of this type explains best what is wrong with a value."""
    has_items = list in kind.plain or dict in kind.plain
    if isinstance(value, str):
        if {",", "="} & {*value}:
            return has_items
        return str in kind.plain and (not kind.words or bool(nearest(value, kind.words)))
    return isinstance(value, tuple(kind.plain)) or (has_items and isinstance(value, tuple))


def number_of(text: str) -> float | str:
    """Return the number in a text of the command line, or else the text."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


class Numbers(Kind):
    """A fixed number of numbers, each of low..high or of the type `item`; "1,2,3" as a text."""

    def __init__(
        self, count: int, noun: str, metavar: str, low: float = -inf, high: float = inf,
        item: Kind | None = None,
    ) -> None:  # fmt: skip
        self.item = item or Number(low, high)
        self.plain = {list: array(self.item.schema(), count)}
        self.count, self.noun, self.wording, self.metavar = count, noun, noun, metavar

    def checked(self, value: Any, name: str, error: type[UserError]) -> Any:
        given = value
        if isinstance(value, str) and "," in value:  # of the command line
            given = [number_of(part) for part in value.split(",")]
        try:
            parts = items(given, name, error)
        except UserError:
            parts = []
        if len(parts) != self.count:
            raise error(f"{name}: {shown_value(value)} is not {self.noun}")
        return tuple(
            self.item.checked(part, f"{name}[{index}]", error) for index, part in enumerate(parts)
        )


class Percentiles(Numbers):
    """Two percentiles, the lower one first."""

    def __init__(self) -> None:
        super().__init__(2, "two percentiles, 0 <= low < high <= 100", "LOW,HIGH", 0, 100)

    def checked(self, value: Any, name: str, error: type[UserError]) -> tuple[float, float]:
        low, high = super().checked(value, name, error)
        if not low < high:
            raise error(f"{name}: must be {self.noun}, not {shown_value(value)}")
        return low, high


Vector3 = partial(Numbers, 3, "three numbers", "X,Y,Z")


class Direction(Numbers):
    """Three finite numbers that are not all zero."""

    def __init__(self) -> None:
        super().__init__(3, "three numbers", "X,Y,Z")

    def checked(self, value: Any, name: str, error: type[UserError]) -> Any:
        numbers = super().checked(value, name, error)
        if not any(numbers):
            raise error(f"{name}: 0,0,0 is not a direction: one of the numbers must not be 0")
        return numbers


def Axis(axes: Mapping[str, tuple[float, float, float]]) -> Kind:  # noqa: N802
    """A direction: three finite numbers, or one of `axes` by its name, "z" or "-z"."""
    return AnyOf(
        Choice(axes, "axis"), Vector3(), made=lambda value: axes.get(value, value),
        noun=f"three numbers or an axis ({', '.join(axes)})",
    )  # fmt: skip
