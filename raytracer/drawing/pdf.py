"""Writes drawings as PDF by matplotlib: the picture as pixels, texts and lines as vectors."""

from typing import Any, BinaryIO

from raytracer.drawing.fonts import FONT, runs, width
from raytracer.drawing.shapes import HALO, POINTS, Cells, Disk, Drawing, Line, Shape, Text
from raytracer.errors import OutputError
from raytracer.film.film import Crop, Pixels

MISSING = "a PDF needs matplotlib: pip install 'raytracer[plot]', or give a name that ends in .svg"


def require() -> None:
    """Import matplotlib. Raises OutputError if it is not installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise OutputError(MISSING) from None


def write(
    file: BinaryIO, drawing: Drawing, pixels: Pixels | None, point: float, crop: Crop,
    description: str,
) -> None:  # fmt: skip
    """Write a picture, (h, w, 3 or 4) or None, with a drawing over it, of which `crop` is shown.
    point: in pixels. description: metadata. Raises OutputError without matplotlib."""
    import matplotlib as mpl
    from matplotlib.backends.backend_pdf import FigureCanvasPdf
    from matplotlib.figure import Figure

    left, top, right, bottom = crop
    wide, height = right - left, bottom - top
    figure = Figure(figsize=(wide / point / POINTS, height / point / POINTS), facecolor="none")
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0), facecolor="none")
    axes.set_axis_off()
    if pixels is not None:
        _add_pixels(axes, pixels, (left, top), 0)
    for order, shape in enumerate(drawing.shapes, 1):
        _add(axes, shape, point, order)
    axes.set_xlim(left, right)
    axes.set_ylim(bottom, top)
    about = {"Creator": "raytracer", "Subject": description, "CreationDate": None}
    with mpl.rc_context({"pdf.fonttype": 42}):
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
    from matplotlib import lines, patches

    if isinstance(shape, Cells):
        _add_pixels(axes, shape.colors, (shape.x, shape.y), order)
    elif isinstance(shape, Line):
        xs, ys = zip(*shape.points, strict=True)
        axes.add_line(lines.Line2D(
            xs, ys, linewidth=shape.width / point, color=shape.color, zorder=order,
            solid_capstyle="butt" if shape.square else "round", solid_joinstyle="round",
        ))  # fmt: skip
    elif isinstance(shape, Text):
        _add_text(axes, shape, point, order)
    else:
        look: Any = {"facecolor": shape.color, "lw": 0, "zorder": order}
        if isinstance(shape, Disk):
            axes.add_patch(patches.Circle(shape.center, shape.radius, **look))
        else:
            axes.add_patch(patches.Polygon(shape.points, **look))


def _add_text(axes: Any, text: Text, point: float, order: int) -> None:
    from matplotlib.font_manager import FontProperties
    from matplotlib.patheffects import Stroke

    start = -text.anchor * width(text.text, text.size)
    for run in runs(text.text, text.size):
        place = text.x + start + run.x, text.y - run.rise * text.size
        font = FontProperties(fname=str(FONT), size=text.size * run.scale / point)
        options = {"fontproperties": font, "ha": "left", "va": "baseline", "zorder": order,
                   "parse_math": False}  # fmt: skip
        if text.halo is not None:  # as a text of its own: with effects, letters become outlines
            rim = Stroke(linewidth=2.0 * HALO * text.size / point, foreground=text.halo)
            axes.text(*place, run.text, path_effects=[rim], **options)
        axes.text(*place, run.text, color=text.color, **options)
