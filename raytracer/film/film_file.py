"""Film files: NumPy's `.npz`, and OpenEXR by its own package (the extra `exr`)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raytracer.arguments import mapping, truth
from raytracer.errors import DataFileError, UserError, shown, shown_value
from raytracer.files import output
from raytracer.files.access import (
    STANDARD_INPUT,
    OpenFile,
    opened,
    parse_json,
    path_of,
    printed,
    reading,
)
from raytracer.film.aovs import AOVS, INTEGERS, channels
from raytracer.memory import require_room, size_text
from raytracer.settings import MAX_SAMPLES

if TYPE_CHECKING:
    from raytracer.files.npz import Archive
    from raytracer.film.film import Film

Color = tuple[float, float, float]

FORMATS = (1, 2, 3)
"""3: as 2 or 1, by whether there is a backdrop, with the samples of each pixel.
2: the sums hold an opaque background, and their fourth channel counts hits.
1: the background is transparent."""

SUFFIXES = (".npz", ".exr")
ABOUT_BYTES = 1 << 24
"""Most bytes of the metadata; those of a film have a few thousand."""


class StoredFilm(NamedTuple):
    """The content of a film file: the fields of `Film` of the same names.

    backdrop: linear RGB at the lower and the upper edge, or None.
    counts: samples of each pixel, or None.
    """

    sums: NDArray[np.float32]
    samples: int
    x0: int
    y0: int
    width: int
    height: int
    aovs: dict[str, NDArray[Any]]
    metadata: dict[str, Any]
    backdrop: tuple[Color, Color] | None
    source: str
    counts: NDArray[Any] | None = None


def check_target(path: str | Path, half: bool = False, replaces: str | Path | None = None) -> Path:
    """Check that a film can be written to a path, before it is rendered.

    Args:
        path: of the file.
        half: whether it is to have 16-bit floats.
        replaces: the film that it continues, which it may replace.

    Returns:
        The path.

    Raises:
        UserError: another suffix, or the file cannot be written.
    """
    path, half = path_of(path), truth(half, "half", UserError)
    if path.suffix.lower() not in SUFFIXES:
        raise UserError(
            f"{path}: films are written as .npz or .exr: give a name with one of these endings"
        )
    if half and path.suffix.lower() != ".exr":
        raise UserError(f"{path}: 16-bit floats are for .exr: leave out half, or write .exr")
    if path.suffix.lower() == ".exr":
        _require_openexr(path)
    return output.check_file(path, replaces)


def require_space(film: Film, path: str | Path, aovs: Sequence[str] = ()) -> None:
    """Refuse a film for which its disk has no room, before it is rendered.

    Args:
        film: of the size that will be saved.
        path: the file. OpenEXR compresses, so that the size of an `.exr` is not known before.
        aovs: names of the output variables that will be added.

    Raises:
        OutputError: there is no room.
    """
    height, width = film.sums.shape[:2]
    per_pixel = 16 + 4 * channels(aovs)
    if Path(path).suffix.lower() == ".npz":
        output.require_space(path, per_pixel * width * height)


def save(
    film: Film, path: str | Path, half: bool = False, batch: output.Batch | None = None
) -> Path:
    """Write a film; arguments and errors as for `Film.save`."""
    film.require_whole()
    _require_aovs(film)
    about = _about(film, half)
    path = check_target(path, half, film.source or None)
    if path.suffix.lower() == ".npz":
        _save_npz(film, about, path, batch)
    else:
        _save_exr(film, about, path, half, batch)
    return path


def check_source(path: str | Path) -> None:
    """Refuse a file whose suffix is not that of a film. Raises DataFileError."""
    path = Path(path)
    if path != STANDARD_INPUT and path.suffix.lower() not in SUFFIXES:
        raise DataFileError(
            f"{path}: is not a film: films are .npz or .exr files, written by "
            "`raytracer render --film`"
        )


def read(path: str | Path, aovs: Sequence[str] | None = None) -> StoredFilm:
    """Read a film file; arguments and errors as for `Film.load`.

    Output variables of an `.npz` that are not named are not read; OpenEXR reads all of a file.
    """
    aovs = tuple(AOVS) if aovs is None else aovs
    path = path_of(path)
    check_source(path)
    suffix = path.suffix.lower()
    with opened(path, standard_input=True) as file:
        if file.is_standard_input:
            from raytracer.film import exr_header

            suffix = ".exr" if file.file.peek(4)[:4] == exr_header.MAGIC else ".npz"
        with reading(file.source, "a film"):
            reader = _read_npz if suffix == ".npz" else _read_exr
            return _checked(reader(file, aovs))


def _about(film: Film, half: bool) -> str:
    """Return the fields that are not arrays, as JSON."""
    number = 1 if film.backdrop is None else 2
    about = {
        "format": 3 if film.counts is not None and not half else number,
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
            f"metadata: {shown_value(film.metadata)} holds what JSON has not; use texts, numbers, "
            "lists and dictionaries"
        ) from None


def _stored_film(
    source: str,
    about: str,
    sums: NDArray[Any],
    aovs: dict[str, NDArray[Any]],
    counts: NDArray[Any] | None = None,
) -> StoredFilm:
    """Return arrays and metadata together. Raises DataFileError where the metadata are damaged."""
    values = parse_json(about, source, "its metadata")
    if values.get("format") not in FORMATS:
        raise DataFileError(
            f"{source}: is a film of format {shown_value(values.get('format'))} and this version "
            f"reads {' and '.join(map(str, FORMATS))}: use the version that wrote it"
        )
    samples = _integers(values, "samples", 1, source)[0]
    x0, y0 = _integers(values, "place", 2, source)
    width, height = _integers(values, "size", 2, source)
    metadata = values.get("metadata")
    kinds = {"digest": str, "settings": dict, "transparent": bool, "half": bool}
    table = metadata if isinstance(metadata, dict) else {}
    wrong = [name for name, kind in kinds.items() if not isinstance(table.get(name, kind()), kind)]
    if not isinstance(metadata, dict) or wrong:
        where = f"metadata.{wrong[0]}" if wrong else "metadata"
        raise DataFileError(f"{source}: its metadata are damaged: {where}")
    has_backdrop = values["format"] == 2 or (values["format"] == 3 and "backdrop" in values)
    backdrop = _backdrop(values.get("backdrop"), source) if has_backdrop else None
    if (values["format"] == 3) != (counts is not None):
        raise DataFileError(f"{source}: holds no film: counts go with format 3, and only there")
    place = x0, y0, width, height
    return StoredFilm(sums, samples, *place, aovs, metadata, backdrop, source, counts)


def _backdrop(value: Any, source: str) -> tuple[Color, Color]:
    """Return the background in the metadata. Raises DataFileError if it is damaged."""
    table = value if isinstance(value, dict) else {}
    colors = []
    for name in ("bottom", "top"):
        color = table.get(name)
        numbers = color if isinstance(color, list) else []
        if len(numbers) != 3 or not all(type(v) in (int, float) and 0 <= v <= 1 for v in numbers):
            raise DataFileError(
                f"{source}: its metadata are damaged: backdrop is {shown_value(value)}"
            )
        colors.append((float(numbers[0]), float(numbers[1]), float(numbers[2])))
    return colors[0], colors[1]


def _integers(table: dict[str, Any], name: str, count: int, source: str) -> list[int]:
    """Return integers of the metadata. Raises DataFileError if one is negative or too large."""
    value = table.get(name)
    values: list[Any] = value if isinstance(value, list) else [value]
    valid = [type(v) is int and 0 <= v <= MAX_SAMPLES for v in values]
    if len(values) != count or not all(valid):
        raise DataFileError(f"{source}: its metadata are damaged: {name} is {shown_value(value)}")
    return values


def _checked(film: StoredFilm) -> StoredFilm:
    """Return a film, checked. Raises DataFileError if its arrays do not fit."""
    source, shape = film.source, film.sums.shape
    inside = (
        len(shape) == 3
        and shape[2] == 4
        and film.sums.size > 0
        and 0 <= film.x0 <= film.width - shape[1]
        and 0 <= film.y0 <= film.height - shape[0]
    )
    if film.sums.dtype != np.float32 or not inside:
        raise DataFileError(
            f"{source}: holds no film: sums must be float32 (h, w, 4) within the picture's size"
        )
    counts = film.counts
    if counts is not None and (
        counts.dtype != np.uint32 or counts.shape != shape[:2] or counts.max() != film.samples
    ):
        raise DataFileError(
            f"{source}: holds no film: counts must be uint32 {shape[:2]}, at most {film.samples}"
        )
    try:
        _require_aovs(film)
    except UserError as error:
        raise DataFileError(f"{source}: {error}") from None
    # NumPy saves arrays in Fortran order as they are in memory.
    return film._replace(sums=np.ascontiguousarray(film.sums))


def _require_aovs(film: Film | StoredFilm) -> None:
    """Refuse output variables that do not fit the sums. Raises UserError."""
    shape = film.sums.shape
    for name, array in mapping(film.aovs, "aovs", UserError).items():
        if name not in AOVS or not isinstance(array, np.ndarray):
            raise UserError(
                f"aovs: {shown_value(name)} is no array of an output variable; known are "
                f"{', '.join(AOVS)}"
            )
        required = shape[:2] if len(AOVS[name]) == 1 else (*shape[:2], len(AOVS[name]))
        kind = "u" if name in INTEGERS else "f"
        if array.shape != required or array.dtype.kind != kind or array.dtype.itemsize > 4:
            raise UserError(
                f"the output variable {name} is {array.dtype} {array.shape}, and the film needs "
                f"{'uint32' if kind == 'u' else 'float32'} {required}"
            )


def _save_npz(film: Film, about: str, path: Path, batch: output.Batch | None) -> None:
    arrays: dict[str, Any] = {f"aov_{name}": array for name, array in film.aovs.items()}
    if film.counts is not None:
        arrays["counts"] = film.counts
    with output.replacing(path, batch, film.source or None) as file:
        np.savez(file, film=np.array(about), sums=film.sums, **arrays)


def _read_npz(file: OpenFile, names: Sequence[str]) -> StoredFilm:
    from raytracer.files.npz import Archive

    with Archive(file) as archive:
        members = archive.members
        if not _is_film(archive):
            listed = ", ".join(shown(name) for name in list(members)[:5])
            raise DataFileError(f"{file.source}: holds no film, only {listed or 'nothing'}")
        layers = [name for name in AOVS if name in names and f"aov_{name}" in members]
        numbers = [name for name in ("counts",) if name in members]
        archive.require_room(["film", "sums", *numbers, *(f"aov_{name}" for name in layers)])
        about = _text_of(archive)
        sums = archive.array("sums")
        aovs = {name: archive.array(f"aov_{name}") for name in layers}
        counts = archive.array("counts") if numbers else None
    return _stored_film(file.source, about, sums, aovs, counts)


def _require_openexr(path: Path) -> Any:
    if find_spec("OpenEXR") is None:
        raise UserError(f"{path}: OpenEXR files need a package: pip install 'raytracer[exr]'")
    import OpenEXR

    return OpenEXR


def _save_exr(film: Film, about: str, path: Path, half: bool, batch: output.Batch | None) -> None:
    """Write the mean as main RGBA, output variables as layers, and float32 sums as a layer.

    Other programs show the mean; the sums cannot be computed from it bit for bit.
    """
    exr = _require_openexr(path)
    number = np.float16 if half else np.float32
    layers: dict[str, tuple[str, NDArray[Any]]] = {"": ("RGBA", film.mean())}
    if not half:
        layers["sums"] = ("RGBA", film.sums)
    elif film.backdrop is not None:  # alpha is 1
        layers["coverage"] = ("Y", film.coverage)
    layers |= {name: (AOVS[name], array) for name, array in film.aovs.items()}
    if film.counts is not None and not half:
        layers["counts"] = ("Y", film.counts)
    channels = {}
    for layer, (names, array) in layers.items():
        planes = array.reshape(*film.sums.shape[:2], -1)
        for index, name in enumerate(names):
            plane = planes[..., index]
            if array.dtype.kind == "f":
                with np.errstate(over="ignore"):  # above 65504 a half is infinite
                    plane = plane.astype(number)
            key = f"{layer}.{name}" if layer else name
            channels[key] = np.ascontiguousarray(plane)
    height, width = film.sums.shape[:2]
    window = ((0, 0), (film.width - 1, film.height - 1))
    corner = (film.x0, film.y0), (film.x0 + width - 1, film.y0 + height - 1)
    header = {
        "compression": exr.ZIP_COMPRESSION,
        "type": exr.scanlineimage,
        "displayWindow": tuple(np.array(end, np.int32) for end in window),
        "dataWindow": tuple(np.array(end, np.int32) for end in corner),
        "raytracer": about,
    }
    with output.replacing(path, batch, film.source or None) as file:
        try:
            exr.File(header, channels).write(file.name)
        except RuntimeError as error:
            raise OSError(str(error).replace(file.name, str(path))) from error


def read_metadata(path: str | Path, is_input: bool = True) -> dict[str, Any]:
    """Return the metadata of a film, without its pixels; {} if it has none, or is no film.

    Args:
        path: of the file.
        is_input: False if it may be replaced; see `access.opened`.

    Raises:
        UserError: it cannot be read, or OpenEXR is not installed.
    """
    from raytracer.film import exr_header

    with opened(path, error=DataFileError, is_input=is_input) as file:
        if file.path.suffix.lower() == ".npz":
            return _npz_metadata(file)
        _require_openexr(file.path)
        about = exr_header.check(file).attributes.get("raytracer")
        return _metadata(about, file.source) if isinstance(about, str) else {}


def _npz_metadata(file: OpenFile) -> dict[str, Any]:
    """Return the metadata of a film in an archive of arrays; {} where it holds something else."""
    from raytracer.files.npz import Archive

    with Archive(file) as archive:
        return _metadata(_text_of(archive), file.source) if _is_film(archive) else {}


def _is_film(archive: Archive) -> bool:
    return "film" in archive.members and "sums" in archive.members


def _text_of(archive: Archive) -> str:
    """Return the text of a film's metadata. Raises DataFileError if they are none."""
    if archive.members["film"].file_size > ABOUT_BYTES:
        raise DataFileError(
            f"{archive.source}: its metadata have more than {size_text(ABOUT_BYTES)}"
        )
    about = archive.array("film")
    if about.shape != () or about.dtype.kind != "U":
        raise DataFileError(f"{archive.source}: its metadata are damaged: they are no text")
    return str(about)


