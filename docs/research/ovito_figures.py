"""Figures of ten fields beside those of OVITO: the same data, camera and colours.

`python docs/research/ovito_figures.py [NAME ...]` (`pip install ovito matplotlib`) writes
docs/gallery/ovito/NAME.jpg: on the left the picture of the gallery, on the right that of OVITO's
Tachyon renderer with its defaults (ambient occlusion and shadows), both without a change by hand.
docs/gallery/beside_ovito.md says which is better where.
"""

from __future__ import annotations

import runpy
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gallery
import numpy as np
from PIL import Image, ImageDraw

from raytracer import load
from raytracer.film.formats import read_metadata

TARGET = gallery.FOLDER / "ovito"
GAP = 16
"""Pixels between the two pictures, which are then shown at half their size."""


def from_file(name: str, *modifiers: Any) -> Any:
    """Return a pipeline of OVITO that reads a file."""
    from ovito.io import import_file

    pipeline = import_file(name)
    for each in modifiers:
        pipeline.modifiers.append(each)
    return pipeline


def from_arrays(name: str, values: str, *modifiers: Any) -> Any:
    """Return a pipeline of arrays, for files that OVITO does not read as particles.

    Args:
        name: of the file.
        values: the column that colours follow.
        *modifiers: of the pipeline.
    """
    from ovito.data import DataCollection
    from ovito.pipeline import Pipeline, StaticSource

    (spheres,) = load(name).spheres
    column = np.asarray(spheres.columns[values])
    data = DataCollection()
    made = data.create_particles(count=spheres.count)
    made.create_property("Position", data=spheres.centers)
    made.create_property("Value", data=column.astype(float))
    pipeline = Pipeline(source=StaticSource(data=data))
    for each in modifiers:
        pipeline.modifiers.append(each)
    return pipeline


def colored(by: str, low: float, high: float, colors: str | list[str]) -> Any:
    """Return colour coding by a property; colors: a map of matplotlib, or colours between which
    it goes."""
    import matplotlib as mpl
    from matplotlib.colors import LinearSegmentedColormap
    from ovito.modifiers import ColorCodingModifier

    made: Any = (
        mpl.colormaps[colors]
        if isinstance(colors, str)
        else LinearSegmentedColormap.from_list("own", colors)
    )
    table = np.asarray(made(np.linspace(0, 1, 64)))[:, :3]
    gradient = ColorCodingModifier.Gradient(table)
    return ColorCodingModifier(property=by, start_value=low, end_value=high, gradient=gradient)


def sized(radius: float | str, factor: float = 1.0) -> Callable[[Any, Any], None]:
    """Return a modifier that sets the radius of all particles, or of each type by a table."""

    def modify(_: Any, data: Any) -> None:
        particles = data.particles_
        if isinstance(radius, float):
            particles.create_property("Radius", data=np.full(particles.count, radius))
            return
        for each in particles.particle_types_.types_:
            known = each.vdw_radius if radius == "vdw" else each.radius
            each.radius = factor * known

    return modify


def melt() -> Any:
    from ovito.modifiers import ReplicateModifier, WrapPeriodicImagesModifier

    pipeline = from_file("melt.dump", WrapPeriodicImagesModifier())
    pipeline.modifiers.append(ReplicateModifier(num_y=2, num_z=2))
    pipeline.modifiers.append(colored("c_pe", -8.0, -4.0, "plasma"))
    pipeline.modifiers.append(sized(0.5))
    return pipeline


def grains() -> Any:
    from ovito.modifiers import DeleteSelectedModifier, ExpressionSelectionModifier

    expression = "Position.X >= 41 || Position.Y <= 3 || Position.Z >= 41"
    colors = ["firebrick", "orange", "gold", "gainsboro", "steelblue"]
    return from_file(
        "grains.xyz", ExpressionSelectionModifier(expression=expression), DeleteSelectedModifier(),
        colored("coordination", 9, 13, colors), sized(1.3),
    )  # fmt: skip


def pile() -> Any:
    radii = load("pile.dump").spheres[0].columns["radius"]
    return from_file(
        "pile.dump", colored("Radius", float(radii.min()), float(radii.max()), "viridis")
    )


def slab() -> Any:
    from ovito.modifiers import ReplicateModifier

    return from_file("slab.xyz", ReplicateModifier(num_x=2, num_y=2))


def perovskite() -> Any:
    from ovito.modifiers import ReplicateModifier

    replicate = ReplicateModifier(num_x=4, num_y=4, num_z=4)
    return from_file("perovskite.cif", sized("covalent", 0.5), replicate)


def dam() -> Any:
    def speed(_: Any, data: Any) -> None:
        velocity = load("dam.vtk").spheres[0].columns["velocity"]
        data.particles_["Value_"][...] = np.linalg.norm(velocity, axis=1)

    return from_arrays("dam.vtk", "x", speed, colored("Value", 0.0, 5.5, "turbo"), sized(0.024))


