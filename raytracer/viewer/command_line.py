"""The state of the preview as options of `raytracer render`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from raytracer.film.tone_settings import ToneSettings
from raytracer.scene.lights import DirectionalLight
from raytracer.scene.scene import Scene
from raytracer.viewer.content import Chosen, Content
from raytracer.viewer.edits import Edits


def look_options(scene: Scene, edits: Edits) -> list[str]:
    """Return look, brightness, integrator and denoising as options, without defaults."""
    settings = edits.applied_to(scene).render
    is_edited = "look" in edits.render or "integrator" in edits.render
    words = []
    if is_edited or settings.look != "plain":
        words += ["--look", settings.look]
    if settings.brightness != 1.0:
        words += ["--brightness", str(settings.brightness)]
    if settings.light != "upper-left" and scene.lights is None and edits.lights is None:
        place = settings.light  # the option replaces the lights of a scene
        words += ["--light", place if isinstance(place, str) else _numbers(place)]
    if settings.placement != "camera" or "placement" in edits.render:
        words += ["--placement", settings.placement]
    if is_edited or settings.integrator:  # otherwise the file's integrator applies
        words += ["--integrator", settings.resolved_integrator]
    if settings.resolved_integrator == "ao":
        if settings.ao_samples != 1:
            words += ["--ao-samples", str(settings.ao_samples)]
        if settings.ao_distance is not None:
            words += ["--ao-distance", repr(settings.ao_distance)]
    if settings.denoise or "denoise" in edits.render:
        words.append("--denoise" if settings.denoise else "--no-denoise")
    return words


def tone_options(tone: ToneSettings, scenes: ToneSettings) -> list[str]:
    """Return exposure and curve as options, without the scene's."""
    words = []
    for name in ("exposure", "tone", "bloom"):
        value = getattr(tone, name)
        if value != getattr(scenes, name):
            words += [f"--{name}", value if isinstance(value, str) else repr(float(value))]
    return words


def particle_options(scene: Scene, edits: Edits) -> list[str]:
    """Return background, ground and light of particle files as options.

    There are no options for gradients, except the default one, and for lights after the first.
    """
    words = []
    background = edits.applied_to(scene).background
    if background.transparent:
        words.append("--transparent")
    elif background.top is None:
        color = background.color or "white"
        words += ["--background", color if isinstance(color, str) else _numbers(color)]
    if edits.shadow_catcher is not None and scene.ground is not None:
        words.append("--shadow-catcher" if edits.shadow_catcher else "--no-shadow-catcher")
    if edits.lights and isinstance(edits.lights[0], DirectionalLight):
        words += ["--light", _numbers(edits.lights[0].direction)]
    settings = edits.applied_to(scene).render
    if settings.resolved_integrator == "ao" and settings.ao_samples == 1:
        words += ["--ao-samples", "1"]  # the default of particle files is larger
    return words


def content_options(content: Content, scene: Scene) -> list[str]:
    """Return frame, colours, selection and glyphs as options.

    Particles hidden or faded by number have no option, nor has the marking of selected ones.
    """
    words = [] if content.frame is None else ["--frame", str(content.frame)]
    words += _style(content.style)
    chosen, rest = _chosen(content)
    stated = content.style.get("select")
    if chosen:
        words += ["--select", f"({stated}) and {chosen}" if stated else chosen]
        words += [] if rest is None else ["--rest", repr(rest)]
    elif stated:
        words += ["--select", str(stated)]
    if content.slice is not None and scene.clip is not None and scene.clip.keep is not None:
        words += ["--clip", scene.clip.keep]
    drawn = dict(content.drawn)
    if content.style.get("color_by"):
        drawn.setdefault("legend", True)
    for name, value in drawn.items():
        if isinstance(value, bool):
            words.append(f"--{name}" if value else f"--{name}=off")
        else:
            words += [f"--{name}", value or "none"]
    return words


def _style(style: Mapping[str, Any]) -> Iterator[str]:
    """Yield the settings of colours and bonds as words, without the condition."""
    for name, value in style.items():
        flag = name.replace("_", "-")
        if value is None or name == "select":
            continue
        if isinstance(value, bool):
            yield f"--{flag}" if value else f"--no-{flag}"
        else:
            yield f"--{flag}"
            yield _numbers(value) if isinstance(value, (tuple, list)) else str(value)


def _chosen(content: Content) -> tuple[str, float | None]:
    """Return the condition of what is shown, "" for all, and the opacity of the others or None."""
    hidden = list(content.hidden)
    if hidden:
        return conditions(hidden), None
    if len(content.faded) == 1:
        chosen, others, opacity = content.faded[0]
        return conditions([(chosen, others)]), opacity
    return "", None


def conditions(parts: Sequence[tuple[Chosen, bool]]) -> str:
    """Return what is shown as one condition; "" if particles were chosen by number."""
    if not parts or not all(chosen.condition for chosen, _ in parts):
        return ""
    if len(parts) == 1 and parts[0][1]:
        return parts[0][0].condition
    words = [f"({c.condition})" if rest else f"not ({c.condition})" for c, rest in parts]
    return " and ".join(words)


def _numbers(values: Any) -> str:
    return ",".join(value if isinstance(value, str) else repr(float(value)) for value in values)
