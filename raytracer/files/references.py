"""Other files and addresses that a file names: the check before a reader or a library opens one.

Formats that are made of parts name them as `resolve_part` permits. All others hold their data
alone.
"""

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Any
from xml.parsers import expat

from raytracer.config.errors import DataFileError, quote
from raytracer.files.access import OpenFile
from raytracer.files.sandbox import is_below

PIECE = 1 << 20  # bytes that are searched at a time
OVERLAP = 16  # bytes of a piece that are searched again with the next one
HEAD = 1 << 20  # most bytes before the root of XML
_ADDRESS = r"[A-Za-z][A-Za-z\d+.-]*:[/\\]|[/\\]"
_ASCII = rb"(?i)\s*<(?!\?xml)|\s*<\?xml[^>]*encoding\s*=\s*.(utf-8|us-ascii|iso-8859-\d+)\W|" \
         rb"\s*<\?xml(?![^>]*encoding)"  # fmt: skip
_SUSPECT = rb"<!(?!--|\[CDATA)|href"
DATA = "STREAM"  # the element of VOTable whose data may be elsewhere
VOTABLE_TYPE = "http://us-vo.org/xml/VOTable.dtd"  # which old files name, and no parser opens


def resolve_part(file: OpenFile, name: str) -> Path:
    """Return the path of a further file that a file names as a part of itself.

    Raises DataFileError: it is no relative path to a place in the folder of the file, or below it,
    after symbolic links are followed.
    """
    path = file.path.parent / name
    with suppress(OSError, ValueError):  # a null byte, or links in a circle
        if _is_relative(name) and is_below(os.path.realpath(path), find_folders(file)):
            return path
    raise DataFileError(
        f"{file.source}: refers to '{quote(name, 80)}', which is not read: a part must be a file "
        "in its folder or below, named by a relative path"
    )


def _is_relative(name: str) -> bool:
    return not re.match(_ADDRESS, name) and ".." not in re.split(r"[/\\]", name)


def find_folders(file: OpenFile) -> set[str]:
    """Return the real folders of a file: of its path, and of the file that a link there names."""
    if file.is_standard_input:
        return set()
    real = os.path.realpath(file.path)
    return {os.path.realpath(file.path.parent), os.path.dirname(real)}  # noqa: PTH120


def require_no_reference(file: OpenFile) -> None:
    """Refuse XML that names other files or addresses: external entities and document types, and
    data of a VOTable. Raises DataFileError."""
    file.file.seek(0)
    start = file.file.read(OVERLAP).removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"<") and _is_suspect(file):
        found: list[str] = []
        parser = _parser()

        def element(name: str, attributes: dict[str, str]) -> None:
            if name.rpartition(":")[2].upper() == DATA:
                found.extend(value for key, value in attributes.items()
                             if key.rpartition(":")[2].lower() == "href")  # fmt: skip

        def entity(*about: Any) -> None:
            found.extend(filter(None, [about[4]]))

        def document_type(_: str, system: str | None, *others: Any) -> None:
            if system and system != VOTABLE_TYPE and not _is_relative(system):
                found.append(system)

        parser.StartElementHandler = element
        parser.EntityDeclHandler = entity
        parser.StartDoctypeDeclHandler = document_type
        file.file.seek(0)
        with suppress(expat.ExpatError):  # the library reports it, and raw data of VTK are none
            parser.ParseFile(file.file)
        if found:
            raise DataFileError(
                f"{file.source}: refers to '{quote(found[0], 80)}', which is not read: a file of "
                "this kind must hold its data itself, without references to files and addresses"
            )
    file.file.seek(0)


def read_xml_root(file: OpenFile) -> tuple[str, dict[str, str]]:
    """Return the name and the attributes of the root of XML; "" without any."""
    found: list[tuple[str, dict[str, str]]] = []
    parser = _parser()
    parser.StartElementHandler = lambda name, attributes: found.append((name, attributes))
    file.file.seek(0)
    with suppress(expat.ExpatError):
        for _ in range(0, HEAD, OVERLAP << 8):
            if found or not (piece := file.file.read(OVERLAP << 8)):
                break
            parser.Parse(piece)
    file.file.seek(0)
    return found[0] if found else ("", {})


def _parser() -> Any:
    parser = expat.ParserCreate()
    parser.buffer_text = True
    return parser


def _is_suspect(file: OpenFile) -> bool:
    """Whether XML may name another file; most has none of the letters for it."""
    file.file.seek(0)
    start = file.file.read(HEAD >> 8).removeprefix(b"\xef\xbb\xbf")
    if not re.match(_ASCII, start):
        return True
    file.file.seek(0)
    before = b""
    while piece := file.file.read(PIECE):
        if re.search(_SUSPECT, before + piece):
            return True
        before = piece[-OVERLAP:]
    return False
