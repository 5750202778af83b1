"""Types of settings and of keys in scene files: check, JSON Schema, wording.

`Kind.plain` is the JSON Schema of the values in scene files, and `Kind.checked` converts values
from Python, command lines and files. Messages, help and reference follow from these.
"""

from collections.abc import Collection, Iterable, Mapping
from importlib import import_module
from math import inf
from typing import Any

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


def of_types(values: dict[type, Schema]) -> Mapping[type, Schema]:
    """Return a value for `Kind.plain`."""
    return values


def loaded(name: str) -> Any:
    """Import and return "package.module:name"."""
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)


class Mistakes:
    """The mistakes in the values of a scene file, in order; in TOML, tables have brackets."""

    def __init__(self, toml: bool = True) -> None:
        self.sentences: list[str] = []
        self.toml = toml

    def add(self, place: str, problem: str) -> None:
        """Add a mistake at a key, for example "render.width"."""
        self.sentences.append(f"{place or 'the file'}: {problem}")

    def must_be(self, place: str, wanted: str, value: Any) -> None:
        """Add that a value must be something else; a large value is not shown."""
        shown_as = "a table" if type(value) is dict else shown_value(value)
        end = f", not {shown_as}" if len(shown_as) < TEXT_LETTERS else ""
        self.add(place, f"must be {wanted}{end}")

    def unknown(self, place: str, problem: str, name: str, known: Collection[str]) -> None:
        """Add a wrong name, with the nearest valid one if the sentence will be shown."""
        shows = len(self.sentences) < MAX_SENTENCES  # looking for it takes a while
        self.add(place, f"{problem}; {suggestion(name, known)}" if shows else problem)


class Kind:
    """The type of a field's value.

    Attributes:
        plain: JSON Schema of its values in a scene file, by their type in Python; other types are
            refused.
        noun: name of such a value in messages; "" derives it from the types.
        wording: what the reference says beside the words and the limits.
        metavar: the value in the help of an option; "" shows the words.
    """

    plain: Mapping[type, Schema] = of_types({})
    noun = wording = metavar = ""

    def checked(self, value: Any, name: str, error: type[UserError]) -> Any:
        """Return a value in its plain type; raises `error`, which names the field."""
        raise NotImplementedError

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

    def find_mistakes(self, value: Any, place: str, mistakes: Mistakes) -> None:
        """Add what is wrong with a value of a scene file."""
        is_unknown = type(value) is str and self.words and value not in self.words
        if type(value) not in self.plain or is_unknown:
            if type(value) is str and len(self.words) > 1:
                mistakes.unknown(place, f"'{shown(value)}' is not known", value, self.words)
            else:
                mistakes.must_be(place, self.expected(), value)
        else:
            try:
                with passed_to(lambda _: None):  # the objects that are made of the values warn
                    self.checked(value, place, SceneError)
            except SceneError as mistake:
                mistakes.sentences += mistake.sentences

    def require(self, value: Any, place: str, toml: bool = True) -> None:
        """Raise SceneError with all that is wrong with a value of a scene file."""
        mistakes = Mistakes(toml)
        self.find_mistakes(value, place, mistakes)
        if mistakes.sentences:
            raise SceneError(*mistakes.sentences)

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
        return ""

    def option(self) -> dict[str, Any]:
        """Return the arguments of `click.Option` for an option with such a value; "is_switch" is a
        pair of flags: --name and --no-name."""
        is_switch = bool in self.plain and self.plain.keys() <= {bool, str}
        if is_switch and len(self.words) < 2:
            return {"is_switch": True}
        if self.plain.keys() <= {int, float} and self.plain:
            return {"type": float if float in self.plain else int}
        if self.words:
            truths = ["true", "false"] if is_switch else []
            ends = [self.metavar] if self.metavar else []
            return {"metavar": f"[{'|'.join([*truths, *self.words, *ends])}]"}
        return {"metavar": self.metavar} if self.metavar else {"type": str}


class Integer(Kind):
    """A whole number of low..high."""

    def __init__(self, low: int, high: int | None = None) -> None:
        self.low, self.high = low, high
        upper = {} if high is None else {"maximum": high}
        self.plain = {int: {"type": "integer", "minimum": low} | upper}

    def checked(self, value: Any, name: str, error: type[UserError]) -> int:
        return whole(value, name, self.low, MAX_WHOLE if self.high is None else self.high, error)

    def limits(self) -> str:
        return f"at least {self.low}" if self.high is None else f"{self.low:,} to {self.high:,}"


