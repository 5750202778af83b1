"""Output of commands as text and as JSON."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from math import isfinite
from typing import TYPE_CHECKING, Any, TextIO

from raytracer.config.arguments import MAX_WHOLE
from raytracer.config.errors import escape_controls, pluralize, quote, quote_value

if TYPE_CHECKING:
    from pathlib import Path

MAX_LINE, MAX_LINES, MAX_WARNINGS = 1000, 400, 20
"""Maximum characters of a line or text; lines about a file, or numbers of a list; and warnings."""


def print_warning(sentence: str) -> None:
    from raytracer.system.progress import write_line  # late: help needs none of it

    write_line("")
    print(f"raytracer: warning: {sentence}", file=sys.stderr, flush=True)


def print_warnings(sentences: Sequence[str]) -> None:
    """Print warnings on standard error; of too many, the first and the number of others."""
    for sentence in sentences[:MAX_WARNINGS]:
        print_warning(sentence)
    if (left := len(sentences) - MAX_WARNINGS) > 0:
        print_warning(f"and {pluralize(left, 'more warning')}; --json prints all")


def print_lines(text: str, file: TextIO | None = None) -> None:
    print("\n".join(escape_controls(line) for line in text.split("\n")), file=file, flush=True)


def file_size(path: Path) -> str:
    """Return the size of a file in decimal units, as file managers show it."""
    size = path.stat().st_size
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{max(size // 1000, 1)} kB"


def describe_written(path: Path) -> str:
    """Return what is said of a file that was written; `-` is standard output."""
    return (
        "wrote standard output: PNG"
        if str(path) == "-"
        else f"wrote {escape_controls(str(path))}: {file_size(path)}"
    )


def print_json(value: Any) -> None:
    """Print a JSON value in ASCII, with NaN and infinity as text."""
    import json

    print(json.dumps(_replace_non_finite(value), indent=2, allow_nan=False))


def _replace_non_finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _replace_non_finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_replace_non_finite(item) for item in value]
    return str(value) if isinstance(value, float) and not isfinite(value) else value


def print_outline(value: dict[str, Any], indent: str = "") -> None:
    """Print a nested dictionary of JSON values, at most `MAX_LINES` lines."""
    lines = format_outline(value, indent)
    for line in islice(lines, MAX_LINES):
        print(line if len(line) <= MAX_LINE else line[: MAX_LINE - 3] + "...")
    if left := sum(1 for _ in lines):
        print(f"{indent}... {pluralize(left, 'more line')}; --json prints all")


def format_outline(value: dict[str, Any], indent: str = "") -> Iterator[str]:
    """Return the lines of a nested dictionary with aligned keys, without empty values."""
    rows = [(quote(str(k)), item) for k, item in value.items() if item not in (None, {}, [], "")]
    width = max((len(key) for key, _ in rows), default=0)
    for key, item in rows:
        label = "seconds" if key == "timings" else key.replace("_", " ")
        if isinstance(item, dict):  # names of files and materials keep their underscores
            yield f"{indent}{label if key == 'timings' else key}"
            yield from format_outline(item, indent + "  ")
        elif isinstance(item, list) and all(isinstance(part, dict) for part in item):
            yield f"{indent}{label}"
            yield from (f"{indent}  {_format_value(key, part)}" for part in item)
        elif isinstance(item, str) and "\n" in item:
            yield f"{indent}{label}"
            cut = item if len(item) <= MAX_LINE else item[: MAX_LINE - 3] + "..."
            yield from (f"{indent}  {escape_controls(line)}".rstrip() for line in cut.splitlines())
        else:
            yield f"{indent}{label:<{width}}  {_format_value(key, item)}"


def _format_value(key: str, value: Any) -> str:
    """Return a value as text: yes or no, GiB, digits in groups of three."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(
            f"{quote(str(name))} {_format_value(name, item)}" for name, item in value.items()
        )
    if isinstance(value, (list, tuple)):
        return " ".join(_format_value(key, item) for item in value[:MAX_LINES])
    if isinstance(value, int) and abs(value) > MAX_WHOLE:  # from a file
        return quote_value(value)
    if isinstance(value, (int, float)) and key.startswith("memory"):
        return f"{value / 2**30:.1f} GiB"
    if isinstance(value, int) and key in ("spheres", "particles"):
        return f"{value:,}"
    return f"{value:.4g}" if isinstance(value, float) else quote(str(value), MAX_LINE)
