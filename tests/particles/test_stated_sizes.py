"""Small files that state gigabytes: refused by name before a library allocates them, or read
without what makes them large."""

import base64
import struct
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest

import raytracer
from raytracer.config.errors import UserError

POINTS = (np.arange(12).reshape(4, 3) ** 2 % 13 / 8 - 0.5).astype(np.float32)
HUGE = 1_000_000_000


def refused(path: Path, *words: str) -> None:
    """The error names the file and the field, and is not that of the limit of all libraries."""
    with pytest.raises(UserError) as error:
        raytracer.load(path)
    for word in (path.name.partition(":")[0], *words):
        assert word in str(error.value)
    assert "its library" not in str(error.value)


def fits(kinds: dict[str, str], rows: bytes, count: int, width: int, heap: bytes = b"") -> bytes:
    """A binary table of FITS; kinds: names and formats of its columns."""

    def block(*cards: tuple[str, object]) -> bytes:
        lines = [f"{key:<8}= {value:>20}" if isinstance(value, int)
                 else f"{key:<8}= {value if value == 'T' else repr(value):>20}"
                 for key, value in cards]  # fmt: skip
        return "".join(f"{line:<80}" for line in [*lines, "END"]).encode()

    def padded(data: bytes, fill: bytes) -> bytes:
        return data + fill * (-len(data) % 2880)

    fields = [(f"{key}{number}", value) for number, each in enumerate(kinds.items(), 1)
              for key, value in zip(("TTYPE", "TFORM"), each, strict=True)]  # fmt: skip
    head = block(("SIMPLE", "T"), ("BITPIX", 8), ("NAXIS", 0), ("EXTEND", "T"))
    table = block(
        ("XTENSION", "BINTABLE"), ("BITPIX", 8), ("NAXIS", 2), ("NAXIS1", width),
        ("NAXIS2", count), ("PCOUNT", len(heap)), ("GCOUNT", 1), ("TFIELDS", len(kinds)), *fields,
    )  # fmt: skip
    return padded(head, b" ") + padded(table, b" ") + padded(rows + heap, b"\0")


XYZ = dict.fromkeys("xyz", "E")
BIG_ENDIAN = POINTS.astype(">f4")


@pytest.mark.parametrize(
    ("kind", "descriptor"),
    [
        ("PE(250000)", struct.pack(">ii", 250_000, 0)),  # all rows share the bytes
        ("PA(1000000)", struct.pack(">ii", 1_000_000, 0)),
        ("1QD(50000000000)", struct.pack(">qq", 50 * HUGE, 0)),  # beyond the file
        ("PI(4)", struct.pack(">ii", -4, -8)),
    ],
)
def test_arrays_of_variable_length_are_not_read(
    kind: str, descriptor: bytes, tmp_path: Path
) -> None:
    pytest.importorskip("astropy")
    rows = b"".join(row.tobytes() + descriptor for row in np.repeat(BIG_ENDIAN, 1000, axis=0))
    (tmp_path / "a.fits").write_bytes(
        fits(XYZ | {"flux": kind}, rows, 4000, 12 + len(descriptor), bytes(1_000_000))
    )
    with pytest.warns(UserWarning, match="a.fits: columns of arrays of variable length, 'flux'"):
        scene = raytracer.load(tmp_path / "a.fits")
    (spheres,) = scene.spheres
    np.testing.assert_array_equal(spheres.centers, np.repeat(POINTS, 1000, axis=0))


def test_a_table_of_arrays_of_variable_length_alone(tmp_path: Path) -> None:
    pytest.importorskip("astropy")
    rows = struct.pack(">6i", 1, 0, 1, 4, 1, 8) * 4
    table = fits(dict.fromkeys("xyz", "PE(1)"), rows, 4, 24, bytes(12))
    (tmp_path / "a.fits").write_bytes(table)
    refused(tmp_path / "a.fits", "'x', 'y', 'z'", "columns of a fixed length")


@pytest.mark.parametrize("count", [HUGE, 300])
def test_rows_that_a_table_of_fits_lacks(count: int, tmp_path: Path) -> None:
    pytest.importorskip("astropy")
    (tmp_path / "a.fits").write_bytes(fits(XYZ, BIG_ENDIAN.tobytes(), count, 12))
    refused(tmp_path / "a.fits", f"{count:,} rows of 12 bytes", "NAXIS2")


