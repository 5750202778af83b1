"""Suggestions for unknown commands and options."""

from pathlib import Path

import click

from raytracer.commands.group import Group
from raytracer.errors import nearest, shown
from raytracer.synonyms import REMOVED

FILE = "is set in a scene file"

# Options of other programs with other names here, for commands with a scene.
ELSEWHERE = {
    "eye position direction azimuth elevation rotation rotate distance camera_position camera_dir "
    "view_direction camera_pos": "standard views are --view front, x, -z, iso, ...; any other "
    f"camera {FILE}: [camera] position = [x, y, z], look_at = [x, y, z]; `raytracer preview` "
    "prints one with the key C, and '--camera FILE' takes it",
    "fov vfov field_of_view vertical_fov view_angle focal_length": f"the field of view {FILE}: "
    "[camera] vertical_fov = 40; '--zoom 2' shows half of it",
    "nth every stride subsample skip fraction decimate thin": "use '--select \"every 10\"', or "
    "'--select \"random 0.1\"'",
    "hide show types element species only particle_type": "use '--select \"element == 'O'\"', "
    '"type != 2", ...',
    "colour colors colours rgb": "one colour for all particles is '--color NAME'",
    "lights sun light_direction": "use '--light left', right, top, ... or the direction X,Y,Z in "
    f"which it travels; further light {FILE}: [[lights]]",
    "ao occlusion ambient_occlusion": "ambient occlusion is --integrator ao, or --look soft",
    "materials mirror specular diffuse shininess roughness metallic reflectivity": "the material "
    f"{FILE}: [materials.default] mirror = 0.2, specular = 0.4",
    "caption": f"it {FILE}: caption = \"...\"; '--title' draws a text over the picture",
    "frames step timestep time": "a frame of a trajectory is chosen by its number, '--frame "
    "NUMBER'; movies are made by `raytracer animate`",
    "denoise denoiser": "pictures are denoised by `raytracer render --denoise` and `raytracer tone "
    "--denoise`",
    "format jpg jpeg ext type output_format": "the ending of the name says the format: '--output "
    "NAME.jpg'",
    "depth_of_field dof lens f_number fstop": "'--aperture' is the size of the lens, and '--focus "
    "X,Y,Z' a point that is in focus",
    "motion_blur shutter shutter_time velocity": "moving particles are blurred by `raytracer "
    "render --shutter 0.5` and `raytracer animate --shutter 0.5`",
    "fps animation animate movie turntable duration orbit follow": "one picture is rendered; "
    "movies are made by `raytracer animate`",
    "overwrite force f y yes": "an earlier picture of the same scene is replaced without an "
    "option; '--output' replaces any",
    "gamma srgb brightness contrast": "pictures are sRGB; '--exposure' and '--tone' change what is "
    "shown",
}

# Commands of other programs, and what to type here instead.
COMMANDS = {
    "help": "use `raytracer --help` or `raytracer COMMAND --help`",
    "version": "use `raytracer --version`",
    "list ls examples example demo scenes generators": (
        "`raytracer render weekend` renders an example scene; `raytracer scene generate --list` "
        "lists the scenes that can be generated"
    ),
    "describe": (
        "`raytracer render FILE --pick X,Y` describes what a pixel shows, and in Python "
        "`raytracer.load(FILE).describe(ID)` a sphere"
    ),
    "convert import export load read write save": (
        "`raytracer render FILE` reads particle files as they are, and writes a PNG"
    ),
    "animation movie video turntable anim film": (
        "movies of trajectories and turntables are made by `raytracer animate`"
    ),
}

# Suffixes of files that a command other than `render` takes.
OTHERS = {".png": "info", ".exr": "info"}


def of_option(name: str, command: click.Command | None) -> str:
    """Return what to use instead of an unknown option of a command, or ""."""
    if command is None:
        return ""
    options = [param for param in command.params if isinstance(param, click.Option)]
    arguments = [param for param in command.params if isinstance(param, click.Argument)]
    word = name.lstrip("-").lower().replace("-", "_")
    if word in REMOVED:
        return REMOVED[word]
    if any(argument.name == "scenes" for argument in arguments):
        for words, sentence in ELSEWHERE.items():
            if word in words.split():
                return sentence
    flags = [flag for option in options for flag in (*option.opts, *option.secondary_opts)]
    near = nearest(name, [flag for flag in flags if flag.startswith("--")])
    if near is None and isinstance(command, Group):
        return _of_a_subcommand(name, command)
    return f"did you mean '{near}'?" if near else ""


def _of_a_subcommand(name: str, group: Group) -> str:
    for command in group.all_commands().values():
        if any(name in param.opts for param in command.params):
            return f"it goes after the command: `raytracer {command.name} ... {shown(name)}`"
    return ""


def of_command(name: str, group: Group, path: str) -> str:
    """Return what to use instead of an unknown command of a group, called as `path`."""
    if use := _of_a_file(name):
        if group.name == "scene" and use == "render":
            use = "scene check"
        return f"did you mean `raytracer {use} {shown(name)}`?"
    for words, sentence in COMMANDS.items():
        if name.lower() in words.split():
            return sentence
    commands = group.all_commands()
    if near := nearest(name, commands):
        return f"did you mean `{path} {near}`?"
    for command in commands.values():
        if isinstance(command, Group) and (near := nearest(name, command.list_commands())):
            return f"did you mean `{path} {command.name} {near}`?"
    return f"known are {', '.join(group.list_commands())}"


def _of_a_file(name: str) -> str:
    """Return the command that takes a file or example scene of this name, or ""."""
    from raytracer.files.access import is_file
    from raytracer.resources import scenes
    from raytracer.scene.particles.registry import SUFFIXES
    from raytracer.scene.source import SCENE_SUFFIXES

    path = Path(name)
    suffix = path.suffix.lower()
    if suffix in OTHERS:
        return OTHERS[suffix]
    if suffix in (*SCENE_SUFFIXES, *SUFFIXES) or is_file(path):
        return "render"
    return "render" if name and is_file(Path(str(scenes())) / f"{name}.toml") else ""
