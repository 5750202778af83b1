"""Opens and reads files from outside: only regular files, without blocking, with size limits.

Libraries that need a name get that of the open descriptor, so they read the file that was checked.
Their exceptions become one sentence.
"""

import errno
import os
import re
import shutil
import stat
import sys
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from io import BufferedReader, TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import IO, Any, TypeGuard

from raytracer.config.errors import (
    NO_MEMORY,
    DataFileError,
    MemoryNeedError,
    RaytracerError,
    UserError,
    quote,
    quote_value,
)
from raytracer.files import inputs
from raytracer.system.memory import format_size
from raytracer.system.resources import is_lack_of_memory, is_lack_of_threads

STANDARD_INPUT = Path("-")  # the name of standard input on the command line and in `raytracer.load`
MAX_LINE_BYTES = 1 << 20  # maximum length of a line of a text file, with its end
MAX_JSON_LEVELS = 100  # of metadata, which are printed and written by recursion
MAX_KEY_PARTS = 100  # of TOML; those of scene files have three
_LONG_KEY = (
    rf"""(?<![\w."'-])(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){{{MAX_KEY_PARTS - 1}}}"""
)
HEAD_BYTES = 1 << 14  # bytes of a text by which its encoding is guessed

_REASONS = {
    errno.ENOENT: "there is no such file",
    errno.ENOTDIR: "there is no such file: a part of its path is a file, not a folder",
    errno.EACCES: "may not be read; check its permissions and those of its folders",
}


class OpenFile:
    """A regular file opened for reading, with its path and its name in messages."""

    atoms: Callable[[], int] | None = None  # of the topology, for formats that do not state them
    encoding = "utf-8"  # of its text
    cut = ""  # why this is but the start of what was compressed, or ""

    def __init__(self, file: BufferedReader, path: Path, source: str) -> None:
        status = os.fstat(file.fileno())
        self.file = file
        self.path = path
        self.source = source
        self.size = status.st_size
        self.modified = status.st_mtime_ns
        self.is_standard_input = False

    @property
    def name(self) -> str:
        """A name under which a library can open the same file again."""
        return f"/dev/fd/{self.file.fileno()}"

    def read(self, limit: int, error: type[UserError] = DataFileError) -> bytes:
        """Return the whole content. Raises `error` if it has more than `limit` bytes."""
        self.file.seek(0)
        data = self.file.read(limit + 1)
        if len(data) > limit:
            most = format_size(limit)
            raise error(f"{self.source}: has more than {most}, the limit for a file of this kind")
        return data

    def guess_encoding(self) -> None:
        """Take a text whose start is not UTF-8 for one in Windows-1252, which contains Latin-1."""
        self.file.seek(0)
        head = self.file.read(HEAD_BYTES).rpartition(b"\n")[0]
        try:
            head.decode()
        except UnicodeDecodeError:
            with suppress(UnicodeDecodeError):
                if all(each.isprintable() or each.isspace() for each in head.decode("cp1252")):
                    self.encoding = "cp1252"

    def lines(self, count: int) -> list[str]:
        """Return the first lines as of `text_lines`; "" for those after the end."""
        lines = [line for line, _ in islice(self.text_lines(), count)]
        return lines + [""] * (count - len(lines))

    def text_lines(self, is_strict: bool = True) -> Iterator[tuple[str, int]]:
        """Yield the lines of a UTF-8 text with their ends, and the offset after each.

        Lines end with LF, CR LF or CR; a byte order mark is skipped. Unless it is strict, any bytes
        are decoded with `surrogateescape`. Raises DataFileError for a line that is too long or not
        UTF-8.
        """
        self.file.seek(0)
        encoding = self.encoding
        text = TextIOWrapper(self.file, encoding, "surrogateescape", newline="")
        number = end = 0
        try:
            while line := text.readline(MAX_LINE_BYTES + 1):
                number += 1
                if len(line) > MAX_LINE_BYTES:
                    raise self.too_long(number)
                end += len(line if line.isascii() else line.encode(encoding, "surrogateescape"))
                if is_strict and not line.isascii():
                    line.encode()
                yield line.removeprefix("\ufeff"), end
        except UnicodeEncodeError:  # of bytes that were escaped
            raise DataFileError(
                f"{self.source}: line {number} is not text in UTF-8: save it in this encoding"
            ) from None
        finally:
            text.detach()

    def too_long(self, line: int) -> DataFileError:
        most = format_size(MAX_LINE_BYTES)
        return DataFileError(f"{self.source}: line {line} has more than {most}: is it text?")


