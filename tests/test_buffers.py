"""The digest names the picture: the same for the same bytes, another for any change."""

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from raytracer import RenderSettings, Scene, SphereSet, buffers, layout
from raytracer.buffers import COLUMNS, SceneBuffers
from raytracer.scene.packing.pack import pack


@pytest.fixture
def packed() -> SceneBuffers:
    rng = np.random.default_rng(5)
    return pack(Scene.from_arrays(rng.random((50, 3)), 0.1, rng.random((50, 3))))


def test_digest_is_that_of_the_content(packed: SceneBuffers) -> None:
    columns = packed.x.copy(), packed.y, packed.z, packed.radius
    copy = replace(packed, placed=columns, frame=packed.frame.copy())
    assert copy.digest() == packed.digest()
    assert packed.digest().startswith(f"{buffers.DIGEST_VERSION}-")
    assert len(packed.digest().partition("-")[2]) == 32


# the table of emitters is made of the others
OTHERS = [f.name for f in fields(SceneBuffers) if f.name not in ("placed", "emitters")]


# Shapes and types of arrays that the scene does not have.
ADDED: dict[str, tuple[Any, Any]] = {
    "axis": ((50, 3), "f4"), "shapes": ((1, 8), "f4"), "opacity": (50, "u2"), "form": (50, "u1"),
    **dict.fromkeys(("color_id", "material_id", "large_id", "end_row"), (50, "i4")),
}  # fmt: skip


@pytest.mark.parametrize("name", [*COLUMNS, *OTHERS])
def test_digest_sees_every_array(packed: SceneBuffers, name: str) -> None:
    value = getattr(packed, name)
    if name == "scale":
        changed = value * 2
    elif name in ADDED:
        changed = np.zeros(*ADDED[name])
    elif name in ("large", "sky", "images"):
        changed = np.zeros(1, value.dtype)
    else:
        changed = value.copy()
        changed.view(np.uint8).reshape(-1)[0] ^= 1
    if name in COLUMNS:
        columns = (changed if name == each else getattr(packed, each) for each in COLUMNS)
        name, changed = "placed", tuple(columns)
    assert replace(packed, **{name: changed}).digest() != packed.digest()


def test_digest_by_several_threads(packed: SceneBuffers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buffers, "DIGEST_BLOCK", 64)
    several = packed.digest()
    assert several == packed.digest()
    columns = packed.x[::-1].copy(), packed.y, packed.z, packed.radius[::-1].copy()
    moved = replace(packed, placed=columns)
    assert moved.digest() != several


def frame_fields() -> list[tuple[str, str]]:
    """Part and name of every field of a Frame that is in a picture."""
    frame = layout.dtype("Frame")
    return [
        (part, name)
        for part in frame.names or ()
        for name in frame[part].names or ()
        if not name.startswith("pad") and name not in ("sample_begin", "sample_count")
    ]


def test_digest_sees_every_field_of_the_frame() -> None:
    packed = pack(Scene(spheres=(SphereSet(np.eye(3), 0.1),)), RenderSettings(integrator="ao"))
    for part, name in frame_fields():
        frame = packed.frame.copy()
        frame[part][name] += 1 if frame[part][name].max() < 1e30 else -1e38
        assert replace(packed, frame=frame).digest() != packed.digest(), (part, name)