VOTABLE = """<?xml version="1.0"?><VOTABLE version="1.4"><RESOURCE><TABLE nrows="{}">
<FIELD name="x" datatype="float"/><FIELD name="y" datatype="float"/>
<FIELD name="z" datatype="float"/><DATA>{}</DATA></TABLE></RESOURCE></VOTABLE>"""
ROWS = "".join(f"<TR><TD>{x}</TD><TD>{y}</TD><TD>{z}</TD></TR>" for x, y, z in POINTS.tolist())
STREAM = base64.b64encode(BIG_ENDIAN.tobytes()).decode()


@pytest.mark.parametrize(
    "data",
    [
        f"<TABLEDATA>{ROWS}</TABLEDATA>",
        f'<BINARY><STREAM encoding="base64">{STREAM}</STREAM></BINARY>',
    ],
)
def test_rows_that_a_votable_lacks(data: str, tmp_path: Path) -> None:
    pytest.importorskip("astropy")
    path = tmp_path / "a.vot"
    path.write_text(VOTABLE.format(HUGE, data))
    refused(path, "1,000,000,000 rows (nrows)")
    path.write_text(VOTABLE.format(4, data))
    np.testing.assert_array_equal(raytracer.load(path).spheres[0].centers, POINTS)


def words(*numbers: int, form: str = "I") -> bytes:
    return struct.pack(f"<{len(numbers)}{form}", *numbers)


BYTES = POINTS.tobytes()
BLOCK = zlib.compress(BYTES)
ARRAY = '<DataArray type="Float32" NumberOfComponents="{}" Name="{}" format="{}" {}>{}</DataArray>'
CELLS = "".join(
    f'<DataArray type="Int64" Name="{name}" format="ascii"/>'
    for name in ("connectivity", "offsets", "types")
)


def vtk(
    points: int = 4, head: bytes = words(1, 1 << 15, len(BYTES), len(BLOCK)), block: bytes = BLOCK,
    *, kind: str = "PolyData", width: int = 3, name: str = "Points", form: str = "binary",
    encoding: str = "base64", form_of_words: str = "UInt32", compressor: str = "ZLib",
) -> bytes:  # fmt: skip
    """A file of XML with an array of points, or another array beside these."""
    packed = base64.b64encode(head) + base64.b64encode(block)
    packed = head + block if encoding == "raw" else packed
    is_here = form == "binary"
    array = ARRAY.format(width, name, form, 'offset="0"' * (not is_here), "{}")
    text = ARRAY.format(3, "Points", "ascii", "", " ".join(map(str, POINTS.ravel().tolist())))
    places = array if name == "Points" else text
    other = "" if name == "Points" else array
    after = f'<AppendedData encoding="{encoding}">\n _'
    cells = f"<Cells>{CELLS}</Cells>" if kind == "UnstructuredGrid" else ""
    start = (
        f'<?xml version="1.0"?><VTKFile type="{kind}" version="1.0" byte_order="LittleEndian" '
        f'header_type="{form_of_words}"'
        + f' compressor="vtk{compressor}DataCompressor"'
        * bool(compressor)
        + f'><{kind}><Piece NumberOfPoints="{points}" NumberOfCells="0"><Points>{places}</Points>'
        f"<PointData>{other}</PointData>{cells}</Piece></{kind}>"
    ).encode()
    if is_here:
        return start.replace(b"{}", packed) + b"</VTKFile>"
    return start.replace(b"{}", b"") + after.encode() + packed + b"</AppendedData></VTKFile>"


@pytest.mark.parametrize("kind", ["PolyData", "UnstructuredGrid"])
@pytest.mark.parametrize(("form", "encoding"), [("binary", "base64"), ("appended", "base64"),
                                                ("appended", "raw")])  # fmt: skip