class Number(Kind):
    """A finite number of low..high; with `above`, low itself is refused."""

    def __init__(self, low: float = -inf, high: float = inf, above: bool = False) -> None:
        self.low, self.high, self.above = low, high, above
        schema: Schema = {"type": "number"}
        if low > -inf:
            schema["exclusiveMinimum" if above else "minimum"] = _short(low)
        if high < inf:
            schema["maximum"] = _short(high)
        self.plain = {int: schema, float: schema}

    def checked(self, value: Any, name: str, error: type[UserError]) -> Any:
        return real(value, name, self.low, self.high, self.above, error)

    def limits(self) -> str:
        if self.low == -inf:
            return ""
        if self.high == inf or self.above:
            upper = "" if self.high == inf else f", at most {_short(self.high):,}"
            return f"{'above' if self.above else 'at least'} {self.low:.15g}{upper}"
        return f"{_short(self.low):,} to {_short(self.high):,}"


def _short(number: float) -> float:
    """Return a limit; whole numbers without a point."""
    return int(number) if number == int(number) else number


class Truth(Kind):
    plain = of_types({bool: TRUTH})

    def checked(self, value: Any, name: str, error: type[UserError]) -> bool:
        return truth(value, name, error)


class Text(Kind):
    plain = of_types({str: TEXT})

    def checked(self, value: Any, name: str, error: type[UserError]) -> Any:
        return text(value, name, error)


class Choice(Kind):
    """One of some words, called `what` in messages."""

    def __init__(self, words: Iterable[str], what: str = "choice") -> None:
        self.plain, self.what = {str: one_of_words(words)}, what

    def checked(self, value: Any, name: str, error: type[UserError]) -> str:
        return one_of(value, name, self.words, self.what, error)


class AnyOf(Kind):
    """A value of one of several types; types with fixed words come first.

    noun, metavar: as of `Kind`; "" derives them from the types.
    """

    def __init__(self, *kinds: Kind, noun: str = "", metavar: str = "") -> None:
        self.kinds, self.noun = kinds, noun
        self.plain = {each: schema for kind in kinds for each, schema in kind.plain.items()}
        others = [kind for kind in kinds if not kind.words and kind.plain.keys() != {bool}]
        wording = [
            k.wording or k.limits() or ("a number" if float in k.plain else "") for k in others
        ]
        self.wording = ", or ".join(filter(None, wording))
        self.metavar = metavar or "|".join(filter(None, (kind.metavar for kind in kinds)))

    def checked(self, value: Any, name: str, error: type[UserError]) -> Any:
        if isinstance(value, str) and value not in self.words:
            value = self._typed(value)
        meant = None
        for kind in self.kinds:
            try:
                return kind.checked(value, name, error)
            except UserError as mistake:
                meant = meant or (mistake if _is_meant(kind, value) else None)
        raise meant or error(f"{name}: must be {self.expected()}, not {shown_value(value)}")

    def _typed(self, text: str) -> Any:
        """Convert a text of the command line: a number, true, false, or the text itself."""
        if bool in self.plain and text in ("true", "false"):
            return text == "true"
        return number_of(text) if int in self.plain else text

    def limits(self) -> str:
        return next(filter(None, (kind.limits() for kind in self.kinds)), "")


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


class Vector3(Numbers):
    """Three finite numbers."""

    def __init__(self) -> None:
        super().__init__(3, "three numbers", "X,Y,Z")
        self.wording = ""


class Direction(Vector3):
    """Three finite numbers that are not all zero."""

    def __init__(self) -> None:
        super().__init__()
        self.wording = self.noun

    def checked(self, value: Any, name: str, error: type[UserError]) -> Any:
        numbers = super().checked(value, name, error)
        if not any(numbers):
            raise error(f"{name}: 0,0,0 is not a direction: one of the numbers must not be 0")
        return numbers


class Axis(AnyOf):
    """A direction: three finite numbers, or one of `axes` by its name, "z" or "-z"."""

    def __init__(self, axes: Mapping[str, tuple[float, float, float]]) -> None:
        super().__init__(
            Choice(axes, "axis"), Vector3(), noun=f"three numbers or an axis ({', '.join(axes)})"
        )
        self.axes, self.wording = axes, "three numbers"

    def checked(self, value: Any, name: str, error: type[UserError]) -> Any:
        made = super().checked(value, name, error)
        return self.axes[made] if isinstance(made, str) else made
