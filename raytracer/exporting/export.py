"""Exports of a scene: one HTML page, or points for programs that read USD."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from raytracer.appearance.coloring import STYLE
from raytracer.config.errors import UserError, pluralize
from raytracer.config.fields import accept_settings, check_names
from raytracer.config.tone_settings import ToneSettings
from raytracer.exporting.figure import Figure
from raytracer.exporting.page import make_page
from raytracer.exporting.usd import require_usd, write_points
from raytracer.files import output
from raytracer.files.access import check_path
from raytracer.model.annotations import Annotations
from raytracer.model.settings import RenderSettings
from raytracer.model.source_settings import SourceSettings
from raytracer.rendering.pipeline import VIEW_SETTINGS, Notice, prepare
from raytracer.scene_files.source import InputSource
from raytracer.system import memory

if TYPE_CHECKING:
    from raytracer.keywords import FileKeywords

PAGE = ".html"
ENDINGS = (PAGE, ".usdc", ".usda", ".usd")

MAX_SPHERES = 20_000_000
"""Of a page: Chromium without a GPU took about 110 bytes of memory for each."""


@accept_settings(SourceSettings, RenderSettings, VIEW_SETTINGS, STYLE)
def export(
    scene: object,
    path: str | PathLike[str],
    *,
    backend: str = "auto",
    threads: int = 0,
    tone: ToneSettings | Mapping[str, Any] | None = None,
    annotations: Annotations | Mapping[str, Any] | None = None,
    notice: Notice | None = None,
    **settings: Unpack[FileKeywords],
) -> Path:
    """Write a scene as one file that others can open.

    A page (.html) needs neither a server nor other files. It shows spheres, capsules and the
    simulation box by WebGL 2, with the camera, lights, background and tone curve of the picture
    that `raytracer.render` makes, and can be turned. Positions are rounded to a grid, by at most a
    64th of the smallest radius (or by 2^-24 of the extent, if that is more), colours and opacities
    to 8 bits. The sky that each sphere sees is measured when the page is written.

    A USD file (.usdc, .usda, .usd) has positions, radii, colours and columns of the spheres as
    points, and capsules as curves, in scene units. It needs the extra `usd`.

    Args:
        scene, backend, threads, tone, annotations: as for `raytracer.render`.
        path: of the file; its ending says which kind it is.
        notice: called with a description of each stage when it begins.
        **settings: as for `raytracer.render`; those of sampling have no effect.

    Returns:
        The path.

    Raises:
        UserError: the scene or an argument is invalid, there is nothing to export, or the path has
            another ending or cannot be written.
        TypeError: there is no argument of that name.
    """
    check_names(export, settings)
    target = check_path(path)
    if target.suffix.lower() not in ENDINGS:
        raise UserError(
            f"{target}: an export ends in .html (a page), or in .usdc, .usda or .usd (points)"
        )
    output.check_file(target)
    is_page = target.suffix.lower() == PAGE
    if not is_page:
        require_usd()
    source, given = InputSource.from_call(scene, settings)
    with prepare(
        source, given, backend=backend, threads=threads, annotations=annotations,
        notice=notice, keep=True, hashed=False, blurs=False,
        memory_of=memory.MemoryEstimate(numbered=True),  # of periodic images, too
    ) as job:  # fmt: skip
        assert job.kept is not None
        figure = Figure.of(job.kept[1])
        count = len(figure.radius)
        if not count and not len(figure.rods.radius):
            raise UserError(f"{target}: there is nothing to export: no spheres and no capsules")
        if is_page and count > MAX_SPHERES:
            raise UserError(
                f"{target}: a page shows at most {pluralize(MAX_SPHERES, 'sphere')}, and the "
                f"scene has {count:,}: show fewer with select, or export .usdc"
            )
        data = make_page(job, figure, ToneSettings.of(tone, job.tone), notice) if is_page else ()
        with output.replace_file(target) as file:
            if is_page:
                file.writelines(data)
            else:
                write_points(job, figure, target.suffix.lower(), file)
    return target