@pytest.mark.parametrize("word", ["UInt32", "UInt64"])
@pytest.mark.parametrize("compressor", ["ZLib", ""])
def test_points_of_vtk_in_blocks(
    kind: str, form: str, encoding: str, word: str, compressor: str, tmp_path: Path
) -> None:
    pytest.importorskip("vtkmodules")
    numbers = (1, 1 << 15, len(BYTES), len(BLOCK)) if compressor else (len(BYTES),)
    content = vtk(
        head=words(*numbers, form="I" if word == "UInt32" else "Q"),
        block=BLOCK if compressor else BYTES, kind=kind, form=form, encoding=encoding,
        form_of_words=word, compressor=compressor,
    )  # fmt: skip
    (tmp_path / "a.vtu").write_bytes(content)
    (spheres,) = raytracer.load(tmp_path / "a.vtu").spheres
    np.testing.assert_array_equal(spheres.centers, POINTS)


@pytest.mark.parametrize(
    "content",
    [
        vtk(points=HUGE),
        vtk(points=HUGE, head=words(48), block=BYTES, compressor=""),
        vtk(points=HUGE, kind="UnstructuredGrid", form="appended", encoding="raw"),
        vtk(head=words(HUGE, 1 << 15, 0, len(BLOCK))),  # blocks
        vtk(head=words(1, 4 * HUGE, 0, len(BLOCK))),  # the size of a block
        vtk(head=words(1, 1 << 40, 0, 9, form="Q"), form_of_words="UInt64", form="appended"),
        vtk(head=words(1, 1 << 15, 4 * HUGE, len(BLOCK)), form="appended", encoding="raw"),
        vtk(head=words(1, 1 << 15, 48, 4 * HUGE)),  # compressed
        vtk(head=words(1, 4 * HUGE, 0, len(BLOCK)), compressor="LZ4"),
        vtk(head=words(1 << 60, 0, 0, form="Q"), form_of_words="UInt64"),
        vtk(head=words(1 << 60, form="Q"), form_of_words="UInt64", compressor=""),
    ],
)
def test_blocks_of_vtk_that_expand_to_gigabytes(content: bytes, tmp_path: Path) -> None:
    pytest.importorskip("vtkmodules")
    (tmp_path / "a.vtu").write_bytes(content)
    refused(tmp_path / "a.vtu", "'Points'", "of values", "write it without compression")


def test_an_array_of_many_components_is_named(tmp_path: Path) -> None:
    pytest.importorskip("vtkmodules")
    (tmp_path / "a.vtp").write_bytes(vtk(name="density", width=HUGE))
    refused(tmp_path / "a.vtp", "'density'", "14.9 GiB")


LEGACY = "# vtk DataFile Version 3.0\ntitle\nASCII\nDATASET POLYDATA\n"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (f"POINTS {HUGE} float\n0 0 0 1 1 1\n", "POINTS"),
        (f"POINTS 2 float\n0 0 0 1 1 1\nVERTICES {HUGE} {2 * HUGE}\n1 0\n1 1\n", "VERTICES"),
        (f"POINTS 2 float\n0 0 0 1 1 1\nPOINT_DATA 2\nFIELD f 1\nq {HUGE} 2 double\n1 2\n", "q"),
    ],
)
def test_counts_of_legacy_vtk(text: str, name: str, tmp_path: Path) -> None:
    pytest.importorskip("vtkmodules")
    (tmp_path / "a.vtk").write_text(LEGACY + text)
    refused(tmp_path / "a.vtk", f"'{name}'", "of values")


