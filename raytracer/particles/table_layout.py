"""Layout of a text table: where its rows are, how they are separated, and what names the columns.

The rows are the first lines with the same cells of which three are numbers. The names of the
columns are in a line above them: the nearest that names coordinates, which may be a comment, or
stand above others, a line of units or further tables; or in as many lines, one name each. Without
names the first three columns of numbers are the coordinates, after one that counts the rows. The
rows end with the last that has coordinates.
"""

import os
import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise, takewhile
from typing import NamedTuple

from raytracer.files.access import OpenFile
from raytracer.model import particle_names as naming
from raytracer.model.elements import find_symbol
from raytracer.particles.text_table import BLANK, parse_cell, split_cells

SEPARATORS = (",", ";", "\t", "|")  # separators of cells; without any of these, white space
COMMENTS = ("#", "%", "//", "!", "@")
HEAD_LINES = 1000  # most lines before the first row
SAMPLE = 4  # rows that must have the same cells
TAIL_BYTES = 1 << 16  # most bytes after the last row
NBODY = 7  # columns of bodies without names: mass, coordinates, velocity
MIN_BODIES = 8  # rows that show what their columns are
MAX_OTHERS = 20  # most lines among the rows of a text that only its rows tell to be a table
_PREFIX = r"(?i)^[\s#%/!]*(?:variables\s*=|format\s+(?=\w+$))?\s*"  # before names of columns

_LISTED = (
    r"[#%!;/*]*\s*(?:col(?:umn)?\.?\s*)?(?P<number>\d+)(?:\s*[:.)=-]\s*|\s+)(?P<name>[^\d\s].*)$",
    r"_(?P<name>\S+)\s+#(?P<number>\d+)\s*$",  # of STAR
    r"(?i)@attribute\s+(?P<name>\S+)",  # of ARFF
    r'(?i)(?:variables\s*=\s*)?"(?P<name>[^"]*)"\s*+(?:,\s*+)?$',  # of Tecplot
)
"""Lines of which each has the name of one column, and of some its number."""

MANY = "[]"  # in the name of a column that has any number of cells, of COLMAP

_NUMBERED = (
    r"(?:^|\s)[\[(]?(\d++)[\])]?\s*+(?:[:.=-]\s*+)?([^\W\d]\S*+)"  # names with their numbers
)


class TableLayout(NamedTuple):
    """The layout of a table."""

    separator: str | None  # one character; None is any white space
    columns: list[str]  # names, in order
    skip: int  # lines before the first row
    first: str  # the first row, or ""
    header: int = 0  # number of the line with the names, from 1; 0 if there is none
    numbers: tuple[int, ...] = ()  # places of columns of numbers, if there are no names
    is_plain: bool = True  # whether there is nothing above the rows but names, comments and numbers
    is_counted: bool = False  # whether a number is above the rows, as in formats that state theirs
    is_bare: bool = False  # whether nearly all lines are rows
    end: int = 0  # offset after the last row; 0 is the end of the file
    after: str = ""  # the first line after it
    before: str = ""  # the first line above names and rows that may be a row
    mass: int | None = None  # place of masses, which are before the coordinates, without names

    @property
    def named(self) -> bool:
        """Whether the columns have names, not numbers."""
        return any(self.columns) and not are_numbers(self.columns)

    @property
    def has_numbers(self) -> bool:
        """Whether there are rows of numbers."""
        return bool(self.first and _find_places([self.first], self.separator))

    @property
    def has_rows(self) -> bool:
        """Whether a text is certainly a table: with names of coordinates, or of numbers alone."""
        return bool(
            self.first and (self.is_plain if self.numbers else naming.has_axes(self.columns))
        )


