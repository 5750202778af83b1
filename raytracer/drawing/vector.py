"""Writes drawings as SVG and PDF: the picture as pixels, texts and lines as vectors.

Texts of an SVG stay editable. Programs without the font use another one and keep the width of each
text. A PDF is written by matplotlib.
"""

import warnings
from base64 import b64encode
from collections.abc import Iterator
from typing import Any, BinaryIO
from xml.sax.saxutils import escape

from raytracer.drawing.fonts import FAMILY, TextRun, font, measure_width, split_into_runs
from raytracer.drawing.shapes import HALO, POINTS, RGB, Cells, Line, Shape, Text
from raytracer.film import png
from raytracer.film.film import Crop, Pixels

FAMILIES = f"'{FAMILY}', 'Source Sans 3', 'Open Sans', Helvetica, Arial, sans-serif"


def format_svg(
    shapes: list[Shape], pixels: Pixels | None, point: float, crop: Crop, description: str
) -> str:
    """Return shapes over a picture, or alone; arguments as for `write_pdf`."""
    x, y, right, bottom = crop
    wide, height = right - x, bottom - y
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<svg xmlns="http://www.w3.org/2000/svg" '
        f'width="{wide / point:.4f}pt" height="{height / point:.4f}pt" '
        f'viewBox="{x} {y} {wide} {height}">',
        f"<desc>{escape(description)}</desc>",
    ]
    if pixels is not None:
        lines.append(_image(x, y, pixels))
    lines += [element for shape in shapes for element in _elements(shape)]
    return "\n".join([*lines, "</svg>", ""])


def _image(x: int, y: int, pixels: Pixels) -> str:
    height, wide = pixels.shape[:2]
    data = b64encode(png.encode(pixels, {})).decode()
    return (
        f'<image x="{x}" y="{y}" width="{wide}" height="{height}" preserveAspectRatio="none" '
        f'style="image-rendering: pixelated" href="data:image/png;base64,{data}"/>'
    )


def _elements(shape: Shape) -> Iterator[str]:
    if isinstance(shape, Text):
        yield from _texts(shape)
    elif isinstance(shape, Cells) and (shape.colors != shape.colors[0, 0]).any():
        yield _image(shape.x, shape.y, shape.colors)
    elif isinstance(shape, Cells):
        height, wide = shape.colors.shape[:2]
        place = f'x="{shape.x}" y="{shape.y}" width="{wide}" height="{height}"'
        yield f'<rect {place} fill="#{bytes(shape.colors[0, 0]).hex()}"/>'
    else:
        points, color = (
            " ".join(f"{x:.3f},{y:.3f}" for x, y in shape.points),
            format_hex_color(shape.color),
        )
        if isinstance(shape, Line):
            yield (
                f'<polyline points="{points}" fill="none" '
                f'stroke="{color}" stroke-width="{shape.width:.3f}" '
                f'stroke-linejoin="round" stroke-linecap="{"butt" if shape.square else "round"}"/>'
            )
        else:
            yield f'<polygon points="{points}" fill="{color}"/>'


def _texts(text: Text) -> Iterator[str]:
    place = f"translate({text.x:.3f} {text.y:.3f})"
    rim = ""
    if text.halo is not None:
        stroke = 2.0 * HALO * text.size
        rim = (
            f' stroke="{format_hex_color(text.halo)}" stroke-width="{stroke:.3f}" '
            'stroke-linejoin="round" paint-order="stroke"'
        )
    for run, x in _place_runs(text):
        size = text.size * run.scale
        long = font(size, run.path).getlength(run.text)
        if long > 0.0 and not run.text.isspace():
            yield (
                f'<text transform="{place}" x="{x:.3f}" y="{-run.rise * text.size:.3f}" '
                f'font-family="{FAMILIES}" font-size="{size:.3f}" textLength="{long:.3f}" '
                f'lengthAdjust="spacingAndGlyphs" xml:space="preserve" '
                f'fill="{format_hex_color(text.color)}"{rim}>{escape(run.text)}</text>'
            )


def _place_runs(text: Text) -> Iterator[tuple[TextRun, float]]:
    """Yield the parts of a text, and where each starts from its anchor."""
    start = -text.anchor * measure_width(text.text, text.size)
    return ((run, start + run.x) for run in split_into_runs(text.text, text.size))


def format_hex_color(color: RGB) -> str:
    """Return a colour as SVG and CSS write it."""
    return "#" + "".join(f"{round(255.0 * value):02x}" for value in color)


def write_pdf(
    file: BinaryIO, shapes: list[Shape], pixels: Pixels | None, point: float, crop: Crop,
    description: str,
) -> None:  # fmt: skip
    """Write a picture, (h, w, 3 or 4) or None, with shapes over it, of which `crop` is shown.
    point: in pixels. description: metadata."""
    import matplotlib as mpl
    from matplotlib.backends.backend_pdf import FigureCanvasPdf
    from matplotlib.figure import Figure

    left, top, right, bottom = crop
    size = (right - left) / point / POINTS, (bottom - top) / point / POINTS
    figure = Figure(figsize=size, facecolor="none")
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0), facecolor="none")
    axes.set_axis_off()
    if pixels is not None:
        _add_pixels(axes, pixels, (left, top), 0)
    for order, shape in enumerate(shapes, 1):
        _add(axes, shape, point, order)
    axes.set_xlim(left, right)
    axes.set_ylim(bottom, top)
    about = {"Creator": "raytracer", "Subject": description, "CreationDate": None}
    with mpl.rc_context({"pdf.fonttype": 42}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from")  # `Plan.overlay` names them
        canvas: Any = FigureCanvasPdf(figure)
        canvas.print_pdf(file, metadata=about)


def _add_pixels(axes: Any, pixels: Any, place: tuple[int, int], order: int) -> None:
    height, wide = pixels.shape[:2]
    x, y = place
    eight = pixels if pixels.dtype.itemsize == 1 else (pixels // 257).astype("u1")
    axes.imshow(
        eight, interpolation="none", aspect="auto", zorder=order,
        extent=(x, x + wide, y + height, y),
    )  # fmt: skip


def _add(axes: Any, shape: Shape, point: float, order: int) -> None:
    from matplotlib import font_manager, lines, patches, patheffects

    if isinstance(shape, Cells):
        _add_pixels(axes, shape.colors, (shape.x, shape.y), order)
    elif isinstance(shape, Line):
        axes.add_line(lines.Line2D(
            *zip(*shape.points, strict=True), linewidth=shape.width / point, color=shape.color,
            zorder=order, solid_capstyle="butt" if shape.square else "round",
            solid_joinstyle="round",
        ))  # fmt: skip
    elif isinstance(shape, Text):
        for run, x in _place_runs(shape):
            place = shape.x + x, shape.y - run.rise * shape.size
            letters = font_manager.FontProperties(
                fname=run.path, size=shape.size * run.scale / point
            )
            options = {"fontproperties": letters, "ha": "left", "va": "baseline", "zorder": order,
                       "parse_math": False}  # fmt: skip
            if shape.halo is not None:  # as a text of its own: with effects, letters are outlines
                wide = 2.0 * HALO * shape.size / point
                rim = patheffects.Stroke(linewidth=wide, foreground=shape.halo)
                axes.text(*place, run.text, path_effects=[rim], **options)
            axes.text(*place, run.text, color=shape.color, **options)
    else:
        axes.add_patch(patches.Polygon(shape.points, facecolor=shape.color, lw=0, zorder=order))
