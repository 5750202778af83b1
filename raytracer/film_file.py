"""Film files: `.npz` of NumPy, and OpenEXR by its own package (the extra `exr`)."""

from __future__ import annotations

import json
import zipfile
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer import output
from raytracer.errors import DataFileError, UserError, suggestion
from raytracer.film import Backdrop, Film

# 2: the background is opaque and in the sums; their fourth channel tells what samples hit. 1: it is
# transparent, or (of earlier versions) opaque with a fourth channel that is full everywhere.
FORMATS = (1, 2)
SUFFIXES = (".npz", ".exr")
# Arbitrary output variables and the names of their channels in OpenEXR; ids and counts are uint32.
AOVS = {
    "depth": "Z",
    "normal": "XYZ",
    "albedo": "RGB",
    "id": "I",
    "position": "XYZ",
    "samples": "I",
}
WHOLE = ("id", "samples")


def check_aovs(names: str | None) -> tuple[str, ...]:
    """The names in a list with commas; raises UserError for an unknown one."""
    found = [name.strip() for name in (names or "").split(",") if name.strip()]
    for name in found:
        if name not in AOVS:
            raise UserError(f"there is no output variable {name!r}; {suggestion(name, AOVS)}")
    return tuple(dict.fromkeys(found))


def check_target(path: str | Path, half: bool = False) -> Path:
    """Make sure that a film can be written there, before the work. Raises UserError."""
    path = Path(path)
    if path.suffix.lower() not in SUFFIXES:
        raise UserError(f"{path}: films are written as .npz or .exr: give a name that ends so")
    if half and path.suffix.lower() != ".exr":
        raise UserError(f"{path}: 16-bit floats are for .exr: leave out half, or write .exr")
    if path.suffix.lower() == ".exr":
        _require_openexr(path)
    return output.check_file(path)


def save(film: Film, path: str | Path, half: bool = False) -> Path:
    """Write a film; see `Film.save`."""
    path = check_target(path, half)
    if path.suffix.lower() == ".npz":
        _save_npz(film, path)
    else:
        _save_exr(film, path, half)
    return path


def load(path: str | Path) -> Film:
    """Read a film; see `Film.load`."""
    path = Path(path)
    if path.suffix.lower() not in SUFFIXES:
        raise DataFileError(f"{path}: is not a film: films are .npz or .exr files")
    if not path.is_file():
        raise DataFileError(f"{path}: there is no such file")
    return _checked(path, _load_npz(path) if path.suffix.lower() == ".npz" else _load_exr(path))


def _about(film: Film) -> str:
    """What is not an array, as JSON."""
    about = {
        "format": 1 if film.backdrop is None else 2,
        "samples": film.samples,
        "place": [film.x0, film.y0],
        "size": [film.width, film.height],
        "metadata": film.metadata,
    }
    if film.backdrop is not None:
        about["backdrop"] = asdict(film.backdrop)
    return json.dumps(about)


def _film(path: Path, about: str, sums: NDArray[np.float32], aovs: dict[str, NDArray[Any]]) -> Film:
    try:
        said = json.loads(about)
        if said["format"] not in FORMATS:
            raise DataFileError(
                f"{path}: is a film of format {said['format']} and this version reads "
                f"{' and '.join(map(str, FORMATS))}: use the version that wrote it"
            )
        (x0, y0), (width, height) = said["place"], said["size"]
        backdrop = _backdrop(said["backdrop"]) if said["format"] == 2 else None
        return Film(sums, said["samples"], x0, y0, width, height, aovs, said["metadata"], backdrop)
    except (ValueError, KeyError, TypeError) as error:
        raise DataFileError(f"{path}: what it says about itself is damaged ({error})") from error


def _backdrop(said: dict[str, list[float]]) -> Backdrop:
    """The background; raises ValueError for what is none."""
    (r0, g0, b0), (r1, g1, b1) = ([float(v) for v in said[name]] for name in ("bottom", "top"))
    return Backdrop((r0, g0, b0), (r1, g1, b1))


