"""Scene generators: from a name, a count and a seed to spheres, the same on all machines."""

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from raytracer.config.arguments import check_whole, check_word
from raytracer.config.errors import OutputError
from raytracer.files import output
from raytracer.files.access import check_path
from raytracer.scene_files.generators._base import SPHERE, GeneratedPart, join_parts
from raytracer.system.memory import require_room

# The hash takes the sphere's index and the seed as 32-bit words.
MAX_WORD = 2**32 - 1
# Spheres at a time of a generator without memory of its own: a few MB, which stay in cache.
BLOCK = 1 << 18


@dataclass(frozen=True)
class Generator:
    """What a module of `raytracer.scene_files.generators` makes."""

    summary: str
    count: int  # of spheres by default
    # bytes per sphere at the peak of its `build`, measured by tracemalloc, plus 2%; 0 if it has a
    # `block` instead, which makes any spheres alone
    memory: int = 0


GENERATORS = {
    "cloud": Generator("equal spheres, uniform in the unit cube, which they fill to 8%", 1_000_000),
    "crystal": Generator(
        "a gold crystal (FCC, angstroms) with a spherical void, one octant cut away", 30_000, 98
    ),
    "galaxy": Generator("a barred spiral galaxy of old and young stars, radius 1", 300_000),
    "pile": Generator("a heap of grains with log-normal radii, settled on the ground", 40_000, 406),
    "plummer": Generator(
        "a star cluster: Plummer's density, Salpeter's masses, colours by temperature", 60_000
    ),
    "sphereflake": Generator(
        "a sphereflake: 1 + 9 + 81 + ... balls, as many whole levels as the count allows", 7381, 126
    ),
    "weekend": Generator(
        "small balls of many colours about three big ones (parts: matte, metal, glass)", 487, 125
    ),
}


def build(name: str, count: int | None = None, seed: int | None = None) -> list[GeneratedPart]:
    """Return the spheres of a generator, as parts with different materials: `name`, `centers` (N,
    3) float32, `radii` (N,) float32 and `colors` (N, 3) uint8 sRGB, in scene units.

    count: number of spheres; some generators round it to whole levels or blocks. Raises UserError.
    """
    generator = GENERATORS[check_word(name, "generate", GENERATORS, "generator")]
    count = check_whole(generator.count if count is None else count, "count", 1, MAX_WORD)
    seed = check_whole(1 if seed is None else seed, "seed", 0, MAX_WORD)
    remedy = "use fewer spheres, or a machine with more memory"
    require_room(f"{count:,} spheres", (generator.memory or SPHERE) * count, "to be made", remedy)
    module = import_module(f"raytracer.scene_files.generators.{name}")
    if generator.memory:
        parts: list[GeneratedPart] = module.build(count, seed)
        return parts
    centers, colors = np.empty((count, 3), np.float32), np.empty((count, 3), np.uint8)
    made = GeneratedPart("default", centers, np.empty(count, np.float32), colors)
    for begin in range(0, count, BLOCK):
        index = np.arange(begin, min(begin + BLOCK, count), dtype=np.uint32)
        rows = slice(begin, begin + len(index))
        block = module.block(index, count, seed)
        made.centers[rows], made.radii[rows] = block.centers, block.radii
        made.colors[rows] = block.colors
    return [made]


def arrays(
    name: str, count: int | None = None, seed: int | None = None
) -> dict[str, NDArray[np.generic]]:
    """Return the spheres of a generator, or of one part ("weekend/metal"), as named arrays: centers
    (N, 3) float32, radii (N,) float32, colors (N, 3) uint8 sRGB. Raises UserError."""
    base, _, wanted = name.partition("/")
    parts = {part.name: part for part in build(base, count, seed)}
    chosen = [check_word(wanted, name, parts, "part")] if wanted else parts
    _, centers, radii, colors = join_parts([parts[each] for each in chosen])
    return {"centers": centers, "radii": radii, "colors": colors}


def write(
    name: str, path: str | Path, count: int | None = None, seed: int | None = None, *,
    force: bool = False,
) -> Path:  # fmt: skip
    """Write generated spheres to a path that ends in .npz, and return it. Raises UserError for a
    name, count or seed that does not exist, OutputError for a bad path; without `force`, for one
    that exists."""
    target = check_path(path)
    if target.suffix != ".npz":
        raise OutputError(f"{target}: must end in .npz")
    output.check_file(output.OutputSet(force).declare(target, "the spheres"))
    made = arrays(name, count, seed)
    with output.replace_file(target) as file:
        np.savez(file, **made)  # type: ignore[arg-type]
    return target
