"""Texts whose rows are written otherwise than one a line: the same as a table, in a temporary file.

Rows in brackets, as programs print lists and arrays, also on one line; lists with names, one for
each column; columns of vectors; and rows of which each is a variable, with its name first.
"""

import os
import re
from itertools import chain
from typing import IO

from raytracer.files.access import OpenFile, copy_to_temporary
from raytracer.model import particle_names as naming
from raytracer.particles.lines import HEAD_BYTES, read_pieces
from raytracer.particles.table_layout import TableLayout, find_table
from raytracer.particles.text_table import split_cells

_OPENING = rb"[\[({<]\s*[-+.]?\d"  # a bracket before a number
_CALL = rb"(?<![\w.])[A-Za-z_][\w.]*[ \t]*(?:=[ \t]*(?:[A-Za-z_][\w.]*[ \t]*)?)?(?=[\[({])"
"""Words before brackets: points = array([[1,"""
_BRACKETS = bytes.maketrans(b"()[]{}<>", b" " * 8)
_BETWEEN = rb"[\])}>]([ \t]*,?[ \t]*)(?=[\[({<])"  # between rows on one line
_LAST = rb"[\])}][ \t]*;"  # the end of a statement
_INNER = rb"[\s\w.=]{0,99}(?:[A-Za-z_]\w{0,63}\(\s*)?(?:[\[({]\s*){2}[-+.\d]|[\[({<][^\n]*+\s*+\Z"
"""The start of a text whose rows are in brackets within others, and a text of one line."""
_KEY = rb"""(?<![\w.])['"]?([A-Za-z_]\w{0,63})['"]?[ \t]*[=:][ \t]*"""
_LIST = _KEY + rb"(?:[A-Za-z_][\w.]{0,63}[ \t]*\([ \t]*)?[\[({]"
_VALUES = rb"([^\[\](){}]*)[\])}]"
"""A name and the start of its list, x = np.array([, and its values."""
_VECTOR = r'"?[\[({]([-+.\dN][^\[\](){}]*)[\])}]"?'  # a cell: "[0.5, 1.5, 2.5]"
_VARIABLE = rb"(?m)^[ \t]*([A-Za-z\"][^\n,;\t]{0,99})[,;\t]([ \t]*[-+.\d][-+.\deE,; \t]*)\r?$"
"""A row of numbers that begins with a name."""
FEW_LINES = 20  # in the start of a text, if its rows are long
MAX_LISTS = 1 << 26  # most bytes of a text of lists


def rewrite_table(file: OpenFile, skip: int = 0) -> tuple[OpenFile, TableLayout]:
    """Return a text and the layout of its table; the first lines are left out.

    Where rows are in brackets, the text is a copy with spaces instead. Raises DataFileError: a line
    is too long, or not text."""
    start = os.pread(file.file.fileno(), HEAD_BYTES, 0)
    if copy := _join_lists(file, start) or _transpose_variables(file, start):
        return copy, find_table(copy, skip)
    is_nested = bool(re.match(_INNER, start))
    table = None if is_nested else find_table(file, skip)
    if table and (copy := _split_vectors(file, table)):
        return copy, find_table(copy, skip)
    first = table.first.encode() if table else b""
    are_within = bool(re.match(rb"\s*[\[({<]?" + _OPENING, first)) or (
        table is not None and bool(table.numbers) and bool(re.search(_OPENING, first))
    )
    if table is None or are_within or (not table.has_numbers and re.search(_OPENING, start)):
        copy = _remove_brackets(file, is_nested)
        if (bare := find_table(copy, skip)).has_numbers:
            return copy, bare
    return file, table or find_table(file, skip)


def _split_vectors(file: OpenFile, table: TableLayout) -> OpenFile | None:
    """Return a table with three columns for one of quoted vectors, as pandas writes them, or None.

    As in id,position and 1,"[0.5, 1.5, 2.5]".
    """
    separator, cells = table.separator, split_cells(table.first, table.separator)
    names = [
        name
        for name, cell in zip(table.columns, cells, strict=False)
        if naming.find_usual_name("centers", [name]) and re.fullmatch(_VECTOR, cell)
    ]
    if not names or separator is None or file.size > MAX_LISTS:
        return None

    def three(cell: re.Match[str]) -> str:
        words = re.findall(r"[^\s,;]+", cell[1])
        return separator.join(words if len(words) == 3 else [" ".join(words), "", ""])

    lines = [line for line, _ in file.text_lines()]
    axes = separator.join(f"{names[0]}_{axis}" for axis in "xyz")
    head, name = table.header - 1, rf"(?<!\w){re.escape(names[0])}(?!\w)"
    lines[head] = re.sub(name, axes, lines[head])
    lines[table.skip :] = [re.sub(_VECTOR, three, line) for line in lines[table.skip :]]
    text = "".join(lines).encode(file.encoding)
    made = copy_to_temporary(file.path, file.source, lambda copy: copy.write(text))
    made.encoding = file.encoding
    return made


