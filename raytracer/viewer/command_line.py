"""The state of the preview as options of `raytracer render`."""

from collections.abc import Mapping
from typing import Any

from raytracer.film.tone_settings import ToneSettings
from raytracer.scene.lights import DirectionalLight
from raytracer.scene.scene import Scene
from raytracer.settings import RenderSettings
from raytracer.viewer.content import Content
from raytracer.viewer.edits import Edits

RENDER = ("look", "brightness", "light", "placement", "integrator", "ao_distance", "denoise")
"""Settings of the render that are options where they are edited or no defaults."""

TONE = ("exposure", "tone", "bloom")


def words(settings: Mapping[str, Any]) -> list[str]:
    """Return settings by name as options; None is no setting."""
    found = []
    for name, value in settings.items():
        flag = name.replace("_", "-")
        if value is True:
            found.append(f"--{flag}")
        elif value is False:
            found.append(f"--{flag}=off" if name in ("legend", "box") else f"--no-{flag}")
        elif value is not None:
            row = value if isinstance(value, (tuple, list)) else (value,)
            found += [f"--{flag}", ",".join(str(each) for each in row)]
    return found


def look(scene: Scene, edits: Edits, tone: ToneSettings) -> dict[str, Any]:
    """Return settings of look, integrator and tone that a scene file does not state."""
    render, plain = edits.applied_to(scene).render, RenderSettings()
    found = {
        name: getattr(render, name)
        for name in RENDER
        if name in edits.render or getattr(render, name) != getattr(plain, name)
    }
    if scene.lights is not None or edits.lights is not None:
        found.pop("light", None)  # it would replace the lights
    if "look" in found or "integrator" in found:  # otherwise that of the file applies
        found["integrator"] = render.resolved_integrator
    if render.resolved_integrator == "ao":
        found["ao_samples"] = render.ao_samples
    changed = {name: getattr(tone, name) for name in TONE}
    return found | {k: v for k, v in changed.items() if v != getattr(scene.tone, k)}


def of_particles(scene: Scene, edits: Edits) -> dict[str, Any]:
    """Return background, ground and light of a particle file as settings.

    There are none for gradients, except the default one, and for lights after the first.
    """
    background = edits.applied_to(scene).background
    found: dict[str, Any] = {}
    if background.transparent:
        found["transparent"] = True
    elif background.top is None:
        found["background"] = background.color or "white"
    if scene.ground is not None:
        found["shadow_catcher"] = edits.shadow_catcher
    if edits.lights and isinstance(edits.lights[0], DirectionalLight):
        found["light"] = edits.lights[0].direction
    return found


def of_content(content: Content, scene: Scene) -> dict[str, Any]:
    """Return frame, colours, selection and glyphs as settings.

    Particles hidden or faded by number have none, nor has the marking of selected ones.
    """
    found: dict[str, Any] = {"frame": content.frame, **content.style}
    chosen = condition(content)
    if chosen:
        stated = content.style.get("select")
        found["select"] = f"({stated}) and {chosen}" if stated else chosen
        if not content.hidden:
            found["rest"] = content.faded[0][2]
    if content.slice is not None and scene.clip is not None:
        found["clip"] = scene.clip.keep
    if content.style.get("color_by"):
        found["legend"] = True
    drawn = {name: "none" if value == "" else value for name, value in content.drawn.items()}
    return found | drawn


def condition(content: Content) -> str:
    """Return the condition of what is shown, or of the one part that is not faded; "" if there is
    none, or if particles were chosen by number."""
    parts = list(content.hidden) or [each[:2] for each in content.faded]
    is_single = len(parts) == 1
    if not all(chosen.condition for chosen, _ in parts) or not (content.hidden or is_single):
        return ""
    if is_single and parts[0][1]:
        return parts[0][0].condition
    return " and ".join(
        f"({chosen.condition})" if rest else f"not ({chosen.condition})" for chosen, rest in parts
    )
