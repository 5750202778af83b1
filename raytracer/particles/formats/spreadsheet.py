"""Tables in spreadsheets (.xlsx, .xls, .xlsb, .ods): a sheet with coordinates, or a named one.

Read by python-calamine, as the text of a table with the same lines.
"""

import csv as writer
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from html import unescape
from io import TextIOWrapper
from posixpath import join
from typing import IO, Any
from zipfile import BadZipFile, ZipFile

from raytracer.config.errors import DataFileError, MemoryNeedError, quote, suggest
from raytracer.files.access import OpenFile, copy_to_temporary
from raytracer.particles.array_source import import_library
from raytracer.particles.formats import csv
from raytracer.particles.isolated import choose_memory_limit
from raytracer.particles.table_layout import find_table
from raytracer.system.memory import format_size, require_room

MEMORY = 60  # bytes of memory per byte of the file, which is compressed
CELL_MEMORY = 48  # bytes of a cell, also of an empty one between others
PIECE = 1 << 20  # bytes of a sheet that are searched at a time
MAX_TAG = 1 << 12  # bytes of the tag of a cell that are searched
ODS = "content.xml"  # the part of .ods with all sheets
BOOK, RELATIONS = "xl/workbook.xml", "xl/_rels/workbook.xml.rels"
SHEETS = "xl/worksheets/sheet"
MAX_PART = 1 << 24  # most bytes of book and relations that are read

_CELL = re.compile(
    rb"<(?:\w+:)?c\s[^<>]{0,200}?\br\s*=\s*[\"']([A-Za-z]{1,4})(\d{1,9})[\"']"
    rb"[^<>]{0,200}(?<!/)>(?!\s*</)"
)
"""Cell of .xlsx that is not empty: letters of its column, number of its row."""

