"""A page of a scene: one HTML file that draws it by WebGL 2.

Beside arrays, a page has a head: camera, light, materials, tone curve, and what is drawn over the
picture.
"""

from collections.abc import Iterator
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer._version import __version__
from raytracer.annotations import axes, scale_bar
from raytracer.annotations.plan import OverlayPlan
from raytracer.annotations.projection import Projection
from raytracer.annotations.sheet import Sheet
from raytracer.browser import client
from raytracer.config.errors import UserError
from raytracer.config.tone_settings import ToneSettings
from raytracer.config.warning import warn
from raytracer.drawing.fonts import CAP_HEIGHT
from raytracer.drawing.vector import format_hex_color, format_svg
from raytracer.exporting.figure import Figure, Grid, warn_of_omissions
from raytracer.exporting.occlusion import measure_sky_visibility
from raytracer.exporting.sections import (
    SKY_LEVELS,
    Section,
    add_box,
    make_column_sections,
    make_rod_sections,
    make_sphere_sections,
)
from raytracer.film.film import Film
from raytracer.model.annotations import IN_SCENE
from raytracer.model.scene import Scene
from raytracer.rendering.pipeline import Notice, PreparedScene
from raytracer.system.layout import enum_value
from raytracer.viewer.controls import CONTROLS

MAX_BYTES = 60_000_000
"""Of a page with columns: those that would make it larger are left out. Mail and repositories take
files of about that size, and browsers parse them in seconds."""

MAX_MATERIALS, MAX_LIGHTS = 32, 8
METERED_SAMPLES = 4  # per pixel, of the picture that an automatic exposure is metered from

ACTIONS = (
    "orbit", "pan", "dolly", "zoom", "along", "reset", "fit-all", "toggle-help", "cancel",
    "toggle-full-screen",
)  # fmt: skip
"""Of the keys of the live view, that the page has too."""

PARTS = ("elements", "pointer", "keys")  # parts of the live view that the page shares

OWN_PARTS = ("data", "shaders", "camera", "renderer", "overlay", "picking", "figure")
"""Parts of the page, in order: each uses those before it."""


def make_page(
    job: PreparedScene, figure: Figure, tone: ToneSettings, notice: Notice | None = None
) -> list[bytes]:
    """Return the parts of a page, with the picture of the job's camera and size.

    figure: of the scene, not empty. notice: called with a description of each stage when it begins.
    Raises UserError: the camera is one that a page cannot have.
    """
    assert job.kept is not None
    scene, buffers = job.kept
    if int(buffers.view.camera["kind"][0]) == enum_value("CameraKind", "panorama"):
        raise UserError("a page has no panorama camera: choose perspective or orthographic")
    more = {
        "depth of field": float(job.view.camera["lens_radius"][0]) > 0.0,
        "light between surfaces": job.settings.resolved_integrator == "path",
        "mirrors": job.view.mirrors,
        "bloom": tone.bloom > 0.0,
    }
    warn_of_omissions(job, "the page", more)
    tell = notice or (lambda _: None)
    tell("measuring the sky that each sphere sees")
    sky = measure_sky_visibility(job.scene, job.view, buffers.spheres)
    tell("compressing")
    grid = Grid.of(figure)
    sections = dict(make_sphere_sections(figure, grid, sky))
    rods = add_box(figure.rods, job.plan, Projection.of(job.view, job.space))
    sections |= dict(make_rod_sections(rods, grid, figure, sky))
    head = make_head(job, tone, grid, len(figure.radius), len(rods.radius))
    used = sum(len(section.text) for section in sections.values())
    columns, of_columns = make_column_sections(scene, MAX_BYTES - used)
    head["columns"] = columns
    return list(_iterate_document(scene, head, sections | of_columns))