def copy_to_temporary(path: Path, source: str, write: Callable[[IO[bytes]], object]) -> OpenFile:
    """Return what a function writes, as a temporary file that exists until it is no longer used."""
    from tempfile import TemporaryFile

    copy: Any = TemporaryFile()  # noqa: SIM115 - it is closed with the last reference
    try:
        write(copy)
        copy.flush()
    except BaseException:
        copy.close()
        raise
    copy.seek(0)
    file = OpenFile(copy, path, source)
    weakref.finalize(file, copy.close)
    return file


def check_path(path: Any, name: str = "path") -> Path:
    """Return an argument as a path. Raises UserError if it is not one."""
    try:
        text = os.fspath(path)
        return Path(str.__str__(text) if isinstance(text, str) else text)  # an enum's text
    except Exception:  # whatever a foreign object raises
        raise UserError(f"{name}: {quote_value(path)} is not the path of a file") from None


def is_path(value: object) -> TypeGuard[str | Path]:
    return isinstance(value, (str, Path))


@contextmanager
def open_file(
    path: str | Path,
    source: str | None = None,
    error: type[UserError] = DataFileError,
    standard_input: bool = False,
    is_input: bool = True,
) -> Iterator[OpenFile]:
    """Open a regular file for reading; no output of the command replaces it.

    standard_input: whether `-` is standard input: yes for files that users name, no for files that
    scenes name. is_input: False for a picture that may be replaced.

    Raises:
        UserError: of the class `error`: there is no such file, it may not be read, or it is a
            folder, a pipe, a socket or a device.
        OutputError: the command is to write this file.
    """
    path = Path(path)
    source = str(path) if source is None else source
    try:
        if standard_input and path == STANDARD_INPUT:
            source = "standard input"
            yield _copy_standard_input(source, error)
            return
        with _open_regular(path, source, error) as stream:
            if is_input:
                inputs.note_input(os.fstat(stream.fileno()), path, source)
            yield OpenFile(stream, path, source)
    except OSError as problem:  # also of a disk that fails while the file is read
        raise error(f"{source}: {explain_os_error(problem)}") from None


