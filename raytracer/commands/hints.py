"""What a wrong word on the command line was probably meant to be."""

from __future__ import annotations

from pathlib import Path

import click

from raytracer.errors import nearest, shown

FILE = "is set in a scene file"

# Options that other programs have, and where that is said here. Only for commands with a scene.
ELSEWHERE: dict[tuple[str, ...], str] = {
    ("size", "resolution", "res", "dimensions", "geometry"): "use '--width' and '--height'",
    ("gpu", "cuda", "optix"): "use '--backend cuda'",
    ("cpu",): "use '--backend cpu'",
    ("camera", "eye", "position", "lookat", "look_at", "target", "up", "direction", "view",
     "azimuth", "elevation", "rotation", "rotate", "zoom", "distance"): (
        f"the camera {FILE}: [camera] position = [x, y, z], look_at = [x, y, z]; "
        "`raytracer preview` prints one with the key C"
    ),
    ("fov", "vfov", "field_of_view", "vertical_fov", "view_angle", "focal_length"): (
        f"the field of view {FILE}: [camera] vertical_fov = 40"
    ),
    ("orthographic", "ortho", "perspective", "projection", "parallel"): (
        f'the projection {FILE}: [camera] type = "orthographic"'
    ),
    ("radius", "radii", "r", "sphere_radius", "point_size", "particle_size", "atom_size",
     "diameter"): (
        f'the radius {FILE}: [[spheres]] file = "atoms.xyz", radius = 0.5'
    ),
    ("scale",): f"a scale {FILE}: [[spheres]] transform = {{ scale = 2.0 }}",
    ("color", "colors", "colour", "colours", "rgb", "palette", "cmap", "colormap", "color_by"): (
        f'one colour {FILE}: [[spheres]] color = "tab:blue"; a colour per sphere is data, for '
        "example columns r, g and b of a .csv file or an array `colors` of an .npz file"
    ),
    ("background", "bg", "background_color", "bgcolor", "sky"): (
        f'the background {FILE}: [background] color = "white"; \'--transparent\' leaves it out'
    ),
    ("light", "lights", "sun", "light_direction", "intensity"): (
        'lights are set in a scene file: [[lights]] type = "directional", direction = [0, -1, 0]'
    ),
    ("ambient", "ao"): f"ambient light {FILE}: [ambient] intensity = 0.25",
    ("material", "materials", "mirror", "specular", "diffuse", "shininess", "roughness",
     "metallic", "reflectivity"): (
        f"the material {FILE}: [materials.default] mirror = 0.2, specular = 0.4"
    ),
    ("title", "caption"): f"it {FILE}: title = \"...\", caption = \"...\"",
    ("columns", "names", "arrays", "x", "y", "z", "key"): (
        f'which columns or arrays are read {FILE}: [[spheres]] arrays = {{ centers = "..." }}'
    ),
    ("frame", "frames", "step", "timestep", "time"): (
        "one frame is rendered, of a file with several the first; write another one to a file of "
        "its own"
    ),
    ("denoise", "denoiser"): "there is no denoiser; a larger '--samples' gives less noise",
    ("format", "jpg", "jpeg", "ext", "type"): "pictures are PNG files; name one with '--output'",
    ("depth_of_field", "aperture", "dof", "motion_blur"): "the camera has no lens and no shutter",
    ("output_dir", "outdir", "output_folder", "folder", "dir", "d"): (
        "name the file with '--output FOLDER/NAME.png'"
    ),
    ("verbose", "v", "debug", "log"): "'--stats' and '--json' print more",
    ("dpi", "ppi"): "a PNG has no size on paper here; use '--width' and '--height'",
    ("fps", "animation", "animate", "movie", "turntable"): (
        "one picture is rendered; for an animation, render a scene file per frame"
    ),
    ("overwrite", "force", "f", "yes"): (
        "a picture that raytracer made is replaced without an option; '--output' replaces any"
    ),
    ("gamma", "srgb", "brightness", "contrast"): (
        "pictures are sRGB; '--exposure' and '--tone' change what is shown"
    ),
    ("box", "bbox", "cell", "axes", "bonds", "legend"): "only spheres are drawn",
    ("opacity", "transparency"): "spheres are opaque; '--transparent' leaves the background out",
}  # fmt: skip