def xlsx(path: Path, **sheets: dict[str, object]) -> Path:
    """Sheets of cells by their places; "bold" is a cell without a value."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, cells in sheets.items():
        sheet = book.create_sheet(name)
        for place, value in cells.items():
            if value == "bold":
                sheet[place].font = openpyxl.styles.Font(bold=True)
            else:
                sheet[place] = value
    book.save(path)
    return path


TABLE: dict[str, object] = {
    "A1": "x", "B1": "y", "C1": "z",
    **{f"{axis}{row}": float(POINTS[row - 2, "ABC".index(axis)])
       for row in range(2, 6) for axis in "ABC"},
}  # fmt: skip
FAR = "XFD1048576"


def test_cells_of_a_spreadsheet_far_apart(tmp_path: Path) -> None:
    pytest.importorskip("python_calamine")
    path = xlsx(tmp_path / "a.xlsx", Grains=TABLE | {FAR: 1})
    refused(path, "sheet 'Grains' spans 1,048,576 rows and 16,384 columns", "delete cells")
    path = xlsx(tmp_path / "b.xlsx", Grains=TABLE | {"AZ1048576": 1})
    refused(path, "sheet 'Grains' spans 1,048,576 rows and 52 columns")
    refused(xlsx(tmp_path / "c.xlsx", First={FAR: 1}, Grains=TABLE), "sheet 'First'")


@pytest.mark.parametrize(
    ("name", "sheets"),
    [
        ("a.xlsx", {"Grains": TABLE | {FAR: "bold"}}),
        ("a.xlsx", {"Grains": TABLE | {"XFD2": 1}}),
        ("a.xlsx:Grains & <b>", {"Far": {FAR: 1}, "Grains & <b>": TABLE}),
    ],
)
def test_a_spreadsheet_with_far_cells_that_are_not_read(
    name: str, sheets: dict[str, dict[str, object]], tmp_path: Path
) -> None:
    pytest.importorskip("python_calamine")
    xlsx(tmp_path / "a.xlsx", **sheets)
    (spheres,) = raytracer.load(tmp_path / name).spheres
    np.testing.assert_array_equal(spheres.centers, POINTS)


def test_the_stated_range_of_a_sheet_has_no_effect(tmp_path: Path) -> None:
    pytest.importorskip("python_calamine")
    path = xlsx(tmp_path / "a.xlsx", Grains=TABLE)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content.replace(b'"A1:C5"', f'"A1:{FAR}"'.encode()))
    np.testing.assert_array_equal(raytracer.load(path).spheres[0].centers, POINTS)


ODS = (
    '<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body>'
    "<office:spreadsheet>{}</office:spreadsheet></office:body></office:document-content>"
)


def ods_row(*values: object, empty: int = 0, cells: int = 1, rows: int = 1) -> str:
    """A row of .ods that is repeated, with empty cells before its values, the last repeated."""
    texts = [f'<table:table-cell table:number-columns-repeated="{empty}"/>' * bool(empty)]
    for place, value in enumerate(values, 1):
        kind = f'float" office:value="{value}' if isinstance(value, float) else "string"
        times = cells if place == len(values) else 1
        texts.append(
            f'<table:table-cell office:value-type="{kind}" table:number-columns-repeated="{times}">'
            f"<text:p>{value}</text:p></table:table-cell>"
        )
    return (
        f'<table:table-row table:number-rows-repeated="{rows}">{"".join(texts)}</table:table-row>'
    )


ODS_TABLE = (
    "<table:table-row>"
    + ods_row("x", "y", "z").partition(">")[2]
    + "".join(ods_row(*row) for row in POINTS.tolist())
)


def ods(path: Path, *sheets: str) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
        tables = [f'<table:table table:name="S{number}">{rows}</table:table>'
                  for number, rows in enumerate(sheets, 1)]  # fmt: skip
        archive.writestr("content.xml", ODS.format("".join(tables)))
    return path


@pytest.mark.parametrize(
    ("rows", "span"),
    [
        (ods_row(empty=16384, rows=1_048_570) + ods_row(1.0, empty=16383), "16,384 columns"),
        (ods_row(1.0, cells=16384, rows=1_048_570), "1,048,575 rows and 16,384 columns"),
        (ods_row(1.0, cells=2 * HUGE), "6 rows and 2,000,000,000 columns"),
        (ods_row(1.0, 2.0, 3.0, rows=2 * HUGE), "2,000,000,005 rows and 3 columns"),
    ],
)
def test_repeated_cells_of_ods(rows: str, span: str, tmp_path: Path) -> None:
    pytest.importorskip("python_calamine")
    refused(ods(tmp_path / "a.ods", ODS_TABLE + rows), "sheet 'S1'", span)


def test_empty_cells_of_ods_may_be_repeated(tmp_path: Path) -> None:
    pytest.importorskip("python_calamine")
    far = ods_row(empty=16384, rows=1_048_570)
    path = ods(tmp_path / "a.ods", ODS_TABLE + far, far + ods_row(1.0, empty=16383))
    (spheres,) = raytracer.load(f"{path}:S1").spheres
    np.testing.assert_array_equal(spheres.centers, POINTS)
    refused(Path(f"{path}:S2"), "sheet 'S2'")