def _checked(path: Path, film: Film) -> Film:
    """Refuse a film that makes no sense."""
    shape = film.sums.shape
    inside = (
        len(shape) == 3
        and shape[2] == 4
        and film.sums.size > 0
        and 0 <= film.x0 <= film.width - shape[1]
        and 0 <= film.y0 <= film.height - shape[0]
    )
    if film.sums.dtype != np.float32 or not inside or film.samples < 0:
        raise DataFileError(
            f"{path}: holds no film: sums must be float32 (h, w, 4) within the picture's size"
        )
    for name, array in film.aovs.items():
        if array.shape[:2] != shape[:2]:
            raise DataFileError(f"{path}: {name} is not of the size of the film")
    return film


def _save_npz(film: Film, path: Path) -> None:
    arrays: dict[str, Any] = {f"aov_{name}": array for name, array in film.aovs.items()}
    with output.renamed(path) as temporary, temporary.open("xb") as file:
        np.savez(file, film=np.array(_about(film)), sums=film.sums, **arrays)


def _load_npz(path: Path) -> Film:
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            if "film" not in stored or "sums" not in stored:
                raise DataFileError(
                    f"{path}: holds no film, only {', '.join(stored.files[:5]) or 'nothing'}"
                )
            aovs = {name: stored[f"aov_{name}"] for name in AOVS if f"aov_{name}" in stored}
            return _film(path, str(stored["film"]), stored["sums"], aovs)
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise DataFileError(f"{path}: cannot be read as a film ({error})") from error


def _require_openexr(path: Path) -> Any:
    if find_spec("OpenEXR") is None:
        raise UserError(f"{path}: OpenEXR files need a package: pip install 'raytracer[exr]'")
    import OpenEXR

    return OpenEXR


def _save_exr(film: Film, path: Path, half: bool) -> None:
    """The mean as the main RGBA, the output variables as layers, the sums (float only) as one.

    The mean is what other programs show; it cannot be turned back into sums bit for bit.
    """
    exr = _require_openexr(path)
    number = np.float16 if half else np.float32
    layers = {"": ("RGBA", film.mean())}
    if not half:
        layers["sums"] = ("RGBA", film.sums)
    elif film.backdrop is not None:  # alpha is 1
        layers["coverage"] = ("Y", film.coverage)
    layers |= {name: (AOVS[name], array) for name, array in film.aovs.items()}
    channels = {}
    for layer, (names, array) in layers.items():
        planes = array.reshape(*film.sums.shape[:2], -1)
        for index, name in enumerate(names):
            plane = planes[..., index]
            if layer not in WHOLE:
                with np.errstate(over="ignore"):  # above 65504 is infinite as a half
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
        "raytracer": _about(film),
    }
    with output.renamed(path) as temporary:
        try:
            exr.File(header, channels).write(str(temporary))
        except RuntimeError as error:
            raise OSError(str(error)) from error


def _load_exr(path: Path) -> Film:
    exr = _require_openexr(path)
    try:
        with exr.File(str(path), separate_channels=True) as file:
            about, planes = file.header().get("raytracer"), file.channels()
            stored = {name: channel.pixels for name, channel in planes.items()}
    except (RuntimeError, OSError) as error:
        raise DataFileError(f"{path}: cannot be read as OpenEXR ({error})") from error
    if about is None or "R" not in stored:
        raise DataFileError(f"{path}: is an OpenEXR file of another program, not a film")
    aovs = {
        name: _stacked(stored, name, AOVS[name])
        for name in AOVS
        if f"{name}.{AOVS[name][0]}" in stored
    }
    if "sums.R" in stored:
        return _film(path, about, _stacked(stored, "sums", "RGBA"), aovs)
    mean = _stacked(stored, "", "RGBA").astype(np.float32)
    if "coverage.Y" in stored:
        mean[..., 3] = _stacked(stored, "coverage", "Y")
    film = _film(path, about, mean, aovs)
    film.metadata["half"] = True  # the sums are gone: this is the mean of the samples
    film.metadata["samples_before"], film.samples = film.samples, 1
    return film


def _stacked(stored: dict[str, NDArray[Any]], layer: str, names: str) -> NDArray[Any]:
    """Channels of a layer side by side; (h, w) of one."""
    planes = [stored[f"{layer}.{name}" if layer else name] for name in names]
    return planes[0] if len(planes) == 1 else np.ascontiguousarray(np.stack(planes, axis=-1))
