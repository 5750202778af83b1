"""Exceptions of the package, and the text of their messages."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache

MAX_SENTENCES = 10  # maximum sentences of an error; the number of further ones is added
SENTENCE_LETTERS = 1000  # maximum length of a sentence; of a longer one, start and end are kept

NO_MEMORY = "needs more memory than is free: use a part of it, or a machine with more"
"""Message for a file that needs more memory than was estimated, which is rare."""

TEXT_LETTERS = 60  # maximum length of a quotation from a file or an argument in a message
MAX_NAME_CHARS = 64  # longer names are not compared with the valid ones, which are shorter

ALIKE = 0.65
"""Minimum similarity (`difflib`) of a misspelt name: at 0.6 "radius" would match "threads", at 0.5
"camera" would match "meter".
"""

MIN_CHARS = 3  # minimum length of an abbreviated name that is recognised


class RaytracerError(Exception):
    """Base class of the exceptions: an error that the input did not cause; exit code 1.

    Args:
        *sentences: one for each problem. Control characters and line feeds are escaped, long
            sentences are cut, and of many the message has the first.
    """

    exit_code = 1
    max_sentences = MAX_SENTENCES

    def __init__(self, *sentences: str) -> None:
        super().__init__(*(truncate(str(sentence)) for sentence in sentences))

    @property
    def sentences(self) -> tuple[str, ...]:
        """The message, one sentence for each problem."""
        return self.args

    def __str__(self) -> str:
        kept, count = self.args[: self.max_sentences], len(self.args) - self.max_sentences
        return "\n".join([*kept, f"and {count:,} more mistakes"] if count > 0 else kept)


class UserError(RaytracerError):
    """An error in the input: the message says what, where and what to do; exit code 2."""

    exit_code = 2


class SceneError(UserError):
    """A scene, or a setting of one, is invalid."""


class DataFileError(UserError):
    """A particle file cannot be read as spheres."""


class BackendError(UserError):
    """A backend cannot be used."""


class DisplayError(UserError):
    """A window cannot be opened, or OpenGL cannot draw it."""


class ClosedError(UserError):
    """A window was closed before there was anything to show; not a mistake."""

    exit_code = 0


class MemoryNeedError(UserError):
    """More memory is needed than is free."""


class OutputError(UserError):
    """A file cannot be written."""


class WriteError(OutputError):
    """A file could not be written completely, for example on a full disk; exit code 1."""

    exit_code = 1


class InstallError(UserError, ImportError):
    """The package has no compiled extension where Python found it."""


@contextmanager
def prefix_errors(source: str) -> Iterator[None]:
    """Begin each sentence of a UserError of the block with a file name, unless it does already."""
    try:
        yield
    except UserError as error:
        start = f"{truncate(source)}: "
        if source:
            error.args = tuple(
                s if s.startswith(start) else truncate(start + s) for s in error.args
            )
        raise
    except MemoryError:
        if not source:
            raise
        raise MemoryNeedError(f"{source}: {NO_MEMORY}") from None


def escape_controls(text: str) -> str:
    """Escape all characters of a text that do not print: control characters, line ends, marks of
    the writing direction, and undecodable bytes of file names."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _escape(c) for c in text)


def _escape(character: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # a byte of a file name that could not be decoded
        return f"\\x{code - 0xDC00:02x}"
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def quote(text: str, most: int = TEXT_LETTERS) -> str:
    """Return a text for a quotation in a message: escaped, and cut after `most` letters."""
    return escape_controls(text) if len(text) <= most else escape_controls(text[: most - 3]) + "..."


def pluralize(count: int, noun: str, after: str = "") -> str:
    """Return a number with its noun: "1 sphere", "2,000 spheres", "1 sample per pixel"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}{after}"


def quote_value(value: object, most: int = TEXT_LETTERS) -> str:
    """Return the `repr` of a value for a quotation in a message, cut after `most` letters."""
    import reprlib

    short = reprlib.Repr()
    short.maxstring = short.maxother = short.maxlong = most
    short.maxlevel = 3
    try:
        return quote(short.repr(value), most)
    except Exception:  # whatever the `repr` of a foreign object does
        return f"<{type_name(value)}>"


def type_name(value: object) -> str:
    return quote(type(value).__name__)


def truncate(text: str) -> str:
    """Return a sentence of at most `SENTENCE_LETTERS`, cut in the middle: the end has the
    remedy."""
    if len(text) > SENTENCE_LETTERS:
        head = SENTENCE_LETTERS * 2 // 3
        text = f"{text[:head]} ... {text[head - SENTENCE_LETTERS :]}"
    return escape_controls(text)


def find_nearest_name(name: str, known: Iterable[str]) -> str | None:
    """Return the valid name nearest to a wrong one, or None.

    It is the same name in other case, the name for a word of other programs (`synonyms`), the only
    name with the same start, or a name with a similar spelling.
    """
    return _find_nearest(name, tuple(known)) if len(name) <= MAX_NAME_CHARS else None


@lru_cache(1024)  # many items of a file may have the same mistake
def _find_nearest(name: str, known: tuple[str, ...]) -> str | None:
    from difflib import get_close_matches  # imported for mistakes alone

    from raytracer.config.synonyms import find_synonyms

    plain = {_normalize(k): k for k in known if len(k) <= MAX_NAME_CHARS}
    normal = _normalize(name)
    for same in (normal, *find_synonyms(normal)):
        if same in plain:
            return plain[same]
    begins = [k for k in plain if len(normal) >= MIN_CHARS and k.startswith(normal)]
    if len(begins) == 1:
        return plain[begins[0]]
    # A single letter is similar to half of all short names.
    matches = get_close_matches(normal, plain, 1, ALIKE) if len(normal) > 1 else []
    return plain[matches[0]] if matches else None


def _normalize(name: str) -> str:
    """Return a name in lower case, without the dashes of an option, with "_" between words."""
    return name.lstrip("-").lower().replace("-", "_")


def suggest(name: str, known: Iterable[str]) -> str:
    """Return the remedy for a wrong name: the nearest valid name, or a list."""
    names = list(known)
    near = find_nearest_name(name, names)
    if near is not None:
        return f"did you mean '{quote(near)}'?"
    if not names:
        return "none is known here"
    if len(names) <= 15:
        return "known are " + ", ".join(map(quote, names))
    return "known are " + ", ".join(map(quote, names[:12])) + ", ..."
