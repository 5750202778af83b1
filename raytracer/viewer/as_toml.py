"""What is seen, in the words of a scene file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import floor, hypot, log10
from typing import TYPE_CHECKING, Any

from raytracer import toml_text
from raytracer.scene.lighting import background_up
from raytracer.scene.looks import DirectionalLight, Light
from raytracer.viewer.edits import Edits

DIGITS = 15
"""Of the numbers that are printed."""

if TYPE_CHECKING:
    from raytracer.scene.looks import Background, Camera, Material
    from raytracer.scene.scene import Scene
    from raytracer.scene.transform import Triple
    from raytracer.tone_settings import ToneSettings


def camera_table(camera: Camera) -> str:
    """The table `[camera]`."""
    size = (
        {"height": camera.height}
        if camera.type == "orthographic"
        else {"vertical_fov": camera.vertical_fov}
    )
    places = {"position": camera.position, "look_at": camera.look_at, "up": camera.up}
    return _table("[camera]", {"type": camera.type} | places | size)


def view_tables(
    camera: Camera,
    scene: Scene,
    edits: Edits,
    materials: Mapping[str, Material],
    tone: ToneSettings,
) -> str:
    """The camera and everything else that was changed, to be pasted into a scene file.

    The tables take the place of those with the same heads.

    materials: those with a name that were changed.
    """
    parts = [camera_table(camera)]
    if edits.lights is not None:
        dressed = edits.dress(scene)
        assert dressed.ambient is not None
        if scene.lights is None and scene.ambient is None:  # it had one with its own light
            parts.append(_table("[ambient]", vars(dressed.ambient)))
        parts += [_light(light) for light in edits.lights]
    background = edits.dress(scene).background
    if background.up is None and not _parallel(camera.up, up := background_up(scene)):
        background = replace(background, up=up)  # else it would change with the camera's
    if background != scene.background:
        parts.append(_background(background))
    parts += [
        _table(f"[materials.{toml_text.key(n)}]", vars(made)) for n, made in materials.items()
    ]
    if options := tone_options(tone):
        parts.append(f"# raytracer render {options}\n")
    return "\n".join(parts)


def tone_options(tone: ToneSettings) -> str:
    """Exposure and curve as options of the command line; nothing for the defaults."""
    words = []
    if tone.exposure != 0.0:
        exposure = tone.exposure if tone.automatic else f"{tone.exposure:.3g}"
        words.append(f"--exposure {exposure}")
    if tone.tone != "linear":
        words.append(f"--tone {tone.tone}")
    return " ".join(words)


def _parallel(vector: Triple, unit: Triple) -> bool:
    """Whether a vector of any length points along a unit vector."""
    length = hypot(*vector)
    return all(abs(v / length - u) < 1e-9 for v, u in zip(vector, unit, strict=True))


def _light(light: Light) -> str:
    kind = "directional" if isinstance(light, DirectionalLight) else "point"
    return _table("[[lights]]", {"type": kind} | vars(light))


def _background(background: Background) -> str:
    return _table("[background]", {k: v for k, v in vars(background).items() if v})


def _table(head: str, values: Mapping[str, Any]) -> str:
    lines = [f"{name} = {_value(value)}\n" for name, value in values.items()]
    return "".join([f"{head}\n", *lines])


def _value(value: Any) -> str:
    """A value as TOML; numbers with more digits than float32 has, and without those of rounding."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return toml_text.quoted(value)
    if isinstance(value, (tuple, list)):
        largest = max(abs(float(each)) for each in value)
        return f"[{', '.join(_number(float(each), largest) for each in value)}]"
    return _number(float(value), abs(float(value)))


def _number(value: float, largest: float) -> str:
    """A number with `DIGITS` digits, counted from the first one of the largest beside it."""
    places = DIGITS - 1 - floor(log10(largest)) if largest else 0
    return repr(round(value, places) + 0.0)  # no minus before a zero
