"""Defaults that the first frame decides: by the name of each, in whatever order they are asked."""

from pathlib import Path

import numpy as np
import pytest

import raytracer
from raytracer.scene.inferred import InferredDefaults, inferring

FRAMES = ((1.0, 3.0), (2.0, 9.0))


def radius_of(spheres: raytracer.SphereSet) -> float:
    return float(np.ravel(spheres.radius)[0])


def frames_of(path: Path, spacing: int) -> None:
    """Write a file of two frames with particles in two rows."""
    text = ""
    for steps in FRAMES:
        text += "8\n\n" + "".join(f"X {i * steps[spacing]} {i % 2} 0\n" for i in range(8))
    path.write_text(text)


@pytest.mark.parametrize("order", [("near", "far"), ("far", "near")])
@pytest.mark.filterwarnings("ignore::raytracer.RaytracerWarning")
def test_each_set_keeps_the_radius_of_its_own_first_frame(
    tmp_path: Path, order: tuple[str, str]
) -> None:
    for spacing, name in enumerate(("near", "far")):
        frames_of(tmp_path / f"{name}.xyz", spacing)
    path = tmp_path / "a.toml"
    path.write_text("".join(f'[[spheres]]\nfile = "{name}.xyz"\n' for name in order))
    alone = [raytracer.load(path, frame) for frame in (0, 1)]
    held = InferredDefaults()
    loaded = []
    for frame in (0, 1):
        with inferring(held):
            loaded.append(raytracer.load(path, frame))
    first, second = ([radius_of(s) for s in scene.spheres] for scene in loaded)
    assert first == second == [radius_of(s) for s in alone[0].spheres]
    assert second != [radius_of(s) for s in alone[1].spheres]
    assert first[0] != first[1]


def test_a_range_is_that_of_all_frames_until_it_is_frozen() -> None:
    held = InferredDefaults()
    assert held.range("a", lambda: (1.0, 2.0)) == (1.0, 2.0)
    assert held.range("b", lambda: (7.0, 8.0)) == (7.0, 8.0)
    assert held.range("a", lambda: (0.0, 1.5)) == (0.0, 2.0)
    held.freeze()
    assert held.range("a", lambda: (-5.0, 9.0)) == (0.0, 2.0)