def find_table(file: OpenFile, skip: int = 0) -> TableLayout:
    """Return the layout of a table; its first lines are left out. Raises DataFileError: a line is
    too long, or not text."""
    file.guess_encoding()
    lines = file.lines(2)
    separator = find_separator(lines[0])
    if not (
        naming.has_axes(split_cells(lines[0], separator)) and _find_places([lines[1]], separator)
    ):
        lines = file.lines(HEAD_LINES + SAMPLE)
    while lines and not lines[-1]:  # after the end of the file
        lines.pop()
    lines[:skip] = ["#\n"] * len(lines[:skip])
    first = _find_first_row(lines)
    if first is None:
        return _find_rowless_table(lines)
    start, separator, numbers = first
    cells = _trim_cells(split_cells(lines[start], separator))
    rows = [split_cells(line, separator) for line in lines[start:] if not _is_comment(line)]
    found = _find_listed_names(lines[:start], len(cells)) or _find_header(
        lines[:start], separator, cells
    )
    if found is None or (  # other text above rows that begin with symbols
        len(found[1]) != len(cells) and not naming.has_axes(found[1]) and find_symbol(cells[0])
    ):
        before = [line for line in lines[:start] if line.strip()]
        counts = [are_numbers(line.split()) for line in before]
        texts = [line for line, is_count in zip(before, counts, strict=True) if not is_count]
        # One line of a text with numbers, such as an identifier of a molecule, is no table.
        is_plain = len(lines) > start + 1 or len(numbers) == len(cells)
        places = _drop_counter(rows, numbers)
        mass = places[0] if _are_masses_first(rows, places) else None
        table = TableLayout(
            separator, cells, start, lines[start], 0, places[mass is not None :],
            is_plain and all(map(_is_comment, texts)), any(counts), _are_bare(rows, places),
            mass=mass, before=_find_row_above(lines[skip:start], separator, cells),
        )  # fmt: skip
        return _with_rows_end(file, table, numbers)
    header, names = found
    again = next(place for place, line in enumerate(lines) if line.strip() == lines[header].strip())
    between = (place for place in range(again + 1, header) if not _is_comment(lines[place]))
    if (place := next(between, None)) is not None:  # a row: the one after the rows has a mistake
        header, start = again, place
    # A row with a mistake is reported, and a line of units is not a row.
    axes = [names.index(each) for each in naming.find_axes(names)]
    for place in range(header + 1, start):
        if not _is_comment(lines[place]):
            there = split_cells(lines[place], separator)
            is_long = len(there) >= len(cells) or (len(axes) == 3 and _is_row(there, axes))
            if is_long and any(are_numbers([cell]) for cell in there):
                start = place
                break
    above = _find_row_above(lines[skip:header], separator, cells)
    table = TableLayout(separator, names, start, lines[start], header + 1, before=above)
    return _with_rows_end(file, table, axes)


def _with_rows_end(file: OpenFile, table: TableLayout, places: Sequence[int]) -> TableLayout:
    """Return a table with the end of its rows: the last line with values at these places.

    What follows may be totals or other text.
    """
    start = max(file.size - TAIL_BYTES, 0)
    tail = os.pread(file.file.fileno(), TAIL_BYTES, start)
    place, others = len(tail), list[str]()
    for line in reversed(tail.splitlines(keepends=True)):
        text = line.decode(file.encoding, "replace")
        cells = split_cells(text, table.separator)
        if text.strip() and (_is_row(cells, places) or (not others and are_numbers(cells))):
            # A line below that begins with a number is a row with a mistake.
            is_wrong = bool(others) and are_numbers(split_cells(others[-1], table.separator)[:1])
            end = 0 if place == len(tail) or is_wrong else start + place
            return table._replace(end=end, after=others[-1] if others and end else "")
        if not BLANK.issuperset(cells) and not _is_comment(text):
            others.append(text.strip())
        place -= len(line)
    return table


def _find_row_above(lines: list[str], separator: str | None, row: list[str]) -> str:
    """Return the first of the lines above a table that has as many numbers as its rows, or ""."""
    for line in lines:
        cells = _trim_cells(split_cells(line, separator))
        if len(cells) == len(row) and not _is_comment(line) and are_numbers(cells):
            return line.strip()
    return ""


def _is_row(cells: Sequence[str], places: Sequence[int]) -> bool:
    """Whether cells have numbers, or nothing, at these places."""
    return all(place < len(cells) and (cells[place] in BLANK or are_numbers([cells[place]]))
               for place in places)  # fmt: skip


def _drop_counter(rows: list[list[str]], numbers: list[int]) -> tuple[int, ...]:
    """Return the places of numbers without integers before three decimals: one that counts the
    rows, or more than three, which are none of places."""
    sample = [row for row in rows[:SAMPLE] if len(row) > numbers[-1]]
    columns = [[row[place].lstrip("+-") for row in sample] for place in numbers]
    leading = next((i for i, each in enumerate(columns) if not all(map(str.isdecimal, each))), 0)
    rest = columns[leading : leading + 3]
    if len(rest) < 3 or any(each.isdecimal() for column in rest for each in column):
        return tuple(numbers)
    ids = [int(row[numbers[0]]) for row in sample] if leading else []
    is_count = len(ids) > 1 and all(b - a == 1 for a, b in pairwise(ids))
    return tuple(numbers[leading:] if leading > 3 or is_count else numbers)


