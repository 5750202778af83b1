"""`raytracer scene`: check, describe, schema, generate."""

from __future__ import annotations

import click

from raytracer.commands.hints import Group
from raytracer.resources import require_start


@click.group(cls=Group, short_help="Check scene files, make large scenes.")
def scene() -> None:
    """Check scene files, look up spheres, get the JSON Schema, make large scenes.

    \b
    Examples:
      raytracer scene check scenes/three_balls.toml
      raytracer scene describe atoms.xyz 17
      raytracer scene schema --output scene.schema.json
      raytracer scene generate cloud --count 1000000 -o cloud.npz
    """


@scene.command(short_help="Say what a scene file holds, or what is wrong with it.")
@click.argument("file", metavar="FILE")
@click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")
def check(file: str, as_json: bool) -> None:
    """Read a scene or particle file with all its data: say what it holds, or what is wrong.

    \b
    Examples:
      raytracer scene check scenes/three_balls.toml
      raytracer scene check atoms.xyz --json
    """
    require_start()
    from raytracer.commands.checking import describe
    from raytracer.commands.report import print_json, print_outline, print_warnings
    from raytracer.warning import collected

    with collected() as warnings:
        found = describe(file)
    if as_json:
        print_json(found | {"warnings": warnings})
        return
    print_warnings(warnings)
    print_outline(found)


@scene.command(short_help="Say what is known of one sphere, its row of the data file too.")
@click.argument("file", metavar="FILE")
@click.argument("number", metavar="ID", type=int)
@click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")
def describe(file: str, number: int, as_json: bool) -> None:
    """Say what is known of one sphere of a scene or particle file, by its number from 0.

    The number counts through all sets in their order; `render --aov id` writes it for each pixel.
    What the data file says of the particle beyond centre, radius and colour is listed last.

    \b
    Examples:
      raytracer scene describe atoms.xyz 17
      raytracer scene describe scenes/molecule.toml 0 --json
    """
    require_start()
    from dataclasses import asdict

    from raytracer.commands.report import print_json, print_warnings
    from raytracer.scene.load import load
    from raytracer.warning import collected

    with collected() as warnings:
        found = load(file).describe(number)
    if as_json:
        print_json(asdict(found) | {"warnings": warnings})
        return
    print_warnings(warnings)
    for line in found.lines():
        print(line)


@scene.command(short_help="Print the JSON Schema of scene files.")
@click.option("-o", "--output", metavar="FILE", help="Write it to a file instead.")
def schema(output: str | None) -> None:
    """Print the JSON Schema of scene files, for editors that complete and check as you type.

    \b
    Examples:
      raytracer scene schema
      raytracer scene schema --output scene.schema.json
    """
    import json

    from raytracer.files import output as files
    from raytracer.scene.tables import schema as make

    text = json.dumps(make(), indent=2)
    if output is None:
        print(text)
    else:
        files.write(files.check_file(output), text + "\n")


@scene.command(short_help="Make a large scene from a generator.")
@click.argument("name", required=False)
@click.option("--count", type=int, help="How many spheres.")
@click.option("--seed", type=int, help="0 to 4294967295.")
@click.option("-o", "--output", metavar="FILE", help="A .npz with the spheres, or a .toml with "
              "camera and light and its data beside it. Default: NAME.toml.")  # fmt: skip
@click.option("--force", is_flag=True, help="Replace files that exist.")
@click.option("--list", "show_list", is_flag=True, help="List the generators.")
def generate(
    name: str | None,
    count: int | None,
    seed: int | None,
    output: str | None,
    force: bool,
    show_list: bool,
) -> None:
    """Make a scene from a named generator; name, count and seed give the same everywhere.

    \b
    Examples:
      raytracer scene generate --list
      raytracer scene generate sphereflake -o sphereflake.toml
      raytracer scene generate cloud --count 1000000 --seed 7 -o cloud.npz
    """
    require_start()
    from raytracer.commands.report import print_lines
    from raytracer.scene import generate as generators

    if show_list:
        for known in generators.names():
            print(f"{known:<14} {generators.describe(known)}")
        return
    if name is None:
        raise click.UsageError("name a generator, or see them with --list")
    for path in generators.write(name, output or f"{name}.toml", count, seed, force=force):
        print_lines(str(path))
