"""`raytracer scene`: check, schema, generate.

Only the options are imported with the module, so that help is fast.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from raytracer.commands import options
from raytracer.commands.group import Group
from raytracer.commands.report import print_json, print_lines, print_outline, print_warnings
from raytracer.config.errors import escape_controls
from raytracer.config.warning import collect_warnings
from raytracer.files.inputs import list_inputs
from raytracer.system import memory

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from raytracer.model.scene import Scene
    from raytracer.model.sphere_set import SphereSet
    from raytracer.packing.buffers import SceneBuffers
    from raytracer.scene_files.source import InputSource


@click.group(cls=Group)
def scene() -> None:
    """Check scene files, get the JSON Schema, make large scenes.

    \b
    Examples:
      raytracer scene check scenes/three_balls.toml
      raytracer scene schema > scene.schema.json
      raytracer scene generate cloud --count 1000000 -o cloud.npz
    """


@scene.command(cls=options.SettingsCommand, settings=[options.still_options],
               short_help="Print the contents of a scene file, or its mistakes.")  # fmt: skip
@click.argument("file", type=options.FILE, metavar="FILE")
@options.json_option
def check(file: str, as_json: bool, settings: dict[str, Any]) -> None:
    """Read a scene or particle file with all its data; print its contents or its mistakes.

    \b
    Examples:
      raytracer scene check scenes/three_balls.toml
      raytracer scene check atoms.xyz --json
    """
    from raytracer.scene_files.source import InputSource

    with collect_warnings() as warnings:
        contents = describe_contents(InputSource.of(file, **settings))
    if as_json:
        print_json(contents | {"warnings": warnings})
        return
    print_warnings(warnings)
    toml = contents.pop("camera_toml")
    print_outline(contents)
    print(f"\n{toml}")


@scene.command(short_help="Print the JSON Schema of scene files.")
def schema() -> None:
    """Print the JSON Schema of scene files, with which editors complete and check them.

    \b
    Examples:
      raytracer scene schema > scene.schema.json
    """
    from raytracer.scene_files import tables

    print_json(tables.make_schema())


@scene.command(cls=options.SettingsCommand, short_help="Make a large scene with a generator.")
@click.argument("name", required=False)
@click.option("--count", type=int, help="Number of spheres.")
@click.option("--seed", type=int, help="0 to 4294967295.")
@click.option("-o", "--output", type=options.FILE, metavar="FILE",
              help="A .npz. Default: NAME.npz.")  # fmt: skip
@options.force_option
@click.option("--list", "show_list", is_flag=True, help="List the generators.")
def generate(
    name: str | None, count: int | None, seed: int | None, output: str | None, force: bool,
    show_list: bool,
) -> None:  # fmt: skip
    """Make spheres with a named generator; name, count and seed determine the file.

    \b
    Examples:
      raytracer scene generate --list
      raytracer scene generate sphereflake -o sphereflake.npz
      raytracer scene generate cloud --count 1000000 --seed 7 -o cloud.npz
    """
    from raytracer.scene_files.generate import GENERATORS, write

    if show_list:
        for each, made in GENERATORS.items():
            print(f"{each:<14} {made.summary}; {made.count:,} spheres by default")
        return
    if name is None:
        raise click.UsageError("give the name of a generator; --list shows them")
    print_lines(
        escape_controls(str(write(name, output or f"{name}.npz", count, seed, force=force)))
    )


def describe_contents(source: InputSource) -> dict[str, Any]:
    """Load a scene with all its data and pack it; return its contents as JSON types."""
    from raytracer.packing.pack import estimate_look_bytes, pack_with_camera
    from raytracer.rendering.overrides import SceneOverrides
    from raytracer.rendering.pipeline import apply_overrides, load_source

    scene, file = apply_overrides(load_source(source), SceneOverrides()), str(source.scene)
    counts = scene.counts()
    total = sum(counts.values())
    need = memory.MemoryEstimate(
        total, 1, 1, appearance=estimate_look_bytes(scene), solids=total - scene.count,
        triangles=counts.get("triangle", 0),
    )  # fmt: skip
    memory.require_room(file, need.packed, "to be checked")
    buffers, fitted = pack_with_camera(scene)
    stated = scene.camera
    camera = {name: each for name, each in asdict(fitted).items() if each is not None}
    if stated is None or stated.fit:
        camera["fit"] = True if stated is None else stated.fit
        camera["fitted"] = f"to {scene.render.width}x{scene.render.height} pixels"
    return {
        "title": scene.title,
        "caption": scene.caption,
        **{f"{noun}s": count for noun, count in counts.items()},
        "files": [{"file": str(each.path), "bytes": each.size} for each in list_inputs()],
        "data": _describe_files(scene),
        "bounds": _find_bounds(scene, buffers),
        "sets": [_describe_spheres(each) for each in scene.spheres],
        **_count_derived(scene),
        "camera": camera,
        "camera_toml": fitted.to_toml(),
    }


def _describe_files(scene: Scene) -> dict[str, Any]:
    from raytracer.scene_files.summary import describe_derived, summarize_file

    files = {each.source: (each.file, each.columns) for each in reversed(scene.spheres)}
    return {
        name: summarize_file(file) | {"derived": describe_derived(columns)}
        for name, (file, columns) in reversed(files.items())
        if file is not None
    }


def _find_bounds(scene: Scene, buffers: SceneBuffers) -> dict[str, list[float]]:
    """Return the corners of the box around all spheres and solids, and the range of the radii of
    spheres, in scene units.
    """
    import numpy as np

    from raytracer.model.mesh import Mesh

    ends: list[NDArray[np.float64]] = []
    radii: dict[str, list[float]] = {}
    if count := scene.count:
        radius, (center, scale) = buffers.radius[:count], buffers.space
        rows = [axis[:count] for axis in buffers.placed[:3]]
        ends.append(center + scale * np.array([(row - radius).min() for row in rows]))
        ends.append(center + scale * np.array([(row + radius).max() for row in rows]))
        radii = {"radii": [scale * float(edge) for edge in (radius.min(), radius.max())]}
    for each in scene.solids:
        for ball in each.balls:
            reach = 0.0 if isinstance(each, Mesh) else np.reshape(ball.radius, (-1, 1))
            ends += [(ball.centers - reach).min(axis=0), (ball.centers + reach).max(axis=0)]
    if not ends:
        return {}
    return {"low": np.min(ends, axis=0).tolist(), "high": np.max(ends, axis=0).tolist()} | radii


def _describe_spheres(spheres: SphereSet) -> dict[str, Any]:
    material = spheres.material if isinstance(spheres.material, str) else "its own"
    about = {"spheres": spheres.count, "material": material}
    if spheres.file is not None:
        about |= {"file": spheres.source, "columns": sorted(spheres.file.used)}
    return about


def _count_derived(scene: Scene) -> dict[str, dict[str, int]]:
    """Return the numbers of solids that were made from particle data, by what they are of."""
    rows: dict[str, dict[str, int]] = {}
    for solids in scene.solids:
        if name := "bonds" if solids.are_bonds else solids.made_for:
            row, noun = rows.setdefault(name, {}), f"{solids.noun}s"
            row[noun] = row.get(noun, 0) + solids.count
    return rows
