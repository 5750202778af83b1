"""Suggestions for unknown commands and options."""

from pathlib import Path

import click

from raytracer.errors import nearest, shown, suggestion
from raytracer.synonyms import ELSEWHERE, REMOVED


def of_option(name: str, command: click.Command) -> str:
    """Return what to use instead of an unknown option of a command, or ""."""
    word = name.lstrip("-").lower().replace("-", "_")
    if word in REMOVED:
        return REMOVED[word]
    if any(param.name == "scenes" for param in command.params):
        for words, sentence in ELSEWHERE.items():
            if word in words.split():
                return sentence
    options = [param for param in command.params if isinstance(param, click.Option)]
    flags = [flag for option in options for flag in (*option.opts, *option.secondary_opts)]
    near = nearest(name, [flag for flag in flags if flag.startswith("--")])
    return f"did you mean '{near}'?" if near else ""


def of_command(name: str, known: list[str], path: str) -> str:
    """Return what to use instead of an unknown command of a group, called as `path`."""
    from raytracer.files.access import is_file
    from raytracer.resources import scenes
    from raytracer.scene.particles.registry import PICTURES, SUFFIXES
    from raytracer.scene.source import SCENE_SUFFIXES

    suffix = Path(name).suffix.lower()
    is_example = bool(name) and is_file(Path(str(scenes())) / f"{name}.toml")
    if is_example or suffix in (*SCENE_SUFFIXES, *SUFFIXES, *PICTURES) or is_file(Path(name)):
        use = "info" if suffix in PICTURES else "render" if "render" in known else "scene check"
        return f"did you mean `raytracer {use} {shown(name)}`?"
    near = nearest(name, known)
    return REMOVED.get(name) or (
        f"did you mean `{path} {near}`?" if near else suggestion(name, known)
    )
