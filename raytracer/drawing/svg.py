"""Writes drawings as SVG: the picture as an embedded PNG, texts and lines as vectors.

Texts stay editable. Programs without the font use another one and keep the width of each text.
"""

from base64 import b64encode
from collections.abc import Iterator
from xml.sax.saxutils import escape

from raytracer.drawing.fonts import FAMILY, runs, width
from raytracer.drawing.shapes import HALO, RGB, Cells, Drawing, Line, Polygon, Shape, Text
from raytracer.film import png
from raytracer.film.film import Crop, Pixels

FAMILIES = f"'{FAMILY}', 'Source Sans 3', 'Open Sans', Helvetica, Arial, sans-serif"


def svg(drawing: Drawing, pixels: Pixels | None, point: float, crop: Crop, description: str) -> str:
    """Return a drawing over a picture, or alone; arguments as for `pdf.write`."""
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
    lines += [element for shape in drawing.shapes for element in _elements(shape)]
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
    elif isinstance(shape, Line):
        yield (
            f'<polyline points="{_points(shape.points)}" fill="none" '
            f'stroke="{hex_color(shape.color)}" stroke-width="{shape.width:.3f}" '
            f'stroke-linejoin="round" stroke-linecap="{"butt" if shape.square else "round"}"/>'
        )
    elif isinstance(shape, Polygon):
        yield f'<polygon points="{_points(shape.points)}" fill="{hex_color(shape.color)}"/>'
    else:
        x, y = shape.center
        place = f'cx="{x:.3f}" cy="{y:.3f}" r="{shape.radius:.3f}"'
        yield f'<circle {place} fill="{hex_color(shape.color)}"/>'


def _texts(text: Text) -> Iterator[str]:
    start = -text.anchor * width(text.text, text.size)
    place = f"translate({text.x:.3f} {text.y:.3f})"
    rim = ""
    if text.halo is not None:
        stroke = 2.0 * HALO * text.size
        rim = (
            f' stroke="{hex_color(text.halo)}" stroke-width="{stroke:.3f}" stroke-linejoin="round" '
            'paint-order="stroke"'
        )
    for run in runs(text.text, text.size):
        size = text.size * run.scale
        long = width(run.text, size)
        if long > 0.0 and not run.text.isspace():
            yield (
                f'<text transform="{place}" x="{start + run.x:.3f}" '
                f'y="{-run.rise * text.size:.3f}" '
                f'font-family="{FAMILIES}" font-size="{size:.3f}" textLength="{long:.3f}" '
                f'lengthAdjust="spacingAndGlyphs" xml:space="preserve" '
                f'fill="{hex_color(text.color)}"{rim}>{escape(run.text)}</text>'
            )


def _points(points: tuple[tuple[float, float], ...]) -> str:
    return " ".join(f"{x:.3f},{y:.3f}" for x, y in points)


def hex_color(color: RGB) -> str:
    """Return a colour as SVG and CSS write it."""
    return "#" + "".join(f"{round(255.0 * value):02x}" for value in color)