def _are_masses_first(rows: list[list[str]], places: Sequence[int]) -> bool:
    """Whether numbers without names are certainly a mass, coordinates and a velocity.

    The first is positive, the velocities have both signs, and so do the coordinates, or else all
    masses are the same, but no coordinate is.
    """
    if len(places) < NBODY:
        return False
    numbers = [[parse_cell(row[place]) for place in places[:NBODY]]
               for row in rows if len(row) > places[-1]]  # fmt: skip
    columns = list(zip(*(row for row in numbers if all(isinstance(n, (int, float)) for n in row)),
                       strict=True))  # fmt: skip
    if not columns or len(columns[0]) < MIN_BODIES:
        return False
    mass, *vectors = columns
    both = [min(each) < 0 < max(each) for each in vectors]
    varies = [min(each) < max(each) for each in columns]
    return min(mass) > 0 and all(both[3:]) and all(varies[1:4]) and (
        all(both) or not varies[0])  # fmt: skip


def _are_bare(rows: list[list[str]], places: Sequence[int]) -> bool:
    """Whether nearly all lines have numbers at these places."""
    good = sum(_is_row(row, places) for row in rows)
    return good >= SAMPLE and len(rows) - good <= min(good, MAX_OTHERS)


def _find_listed_names(before: list[str], count: int) -> tuple[int, list[str]] | None:
    """Return the last of as many lines as there are columns, each with a name, and the names."""
    for pattern in _LISTED:
        found = [re.match(pattern, line.strip()) for line in before]
        for last in reversed(range(count - 1, len(before))):
            matches = [each for each in found[last - count + 1 : last + 1] if each]
            if len(matches) < count:
                continue
            numbers = [int(each["number"]) for each in matches if "number" in each.groupdict()]
            if numbers and numbers not in ([*range(count)], [*range(1, count + 1)]):
                continue
            whole = [each["name"] for each in matches]
            for names in (whole, [name.split()[0] if name.strip() else "" for name in whole]):
                if naming.has_axes(names):
                    return last, names
    return None


def _find_first_row(lines: list[str]) -> tuple[int, str | None, list[int]] | None:
    """Return the line of the first row, its separator, and the places of its numbers."""
    for is_short in (False, True):
        for start, line in enumerate(lines[:HEAD_LINES]):
            if _is_comment(line) or not any(map(str.isdigit, line)):
                continue
            sample = [each for each in lines[start : start + 2 * SAMPLE] if not _is_comment(each)]
            for separator in (*SEPARATORS, None):
                if separator is not None and separator not in line:
                    continue
                rows = sample[:SAMPLE]
                if is_short:  # fewer rows of numbers alone, before other lines
                    rows = [
                        *takewhile(
                            lambda row: are_numbers(_trim_cells(split_cells(row, separator))),  # noqa: B023
                            rows,
                        )
                    ]
                if rows and (places := _find_places(rows, separator)):
                    return start + _is_count(rows, separator), separator, places
    return None


def _is_count(rows: list[str], separator: str | None) -> bool:
    """Whether the first row is none: it states their number, and those below are counted."""
    first = [split_cells(row, separator)[0] for row in rows]
    is_counted = len(first) == SAMPLE and first[1:] in (["0", "1", "2"], ["1", "2", "3"])
    return is_counted and first[0].isdecimal() and "." not in rows[0] and "." in rows[1]


def _find_places(lines: list[str], separator: str | None) -> list[int]:
    """Return the places of numbers in rows of the same layout; [] unless there are three."""
    rows = [split_cells(line, separator) for line in lines]
    if len({len(row) for row in rows}) != 1:
        rows = [_trim_cells(row) for row in rows]
    count = len(rows[0])
    if any(len(row) != count for row in rows):
        return []
    places = [
        place
        for place in range(count)
        if all(row[place] in BLANK or are_numbers([row[place]]) for row in rows)
        and any(row[place] not in BLANK for row in rows)
    ]
    return places if len(places) >= 3 and any(rows[0][place] for place in places) else []