_TAG = re.compile(rb"<(?:\w+:)?(table-row|(?:covered-)?table-cell|table)(?=[\s/>])([^<>]*)>")
_REPEATS = re.compile(rb"\bnumber-(?:rows|columns)-repeated\s*=\s*[\"']\s*(\d{1,18})")
_NAME = re.compile(rb"\bname\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_VALUE = re.compile(rb"\bvalue-type\s*=")
"""Sheets, rows and cells of .ods, and attributes of these."""

_ENTRY = r"<(?:\w+:)?(?:sheet|Relationship)\s([^<>]*)>"
_ATTRIBUTE = r"\b(\w+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')"


class Source(csv.Source):
    """A sheet; the variant is its name, or "" for the first with coordinates."""

    def __init__(self, file: OpenFile, variant: str = "") -> None:
        calamine = import_library("python_calamine", file.source, "excel")
        require_room(file.source, MEMORY * file.size)
        _require_area(file)
        book = calamine.CalamineWorkbook.from_filelike(file.file)
        names = list(book.sheet_names)
        if not names:
            raise DataFileError(f"{file.source}: has no sheets")
        if variant and variant not in names:
            raise DataFileError(f"{file.source}: there is no sheet '{quote(variant)}'; "
                                f"{suggest(variant, names)}")  # fmt: skip
        for name in [variant] if variant else names:
            text = _text_of(book, name, file)
            table = None if variant else find_table(text)
            if table and table.has_rows and table.header:
                break
        super().__init__(text)
        if len(names) > 1 and not variant:
            self.note(
                f"has {len(names)} sheets; '{quote(name)}' is read: for another one append it "
                f"after a colon, as in '{quote(file.path.name)}:{quote(names[-1])}'"
            )


def _text_of(book: Any, name: str, file: OpenFile) -> OpenFile:
    _require_area(file, name)
    sheet = book.get_sheet_by_name(name)
    row, column = sheet.end or (0, 0)
    _require_cells(file, name, row + 1, column + 1)
    rows = sheet.to_python(skip_empty_area=False)

    def write(copy: IO[bytes]) -> None:
        text = TextIOWrapper(copy, "utf-8", newline="")
        writer.writer(text, lineterminator="\n").writerows(map(_format_cells, rows))
        text.flush()
        text.detach()

    return copy_to_temporary(file.path, file.source, write)


def _format_cells(row: Sequence[Any]) -> list[str]:
    """Return the cells of a row as texts in one line; whole numbers have no point."""
    return [repr(cell) if isinstance(cell, float) else " ".join(str(cell).split()) for cell in row]


def _require_area(file: OpenFile, name: str = "") -> None:
    """Refuse sheets with few cells far apart, before calamine also stores the empty ones between.
    name: of a sheet of .xlsx, or "" for all of .ods, which are read when the file is opened."""
    file.file.seek(0)
    areas: list[tuple[str, int, int]] = []
    damage = BadZipFile, NotImplementedError, RuntimeError, ValueError, OSError, EOFError
    with suppress(*damage), ZipFile(file.file) as archive:  # of which the library tells; .xls
        if name and BOOK in archive.NameToInfo:
            areas = [(name, *_find_last_cell(archive, name))]
        elif not name and ODS in archive.NameToInfo:
            areas = [*_find_areas(archive)]
    file.file.seek(0)
    for area in areas:
        _require_cells(file, *area)


def _require_cells(file: OpenFile, sheet: str, rows: int, columns: int) -> None:
    """Raise MemoryNeedError if the cells of a sheet need more memory than a file of this size may
    take."""
    size = CELL_MEMORY * rows * columns
    if size > choose_memory_limit(file.size):
        raise MemoryNeedError(
            f"{file.source}: sheet '{quote(sheet, 80)}' spans {rows:,} rows and {columns:,} "
            f"columns, which need about {format_size(size)} of memory with their empty cells: "
            "delete "
            "cells far from the table, or save the table as .csv"
        )


def _find_last_cell(archive: ZipFile, name: str) -> tuple[int, int]:
    """Return the last row and the last column of a sheet, counted from 1; 0 without cells."""
    known = archive.NameToInfo.keys()
    targets = {each.get("id"): each.get("target", "") for each in _read_entries(archive, RELATIONS)}
    places = [targets.get(each.get("id"), "") for each in _read_entries(archive, BOOK)
              if each.get("name") == name]  # fmt: skip
    parts = {join("xl", place).lstrip("/") for place in places} & known
    last_row, columns = 0, set[bytes]()
    for part in parts or [part for part in known if part.startswith(SHEETS)]:
        for cell in _find_matches(archive, part, _CELL):
            columns.add(cell[1])
            last_row = max(last_row, int(cell[2]))
    return last_row, max(map(_number_of_column, columns), default=0)


def _number_of_column(letters: bytes) -> int:
    number = 0
    for letter in letters.upper():
        number = 26 * number + letter - ord("A") + 1
    return number


def _read_entries(archive: ZipFile, part: str) -> list[dict[str, str]]:
    """Return the attributes of sheets or relations, without prefixes of their names."""
    if part not in archive.NameToInfo:
        return []
    with archive.open(part) as stream:
        text = stream.read(MAX_PART).decode("utf-8", "replace")
    return [
        {name.lower(): unescape(one or other) for name, one, other in re.findall(_ATTRIBUTE, entry)}
        for entry in re.findall(_ENTRY, text)
    ]


def _find_areas(archive: ZipFile) -> Iterator[tuple[str, int, int]]:
    """Yield name, number of rows and of columns of each sheet, from its first value to its last."""
    sheet, first_row, row, column = "", 0, 0, 0
    rows, columns = set[int](), set[int]()  # the first and the last ones with values
    for tag in _find_matches(archive, ODS, _TAG):
        kind, attributes = tag.groups()
        times = int(found[1]) if (found := _REPEATS.search(attributes)) else 1
        if kind == b"table":
            yield sheet, _span(rows), _span(columns)
            found = _NAME.search(attributes)
            sheet = (found[1] or found[2] or b"").decode("utf-8", "replace") if found else ""
            row, rows, columns = 0, set(), set()
        elif kind == b"table-row":
            row, first_row, column = row + times, row, 0
        else:
            if _VALUE.search(attributes):
                rows = {min(rows | {first_row}), max(rows | {row})}
                columns = {min(columns | {column}), max(columns | {column + times})}
            column += times
    yield sheet, _span(rows), _span(columns)


def _span(places: set[int]) -> int:
    return max(places, default=0) - min(places, default=0)


def _find_matches(
    archive: ZipFile, part: str, pattern: re.Pattern[bytes]
) -> Iterator[re.Match[bytes]]:
    """Yield the matches in a part of an archive, each before another tag."""
    rest = b""
    with archive.open(part) as stream:
        while piece := stream.read(PIECE):
            text = rest + piece
            end = text.rfind(b"<", 0, max(text.rfind(b"<"), 0))
            end = end if len(piece) == PIECE and end >= 0 else len(text)
            yield from (each for each in pattern.finditer(text) if each.start() < end)
            rest = text[end:][-MAX_TAG:]
