"""Tables in spreadsheets (.xlsx, .xls, .xlsb, .ods): a sheet with coordinates, or a named one.

Read by python-calamine, as the text of a table with the same lines.
"""

import csv as writer
from collections.abc import Sequence
from io import TextIOWrapper
from typing import IO, Any

from raytracer.errors import DataFileError, shown, suggestion
from raytracer.files.access import OpenFile, copied
from raytracer.memory import require_room
from raytracer.scene.particles.array_source import library
from raytracer.scene.particles.formats import csv
from raytracer.scene.particles.table_layout import table_of

MEMORY = 60  # bytes of memory per byte of the file, which is compressed


class Source(csv.Source):
    """A sheet; the variant is its name, or "" for the first with coordinates."""

    def __init__(self, file: OpenFile, variant: str = "") -> None:
        calamine = library("python_calamine", file.source, "excel")
        require_room(file.source, MEMORY * file.size)
        file.file.seek(0)
        book = calamine.CalamineWorkbook.from_filelike(file.file)
        names = list(book.sheet_names)
        if variant and variant not in names:
            raise DataFileError(f"{file.source}: there is no sheet '{shown(variant)}'; "
                                f"{suggestion(variant, names)}")  # fmt: skip
        name, text = variant, _text_of(book, variant or names[0], file)
        for name in [] if variant else names:
            text = _text_of(book, name, file)
            table = table_of(text)
            if table.has_rows and table.header:
                break
        super().__init__(text)
        if len(names) > 1 and not variant:
            self.note(
                f"has {len(names)} sheets; '{shown(name)}' is read: for another one append it "
                f"after a colon, as in '{shown(file.path.name)}:{shown(names[-1])}'"
            )


def _text_of(book: Any, name: str, file: OpenFile) -> OpenFile:
    rows = book.get_sheet_by_name(name).to_python(skip_empty_area=False)

    def write(copy: IO[bytes]) -> None:
        text = TextIOWrapper(copy, "utf-8", newline="")
        writer.writer(text, lineterminator="\n").writerows(map(_cells, rows))
        text.flush()
        text.detach()

    return copied(file.path, file.source, write)


def _cells(row: Sequence[Any]) -> list[str]:
    """Return the cells of a row as texts in one line; whole numbers have no point."""
    return [repr(cell) if isinstance(cell, float) else " ".join(str(cell).split()) for cell in row]
