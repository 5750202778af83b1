"""Film files: NumPy's `.npz`, and OpenEXR for other programs by its own package (extra `exr`)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from raytracer.config.arguments import check_mapping
from raytracer.config.errors import DataFileError, UserError, quote, quote_value
from raytracer.files import output
from raytracer.files.access import (
    STANDARD_INPUT,
    OpenFile,
    check_path,
    open_file,
    parse_json,
    silence_stderr,
    translate_errors,
)
from raytracer.film.aovs import AOVS, INTEGERS
from raytracer.system.memory import format_size

if TYPE_CHECKING:
    from raytracer.files.npz import Archive
    from raytracer.film.film import Film

FORMAT = 3
"""Of new films; those of 1 and 2 lack the samples of each pixel, and of 1 a backdrop."""

MEMBERS = ("film", "sums")  # of every film; its metadata as text, and the sums
SUFFIXES = (".npz", ".exr")
MAX_METADATA = 1 << 24  # maximum size of the metadata in bytes; those of a film have a few thousand


def check_target(path: str | Path, replaces: str | Path | None = None) -> Path:
    """Return the path of a film after checking that it, or `replaces`, can be written."""
    path = check_path(path)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise UserError(
            f"{path}: films are written as .npz or .exr: give a name with one of these endings"
        )
    if suffix == ".exr":
        require_openexr(path)
    return output.check_file(path, replaces)


def save(film: Film, path: str | Path) -> Path:
    """Write a film; arguments and errors as for `Film.save`."""
    film.require_whole()
    _require_aovs(film)
    about = _about(film)
    path = check_target(path, film.source or None)
    if path.suffix.lower() == ".npz":
        arrays: dict[str, Any] = {f"aov_{name}": array for name, array in film.aovs.items()}
        if film.counts is not None:
            arrays["counts"] = film.counts
        with output.replace_file(path, film.source or None) as file:
            np.savez(file, film=np.array(about), sums=film.sums, **arrays)
    else:
        _save_exr(film, about, path)
    return path


def check_source(path: str | Path) -> None:
    """Refuse a file whose suffix is not that of a film. Raises DataFileError."""
    path = Path(path)
    if path.suffix.lower() == ".exr":
        raise DataFileError(
            f"{path}: OpenEXR is for other programs: give the film that `raytracer render --film "
            "NAME.npz` saved"
        )
    if path != STANDARD_INPUT and path.suffix.lower() != ".npz":
        raise DataFileError(
            f"{path}: is not a film: films are .npz files, written by `raytracer render --film`"
        )


def load(cls: type[Film], path: str | Path, aovs: Sequence[str] | None = None) -> Film:
    """Read a film file; arguments and errors as for `Film.load`."""
    path = check_path(path)
    check_source(path)
    with open_file(path, standard_input=True) as file, translate_errors(file.source, "a film"):
        return _read_npz(cls, file, tuple(AOVS) if aovs is None else aovs)


def read_metadata(path: str | Path, is_input: bool = True) -> dict[str, Any]:
    """Return the metadata of a film, without reading its pixels; {} if there are none. is_input:
    False if it may be replaced."""
    from raytracer.files.npz import Archive

    about: Any
    with open_file(path, error=DataFileError, is_input=is_input) as file:
        if file.path.suffix.lower() == ".npz":
            with Archive(file) as archive:
                about = _decode_metadata(archive) if {*MEMBERS} <= {*archive.members} else None
        else:
            exr = require_openexr(file.path)
            with (
                translate_errors(file.source, "OpenEXR"),
                silence_stderr(),
                exr.File(file.name, header_only=True) as stored,
            ):
                about = stored.header().get("raytracer")
        if not isinstance(about, str):
            return {}
        metadata = parse_json(about, file.source, "its metadata").get("metadata")
    return metadata if isinstance(metadata, dict) else {}


def _about(film: Film) -> str:
    about = {
        "format": FORMAT,
        "samples": film.samples,
        "place": [film.x0, film.y0],
        "size": [film.width, film.height],
        "metadata": film.metadata,
    }
    if film.backdrop is not None:
        about["backdrop"] = film.backdrop._asdict()
    try:
        return json.dumps(about)
    except (TypeError, ValueError, RecursionError):
        raise UserError(
            f"metadata: {quote_value(film.metadata)} cannot be saved as JSON: use texts, numbers, "
            "lists and dictionaries"
        ) from None


def _require_aovs(film: Film) -> None:
    """Refuse output variables that do not fit the sums. Raises UserError."""
    shape = film.sums.shape[:2]
    for name, array in check_mapping(film.aovs, "aovs").items():
        if name not in AOVS or not isinstance(array, np.ndarray):
            raise UserError(
                f"aovs: {quote_value(name)} is not an output variable with an array; known are "
                f"{', '.join(AOVS)}"
            )
        required = shape if len(AOVS[name]) == 1 else (*shape, len(AOVS[name]))
        kind = "u" if name in INTEGERS else "f"
        if array.shape != required or array.dtype.kind != kind or array.dtype.itemsize > 4:
            raise UserError(
                f"the output variable {name} is {array.dtype} {array.shape}, and the film needs "
                f"{'uint32' if kind == 'u' else 'float32'} {required}"
            )


def _read_npz(cls: type[Film], file: OpenFile, names: Sequence[str]) -> Film:
    from raytracer.config.fields import find_definitions
    from raytracer.files.npz import Archive
    from raytracer.model.settings import RenderSettings

    source = file.source
    with Archive(file) as archive:
        if not {*MEMBERS} <= {*archive.members}:
            listed = ", ".join(quote(name) for name in list(archive.members)[:5])
            raise DataFileError(f"{source}: is not a film: it has {listed or 'nothing'}")
        layers = {name: f"aov_{name}" for name in AOVS if name in names}
        layers = {name: member for name, member in layers.items() if member in archive.members}
        counted = ["counts"] if "counts" in archive.members else []
        archive.require_room([*MEMBERS, *counted, *layers.values()])
        values = parse_json(_decode_metadata(archive), source, "its metadata")
        if values.get("format") not in range(1, FORMAT + 1):
            raise DataFileError(
                f"{source}: is a film of format {quote_value(values.get('format'))} and this "
                f"version reads 1 to {FORMAT}: use the version that wrote it"
            )
        sums = archive.array("sums")
        aovs = {name: archive.array(member) for name, member in layers.items()}
        counts = archive.array("counts") if counted else None
    try:
        (x0, y0), (width, height) = values["place"], values["size"]
        ends = values.get("backdrop")
        backdrop: Any = None if ends is None else (ends["bottom"], ends["top"])
        film = cls(sums, values["samples"], x0, y0, width, height, aovs, dict(values["metadata"]),
                   backdrop, source, counts)  # fmt: skip
        film.require_whole()
        _require_aovs(film)
        dpi = film.metadata.get("settings", {}).get("dpi")  # which pictures of the film state
        if dpi is not None:
            find_definitions(RenderSettings)["dpi"].kind.checked(dpi, "dpi")
    except UserError as error:
        raise DataFileError(f"{source}: is not a valid film: {error}") from None
    except (AttributeError, KeyError, TypeError, ValueError):
        raise DataFileError(f"{source}: its metadata are damaged") from None
    return film


def _decode_metadata(archive: Archive) -> str:
    """Return the metadata of a film as text. Raises DataFileError if they are damaged."""
    if archive.members["film"].file_size > MAX_METADATA:
        raise DataFileError(
            f"{archive.source}: its metadata have more than {format_size(MAX_METADATA)}"
        )
    about = archive.array("film")
    if about.shape != () or about.dtype.kind != "U":
        raise DataFileError(f"{archive.source}: its metadata are damaged: they are not text")
    return str(about)


def require_openexr(path: Path) -> Any:
    """Return the package for OpenEXR files. Raises UserError: it is missing, or too old."""
    if find_spec("OpenEXR") is None:
        raise UserError(f"{path}: OpenEXR files need a package: pip install 'raytracer[exr]'")
    import OpenEXR

    version = str(getattr(OpenEXR, "__version__", "0"))
    if [int(part) for part in version.split(".")[:2] if part.isdecimal()] < [3, 4]:
        raise UserError(
            f"{path}: the package OpenEXR {version} cannot read headers alone: pip install "
            "--upgrade 'raytracer[exr]'"
        )
    return OpenEXR


def _save_exr(film: Film, about: str, path: Path) -> None:
    """Write the mean as main RGBA, output variables and, with a backdrop, coverage as layers."""
    exr = require_openexr(path)
    layers: dict[str, tuple[str, NDArray[Any]]] = {"": ("RGBA", film.mean())}
    if film.backdrop is not None:  # alpha is 1
        layers["coverage"] = ("Y", film.coverage)
    layers |= {name: (AOVS[name], array) for name, array in film.aovs.items()}
    planes = {}
    for layer, (names, array) in layers.items():
        for name, plane in zip(names, np.moveaxis(np.atleast_3d(array), -1, 0), strict=True):
            planes[f"{layer}.{name}" if layer else name] = np.ascontiguousarray(plane)
    x0, y0, x1, y1 = film.crop
    windows = {
        "displayWindow": ((0, 0), (film.width - 1, film.height - 1)),
        "dataWindow": ((x0, y0), (x1 - 1, y1 - 1)),
    }
    header = {
        "compression": exr.ZIP_COMPRESSION,
        "type": exr.scanlineimage,
        "raytracer": about,
        **{name: tuple(np.array(end, np.int32) for end in ends) for name, ends in windows.items()},
    }
    with output.replace_file(path, film.source or None) as file:
        try:
            exr.File(header, planes).write(file.name)
        except RuntimeError as error:
            raise OSError(str(error).replace(file.name, str(path))) from error
