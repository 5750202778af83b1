"""Messages of the threads, and actions on texts, files and the window."""

from __future__ import annotations

from raytracer.errors import SceneError
from raytracer.viewer import messages, orbit_camera
from raytracer.viewer.actions import action
from raytracer.viewer.camera_actions import fit_picked
from raytracer.viewer.edits import Edits
from raytracer.viewer.light_actions import receive_metered
from raytracer.viewer.loaded_scene import LoadedScene
from raytracer.viewer.messages import HIDDEN, Message
from raytracer.viewer.picking import MAX_PICKS, carried, follow_picks
from raytracer.viewer.state import TECHNICAL, ViewerState
from raytracer.viewer.timeline import receive_count


@action()
def toggle_overlay(viewer: ViewerState) -> None:
    """Show the next level of text: plain, technical, none."""
    viewer.overlay = (viewer.overlay + 1) % (TECHNICAL + 1)


@action()
def toggle_panel(viewer: ViewerState) -> None:
    """Show or hide the panel of colours and selection."""
    viewer.panel = not viewer.panel


@action()
def toggle_full_screen(viewer: ViewerState) -> None:
    """Fill the screen, or return to a window."""
    viewer.full_screen = not viewer.full_screen


@action()
def toggle_help(viewer: ViewerState) -> None:
    """Show the next page of the help, or close it after the last."""
    viewer.help = viewer.help + 1 if viewer.help < viewer.help_pages else 0


@action()
def cancel(viewer: ViewerState) -> None:
    """Close the prompt, else the help, else cancel saving, the picks or the selection."""
    if viewer.prompt is not None:
        viewer.prompt = None
    elif viewer.help:
        viewer.help = 0
    elif viewer.worker.save_job is not None:
        cancelled = viewer.worker.save(None)
        viewer.notify("not saved" if cancelled else "it is already being written")
    elif viewer.picks:
        viewer.picks = []
    elif viewer.content.selection is not None:
        viewer.do("select", None)


@action()
def close(viewer: ViewerState) -> None:
    """End the preview; a picture that is being rendered is not saved."""
    viewer.closing = True


def receive_all(viewer: ViewerState) -> None:
    """Handle the waiting messages of other threads, and ask for the state of a simulation."""
    while not viewer.worker.messages.empty():
        receive(viewer, viewer.worker.messages.get())
    viewer.follow()


def receive(viewer: ViewerState, message: Message) -> None:
    """Handle a message of another thread."""
    if isinstance(message, messages.Picked):
        _receive_picked(viewer, message)
    elif isinstance(message, messages.Metered):
        receive_metered(viewer, message.stops)
    elif isinstance(message, messages.Saved):
        viewer.say(str(message.path))
        viewer.notify(f"saved {message.path}")
    elif isinstance(message, messages.Refused):
        viewer.exposure_steps = None
        if message.content is not None and message.content == viewer.content:
            viewer.content = viewer.loaded_scene.content
        viewer.notify(message.sentence)
    elif isinstance(message, messages.Loaded):
        _receive_loaded(viewer, message.loaded_scene)
    elif isinstance(message, messages.Shown):
        _receive_shown(viewer, message.loaded_scene)
    elif isinstance(message, messages.Counted):
        receive_count(viewer, message.frames)
    elif isinstance(message, messages.Broken):
        viewer.reload_error = message.sentence
        viewer.notify("")  # an older message would seem to refer to this change
    elif isinstance(message, messages.Failed):
        viewer.failure, viewer.closing = message.error, True


def _receive_picked(viewer: ViewerState, message: messages.Picked) -> None:
    """Take a pick, also of a scene that was replaced by other colours of the same frame."""
    pick, clicked, scene = message.pick, message.loaded_scene, viewer.loaded_scene
    if clicked is not scene:
        is_same_frame = clicked.all_particles is scene.all_particles
        pick = carried(pick, clicked, scene) if pick is not None and is_same_frame else None
        if pick is None or pick.id == HIDDEN:
            return
    before = viewer.picked
    if pick is not None:
        others = [each for each in viewer.picks if message.add and each.number != pick.number]
        viewer.picks = [*others, pick][-MAX_PICKS:]
        if message.go:
            fit_picked(viewer)
    else:
        ended = ""
        if not message.add:
            ended = f"; sphere {before.number:,} is no longer picked" if before else ""
            viewer.picks = []
        viewer.notify(f"there is no sphere here{ended}")


def _receive_shown(viewer: ViewerState, shown: LoadedScene) -> None:
    """Show another frame, or other particles or colours of it; the camera stays."""
    if not shown.owns_memory and shown.job.scene is not viewer.loaded_scene.job.scene:
        viewer.show(viewer.content)  # the memory that it shares is that of a replaced scene
        return
    old, viewer.loaded_scene = viewer.loaded_scene, shown
    if viewer.view.fits_all and old.content.drawn.get("box") != shown.content.drawn.get("box"):
        viewer.view = viewer.showing_all(viewer.view)
    else:
        viewer.view = orbit_camera.rebased(viewer.view, old.buffers, shown.buffers)
    viewer.submit(viewer.pack())
    for sentence in shown.job.warnings[:1]:
        viewer.notify(sentence)
    follow_picks(viewer, old)


def _receive_loaded(viewer: ViewerState, loaded: LoadedScene) -> None:
    old, viewer.loaded_scene = viewer.loaded_scene, loaded
    viewer.reload_error = ""
    viewer.samples = loaded.job.settings.samples
    if old.scene.camera != loaded.scene.camera:
        viewer.view = viewer.initial_view()
    elif viewer.view.fits_all:
        viewer.view = viewer.showing_all(viewer.view)
    else:
        same = orbit_camera.rebased(viewer.view, old.buffers, loaded.buffers)
        viewer.view = loaded.giants.kept_out(same, same)
    viewer.edits = _edits_after(viewer.edits, old, loaded)
    try:
        buffers = viewer.pack()
    except SceneError:  # view or edits are invalid in the new scene
        viewer.edits = Edits()
        viewer.view = viewer.initial_view()
        buffers = viewer.pack()
    viewer.submit(buffers)
    viewer.notify(f"{loaded.name} was reloaded")
    viewer.notify_of_scene()
    if viewer.content != loaded.content:  # another content was requested meanwhile
        viewer.show(viewer.content)
    follow_picks(viewer, old)


def _edits_after(edits: Edits, old: LoadedScene, new: LoadedScene) -> Edits:
    """Return the edits; none if the changed file states another light, background or ground."""
    stated = [
        (scene.lights, scene.render.look, scene.render.integrator, scene.background, scene.ground)
        for scene in (old.scene, new.scene)
    ]
    return edits if stated[0] == stated[1] else Edits()
