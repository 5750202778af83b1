"""Scene generators: from a name, a count and a seed to spheres, the same on all machines."""

import pkgutil
from functools import cache
from importlib import import_module
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import OutputError, UserError, suggestion
from raytracer.files import output
from raytracer.files.access import path_of
from raytracer.scene.generators._base import Generator, Part

FOLDER = Path(__file__).parent / "generators"
# The hash takes the sphere's index and the seed as 32-bit words.
MAX_WORD = 2**32 - 1


@cache
def names() -> list[str]:
    modules = (module.name for module in pkgutil.iter_modules([str(FOLDER)]))
    return sorted(name for name in modules if not name.startswith("_"))


def describe(name: str) -> str:
    """Return one line about a generator: what it makes, default count and seed."""
    maker = generator(name)
    return f"{maker.summary}; {maker.count:,} spheres by default, seed {maker.seed}"


def build(name: str, count: int | None = None, seed: int | None = None) -> list[Part]:
    """Return the spheres of a generator, as parts with different materials: `name`, `centers` (N,
    3) float32, `radii` (N,) float32 and `colors` (N, 3) uint8 sRGB, in scene units.

    count: number of spheres; some generators round it to whole levels or blocks. Raises UserError.
    """
    maker = generator(name)
    return maker.parts(*settle(maker, count, seed))


def arrays(
    name: str, count: int | None = None, seed: int | None = None
) -> dict[str, NDArray[np.generic]]:
    """Return the spheres of a generator, or of one part ("weekend/metal"), as named arrays: centers
    (N, 3) float32, radii (N,) float32, colors (N, 3) uint8 sRGB. Raises UserError."""
    from raytracer.scene.generators._base import join

    base, _, wanted = name.partition("/")
    parts = build(base, count, seed)
    if wanted:
        chosen = [part for part in parts if part.name == wanted]
        if not chosen:
            names_of_parts = ", ".join(part.name for part in parts)
            raise UserError(
                f"the generator '{base}' has no part '{wanted}'; its parts are {names_of_parts}"
            )
        parts = chosen
    whole = parts[0] if len(parts) == 1 else join(parts)
    return {"centers": whole.centers, "radii": whole.radii, "colors": whole.colors}


def write(
    name: str,
    path: str | Path,
    count: int | None = None,
    seed: int | None = None,
    *,
    force: bool = False,
) -> Path:
    """Write generated spheres.

    path: ends in .npz or, for atoms in angstrom, in .xyz
    force: replace an existing file; without it that is refused

    returns: the path
    raises: UserError for a name, count or seed that does not exist, OutputError for a bad path
    """
    target, maker = path_of(path), generator(name)
    count, seed = settle(maker, count, seed)
    if target.suffix not in (".npz", ".xyz"):
        raise OutputError(f"{target}: must end in .npz, or .xyz for atoms")
    if target.suffix == ".xyz" and maker.symbols is None:
        raise OutputError(f"{target}: the generator '{name}' has no chemical elements; choose .npz")
    output.check_file(output.OutputSet(force).writes(target, "the spheres"))
    made = arrays(name, count, seed)
    with output.replacing(target) as file:
        if maker.symbols is None or target.suffix == ".npz":
            np.savez(file, **made)  # type: ignore[arg-type]
        else:
            symbols = maker.symbols(count, seed)
            rows = zip(symbols, made["centers"].astype(float).tolist(), strict=True)
            lines = [f"{s:<2} {x:9.4f} {y:9.4f} {z:9.4f}\n" for s, (x, y, z) in rows]
            file.write("".join([f"{len(symbols)}\n{maker.summary}\n", *lines]).encode())
    return target


def generator(name: str) -> Generator:
    """Return the generator of a name; raises UserError with the nearest name if there is none."""
    if name not in names():
        raise UserError(f"there is no generator '{name}'; {suggestion(name, names())}")
    made: Generator = import_module(f"raytracer.scene.generators.{name}").GENERATOR
    return made


def settle(maker: Generator, count: int | None, seed: int | None) -> tuple[int, int]:
    """Return count and seed with defaults filled in; raises UserError if out of range."""
    spheres = maker.count if count is None else count
    word = maker.seed if seed is None else seed
    if not 1 <= spheres <= MAX_WORD:
        raise UserError(f"count: must be from 1 to {MAX_WORD:,}, not {spheres:,}")
    if not 0 <= word <= MAX_WORD:
        raise UserError(f"seed = {word}: must be from 0 to {MAX_WORD:,}")
    return spheres, word