def _iterate_document(
    scene: Scene, head: dict[str, Any], sections: dict[str, Section]
) -> Iterator[bytes]:
    title = scene.title or (scene.source and scene.source.rpartition("/")[2]) or "raytracer"
    head["name"] = title
    head["sections"] = {name: section.about for name, section in sections.items()}
    style = client.read_part("view.css") + client.read_part("figure.css", "exporting")
    parts = {
        "title": escape(title),
        "style": style,
        "version": __version__,
        "script": make_script(),
    }
    start, _, rest = client.read_part("figure.html", "exporting").partition("{data}")
    head_text = (
        f'<script type="application/json" id="head">{client.to_script_json(head)}</script>\n'
    )
    yield (client.fill_in(start, parts) + head_text).encode("utf-8", "replace")
    for name, section in sections.items():
        yield f'<script type="text/plain" id="data-{name}">\n'.encode()
        yield section.text
        yield b"\n</script>\n"
    yield client.fill_in(rest, parts).encode("utf-8", "replace")


def make_script() -> str:
    """Return the program of the page."""
    own = [client.read_part(f"{name}.js", "exporting") for name in OWN_PARTS]
    return "\n".join([*(client.read_part(f"{name}.js") for name in PARTS), *own])


# What the page knows beside arrays


def make_head(
    job: PreparedScene, tone: ToneSettings, grid: Grid, spheres: int, rods: int
) -> dict[str, Any]:
    """Return what the page knows beside arrays, as JSON types; lengths in render space."""
    assert job.kept is not None
    scene, view, camera = job.kept[0], job.view, job.view.camera[0]
    environment = view.frame["environment"]
    shown = job.camera
    target = None if shown is None else shown.look_at
    pivot = [0.0] * 3 if target is None else [
        (a - b) / job.space.scale for a, b in zip(target, job.space.center, strict=True)
    ]  # fmt: skip
    size = job.settings.resolved_filter_radius
    return {
        "version": __version__,
        "size": list(view.size),
        "spheres": spheres,
        "rods": rods,
        "center": list(job.space.center),
        "scale": job.space.scale,
        "grid": {
            "low": grid.low.tolist(), "step": grid.step, "bits": grid.bits,
            "least": grid.least, "octave": grid.octave,
        },
        "levels": SKY_LEVELS,
        "camera": {
            "orthographic": int(camera["kind"]) == enum_value("CameraKind", "orthographic"),
            **{name: camera[name].tolist() for name in ("origin", "forward", "right", "up")},
        },
        "pivot": pivot,
        "upward": list(shown.upward) if shown is not None else [0.0, 1.0, 0.0],
        "placement": job.settings.placement if scene.lights is None else "world",
        "lights": _describe_lights(view.lights),
        "shadows": bool(view.frame["integrator"]["shadows"][0]),
        "ambient": environment["ambient"][0].tolist(),
        "materials": _describe_materials(view.materials),
        "background": None if view.transparent else [
            environment["background_bottom"][0].tolist(),
            environment["background_top"][0].tolist(),
        ],
        "tone": {
            "exposure": _find_exposure(job, tone), "curve": tone.tone, "white": tone.white,
        },
        "filter": job.settings.filter,
        "sigma": size / 3.0 if job.settings.filter == "gaussian" else size,
        "controls": [each.to_json() for each in CONTROLS if each.action in ACTIONS],
        **_describe_overlay(job),
    }  # fmt: skip


def _describe_lights(lights: NDArray[np.void]) -> list[dict[str, Any]]:
    """Return lights by their middles: areas are points, angles of directional lights are kept."""
    if len(lights) > MAX_LIGHTS:
        warn(f"the page has the first {MAX_LIGHTS} of {len(lights)} lights")
    directional = enum_value("LightKind", "directional")
    square = enum_value("Falloff", "inverse-square")
    return [
        {
            "directional": int(light["kind"]) == directional,
            "vector": light["vector"].tolist(),
            "color": light["color"].tolist(),
            "square": int(light["falloff"]) == square,
            "spread": float(light["extent"]) ** 0.5 if int(light["kind"]) == directional else 0.0,
            "shadow": bool(light["shadow"]),
        }
        for light in lights[:MAX_LIGHTS]
    ]


