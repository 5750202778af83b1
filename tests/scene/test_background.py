"""The background of particles without a scene: what is white is seen on it, what is dark too."""

from pathlib import Path

import numpy as np
import pytest

import raytracer
from raytracer.scene.colors import srgb_to_linear

ATOMS = "3\n\nH 0 0 0\nC 2 0 0\nH 0 2 0\n"


def luminance(color: object) -> float:
    """Relative luminance of a colour of sRGB, 0..1 (Rec. 709)."""
    return float(srgb_to_linear(color) @ (0.2126, 0.7152, 0.0722))


@pytest.mark.parametrize("view", ["z", "x"])
def test_every_atom_of_a_bare_file_differs_from_what_is_behind_it(
    tmp_path: Path, view: str
) -> None:
    path = tmp_path / "atoms.xyz"
    path.write_text(ATOMS)
    image = raytracer.render(
        path, width=160, height=120, samples=4, view=view, aovs=("id",), backend="cpu"
    )
    pixels, ids = image.to_uint8()[..., :3] / 255.0, image.film.aovs["id"]
    scene = raytracer.load(path)
    behind = [luminance(edge) for edge in scene.background.edges()]
    for number in np.unique(ids[ids != ids[0, 0]]).tolist():
        element = "HCH"[number]
        seen = luminance(np.median(pixels[ids == number], axis=0))
        ratio = min((max(seen, b) + 0.05) / (min(seen, b) + 0.05) for b in behind)
        assert ratio > {"H": 4.0, "C": 1.4}[element], ratio