def _find_header(
    before: list[str], separator: str | None, row: list[str]
) -> tuple[int, list[str]] | None:
    """Return the line of the names of columns and these, or None; `row` is the first row."""
    for place in reversed(range(len(before))):
        known = [names for names in _find_names(before[place], separator) if naming.has_axes(names)]
        if known:
            return place, min(map(partial(_fit_names, row=row), known), key=lambda names: (
                abs(len(names) - len(row))))  # fmt: skip
    place = next((i for i in reversed(range(len(before))) if before[i].strip()), -1)
    if place < 0:
        return None
    names = _trim_cells(split_cells(before[place].strip(" \r\n").lstrip("#%/! "), separator))
    is_header = len(names) == len(row) if are_numbers(row) else not _is_comment(before[place])
    return (place, names) if is_header and len(names) > 1 and not are_numbers(names) else None


def _find_names(line: str, separator: str | None) -> Iterator[list[str]]:
    """Yield the names that a line may have: with the separator of the rows, or with another."""
    text = re.sub(_PREFIX, "", line.removeprefix("\ufeff")).strip()
    yield (names := split_cells(text, separator))
    yield _trim_cells(names)
    yield from (_trim_cells(split_cells(text, each)) for each in SEPARATORS if each in text)
    splash = re.findall(r"\[\s*+\d++\s++([^\[\]]*+)\]", text)
    yield [name.strip() for name in splash]  # of SPLASH: [01 x]
    numbered = re.findall(_NUMBERED, text)
    yield [name for place, (number, name) in enumerate(numbered, 1) if int(number) == place]
    yield re.split(r"\s{2,}|\t", text)
    yield split_cells(text, None)
    if re.match(r"#\s*format\s", line):  # of YADE: x_y_z_r
        yield text.split("_")


def _fit_names(names: list[str], row: list[str]) -> list[str]:
    """Leave out a word before the names; name a column of row numbers before those with names, and
    one of texts behind them."""
    is_word = bool(names) and bool(re.fullmatch(r"\W*|\w|[A-Z]+/\w|\w+[:=]", names[0]))
    if len(names) == len(row) + 1 and names[-1] and is_word and naming.has_axes(names[1:]):
        return names[1:]
    if len(names) == len(row) - 1 and row[0].isdigit() and naming.has_axes(names):
        return ["row", *names]
    if len(names) == len(row) - 1 and not are_numbers(row[-1:]) and naming.has_axes(names):
        return [*names, "name"]
    return names


def _find_rowless_table(lines: list[str]) -> TableLayout:
    """Return the table of lines of which none is a row of three numbers."""
    place = next((i for i, line in enumerate(lines) if not _is_comment(line)), None)
    comments = [i for i, line in enumerate(lines[:place]) if line.strip()]
    header = place if place is not None else comments[-1] if comments else None
    if header is None:
        return TableLayout(None, [], len(lines), "")
    if comments and place is not None and not naming.has_axes(split_cells(lines[place], None)):
        known = [(i, names) for i in reversed(comments) for names in _find_names(lines[i], None)
                 if naming.has_axes(names)]  # fmt: skip
        if known:
            return TableLayout(find_separator(lines[place]), known[0][1], place, lines[place],
                         known[0][0] + 1)  # fmt: skip
    separator = find_separator(lines[header])
    names = split_cells(lines[header].strip(" \r\n").lstrip("#%/!"), separator)
    first = lines[header + 1] if header + 1 < len(lines) else ""
    return TableLayout(separator, names, header + 1, first, header + 1)


def _trim_cells(cells: list[str]) -> list[str]:
    end = next((place for place in range(len(cells), 0, -1) if cells[place - 1]), 0)
    return cells[:end]


def _is_comment(line: str) -> bool:
    return not line.strip() or line.lstrip("\ufeff \t").startswith(COMMENTS)


def find_separator(line: str) -> str | None:
    """Return the separator of a line: the commonest of `SEPARATORS` outside quotes."""
    bare = re.sub(r'"[^"]*"', "", line)
    best = max(SEPARATORS, key=bare.count)
    return best if bare.count(best) else None


def are_numbers(cells: list[str]) -> bool:
    """Whether all cells are numbers, in any of the forms of `text_table.parse_cell`."""
    return bool(cells) and not any(isinstance(parse_cell(cell), str) for cell in cells)