def web() -> Any:
    def logarithm(_: Any, data: Any) -> None:
        data.particles_["Value_"][...] = np.log10(data.particles["Value"])

    low, high = np.log10(0.3), np.log10(30.0)
    return from_arrays(
        "web.hdf5", "Density", logarithm, colored("Value", low, high, "magma"), sized(0.35)
    )


FIGURES: dict[str, tuple[str, Callable[[], Any]]] = {
    "melt": ("molecular dynamics", melt),
    "dna": ("biomolecules", lambda: from_file("dna.pdb", sized("vdw"))),
    "colloids": (
        "soft matter",
        lambda: from_file("colloids.gsd", colored("Charge", -30.0, 30.0, "twilight")),
    ),
    "perovskite": ("crystals", perovskite),
    "slab": ("surfaces", slab),
    "grains": ("metals", grains),
    "pile": ("granular matter", pile),
    "dam": ("fluids (SPH)", dam),
    "web": ("cosmology", web),
    "valley": (
        "point clouds",
        lambda: from_arrays(
            "valley.las", "z", colored("Value", *_ends("valley.las", 2),
            ["#2b6c43", "#a3b86c", "#e8d9a0", "#a9714b"]),
            sized(float(np.mean(load("valley.las").spheres[0].radius))),  # of all points
        ),
    ),
}  # fmt: skip
"""The field of each figure, and what makes it in OVITO."""


def _ends(name: str, axis: int) -> tuple[float, float]:
    """Return the least and the greatest coordinate of a file."""
    values = load(name).spheres[0].centers[:, axis]
    return float(values.min()), float(values.max())


def rendered(pipeline: Any, camera: dict[str, Any], target: Path, dark: bool) -> float:
    """Render by OVITO with a camera of this program; returns seconds."""
    from ovito.modifiers import ColorCodingModifier
    from ovito.vis import ColorLegendOverlay, TachyonRenderer, Viewport

    position, look_at = np.array(camera["position"]), np.array(camera["look_at"])
    if "shift" in camera:  # where copies of the cell lie elsewhere
        places = np.asarray(pipeline.compute().particles.positions)
        shift = (places.min(axis=0) + places.max(axis=0)) / 2 - look_at
        position, look_at = position + shift, look_at + shift
    is_ortho = camera["type"] == "orthographic"
    kind = Viewport.Type.Ortho if is_ortho else Viewport.Type.Perspective
    view = Viewport(type=kind)
    view.camera_pos, view.camera_dir = tuple(position), tuple(look_at - position)
    view.camera_up = tuple(camera["up"])
    view.fov = camera["height"] / 2 if is_ortho else np.radians(camera["vertical_fov"])
    for each in pipeline.modifiers:
        if isinstance(each, ColorCodingModifier):
            color = (1.0, 1.0, 1.0) if dark else (0.0, 0.0, 0.0)
            legend = ColorLegendOverlay(modifier=each, legend_size=0.35, text_color=color)
            view.overlays.append(legend)
    pipeline.add_to_scene()
    start = time.perf_counter()
    view.render_image(
        filename=str(target), size=gallery.SIZE, renderer=TachyonRenderer(),
        background=(0.0, 0.0, 0.0) if dark else (1.0, 1.0, 1.0),
    )  # fmt: skip
    seconds = time.perf_counter() - start
    pipeline.remove_from_scene()
    return seconds


def make(name: str) -> None:
    """Write one comparison."""
    _, pipeline_of = FIGURES[name]
    kept = gallery.FOLDER / f"{name}.png"
    said = read_metadata(kept)
    with tempfile.TemporaryDirectory() as folder, gallery.working_in(Path(folder)):
        runpy.run_path(str(gallery.FOLDER / f"{name}.py"))
        other = Path(folder) / "ovito.png"
        camera = said["camera"] | ({"shift": True} if name == "perovskite" else {})
        seconds = rendered(pipeline_of(), camera, other, name == "web")
        width, height = gallery.SIZE
        both = Image.new("RGB", (2 * width + GAP, height), "#808080")
        both.paste(Image.open(kept).convert("RGB"), (0, 0))
        both.paste(Image.open(other).convert("RGB"), (width + GAP, 0))
        both = both.resize((both.width // 2, both.height // 2), Image.Resampling.LANCZOS)
        draw = ImageDraw.Draw(both)
        for text, x in (("raytracer", 6), ("OVITO", (width + GAP) // 2 + 6)):
            draw.text((x, both.height - 16), text, fill="#808080")
        both.save(TARGET / f"{name}.jpg", quality=82)
    print(f"{name}: OVITO {seconds:.1f} s", flush=True)


if __name__ == "__main__":
    TARGET.mkdir(exist_ok=True)
    for each in sys.argv[1:] or FIGURES:
        make(each)
