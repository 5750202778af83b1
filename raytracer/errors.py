"""The exceptions of the package: each is built from one finished sentence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

MOST_SENTENCES = 10
"""Most sentences of one error that are kept; of more, the number is told."""

SENTENCE_LETTERS = 1000
"""Longest sentence that is kept whole; of a longer one the start and the end are."""

NO_MEMORY = "needs more memory than is free: use a part of it, or a machine with more"
"""What is said of a file where memory runs out; more than was estimated is rare."""

TEXT_LETTERS = 60
"""Longest text from a file or an argument that a sentence quotes whole."""

HINT_LETTERS = 64
"""Longest name that is compared with known ones: no known name is nearly as long."""

ALIKE = 0.65
"""Least similarity (`difflib`) of two names of which one may be a slip of the other: at 0.6
"radius" is near "threads", at 0.5 "camera" is near "meter"."""

FEWEST_LETTERS = 3
"""Fewest letters that a name is recognised by when the rest is left out."""


class RaytracerError(Exception):
    """Something went wrong that is not the user's mistake; the command line ends with 1.

    Args:
        *sentences: one for each problem. Characters that a terminal would obey, line feeds
            included, are escaped, and what is too long or too much is cut.
    """

    exit_code = 1
    most_sentences = MOST_SENTENCES

    def __init__(self, *sentences: str) -> None:
        most = self.most_sentences
        kept = [fitted(str(sentence)) for sentence in sentences[:most]]
        if len(sentences) > most:
            kept.append(f"and {len(sentences) - most:,} more mistakes")
        super().__init__(*kept)

    @property
    def sentences(self) -> tuple[str, ...]:
        """One for each problem."""
        return self.args

    def __str__(self) -> str:
        return "\n".join(self.args)


class UserError(RaytracerError):
    """A mistake the user can mend: what, where and what to do; the command line ends with 2."""

    exit_code = 2


class SceneError(UserError):
    """A scene file or a scene object that makes no sense."""


class DataFileError(UserError):
    """A particle file that cannot be read as spheres."""


class BackendError(UserError):
    """A backend was asked for by name and cannot be used."""


class DisplayError(UserError):
    """A window cannot be opened, or OpenGL cannot draw it."""


class MemoryNeedError(UserError):
    """The job needs more memory than there is."""


class OutputError(UserError):
    """A result cannot be written."""


class WriteError(OutputError):
    """Writing failed under way, on a full disk for example; the command line ends with 1."""

    exit_code = 1


class InstallError(UserError, ImportError):
    """The package is not installed where Python found it."""


@contextmanager
def naming(source: str) -> Iterator[None]:
    """Put a file before each sentence of a UserError of the block that does not begin with it.

    Args:
        source: what messages call the file, or "" where there is none.

    Raises:
        MemoryNeedError: memory ran out, and there is a file.
    """
    try:
        yield
    except UserError as error:
        start = f"{fitted(source)}: "
        mistakes, count = error.args[:MOST_SENTENCES], error.args[MOST_SENTENCES:]
        if source:
            told = (s if s.startswith(start) else fitted(start + s) for s in mistakes)
            error.args = (*told, *count)
        raise
    except MemoryError:
        if not source:
            raise
        raise MemoryNeedError(f"{source}: {NO_MEMORY}") from None


def escaped(text: str) -> str:
    """Return a text with every character that does not print written as its escape sequence.

    These are control characters, line ends, marks that turn the direction of writing, and bytes
    of file names that are no text.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _escape(c) for c in text)


def _escape(character: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # a byte of a file name that could not be decoded
        return f"\\x{code - 0xDC00:02x}"
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def shown(text: str, most: int = TEXT_LETTERS) -> str:
    """Return a text from outside as a sentence quotes it: escaped, and cut where it is too long."""
    return escaped(text) if len(text) <= most else escaped(text[: most - 3]) + "..."


def counted(count: int, noun: str, after: str = "") -> str:
    """Return a number with its noun: "1 sphere", "2,000 spheres", "1 sample per pixel".

    noun: in the singular. after: what follows the noun.
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}{after}"


def shown_value(value: object, most: int = TEXT_LETTERS) -> str:
    """Return the `repr` of anything as a sentence quotes it; of large ones, only the start."""
    import reprlib

    short = reprlib.Repr()
    short.maxstring = short.maxother = short.maxlong = most
    short.maxlevel = 3
    try:
        return shown(str.__str__(short.repr(value)), most)
    except Exception:  # whatever the `repr` of a foreign object does
        return f"<{type_name(value)}>"


def type_name(value: object) -> str:
    """Return the name of a value's class, which may have one of its own for it."""
    try:
        return shown(str.__str__(type(value).__name__))
    except Exception:
        return "object"


def fitted(text: str) -> str:
    """Return a sentence that fits a terminal; where it is cut, its remedy at the end stays."""
    if len(text) > SENTENCE_LETTERS:
        head = SENTENCE_LETTERS * 2 // 3
        text = f"{text[:head]} ... {text[head - SENTENCE_LETTERS :]}"
    return escaped(text)


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that was probably meant by `name`, or None when none is near.

    That is the same name in other letters, what other programs call it (`synonyms`), a name that
    begins like it, or one that differs by a slip of the keyboard.

    Args:
        name: what the user wrote.
        known: every name that would have been right.
    """
    if len(name) > HINT_LETTERS:
        return None
    from difflib import get_close_matches  # late: only mistakes pay for it

    from .synonyms import NAMES

    plain = {_plain(k): k for k in known if len(k) <= HINT_LETTERS}
    wanted = _plain(name)
    for same in (wanted, *NAMES.get(wanted, ())):
        if same in plain:
            return plain[same]
    begins = [k for k in plain if len(wanted) >= FEWEST_LETTERS and k.startswith(wanted)]
    if len(begins) == 1:
        return plain[begins[0]]
    # A single letter is in half of all short names.
    found = get_close_matches(wanted, plain, 1, ALIKE) if len(wanted) > 1 else []
    return plain[found[0]] if found else None


def _plain(name: str) -> str:
    """A name in small letters, without the dashes of an option, with "_" between its parts."""
    return name.lstrip("-").lower().replace("-", "_")


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return the end of an error sentence: the nearest known name, or all of them if few.

    Args:
        name: what the user wrote.
        known: every name that would have been right.
    """
    names = list(known)
    near = nearest(name, names)
    if near is not None:
        return f"did you mean '{shown(near)}'?"
    if not names:
        return "none is known here"
    if len(names) <= 12:
        return "known are " + ", ".join(map(shown, names))
    return "known are " + ", ".join(map(shown, names[:12])) + ", ..."