def reopen_file(descriptor: int, path: Path, source: str) -> OpenFile:
    """Return a file of another process at its start, by its descriptor, which is closed."""
    try:
        again = os.open(f"/dev/fd/{descriptor}", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        again = os.dup(descriptor)
    os.close(descriptor)
    return OpenFile(os.fdopen(again, "rb"), path, source)


def require_file(path: str | Path, source: str, error: type[UserError] = DataFileError) -> None:
    """Refuse a path that `open_file` would refuse; arguments and errors as for `open_file`."""
    with open_file(path, source, error):
        pass


def is_file(path: str | Path) -> bool:
    """Whether a path is a regular file; False if the system cannot tell."""
    return os.path.isfile(path)  # noqa: PTH113 - `Path.is_file` may raise


def _open_regular(path: Path, source: str, error: type[UserError]) -> BufferedReader:
    try:
        # Without O_NONBLOCK, opening a pipe without writer would block before it can be refused.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    except ValueError:  # a null byte, or characters that the file system's encoding lacks
        raise error(f"{source}: is not a possible file name here") from None
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise error(f"{source}: is a folder: give a file in it")
    raise error(
        f"{source}: is a pipe, a device or a socket; only regular files are read, and standard "
        "input as '-'"
    )


def explain_os_error(problem: OSError) -> str:
    """Return the meaning of an OSError for a file that is read, without the name of the file."""
    return _REASONS.get(problem.errno or 0) or f"cannot be read ({problem.strerror or problem})"


_spooled: list[OpenFile] = []  # the copy of standard input, once it is read


def _copy_standard_input(source: str, error: type[UserError]) -> OpenFile:
    """Return standard input as a file; the first use copies it to an unnamed file."""
    if not _spooled:
        if sys.stdin is None:
            raise error(f"{source}: is closed")
        with suppress(OSError, ValueError):  # it may be redirected from a file
            status = os.fstat(sys.stdin.fileno())
            if stat.S_ISREG(status.st_mode):
                inputs.note_input(status, Path("/dev/stdin"), str(STANDARD_INPUT))
        fill = partial(shutil.copyfileobj, sys.stdin.buffer)
        _spooled.append(copy_to_temporary(STANDARD_INPUT, source, fill))
    file = OpenFile(_spooled[0].file, STANDARD_INPUT, source)
    file.file.seek(0)
    file.is_standard_input = True
    return file


@contextmanager
def translate_errors(
    source: str, kind: str, error: type[UserError] = DataFileError
) -> Iterator[None]:
    """Turn a library's exceptions about a broken file of some kind (".npz") into one sentence of
    the class `error`, or of MemoryNeedError if memory runs out."""
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a library may warn before it raises
            yield
    except RaytracerError:
        raise
    except RecursionError:
        raise error(f"{source}: cannot be read as {kind} (it is nested too deeply)") from None
    except Exception as problem:
        if is_lack_of_threads(problem):  # not an error of the file
            raise
        if is_lack_of_memory(problem):
            raise MemoryNeedError(f"{source}: {NO_MEMORY}") from None
        raise error(f"{source}: cannot be read as {kind} ({_first_line(problem)})") from problem


@contextmanager
def silence_stderr() -> Iterator[None]:
    """Drop what libraries print on standard error, also from other languages and threads."""
    try:
        before = os.dup(2)
    except OSError:  # standard error is closed
        yield
        return
    with open(os.devnull, "wb") as null:  # noqa: PTH123
        os.dup2(null.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)


def load_json(text: str, source: str, error: type[UserError] = DataFileError) -> Any:
    """Parse JSON. Raises `error` for a key that an object has twice, of which the last alone would
    count; ValueError, RecursionError: it is not JSON."""
    import json

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        values = dict(pairs)
        if len(values) < len(pairs):
            name = Counter(key for key, _ in pairs).most_common(1)[0][0]
            raise error(f"{source}: an object has the key '{quote(name)}' twice: keep one of them")
        return values

    return json.loads(text, object_pairs_hook=unique)


def load_toml(text: str) -> dict[str, Any]:
    """Parse TOML. Raises ValueError, RecursionError: it is not TOML, or has a key of very many
    parts, for which memory grows with the square of their number."""
    import tomllib

    if re.search(_LONG_KEY, text):
        raise ValueError(f"a key has {MAX_KEY_PARTS} parts or more")
    return tomllib.loads(text)


def parse_json(text: str, source: str, what: str) -> dict[str, Any]:
    """Parse a JSON object, `what` in messages ("its metadata"). Raises DataFileError."""
    try:
        values = load_json(text, source)
        if _is_deeper(values, MAX_JSON_LEVELS):
            raise RecursionError("nested too deeply")
    except (ValueError, RecursionError) as error:
        why = f"not JSON ({_first_line(error)})"
        raise DataFileError(f"{source}: {what} are damaged: they are {why}") from None
    if not isinstance(values, dict):
        raise DataFileError(f"{source}: {what} are damaged: they are not a JSON object")
    return values


def _is_deeper(value: Any, levels: int) -> bool:
    """Whether JSON values are nested in more levels of objects and lists."""
    nested = [value]
    for _ in range(levels + 1):
        lists = [each.values() if isinstance(each, dict) else each
                 for each in nested if isinstance(each, (dict, list))]  # fmt: skip
        nested = [each for values in lists for each in values]
    return bool(lists)


def _first_line(problem: Exception) -> str:
    """Return the first line of a library's message, or the class of its exception."""
    if isinstance(problem, OSError) and problem.strerror:
        return problem.strerror
    text = str(problem)[:400].strip()
    if "int_max_str_digits" in text:
        return "a number has thousands of digits"
    return quote(text.splitlines()[0], 160) if text else type(problem).__name__