def _describe_materials(materials: NDArray[np.void]) -> list[list[float]]:
    """Return ambient, diffuse, specular and shininess of each material, also of Principled."""
    if len(materials) > MAX_MATERIALS:
        warn(f"the page has the first {MAX_MATERIALS} of {len(materials)} materials")
    made = []
    for material in materials[:MAX_MATERIALS]:
        if int(material["kind"]) == enum_value("MaterialKind", "phong"):
            phong = material["phong"]
            share = 1.0 - float(phong["mirror"])
            made.append([share * float(phong["ambient"]), share * float(phong["diffuse"]),
                         float(phong["specular"]), float(phong["shininess"])])  # fmt: skip
        else:
            roughness = max(float(material["principled"]["roughness"]), 0.1)
            made.append([1.0, 1.0, 0.2 * (1.0 - roughness), 2.0 / roughness**4])
    if (materials["kind"][:MAX_MATERIALS] != enum_value("MaterialKind", "phong")).any():
        warn("materials of principled are shown by Phong's model: a page has no glass and metal")
    return made


def _find_exposure(job: PreparedScene, tone: ToneSettings) -> float:
    """Return the exposure in stops; an automatic one is metered from a picture of few samples."""
    if not tone.automatic:
        return float(tone.exposure)
    film = job.device.film(Film.blank(*job.view.size))
    job.accumulate(film, METERED_SAMPLES, first=0)
    return job.image(film, tone).statistics.exposure


def _describe_overlay(job: PreparedScene) -> dict[str, Any]:
    """Return texts and legend as SVG, and where scale bar and axes are for any view."""
    if job.plan is None:
        return {"overlay": "", "bar": None, "axes": None}
    projection = Projection.of(job.view, job.space)
    plan = job.plan.with_background(job.view)
    sheet, wanted = plan.sheet(projection.width, projection.height), plan.annotations
    plan.draw_at_edges(sheet)
    size = (0, 0, projection.width, projection.height)
    text = format_svg(sheet.shapes, None, sheet.point, size, "").partition("\n")[2]
    bar = None if wanted.scale_bar is None else _describe_scale_bar(plan, sheet, projection)
    is_drawn = wanted.axes is not None and wanted.axes.place not in IN_SCENE
    return {
        "overlay": text,
        "bar": bar,
        "axes": _describe_tripod(plan, sheet) if is_drawn else None,
    }


def _describe_scale_bar(plan: OverlayPlan, sheet: Sheet, projection: Projection) -> dict[str, Any]:
    """Return where the scale bar is and how long; the page makes another for another distance."""
    bar = plan.annotations.scale_bar
    assert bar is not None
    per_unit = projection.pixels_per_unit(plan.target_depth(projection))
    scale_bar.draw(sheet, bar, per_unit)
    box, ink = sheet.boxes[-1], sheet.choose_ink(bar.color, bar.place)
    rim = sheet.halo(ink)
    return {
        "place": bar.place, "x": box.x, "y": box.y, "width": box.width,
        "size": sheet.choose_font_size(bar.size, "scale_bar"), "ink": format_hex_color(ink),
        "rim": None if rim is None else format_hex_color(rim), "length": bar.length,
        "unit": bar.unit or "", "perUnit": per_unit / bar.factor,
        "share": scale_bar.SHARE, "thick": scale_bar.THICK,
    }  # fmt: skip


def _describe_tripod(plan: OverlayPlan, sheet: Sheet) -> dict[str, Any]:
    """Return where the axes are, in pixels, for the page, which turns them."""
    wanted = plan.annotations.axes
    assert wanted is not None
    length, size, names, reach, (x, y), colors = axes.reserve_tripod(sheet, wanted)
    rim = sheet.halo(sheet.choose_ink(None))
    return {
        "place": wanted.place, "x": x, "y": y, "reach": reach, "length": length,
        "size": size, "names": names, "colors": [format_hex_color(color) for color in colors],
        "rim": None if rim is None else format_hex_color(rim),
        "shaft": axes.SHAFT, "head": axes.HEAD, "beyond": axes.BEYOND, "cap": CAP_HEIGHT,
    }  # fmt: skip
