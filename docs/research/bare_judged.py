"""Pairs of pictures of bare files, ours and OVITO's, for a judge who is not told which is which.

`python docs/research/bare_judged.py FOLDER [NAME ...]` (`pip install ovito h5py 'raytracer[vtk]'`)
writes the files of bare_files.py, renders each by `raytracer render FILE` and by OVITO's Tachyon
renderer, in its default perspective view zoomed to all, and puts them one above the other in an
order of chance: FOLDER/pairs/00.png and on. FOLDER/key.json says which is which, to be read after
the verdicts. OVITO reads gold, brass, bundle and solvated itself; the others, which it does not
read, are given to it as arrays, with our radii and the colours of the file. From 3.14 on OVITO
needs Vulkan; 3.13 does not.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from bare_files import FILES
from PIL import Image

from raytracer import load

SIZE = (1280, 720)
GAP = 12  # pixels between the two pictures
READ = ("gold.xyz", "brass.dump", "bundle.pdb", "solvated.gro")  # by OVITO
VIEW = (-90.0, 120.0, -100.0)  # direction of OVITO's perspective view
FIELD_OF_VIEW = 35.0  # of that view, in degrees


def pipeline_of(path: Path) -> Any:
    """Return a pipeline of OVITO with the particles of a file."""
    from ovito.data import DataCollection
    from ovito.io import import_file
    from ovito.pipeline import Pipeline, StaticSource

    if path.name in READ:
        return import_file(str(path))
    (spheres,) = load(path).spheres
    data = DataCollection()
    particles = data.create_particles(count=spheres.count)
    particles.create_property("Position", data=np.asarray(spheres.centers, float))
    radii = np.broadcast_to(np.asarray(spheres.radius, float), (spheres.count,))
    particles.create_property("Radius", data=radii)
    if spheres.has_color:
        particles.create_property("Color", data=np.asarray(spheres.color, float) / 255.0)
    if spheres.box is not None:
        cell = np.column_stack([np.array(spheres.box.edges).T, spheres.box.origin])
        data.create_cell(cell, pbc=spheres.box.periodic)
    return Pipeline(source=StaticSource(data=data))


def render_by_ovito(path: Path, target: Path) -> None:
    """Write OVITO's picture of a file."""
    from ovito.vis import TachyonRenderer, Viewport

    pipeline = pipeline_of(path)
    pipeline.add_to_scene()
    view = Viewport(type=Viewport.Type.Perspective, camera_dir=VIEW)
    view.camera_up, view.fov = (0.0, 0.0, 1.0), np.radians(FIELD_OF_VIEW)
    view.zoom_all(size=SIZE)
    view.render_image(filename=str(target), size=SIZE, renderer=TachyonRenderer())
    pipeline.remove_from_scene()


def main() -> None:
    """Write files, pictures, pairs and the key."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help=" ".join(FILES))
    args = parser.parse_args()
    pairs = args.folder / "pairs"
    pairs.mkdir(parents=True, exist_ok=True)
    names, key = args.names or list(FILES), {}
    random.SystemRandom().shuffle(names)
    for number, name in enumerate(names):
        path, width, height = args.folder / name, *SIZE
        FILES[name](path)
        ours, theirs = (args.folder / f"{path.stem}_{side}.png" for side in ("ours", "ovito"))
        command = ["raytracer", "render", str(path), "--size", f"{width}x{height}", "-o", str(ours)]
        subprocess.run([sys.executable, "-m", *command], check=True)
        render_by_ovito(path, theirs)
        order = [ours, theirs]
        random.SystemRandom().shuffle(order)
        both = Image.new("RGB", (width, 2 * height + GAP), "#808080")
        for row, each in enumerate(order):
            both.paste(Image.open(each).convert("RGB"), (0, row * (height + GAP)))
        both.save(pairs / f"{number:02}.png")
        key[f"{number:02}"] = {"file": name, "above": order[0].stem.rpartition("_")[2]}
    (args.folder / "key.json").write_text(json.dumps(key, indent=2))


if __name__ == "__main__":
    main()
