"""Output of a view: camera and edits as TOML, and pictures as files."""

from __future__ import annotations

from pathlib import Path

from raytracer.errors import UserError
from raytracer.scene.load import is_scene
from raytracer.viewer import as_toml, command_line, view
from raytracer.viewer.actions import action
from raytracer.viewer.messages import RenderRequest
from raytracer.viewer.save_job import SaveJob
from raytracer.viewer.state import ViewerState
from raytracer.viewer.view import View

VIEW_FILE = "view.toml"  # name of the camera's file in the printed command for a file of particles


def camera_toml(viewer: ViewerState, shown: View | None = None) -> str:
    """Return a view, None for the current one, and the edits as tables of a scene file."""
    scene, buffers = viewer.loaded_scene.scene, viewer.loaded_scene.buffers
    camera = view.camera_of(shown or viewer.view, buffers)
    options = command_line.content_options(viewer.content, scene)
    path = viewer.loaded_scene.path
    source = "" if path is None else str(path)
    if path is not None and not is_scene(path):
        tables = command_line.particle_options(scene, viewer.edits)
        options = ["--camera", VIEW_FILE, *options, *tables]
    return as_toml.view_tables(camera, scene, viewer.edits, viewer.tone, source, options)


@action()
def print_camera(viewer: ViewerState) -> str:
    """Print the tables of `camera_toml` and return them for the clipboard."""
    text = camera_toml(viewer)
    viewer.say(text)
    viewer.notify("the camera was printed and copied")
    return text


def save(
    viewer: ViewerState, size: tuple[int, int], samples: int, path: Path | None = None
) -> None:
    """Render the current view to a PNG in the background; `path` None makes a new name.

    Raises:
        UserError: the file cannot be written, or another one is being rendered.
    """
    if viewer.worker.save_job is not None:
        path = viewer.worker.save_job.path
        raise UserError(f"{path} is not finished: wait for it, or press Esc")
    shown, scene = viewer.view, viewer.loaded_scene
    if shown.fits_all and size[0] * viewer.size[1] != size[1] * viewer.size[0]:  # another shape
        aspect, around = size[0] / size[1], scene.surroundings(size)
        shown = view.to_all(shown, scene.packed, aspect, around=around)
    buffers = scene.buffers_for(shown, size, viewer.edits)
    path = path or viewer.outputs.path(Path(), f"{scene.stem}-view", ".png")
    settings = viewer.edits.applied_to(scene.scene).render
    request = RenderRequest(scene, buffers, viewer.tone, samples, settings=settings)
    viewer.worker.save(SaveJob(request, path, camera_toml(viewer, shown)))