# Commands that other programs have, and what to type here.
COMMANDS: dict[tuple[str, ...], str] = {
    ("help",): "use `raytracer --help` or `raytracer COMMAND --help`",
    ("version",): "use `raytracer --version`",
    ("list", "ls", "examples", "example", "demo", "scenes", "generators"): (
        "`raytracer render weekend` renders an example scene; `raytracer scene generate --list` "
        "lists the scenes that can be generated"
    ),
    ("convert", "import", "export", "load", "read", "write", "save"): (
        "`raytracer render FILE` reads particle files as they are, and writes a PNG"
    ),
    ("animate", "animation", "movie", "video", "turntable"): (
        "one picture is rendered at a time; for an animation, run `raytracer render` per frame"
    ),
}

# Endings of files that a command other than `render` takes.
OTHERS = {".png": "info", ".exr": "tone"}


class Group(click.Group):
    """A command with subcommands; says what a wrong one was probably meant to be."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            hint = of_command(name, self, ctx.command_path)
            raise click.UsageError(f"no such command '{shown(name)}'; {hint}", ctx)
        return super().resolve_command(ctx, args)


def of_option(name: str, command: click.Command | None) -> str:
    """What to do instead of an option that there is not, or "".

    name: with its dashes. command: the one it was given to.
    """
    if command is None:
        return ""
    options = [each for each in command.params if isinstance(each, click.Option)]
    word = name.lstrip("-").lower().replace("-", "_")
    if any(isinstance(each, click.Argument) and each.name == "scene" for each in command.params):
        for words, sentence in ELSEWHERE.items():
            if word in words:
                return sentence
    known = [text for each in options for text in (*each.opts, *each.secondary_opts)]
    long = [text for text in known if text.startswith("--")]
    near = nearest(name, long)
    if near is None and isinstance(command, click.Group):
        return _of_a_command_below(name, command)
    return f"did you mean '{near}'?" if near else ""


def _of_a_command_below(name: str, group: click.Group) -> str:
    """That an option belongs behind the name of a command, or ""."""
    for command in group.commands.values():
        if any(name in option.opts for option in command.params):
            return f"it goes after the command: `raytracer {command.name} ... {shown(name)}`"
    return ""


def of_command(name: str, group: click.Group, path: str) -> str:
    """What to do instead of a command that there is not.

    path: of the group, as it was called.
    """
    if use := _of_a_file(name):
        if group.name == "scene" and use == "render":
            use = "scene check"
        return f"did you mean `raytracer {use} {shown(name)}`?"
    for words, sentence in COMMANDS.items():
        if name.lower() in words:
            return sentence
    if near := nearest(name, group.commands):
        return f"did you mean `{path} {near}`?"
    for command in group.commands.values():
        if isinstance(command, click.Group) and (near := nearest(name, command.commands)):
            return f"did you mean `{path} {command.name} {near}`?"
    return f"known are {', '.join(sorted(group.commands))}"


def _of_a_file(name: str) -> str:
    """The command that takes a file or an example scene of this name, or ""."""
    from raytracer.files.access import is_file
    from raytracer.resources import scenes
    from raytracer.scene.load import SCENE_SUFFIXES
    from raytracer.scene.particles.registry import SUFFIXES

    path = Path(name)
    suffix = path.suffix.lower()
    if suffix in OTHERS:
        return OTHERS[suffix]
    known = (*SCENE_SUFFIXES, *SUFFIXES)
    if suffix in known or is_file(path):
        return "render"
    return "render" if name and is_file(Path(str(scenes())) / f"{name}.toml") else ""
