"""Reads cameras from files: `[camera]` of a scene file, or the camera of a picture."""

from pathlib import Path

from raytracer.errors import DataFileError, SceneError, UserError, naming
from raytracer.files.access import opened
from raytracer.film.png import read_metadata
from raytracer.scene import tables
from raytracer.scene.camera import Camera
from raytracer.scene.load import read_table
from raytracer.scene.source import SCENE_SUFFIXES


def camera_of(name: str) -> Camera:
    """Return the camera of a picture or a scene file, which needs no spheres."""
    path = Path(name)
    if path.suffix.lower() in SCENE_SUFFIXES:
        return _of_scene(path)
    about = read_metadata(path) or {}
    try:
        return Camera(**about["camera"])
    except (KeyError, TypeError, UserError):
        raise DataFileError(
            f"{name}: has no camera: give a picture that raytracer made, or a scene file with "
            "[camera]"
        ) from None


def _of_scene(path: Path) -> Camera:
    suffix = path.suffix.lower()
    with opened(path, error=SceneError) as file, naming(file.source):
        values = read_table(file, suffix).get("camera")
        if values is None:
            raise SceneError("has no table [camera]")
        tables.CAMERA.require(values, "camera")
        return Camera(**values)