def _metadata(about: str, source: str) -> dict[str, Any]:
    """Return the metadata of the picture among those of a film."""
    found = parse_json(about, source, "its metadata").get("metadata")
    return found if isinstance(found, dict) else {}


def _read_exr(file: OpenFile, names: Sequence[str]) -> StoredFilm:
    from raytracer.film import exr_header

    source = file.source
    exr = _require_openexr(file.path)
    header = exr_header.check(file)
    require_room(source, 2 * header.reading())  # as channels, and stacked as layers
    with (
        reading(source, "OpenEXR"),
        printed() as messages,
        exr.File(file.name, separate_channels=True) as stored_file,
    ):
        about, planes = stored_file.header().get("raytracer"), stored_file.channels()
        stored = {name: channel.pixels for name, channel in planes.items()}
    if messages:  # the library continues after damaged pixels, and leaves them black
        raise DataFileError(f"{source}: cannot be read as OpenEXR ({shown(messages[0], 160)})")
    if not isinstance(about, str) or not {"R", "G", "B", "A"} <= stored.keys():
        raise DataFileError(f"{source}: is an OpenEXR file of another program, not a film")
    size = (header.height, header.width)
    for name, plane in stored.items():
        if plane.shape != size:
            raise DataFileError(f"{source}: its channel '{shown(name)}' is not {size}")
    layers = {
        name: letters
        for name, letters in AOVS.items()
        if name in names and all(f"{name}.{letter}" in stored for letter in letters)
    }
    aovs = {name: _stacked(stored, name, letters) for name, letters in layers.items()}
    if all(f"sums.{letter}" in stored for letter in "RGBA"):
        sums = _stacked(stored, "sums", "RGBA")
        return _stored_film(source, about, sums, aovs, stored.get("counts.Y"))
    mean = _stacked(stored, "", "RGBA").astype(np.float32)
    if "coverage.Y" in stored:
        mean[..., 3] = stored["coverage.Y"]
    film = _stored_film(source, about, mean, aovs)
    film.metadata["half"] = True  # the file has no sums: this is the mean of the samples
    film.metadata["samples_before"] = film.samples
    return film._replace(samples=1, counts=None)


def _stacked(stored: dict[str, NDArray[Any]], layer: str, names: str) -> NDArray[Any]:
    """Return the channels of a layer as one array, (h, w) or (h, w, channels)."""
    planes = [stored[f"{layer}.{name}" if layer else name] for name in names]
    return planes[0] if len(planes) == 1 else np.ascontiguousarray(np.stack(planes, axis=-1))