def _remove_brackets(file: OpenFile, is_nested: bool) -> OpenFile:
    """Return a copy of a text of the same length with spaces for brackets, and words before.

    If it is nested, rows that share a line get lines of their own.
    """

    def write(copy: IO[bytes]) -> None:
        rest = b""
        for number, piece in enumerate(chain(read_pieces(file), (b"",))):
            text = rest + piece
            if number == 0:
                text = re.sub(_CALL, lambda found: b" " * len(found[0]), text)
            end = len(text)
            if is_nested:
                text = re.sub(_LAST, lambda found: found[0][:1].ljust(len(found[0])), text)
                text = re.sub(_BETWEEN, lambda found: b"\n" + b" " * len(found[1]), text)
                end = max(map(text.rfind, (b"]", b")", b"}", b">", b"\n"))) if piece else end
            copy.write(text[: max(end, 0)].translate(_BRACKETS))
            rest = text[max(end, 0) :]

    return copy_to_temporary(file.path, file.source, write)


def _join_lists(file: OpenFile, start: bytes) -> OpenFile | None:
    """Return a table of lists with the names of coordinates, one after another, or None.

    As in x = [1, 2, 3], y = [4, 5, 6], z = [7, 8, 9].
    """
    if not re.search(_LIST + rb"\s*[-+.\d]", start) or file.size > MAX_LISTS:
        return None
    lists = re.findall(_LIST + _VALUES, os.pread(file.file.fileno(), file.size, 0))
    found = {name.decode(): re.findall(rb"[^\s,;]+", values) for name, values in lists}
    axes = naming.find_axes(found)
    counts = {len(found[name]) for name in axes}
    several = len(found) < len(lists)  # times one after another
    if several or len(axes) < len("xyz") or len(counts) != 1:
        return None
    return _write_columns(
        file, [{name: each for name, each in found.items() if len(each) in counts}]
    )


def _transpose_variables(file: OpenFile, start: bytes) -> OpenFile | None:
    """Return a table with a column for each row that is a variable with its name first, or None.

    As in X:,1,2,3 and Y:,4,5,6. A name that comes again begins the rows of another time; a variable
    with one value is that of all rows until then: "TIME:, 0.5" of EDEM.
    """
    names = [name for name, _ in re.findall(_VARIABLE, start)]
    may_be = start.count(b"\n") < FEW_LINES or naming.find_usual_name("x", map(_strip_query, names))
    if not names or not may_be or file.size > MAX_LISTS:
        return None
    blocks: list[dict[str, list[bytes]]] = [{}]
    for name, values in re.findall(_VARIABLE, os.pread(file.file.fileno(), file.size, 0)):
        if (key := _strip_query(name)) in blocks[-1]:
            blocks.append({})
        blocks[-1][key] = re.findall(rb"[^\s,;]+", values)
    axes = [naming.find_usual_name(axis, blocks[0]) or "" for axis in "xyz"]
    for block in blocks:
        count = len(block.get(axes[0], ()))
        block |= {name: each * count for name, each in block.items() if len(each) == 1}
        lengths = {len(block.get(name, ())) for name in axes} | set(map(len, block.values()))
        if count < 2 or lengths != {count} or list(block) != list(blocks[0]):
            return None
    return _write_columns(file, blocks)


def _write_columns(file: OpenFile, tables: list[dict[str, list[bytes]]]) -> OpenFile:
    def write(copy: IO[bytes]) -> None:
        copy.write(",".join(tables[0]).encode() + b"\n")
        for table in tables:
            copy.writelines(b",".join(row) + b"\n" for row in zip(*table.values(), strict=True))

    return copy_to_temporary(file.path, file.source, write)


def _strip_query(name: bytes) -> str:
    """Return the name of a variable without the number of a query, as in "Q02 : Position X:"."""
    return re.sub(r"^\w+\s*:\s+", "", name.decode("latin-1").strip()).strip(' :"')
