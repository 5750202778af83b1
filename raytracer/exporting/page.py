"""A page of a scene: one HTML file that draws it by WebGL 2."""

from collections.abc import Iterator
from html import escape
from typing import Any

from raytracer._version import __version__
from raytracer.annotations.projection import Projection
from raytracer.browser import client
from raytracer.errors import UserError
from raytracer.exporting.figure import Figure, Grid, warn_of_what_is_left_out
from raytracer.exporting.head import head_of
from raytracer.exporting.occlusion import sky_visibility
from raytracer.exporting.sections import (
    Section,
    column_sections,
    rod_sections,
    sphere_sections,
    with_box,
)
from raytracer.film.tone_settings import ToneSettings
from raytracer.layout import code
from raytracer.pipeline import Job, Notice
from raytracer.scene.scene import Scene

MAX_BYTES = 60_000_000
"""Of a page with columns: those that would make it larger are left out. Mail and repositories take
files of about that size, and browsers parse them in seconds."""

PARTS = ("elements", "pointer", "keys")  # parts of the live view that the page shares

OWN_PARTS = ("data", "shaders", "camera", "renderer", "overlay", "picking", "figure")
"""Parts of the page, in order: each uses those before it."""


def page_of(
    job: Job, figure: Figure, tone: ToneSettings, notice: Notice | None = None
) -> list[bytes]:
    """Return the parts of a page, with the picture of the job's camera and size.

    figure: of the scene, not empty. notice: called with a description of each stage when it begins.
    Raises UserError: the camera is one that a page cannot have.
    """
    assert job.kept is not None
    scene, buffers = job.kept
    if int(buffers.view.camera["kind"][0]) == code("CameraKind", "panorama"):
        raise UserError("a page has no panorama camera: choose perspective or orthographic")
    more = {
        "depth of field": float(job.view.camera["lens_radius"][0]) > 0.0,
        "light between surfaces": job.settings.resolved_integrator == "path",
        "mirrors": job.view.mirrors,
        "bloom": tone.bloom > 0.0,
    }
    warn_of_what_is_left_out(job, "the page", more)
    tell = notice or (lambda _: None)
    tell("measuring the sky that each sphere sees")
    sky = sky_visibility(job.scene, job.view, buffers.spheres)
    tell("compressing")
    grid = Grid.of(figure)
    sections = dict(sphere_sections(figure, grid, sky))
    rods = with_box(figure.rods, job.plan, Projection.of(job.view, job.space))
    sections |= dict(rod_sections(rods, grid, figure, sky))
    head = head_of(job, tone, grid, len(figure.radius), len(rods.radius))
    used = sum(len(section.text) for section in sections.values())
    columns, of_columns = column_sections(scene, MAX_BYTES - used)
    head["columns"] = columns
    return list(_document(scene, head, sections | of_columns))


def _document(scene: Scene, head: dict[str, Any], sections: dict[str, Section]) -> Iterator[bytes]:
    title = scene.title or (scene.source and scene.source.rpartition("/")[2]) or "raytracer"
    head["name"] = title
    head["sections"] = {name: section.about for name, section in sections.items()}
    style = client.part("view.css") + client.part("figure.css", "exporting")
    parts = {"title": escape(title), "style": style, "version": __version__, "script": script()}
    start, _, rest = client.part("figure.html", "exporting").partition("{data}")
    head_text = f'<script type="application/json" id="head">{client.in_script(head)}</script>\n'
    yield (client.filled(start, parts) + head_text).encode("utf-8", "replace")
    for name, section in sections.items():
        yield f'<script type="text/plain" id="data-{name}">\n'.encode()
        yield section.text
        yield b"\n</script>\n"
    yield client.filled(rest, parts).encode("utf-8", "replace")


def script() -> str:
    """Return the program of the page."""
    own = [client.part(f"{name}.js", "exporting") for name in OWN_PARTS]
    return "\n".join([*(client.part(f"{name}.js") for name in PARTS), *own])
